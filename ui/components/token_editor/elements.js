// @ts-check
// The elements of tokens, in the text and in the list of ids, and how they are exchanged.
// Everything is set as text, never as HTML.

import { make } from "../shared/dom.js";
import { joinsUnseen, MARKS } from "../shared/marks.js";
import { PENDING, textOf } from "./cut.js";
import { HUES, OTHER_SHADE } from "./hues.js";

const LONGEST_MARKED = 5000; // a longer token is drawn without marks
const MOST_BURIED = 2000;
const SWEEP_MS = 1500; // without a change, until what is out of sight is removed
const AGE_SPECIAL = 255;

// What gets a mark in the text, but for line breaks, which are classes.
export const MARKED = new RegExp(
  `[${[...MARKS.keys()]
    .filter((ch) => ch !== "\n")
    .map((ch) => `\\u${ch.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("")}]`,
  "g",
);

/**
 * The element of group `g` in a line; a group may go on in the next line.
 * @param {import("./cut.js").Cut} cut
 * @param {number} g
 * @param {number} hue
 * @param {{ u0: number, u1: number }} line
 */
export function tokenElement(cut, g, hue, line) {
  const i = cut.first[g];
  const n = cut.first[g + 1] - i;
  const span = make("span");
  let text = textOf(cut, g, g + 1, line);
  let classes = "t";
  if (cut.ids[i] === PENDING) classes += " pending";
  else {
    classes += ` c${hue % HUES}`;
    if (hue >= OTHER_SHADE) classes += " shade";
    if (cut.age[i] === AGE_SPECIAL) classes += " special";
    if (cut.units[g] < line.u0) classes += " goes-on";
    else {
      span.dataset.testid = "token";
      span.dataset.id = cut.ids.subarray(i, i + n).join(" ");
      if (n > 1) {
        classes += " multi";
        span.dataset.n = String(n);
      }
    }
  }
  if (text.endsWith("\n")) {
    classes += " newline";
    text = text.slice(0, -1);
  }
  const isLead = n === 1 && text.startsWith(" ");
  if (isLead) classes += " lead";
  span.className = classes;
  addMarked(span, text, isLead ? 1 : 0);
  return span;
}

/** Add a text, with marks for what cannot be seen from unit `from` on. */
function addMarked(
  /** @type {HTMLElement} */ span,
  /** @type {string} */ text,
  /** @type {number} */ from,
) {
  let at = 0;
  if (text.length < LONGEST_MARKED) {
    MARKED.lastIndex = from;
    for (let m = MARKED.exec(text); m; m = MARKED.exec(text)) {
      if (joinsUnseen(m[0], text[m.index - 1])) continue;
      if (m.index > at) span.append(text.slice(at, m.index));
      const [sign, , kind] = MARKS.get(m[0]);
      const mark = make("i", `mark ${kind}`, m[0]);
      mark.dataset.mark = sign;
      span.append(mark);
      at = m.index + 1;
    }
  }
  if (at < text.length) span.append(text.slice(at));
}

/** Classes of an id in the list. isPart: its token ends inside a character. */
export const idClasses = (/** @type {boolean} */ isPart, /** @type {number} */ age) =>
  `id${isPart ? " part" : ""}${age === AGE_SPECIAL ? " special" : ""}`;

/** An id as it is written in the list. @param {number} id */
export const idText = (id) => (id === PENDING ? "…" : String(id));

/**
 * An element and what it was drawn from.
 * @typedef {HTMLElement & { drawn?: string, byte?: number }} Drawn
 */

/**
 * Exchanges elements, and takes those that are not needed any more out of sight at once and out of
 * the document soon. While nothing is removed from the page, Chromium undoes what was typed in one
 * step instead of letter by letter.
 */
export class Exchange {
  constructor() {
    /** @type {Drawn[]} */
    this.buried = [];
    this.sweeping = 0;
  }

  /**
   * Make `kids` the elements of `keys`: what is equal at both ends stays, the rest is made anew.
   * @param {HTMLElement} parent
   * @param {Drawn[]} kids
   * @param {string[]} keys
   * @param {(k: number) => [HTMLElement, ...Node[]]} draw the element of a key, and what follows it
   */
  exchange(parent, kids, keys, draw) {
    const n = keys.length;
    let p = 0;
    let s = 0;
    while (p < n && p < kids.length && kids[p].drawn === keys[p]) p++;
    const most = Math.min(n, kids.length) - p;
    while (s < most && kids[kids.length - 1 - s].drawn === keys[n - 1 - s]) s++;
    const next = kids[kids.length - s] ?? null;
    const fresh = [];
    for (let k = p; k < n - s; k++) {
      const nodes = draw(k);
      /** @type {Drawn} */ (nodes[0]).drawn = keys[k];
      fresh.push(nodes[0]);
      for (const node of nodes) parent.insertBefore(node, next);
    }
    for (const kid of kids.splice(p, kids.length - s - p, ...fresh)) this.bury(kid);
  }

  bury(/** @type {Drawn} */ element) {
    element.className = "gone";
    delete element.dataset.testid;
    for (const node of element.childNodes) (node.firstChild ?? node).nodeValue = "";
    if (element.nextSibling?.nodeValue === " ") element.nextSibling.nodeValue = "";
    this.buried.push(element);
    clearTimeout(this.sweeping);
    if (this.buried.length > MOST_BURIED) this.sweep();
    else this.sweeping = setTimeout(() => this.sweep(), SWEEP_MS);
  }

  sweep() {
    for (const element of this.buried) {
      if (element.nextSibling?.nodeValue === "") element.nextSibling.remove();
      element.remove();
    }
    this.buried = [];
  }
}
