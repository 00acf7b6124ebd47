// @ts-check
// A cut: from tokens to what can be drawn. A token is a run of bytes, a drawing is a run of
// characters: where a token ends inside a character (as readers see it: with its marks, joiners,
// flags), it is drawn together with the tokens that complete the character. Such a run is a group.
//
// Positions: "end" counts UTF-8 bytes, "unit" counts code units, the places in a JavaScript string.
// Belongs here: arrays and texts. Does not belong here: elements.

import { byteLength, isSurrogatePair, utf8Length } from "../shared/bytes.js";

export const PENDING = 0xffffffff; // id of text that was typed and has no tokens yet
const LONGEST_GROUP = 64; // tokens; endless runs of combining marks are cut here

/**
 * ids, ends, age: one entry for each token; ends are in bytes of the whole text. first: index of
 * each group's first token; units: where each group starts; both have one more entry, for the end.
 * n: groups. text: what the tokens cover.
 * @typedef {{
 *   text: string, ids: Uint32Array, ends: Uint32Array, age: Uint8Array,
 *   n: number, first: Uint32Array, units: Uint32Array,
 * }} Cut
 */

// -- characters as readers see them ---------------------------------------------------------------

const EXTENDS = /^(?:\p{M}|\u200c|\u200d|[\u{1f3fb}-\u{1f3ff}]|[\u{e0020}-\u{e007f}])/u;
const PICTURE = /^\p{Extended_Pictographic}/u;
const LETTER = /^\p{L}/u;
const LINKERS = new Set([0x94d, 0x9cd, 0xacd, 0xb4d, 0xc4d, 0xd4d]); // viramas that join letters
const isFlagHalf = (/** @type {string} */ text, /** @type {number} */ u) =>
  text.charCodeAt(u) === 0xd83c &&
  text.charCodeAt(u + 1) >= 0xdde6 &&
  text.charCodeAt(u + 1) <= 0xddff;

/** Whether readers see the characters left and right of `u` as one. */
function joins(/** @type {string} */ text, /** @type {number} */ u) {
  const c = text.charCodeAt(u);
  if (c < 0x300 || u === 0 || u >= text.length) return false;
  if (c >= 0x3400 && c < 0xd7b0) return false; // ideographs, Hangul syllables
  const next = text.slice(u, u + 2);
  const before = text.charCodeAt(u - 1);
  if (EXTENDS.test(next)) return before !== 10;
  if (before === 0x200d) return PICTURE.test(next);
  if (LINKERS.has(before)) return LETTER.test(next);
  if (before === 0x200c) return false;
  if (isFlagHalf(text, u)) {
    let halves = 0;
    for (let v = u - 2; v >= 0 && isFlagHalf(text, v); v -= 2) halves++;
    return halves % 2 === 1;
  }
  return c >= 0x1160 && c <= 0x11ff && before >= 0x1100 && before <= 0x11ff; // Hangul letters
}

// -- making a cut ---------------------------------------------------------------------------------

/**
 * Group the tokens of `text`.
 * @param {string} text
 * @param {Uint32Array} ids
 * @param {Uint32Array} ends
 * @param {Uint8Array} age
 * @returns {Cut}
 */
export function cutText(text, ids, ends, age) {
  const first = new Uint32Array(ids.length + 1);
  const units = new Uint32Array(ids.length + 1);
  let n = 0;
  let byte = 0;
  let u = 0;
  for (let i = 0; i < ids.length; i++) {
    const end = ends[i];
    while (byte < end && u < text.length) {
      const code = text.charCodeAt(u);
      const isPair = code >= 0xd800 && isSurrogatePair(text, u);
      byte += isPair ? 4 : utf8Length(code);
      u += isPair ? 2 : 1;
    }
    const isWhole = byte === end && (!joins(text, u) || i + 1 - first[n] >= LONGEST_GROUP);
    if (!isWhole && i < ids.length - 1) continue;
    n++;
    first[n] = i + 1;
    units[n] = u;
  }
  return {
    text: text.slice(0, u),
    ids,
    ends,
    age,
    n,
    first: first.slice(0, n + 1),
    units: units.slice(0, n + 1),
  };
}

export const EMPTY_CUT = cutText("", new Uint32Array(0), new Uint32Array(0), new Uint8Array(0));

// -- a cut between a keystroke and its answer -----------------------------------------------------

/**
 * How many units `a` and `b` share at their beginning, and then at their end.
 * @param {string} a
 * @param {string} b
 * @returns {[number, number]}
 */
export function sharedEnds(a, b) {
  const STRIDE = 4096; // long runs are compared at once
  const most = Math.min(a.length, b.length);
  let p = 0;
  let s = 0;
  while (p + STRIDE <= most && a.slice(p, p + STRIDE) === b.slice(p, p + STRIDE)) p += STRIDE;
  while (p < most && a.charCodeAt(p) === b.charCodeAt(p)) p++;
  const end = (/** @type {string} */ text) => text.slice(text.length - s - STRIDE, text.length - s);
  while (s + STRIDE <= most - p && end(a) === end(b)) s += STRIDE;
  while (s < most - p && a.charCodeAt(a.length - 1 - s) === b.charCodeAt(b.length - 1 - s)) s++;
  return [p, s];
}

/**
 * The cut to draw between a keystroke and its answer: the tokens that the edit from `before` to
 * `after` did not touch, and one pending token for the rest, at most `longest` units of it. The two
 * share `p` and `s` units at their ends. Null where nothing drawn changes.
 * @param {Cut} cut
 * @param {string} before
 * @param {string} after
 * @param {[number, number]} ends
 * @param {number} longest
 * @returns {Cut | null}
 */
export function editedCut(cut, before, after, [p, s], longest) {
  if (p >= cut.text.length && before.length > cut.text.length) return null;
  let a = 0; // groups that stay, before and after
  let b = cut.n;
  while (a < cut.n && cut.units[a + 1] <= p) a++;
  while (b > a && cut.units[b - 1] >= before.length - s) b--;
  const shift = after.length - before.length;
  const from = cut.units[a];
  const to = b < cut.n ? cut.units[b] + shift : cut.text.length + shift;
  const isTooLong = to - from > longest;
  const middle = after.slice(from, isTooLong ? from + longest : to);
  const end = isTooLong ? cut.n : b;
  const extra = middle ? 1 : 0; // the pending token, if any

  const headTokens = cut.first[a];
  const tailToken = cut.first[end];
  const nTokens = headTokens + extra + cut.ids.length - tailToken;
  const tail = headTokens + extra; // where the last tokens stand now
  const ids = new Uint32Array(nTokens);
  const ends = new Uint32Array(nTokens);
  const age = new Uint8Array(nTokens);
  for (const [now, then] of [
    [ids, cut.ids],
    [ends, cut.ends],
    [age, cut.age],
  ]) {
    now.set(then.subarray(0, headTokens));
    now.set(then.subarray(tailToken), tail);
  }
  const headEnd = headTokens ? cut.ends[headTokens - 1] : 0;
  const tailStart = tailToken ? cut.ends[tailToken - 1] : 0;
  const middleEnd = headEnd + byteLength(middle);
  if (extra) {
    ids[headTokens] = PENDING;
    ends[headTokens] = middleEnd;
  }
  for (let i = tail; i < nTokens; i++) ends[i] += middleEnd - tailStart;

  const n = a + extra + (cut.n - end);
  const first = new Uint32Array(n + 1);
  const units = new Uint32Array(n + 1);
  first.set(cut.first.subarray(0, a + 1));
  units.set(cut.units.subarray(0, a + 1));
  const unitShift = from + middle.length - cut.units[end];
  for (let g = end; g <= cut.n; g++) {
    first[g - end + a + extra] = cut.first[g] + tail - tailToken;
    units[g - end + a + extra] = cut.units[g] + unitShift;
  }
  return { text: after.slice(0, units[n]), ids, ends, age, n, first, units };
}

// -- finding in a cut -----------------------------------------------------------------------------

/** Number of groups that start below unit `u`. */
export function groupsBelow(/** @type {Cut} */ cut, /** @type {number} */ u) {
  let a = 0;
  let b = cut.n;
  while (a < b) {
    const m = (a + b) >> 1;
    if (cut.units[m] < u) a = m + 1;
    else b = m;
  }
  return a;
}

/** The group that holds a token. */
export function groupOfToken(/** @type {Cut} */ cut, /** @type {number} */ token) {
  let a = 0;
  let b = cut.n;
  while (a < b) {
    const m = (a + b) >> 1;
    if (cut.first[m + 1] <= token) a = m + 1;
    else b = m;
  }
  return a;
}

/** First token of the group that unit `u` lies in, or -1. */
export function tokenAtUnit(/** @type {Cut} */ cut, /** @type {number} */ u) {
  if (!cut.n || u > cut.units[cut.n]) return -1;
  return cut.first[Math.max(0, groupsBelow(cut, u + 1) - 1)];
}

/** Where a token starts, in bytes. */
export const tokenStart = (/** @type {Cut} */ cut, /** @type {number} */ token) =>
  token ? cut.ends[token - 1] : 0;

/** The bytes of a token, out of the text of its group. */
export function tokenBytes(/** @type {Cut} */ cut, /** @type {number} */ token) {
  const g = groupOfToken(cut, token);
  const bytes = new TextEncoder().encode(cut.text.slice(cut.units[g], cut.units[g + 1]));
  const base = tokenStart(cut, cut.first[g]);
  return bytes.slice(tokenStart(cut, token) - base, cut.ends[token] - base);
}

/**
 * The part of groups a..b that lies in a line.
 * @param {Cut} cut
 * @param {number} a
 * @param {number} b
 * @param {{ u0: number, u1: number }} line
 */
export const textOf = (cut, a, b, line) =>
  cut.text.slice(Math.max(cut.units[a], line.u0), Math.min(cut.units[b], line.u1));
