// @ts-check
// The painting: a cut in colors, drawn in the text and in the list of ids, and the tokens
// highlighted in both. A new cut is compared with the drawn one; what did not change stays
// untouched.

import { PENDING } from "./cut.js";
import { colorAll, colorOn } from "./hues.js";
import { Sheet } from "./sheet.js";

/** @typedef {import("./cut.js").Cut} Cut */

/** Whether group `g` of one cut and group `h` of the other are drawn the same, but for hues. */
function isSame(
  /** @type {Cut} */ old,
  /** @type {number} */ g,
  /** @type {Cut} */ cut,
  /** @type {number} */ h,
) {
  const i = old.first[g];
  const j = cut.first[h];
  const n = old.first[g + 1] - i;
  const units = old.units[g + 1] - old.units[g];
  if (cut.first[h + 1] - j !== n || cut.units[h + 1] - cut.units[h] !== units) return false;
  for (let d = 0; d < n; d++) {
    if (old.ids[i + d] !== cut.ids[j + d] || cut.ids[j + d] === PENDING) return false;
  }
  return true;
}

export class Painting {
  /**
   * @param {HTMLElement} paint empty, inside the scrolling `paintBox`
   * @param {HTMLElement} paintBox
   * @param {HTMLElement} list empty, inside the scrolling `listBox`
   * @param {HTMLElement} listBox
   */
  constructor(paint, paintBox, list, listBox) {
    this.sheet = new Sheet(paint, paintBox, list, listBox);
    this.mode = "position";
    /** Elements that are highlighted. @type {HTMLElement[]} */
    this.marked = [];
    this.clear();
  }

  get cut() {
    return this.sheet.cut;
  }

  clear() {
    this.sheet.clear();
    this.hot = -1; // the token that is pointed at
    this.picked = -1; // the token that was clicked
  }

  /** @param {string} mode of coloring, see hues.js */
  setMode(mode) {
    if (mode === this.mode) return;
    this.mode = mode;
    this.sheet.recolor(colorAll(this.cut, mode));
    this.mark();
  }

  /** Draw a cut. @param {Cut} cut */
  show(cut) {
    const { cut: old, hues: oldHues } = this.sheet;
    const most = Math.min(old.n, cut.n);
    let p = 0; // groups that are the same at both ends
    let s = 0;
    while (p < most && isSame(old, p, cut, p)) p++;
    while (s < most - p && isSame(old, old.n - 1 - s, cut, cut.n - 1 - s)) s++;
    if (this.picked >= old.first[p]) {
      const isInTail = this.picked >= old.first[old.n - s];
      this.picked = isInTail ? this.picked + cut.ids.length - old.ids.length : -1;
    }
    this.hot = -1;
    let hues;
    if (this.mode === "position") [hues, s] = colorOn(cut, oldHues, p, s);
    else {
      hues = colorAll(cut, this.mode);
      while (p > 0 && hues[p - 1] !== oldHues[p - 1]) p--;
      while (s > 0 && hues[cut.n - s] !== oldHues[old.n - s]) s--;
    }
    this.sheet.show(cut, hues, p, s);
    this.mark();
  }

  /** The visible part changed. */
  refresh() {
    this.sheet.refresh();
    this.mark();
  }

  // -- highlights ---------------------------------------------------------------------------------

  /** Highlight one token (-1: none) in both places. @param {number} token */
  highlight(token) {
    if (token === this.hot) return;
    this.hot = token;
    this.mark();
  }

  /** @param {number} token that was clicked */
  pick(token) {
    this.picked = token;
    this.mark();
  }

  mark() {
    for (const el of this.marked) el.classList.remove("hot", "picked");
    this.marked = [];
    this.markToken(this.picked, "picked");
    this.markToken(this.hot, "hot");
  }

  markToken(/** @type {number} */ token, /** @type {string} */ className) {
    if (token < 0 || token >= this.cut.ids.length) return;
    const elements = this.sheet.textElements(token);
    const id = this.sheet.idElement(token);
    if (id) elements.push(id);
    for (const element of elements) {
      element.classList.add(className);
      this.marked.push(element);
    }
  }
}
