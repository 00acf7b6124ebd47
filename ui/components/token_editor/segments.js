// @ts-check
// Segments: up to some hundred groups of a line, in the text and in the list of ids. A live one is
// cut into elements, the others are plain text: their height is exact, their cost small.
// Belongs here: drawing one segment. Which ones there are and which are live: sheet.js.

import { make } from "../shared/dom.js";
import { textOf } from "./cut.js";
import { idClasses, idText, tokenElement } from "./elements.js";

/** @typedef {import("./cut.js").Cut} Cut */
/** @typedef {import("./elements.js").Drawn} Drawn */
/** @typedef {import("./elements.js").Exchange} Exchange */

/**
 * n: groups. el and idEl: its part of the text and of the list; kids and idKids: the elements of
 * its tokens there, null while they are plain text.
 * @typedef {{
 *   n: number, line: any, el: HTMLElement, idEl: HTMLElement,
 *   kids: Drawn[] | null, idKids: Drawn[] | null,
 * }} Segment
 */

/** @returns {Segment} */
export function newSegment(/** @type {any} */ line, /** @type {number} */ n) {
  const segment = { n, line, el: make("span"), idEl: make("span"), kids: null, idKids: null };
  Object.assign(segment.el, { segment });
  Object.assign(segment.idEl, { segment });
  return segment;
}

/** The segment that the element of a token or of an id lies in. @returns {Segment | undefined} */
export const segmentOf = (/** @type {any} */ element) => element.parentNode?.segment;

/**
 * Draw a segment's text, its first group being `g0`.
 * @param {Segment} segment
 * @param {number} g0
 * @param {Cut} cut
 * @param {Uint8Array} hues
 * @param {Exchange | null} exchange null: as plain text
 */
export function fillText(segment, g0, cut, hues, exchange) {
  const { el, line, n } = segment;
  if (!exchange) {
    const text = textOf(cut, g0, g0 + n, line);
    segment.kids = null;
    el.textContent = text.endsWith("\n") ? text.slice(0, -1) : text;
    return;
  }
  const keys = [];
  for (let g = g0; g < g0 + n; g++) {
    const ids = cut.ids.subarray(cut.first[g], cut.first[g + 1]);
    keys.push(`${ids}|${hues[g]}|${textOf(cut, g, g + 1, line)}`);
  }
  if (!segment.kids) {
    segment.kids = [];
    el.textContent = "";
  }
  exchange.exchange(el, segment.kids, keys, (k) => [tokenElement(cut, g0 + k, hues[g0 + k], line)]);
  placeText(segment, g0, cut);
}

/** Write where its tokens are, in bytes, on the elements of a segment. */
export function placeText(
  /** @type {Segment} */ segment,
  /** @type {number} */ g0,
  /** @type {Cut} */ cut,
) {
  let g = g0;
  for (const el of segment.kids) {
    const start = cut.first[g] ? cut.ends[cut.first[g] - 1] : 0;
    if (el.byte !== start) {
      el.byte = start;
      el.dataset.start = String(start);
      el.dataset.end = String(cut.ends[cut.first[g + 1] - 1]);
    }
    g++;
  }
}

/** First group of a segment whose ids it lists: one that starts in its line. */
const firstListed = (
  /** @type {Segment} */ segment,
  /** @type {number} */ g0,
  /** @type {Cut} */ cut,
) => (cut.units[g0] < segment.line.u0 ? g0 + 1 : g0);

/** First token whose id a segment lists. */
export const firstId = (
  /** @type {Segment} */ segment,
  /** @type {number} */ g0,
  /** @type {Cut} */ cut,
) => cut.first[firstListed(segment, g0, cut)];

/**
 * Draw a segment's ids, its first group being `g0`.
 * @param {Segment} segment
 * @param {number} g0
 * @param {Cut} cut
 * @param {Exchange | null} exchange null: as plain text
 */
export function fillIds(segment, g0, cut, exchange) {
  const { idEl } = segment;
  const from = firstListed(segment, g0, cut);
  const a = cut.first[from];
  const b = cut.first[g0 + segment.n];
  if (!exchange) {
    let text = "";
    for (let i = a; i < b; i++) text += `${idText(cut.ids[i])} `;
    segment.idKids = null;
    idEl.textContent = text;
    return;
  }
  const keys = [];
  const classes = [];
  for (let g = from, i = a; i < b; g++) {
    const isPart = cut.first[g + 1] - i > 1;
    for (; i < cut.first[g + 1]; i++) {
      const name = idClasses(isPart, cut.age[i]);
      classes.push(name);
      keys.push(`${cut.ids[i]} ${name}`);
    }
  }
  if (!segment.idKids) {
    segment.idKids = [];
    idEl.textContent = "";
  }
  exchange.exchange(idEl, segment.idKids, keys, (k) => [
    make("span", classes[k], idText(cut.ids[a + k])),
    document.createTextNode(" "),
  ]);
}
