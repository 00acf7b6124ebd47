// @ts-check
// What outlives a player: where each one was, for when it is mounted anew (the visitor comes back
// from another page), and how the visitor likes it to look. Gone with the tab.

const KEY = Symbol.for("mergescope.merge_player");
const MOST = 30;

/** @type {Map<string, any>} */
const KEPT = globalThis[KEY] ?? new Map();
globalThis[KEY] = KEPT; // the module may be loaded again, what it kept stays

/** @param {string} name @param {any} value */
export function keep(name, value) {
  KEPT.delete(name);
  KEPT.set(name, value);
  if (KEPT.size > MOST) KEPT.delete(KEPT.keys().next().value);
}

/** @param {string} name @returns {any} */
export const kept = (name) => KEPT.get(name);
