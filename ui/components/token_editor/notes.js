// @ts-check
// What is written around the text: numbers, the sentence about a cut drawing, the legend. Only
// elements are filled here; the editor decides when.

import { make } from "../shared/dom.js";
import { count, hex } from "../shared/format.js";
import { JOINER, MARKS } from "../shared/marks.js";
import { PENDING, tokenBytes, tokenStart } from "./cut.js";
import { MARKED } from "./elements.js";
import { HUES } from "./hues.js";

const MOST_MARKS = 8; // in the legend
const MOST_BYTES = 12; // of a token

/** @typedef {import("./cut.js").Cut} Cut */
/** @typedef {Record<string, number> | null} Counts */

const perOne = (/** @type {number} */ a, /** @type {number} */ b) => (b ? (a / b).toFixed(2) : "–");

/** Set a text without removing its node, which would split undo steps (see Exchange). */
export function say(/** @type {Element} */ el, /** @type {string} */ text) {
  if (!el.firstChild) el.append("");
  if (el.firstChild.nodeValue !== text) el.firstChild.nodeValue = text;
}

/** Fill the row of numbers; without counts they are dashes. */
export function showNumbers(/** @type {HTMLElement} */ root, /** @type {Counts} */ counts) {
  /** @type {NodeListOf<HTMLElement>} */
  const elements = root.querySelectorAll("[data-number]");
  for (const el of elements) {
    const name = el.dataset.number;
    let value = "–";
    if (counts && name === "per-token") value = perOne(counts.bytes, counts.tokens);
    else if (counts && name === "per-word") value = perOne(counts.tokens, counts.words);
    else if (counts) value = count(counts[name]);
    say(el, value);
    if (counts && name in counts) el.dataset.value = String(counts[name]);
    else delete el.dataset.value;
  }
}

/** The sentence that says where the drawing of a long text is cut, or "". */
export function cutNote(/** @type {Counts} */ counts) {
  if (!counts || counts.sent === counts.tokens) return "";
  const bytes = `${count(counts.bytes_sent)} of ${count(counts.bytes)} bytes`;
  const tokens = `${count(counts.sent)} of ${count(counts.tokens)} tokens`;
  return (
    `Colors and ids are drawn for the first ${bytes} (${tokens}). ` +
    "The numbers above count the whole text."
  );
}

/** Words about one token of a cut; total: tokens of the whole text. */
export function aboutToken(
  /** @type {Cut} */ cut,
  /** @type {number} */ token,
  /** @type {number} */ total,
) {
  if (token < 0 || token >= cut.ids.length || cut.ids[token] === PENDING) return "";
  const bytes = Array.from(tokenBytes(cut, token).slice(0, MOST_BYTES), hex).join(" ");
  const more = cut.ends[token] - tokenStart(cut, token) > MOST_BYTES ? " …" : "";
  return `token ${count(token + 1)} of ${count(total)}, bytes ${bytes}${more}`;
}

/** The signs that a cut really has, with their names. @returns {[string, string][]} */
function signs(/** @type {Cut} */ cut) {
  const { text } = cut;
  /** @type {[string, string][]} */
  const items = [];
  if (text.includes(" ")) items.push(["·", "space"]);
  if (text.includes("\n")) items.push(["↵", "line break"]);
  const found = new Set();
  for (const [ch] of text.replaceAll(" ", "").matchAll(MARKED)) {
    found.add(ch);
    if (found.size === MOST_MARKS) break;
  }
  for (const ch of found) {
    const [sign, name] = MARKS.get(ch);
    if (!JOINER.test(ch)) items.push([sign, name]);
  }
  if (cut.n < cut.ids.length) items.push(["²", "one character, several tokens"]);
  return items;
}

/** Explain the signs that a cut really has, and the colors where they have a meaning. */
export function showLegend(
  /** @type {HTMLElement} */ el,
  /** @type {Cut} */ cut,
  /** @type {string} */ mode,
) {
  const items = signs(cut);
  const hasSpecial = cut.age.includes(255);
  const key = JSON.stringify([items, mode, hasSpecial]);
  if (key === el.dataset.shown) return;
  el.dataset.shown = key;
  const item = (/** @type {string} */ className, /** @type {(Node | string)[]} */ ...content) => {
    const node = make("span", `item ${className}`);
    node.append(...content);
    return node;
  };
  const nodes = items.map(([sign, name]) => item("", make("b", "sign", sign), name));
  if (hasSpecial) nodes.push(item("", make("b", "sign framed"), "special token"));
  if (mode === "age") {
    const steps = Array.from({ length: HUES - 1 }, (_, i) => make("i", `c${i + 1}`));
    nodes.push(item("ramp", "bytes", make("i", "c0"), "first merges", ...steps, "last merges"));
  }
  el.replaceChildren(...nodes);
}
