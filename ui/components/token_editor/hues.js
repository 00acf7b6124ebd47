// @ts-check
// Which hue each group of a cut has. Neighbors never have the same: where they would, by token or
// by age, they take turns between two shades.

/** @typedef {import("./cut.js").Cut} Cut */

export const HUES = 8;
export const OTHER_SHADE = 8; // added to a hue that is drawn in its other shade
const NO_HUE = 16;
const AGES = 254; // 1 for the first merges to 254 for the last ones; 0 and 255 are no merges

/**
 * The hues of all groups, from each group alone.
 * @param {Cut} cut
 * @param {string} mode "position", "token", "age" or "none"
 */
export function colorAll(cut, mode) {
  const hues = new Uint8Array(cut.n);
  let before = NO_HUE;
  for (let g = 0; g < cut.n; g++) {
    const token = cut.first[g];
    const age = cut.age[token];
    let hue = g % HUES;
    if (mode === "token") hue = (Math.imul(cut.ids[token] + 1, 2654435761) >>> 16) % HUES;
    else if (mode === "age") {
      const isMerged = age > 0 && age <= AGES;
      hue = isMerged ? 1 + Math.floor(((age - 1) * (HUES - 1)) / AGES) : 0;
    }
    before = hue === before ? hue + OTHER_SHADE : hue;
    hues[g] = before;
  }
  return hues;
}

/**
 * By position, after an edit: what stays keeps its hue, so that typing does not recolor the rest.
 * The first `p` and the last `s` groups are those of before. Returns the hues and how many of the
 * last groups have their hue of before: all, or one less.
 * @param {Cut} cut
 * @param {Uint8Array} old hues of the cut before
 * @param {number} p
 * @param {number} s
 * @returns {[Uint8Array, number]}
 */
export function colorOn(cut, old, p, s) {
  const hues = new Uint8Array(cut.n);
  const end = cut.n - s;
  hues.set(old.subarray(0, p));
  hues.set(old.subarray(old.length - s), end);
  for (let g = p; g < end; g++) hues[g] = g ? (hues[g - 1] + 1) % HUES : 0;
  if (end === 0 || end === cut.n || hues[end - 1] !== hues[end]) return [hues, s];
  const changed = end > p ? end - 1 : end;
  const left = changed ? hues[changed - 1] : NO_HUE;
  const right = changed + 1 < cut.n ? hues[changed + 1] : NO_HUE;
  let hue = (hues[changed] + 1) % HUES;
  while (hue === left || hue === right) hue = (hue + 1) % HUES;
  hues[changed] = hue;
  return [hues, changed === end ? s - 1 : s];
}
