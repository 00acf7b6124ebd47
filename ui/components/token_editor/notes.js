// @ts-check
// What is written around the text: numbers, the legend, a character opened into its bytes, and
// words on buttons. Only elements are filled here; the editor decides when.

import { make } from "../shared/dom.js";
import { count, hex } from "../shared/format.js";
import { JOINER, MARKS } from "../shared/marks.js";
import { byteLength } from "./cut.js";
import { HUES, MARKED } from "./painting.js";

const perOne = (a, b) => (b ? (a / b).toFixed(2) : "–");
export const spelled = (bytes) => [...bytes].map(hex).join(" ");

/** Set a text without removing its node, which would split undo steps (see Painting.bury). */
export function say(el, text) {
  if (!el.firstChild) el.append("");
  if (el.firstChild.nodeValue !== text) el.firstChild.nodeValue = text;
}

/** Say something on a button for a moment. */
export function sayBriefly(el, text) {
  const before = (el.dataset.label ||= el.textContent);
  el.textContent = text;
  clearTimeout(el.saying);
  el.saying = setTimeout(() => {
    el.textContent = before;
  }, 1800);
}

/** Fill the row of numbers; without counts they are dashes. */
export function showNumbers(root, counts) {
  for (const el of root.querySelectorAll("[data-number]")) {
    const name = el.dataset.number;
    say(
      el,
      !counts
        ? "–"
        : name === "per-token"
          ? perOne(counts.bytes, counts.tokens)
          : name === "per-word"
            ? perOne(counts.tokens, counts.words)
            : count(counts[name]),
    );
    if (counts && name in counts) el.dataset.value = counts[name];
    else delete el.dataset.value;
  }
}

/** The sentence that says where the drawing of a long text is cut, or "". */
export function cutNote(counts) {
  if (!counts || counts.sent === counts.tokens) return "";
  return (
    `Colors and ids are drawn for the first ${count(counts.bytesSent)} of ${count(counts.bytes)} bytes ` +
    `(${count(counts.sent)} of ${count(counts.tokens)} tokens). The numbers above count the whole text.`
  );
}

/** Explain the signs that a cut really has, and the colors where they have a meaning. */
export function showLegend(el, cut, color) {
  const items = [];
  const { text } = cut;
  const hasSpecial = cut.age.includes(255);
  if (text.includes(" ")) items.push(["·", "space"]);
  if (text.includes("\n")) items.push(["↵", "line break"]);
  const found = new Set();
  for (const [c] of text.replaceAll(" ", "").matchAll(MARKED)) {
    found.add(c);
    if (found.size === 8) break;
  }
  for (const c of found) if (!JOINER.test(c)) items.push(MARKS.get(c).slice(0, 2));
  if (cut.n < cut.ids.length) items.push(["²", "one character, several tokens"]);
  const key = JSON.stringify([items, color, hasSpecial]);
  if (key === el.dataset.shown) return;
  el.dataset.shown = key;
  const item = (className, ...content) => {
    const node = make("span", `item ${className}`);
    node.append(...content);
    return node;
  };
  const nodes = items.map(([sign, name]) => item("", make("b", "sign", sign), name));
  if (hasSpecial) nodes.push(item("", make("b", "sign framed"), "special token"));
  if (color === "age") {
    const steps = Array.from({ length: HUES - 1 }, (_, k) => make("i", `c${k + 1}`));
    nodes.push(item("ramp", "bytes", make("i", "c0"), "first merges", ...steps, "last merges"));
  }
  el.replaceChildren(...nodes);
}

/** Show group `g` of a cut as characters over bytes over tokens. */
export function openCharacter(panel, cut, g, picked, onPick, onClose) {
  const text = cut.text.slice(cut.units[g], cut.units[g + 1]);
  const bytes = new TextEncoder().encode(text);
  const table = make("div", "table");
  table.style.gridTemplateColumns = `max-content repeat(${bytes.length}, minmax(2.1em, max-content))`;
  const cell = (row, column, span, className, ...content) => {
    const el = make("div", className);
    el.style.gridArea = `${row} / ${column} / auto / span ${span}`;
    el.append(...content);
    table.append(el);
  };
  ["character", "UTF-8 bytes", "tokens"].forEach((name, r) => cell(r + 1, 1, 1, "name", name));
  let column = 2;
  for (const c of text) {
    const size = byteLength(c);
    const code = c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    const glyph = MARKS.has(c) ? MARKS.get(c)[0] : /\p{M}/u.test(c) ? "\u25cc" + c : c;
    cell(1, column, size, "cell", make("bdi", "glyph", glyph), make("small", "", `U+${code}`));
    column += size;
  }
  bytes.forEach((b, k) => cell(2, k + 2, 1, "cell byte", hex(b)));
  const first = cut.first[g];
  const base = first ? cut.ends[first - 1] : 0;
  for (let i = first, from = base; i < cut.first[g + 1]; from = cut.ends[i++]) {
    const token = i;
    const button = make(
      "button",
      `c${(i - first) % HUES}${i === picked ? " picked" : ""}`,
      cut.ids[i],
    );
    button.type = "button";
    button.title = "Show this token's biography";
    button.addEventListener("click", () => onPick(token));
    cell(3, from - base + 2, cut.ends[i] - from, "cell token", button);
  }
  const title = make("div", "title");
  const what = make("span");
  const close = make("button", "plain", "close");
  const wide = make("div", "wide");
  what.append(
    make("bdi", "glyph", text.trim() || text),
    ` is ${count(cut.first[g + 1] - first)} tokens`,
  );
  close.type = "button";
  close.addEventListener("click", onClose);
  title.append(what, close);
  wide.append(table);
  panel.replaceChildren(title, wide);
}

/** Copy a text; returns whether the browser allowed it. */
export async function copyText(root, text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    /* not allowed here */
  }
  const helper = make("textarea");
  helper.value = text;
  helper.style.cssText = "position:fixed;opacity:0";
  root.append(helper);
  helper.select();
  const done = document.execCommand("copy");
  helper.remove();
  return done;
}
