// @ts-check
// The token life: what a token was used for in training: its use over the merges, its children,
// its places in the text. It draws what Python says; see token_life/__init__.py.

import { decodeParts } from "../shared/bytes.js";
import { fillChip, spoken } from "../shared/chips.js";
import { make, makeButton } from "../shared/dom.js";
import { count, hex } from "../shared/format.js";
import { MARKS, RTL } from "../shared/marks.js";
import { useChart } from "./use_chart.js";

const PADDING = 40; // pixels of the card at both sides
const CHIP_LIMIT = 24; // characters

function newSection(/** @type {string} */ title, /** @type {string} */ sentence) {
  const part = make("section");
  part.append(make("h4", "", title), make("p", "says", sentence));
  return part;
}

/** The chips of a token's children; go(id): one was pressed, all(): the rest is asked for. */
function newChildren({ first, n }, /** @type {(id: number) => void} */ go, all) {
  const row = make("div", "chips");
  for (const { id, bytes, rank } of first) {
    const chip = makeButton("tk");
    chip.dataset.id = id;
    fillChip(chip, bytes, CHIP_LIMIT);
    chip.setAttribute("aria-label", `${spoken(bytes)}, merge ${rank}`);
    chip.title = `merge ${count(rank)}`;
    chip.addEventListener("click", () => go(id));
    row.append(chip);
  }
  if (n > first.length) {
    const more = makeButton("more", `all ${count(n)} in the list`);
    more.addEventListener("click", all);
    row.append(more);
  }
  return row;
}

/**
 * Put bytes into an element as text: blanks as they are, but tabs, line breaks and what has no
 * width as marks.
 */
function fillText(/** @type {HTMLElement} */ element, /** @type {string} */ binary) {
  for (const part of decodeParts(binary)) {
    if (typeof part === "number") {
      element.append(make("i", "hex", hex(part)));
      continue;
    }
    for (const ch of part) {
      const mark = MARKS.get(ch);
      const isMarked = mark && (mark[2] !== "over" || ch === "\t");
      element.append(isMarked ? make("i", "lab", mark[0]) : ch);
    }
  }
}

/** One place of the token, with some text on both sides. */
function newPlace({ before, token, after }) {
  const shown = (/** @type {string} */ binary) =>
    decodeParts(binary)
      .filter((part) => typeof part === "string")
      .join("");
  const place = make("li");
  place.dir = RTL.test(shown(token) || shown(before)) ? "rtl" : "ltr";
  const side = make("div", "before");
  const left = make("span");
  const here = make("mark");
  const text = make("span");
  const right = make("span", "after");
  fillText(left, before);
  fillText(text, token);
  fillText(right, after);
  side.append(left);
  here.append(text);
  place.append(side, here, right);
  return place;
}

/** Called with every new `data` and on theme change. */
export default function render({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".tl");
  const { use, children, contexts } = data;
  root.classList.toggle("large", Boolean(data.large));

  const used = newSection("Use over training", use.sentence);
  if (use.steps) {
    const caption =
      "How often it stands in the text after each merge: it rises when the token is made and " +
      "falls when longer tokens take its places.";
    used.append(useChart(use, root.clientWidth - PADDING), make("p", "cap", caption));
  }

  const family = newSection("Children", children.sentence);
  if (children.n) {
    const go = (/** @type {number} */ id) => setTriggerValue("go", id);
    family.append(newChildren(children, go, () => setTriggerValue("all", true)));
  }

  const where = newSection("In the text", contexts.sentence);
  if (contexts.places.length) {
    const list = make("ol", "places");
    list.dataset.testid = "contexts";
    list.append(...contexts.places.map(newPlace));
    where.append(list);
  }
  root.replaceChildren(used, family, where);
}
