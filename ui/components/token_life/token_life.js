// @ts-check
// What a token was used for in training: its use over the merges, its children, its places in the text.
// It draws what ui/vocabulary_life.py says; fillChip, spoken, make, count and decodeParts are merge_player/bytes.js.

import { decodeParts } from "../shared/bytes.js";
import { fillChip, spoken } from "../shared/chips.js";
import { make } from "../shared/dom.js";
import { count, hex } from "../shared/format.js";
import { MARKS, RTL } from "../shared/marks.js";

const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

function section(title, ...content) {
  const part = make("section");
  part.append(make("h4", "", title), ...content);
  return part;
}

/** Places against merges, as steps: the number holds until a merge changes it. */
function chart(use, room) {
  const W = Math.max(260, Math.min(560, room || 440));
  const H = 150;
  const left = 8;
  const right = 8;
  const top = 22;
  const bottom = 26;
  const last = use.n_merges;
  const most = Math.max(1, ...use.counts);
  // Early merges change most, so the axis is that of the vocabulary's size, logarithmic.
  const scale = (k) => Math.log((256 + k) / 256) / Math.max(Math.log((256 + last) / 256), 1e-9);
  const X = (k) => left + (W - left - right) * (last ? scale(k) : 0);
  const Y = (n) => H - bottom - ((H - top - bottom) * n) / most;
  const svg = shape("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": use.sentence });
  svg.dataset.testid = "use-chart";
  let path = "";
  use.steps.forEach((k, i) => {
    path += i
      ? `H${X(k).toFixed(1)}V${Y(use.counts[i]).toFixed(1)}`
      : `M${X(k).toFixed(1)},${Y(use.counts[i]).toFixed(1)}`;
  });
  path += `H${X(last)}`;
  svg.append(
    shape("line", { x1: left, x2: W - right, y1: H - bottom, y2: H - bottom, class: "axis" }),
    shape("path", { d: `${path}V${H - bottom}H${X(use.steps[0])}Z`, class: "area" }),
    shape("path", { d: path, class: "line" }),
  );
  const mark = (k, n, name, value) => {
    const x = X(k);
    const anchor = x > W * 0.75 ? "end" : x < W * 0.2 ? "start" : "middle";
    svg.append(
      shape("circle", { cx: x, cy: Y(n), r: 4, class: "dot" }),
      shape("text", { x, y: Math.max(12, Y(n) - 8), "text-anchor": anchor }, `${name} ${value}`),
    );
  };
  if (use.peak !== null) mark(use.peak, use.most, "most:", count(use.most));
  const ticks = [
    [0, "0 merges", "start"],
    [last, `${count(last)} merges`, "end"],
  ];
  const born = X(use.born);
  if (use.born > 0 && born > 110 && born < W - 130)
    ticks.push([use.born, `merge ${count(use.born)}`, "middle"]);
  for (const [k, text, anchor] of ticks)
    svg.append(shape("text", { x: X(k), y: H - 8, "text-anchor": anchor, class: "tick" }, text));
  return svg;
}

function children(data, go, all) {
  const row = make("div", "chips");
  for (const child of data.children.first) {
    const chip = make("button", "tk");
    chip.type = "button";
    chip.dataset.id = child.id;
    fillChip(chip, child.bytes, 24);
    chip.setAttribute("aria-label", `${spoken(child.bytes)}, merge ${child.rank}`);
    chip.title = `merge ${count(child.rank)}`;
    chip.addEventListener("click", () => go(child.id));
    row.append(chip);
  }
  if (data.children.n > data.children.first.length) {
    const more = make("button", "more", `all ${count(data.children.n)} in the list`);
    more.type = "button";
    more.addEventListener("click", all);
    row.append(more);
  }
  return row;
}

/** One line of text on both sides, blanks drawn as they are but line breaks and what has no width as marks. */
function words(binary, className) {
  const el = make("span", className);
  for (const part of decodeParts(binary)) {
    if (typeof part === "number") {
      el.append(make("i", "hex", hex(part)));
      continue;
    }
    for (const ch of part) {
      const mark = MARKS.get(ch);
      if (mark && (mark[2] !== "over" || ch === "\t")) el.append(make("i", "lab", mark[0]));
      else el.append(ch);
    }
  }
  return el;
}

function place({ before, token, after }) {
  const el = make("li");
  const here = make("mark");
  const side = make("div", "before");
  const shown = (binary) =>
    decodeParts(binary)
      .filter((part) => typeof part === "string")
      .join("");
  el.dir = RTL.test(shown(token) || shown(before)) ? "rtl" : "ltr";
  side.append(words(before));
  here.append(words(token));
  el.append(side, here, words(after, "after"));
  return el;
}

export default function render({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".tl");
  root.classList.toggle("large", Boolean(data.large));
  const parts = [];
  const use = section("Use over training", make("p", "says", data.use.sentence));
  if (data.use.steps) {
    use.append(
      chart(data.use, root.clientWidth - 40),
      make(
        "p",
        "cap",
        "How often it stands in the text after each merge: it rises when the token is made and falls when longer tokens take its places.",
      ),
    );
  }
  parts.push(use);
  const family = section("Children", make("p", "says", data.children.sentence));
  if (data.children.n)
    family.append(
      children(
        data,
        (id) => setTriggerValue("go", id),
        () => setTriggerValue("all", true),
      ),
    );
  parts.push(family);
  const where = section("In the text", make("p", "says", data.contexts.sentence));
  if (data.contexts.places.length) {
    const list = make("ol", "places");
    list.dataset.testid = "contexts";
    list.append(...data.contexts.places.map(place));
    where.append(list);
  }
  parts.push(where);
  root.replaceChildren(...parts);
}
