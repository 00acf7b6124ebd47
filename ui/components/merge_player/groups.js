// @ts-check
// Groups: what is drawn of the text as one element. Mostly a token; where a token ends inside a
// character, it is drawn together with the tokens that complete the character.
// Belongs here: one group's element, its text, color and highlights.

import { make } from "../shared/dom.js";
import { MARKS } from "../shared/marks.js";

const HUES = 8;

/** Why a token is highlighted, as flags. */
export const LEFT = 1; // the left-hand side of the pair
export const RIGHT = 2; // its right-hand side
export const NEW = 4; // made by the merge of this step
export const SAME = 8; // the token that is asked for

/** @type {[number, string][]} */
const CLASSES = [
  [LEFT, " pl"],
  [RIGHT, " pr"],
  [NEW, " new"],
  [SAME, " same"],
];

/**
 * start and end: in bytes. hue: as drawn; bumped: it had to differ from the hue before.
 * topRank: of the merge that made it, -1 for none.
 * @typedef {{
 *   node: HTMLElement, start: number, end: number, tokens: number, id: number, topRank: number,
 *   rtl: boolean, special: boolean, className: string, hue: number, bumped: boolean,
 * }} Group
 */

/** A group without text. @param {number} start @returns {Group} */
export function newGroup(start) {
  const node = make("span");
  const group = {
    node,
    start,
    end: -1,
    tokens: 0,
    id: -1,
    topRank: -1,
    rtl: false,
    special: false,
    className: "",
    hue: -1,
    bumped: false,
  };
  Object.assign(node, { group });
  return group;
}

/** The group that an element inside the text belongs to. @returns {Group | undefined} */
export const groupOf = (/** @type {any} */ node) => node.closest?.(".t")?.group;

/**
 * Give a group the tokens up to byte `end`.
 * @param {Group} group
 * @param {number} end
 * @param {number} tokens how many there are
 * @param {import("./boundaries.js").Boundaries} boundaries
 */
export function fillGroup(group, end, tokens, boundaries) {
  const { clusters } = boundaries;
  const { node, start } = group;
  const from = clusters.clusterAt[start];
  const to = clusters.clusterAt[end];
  if (group.end !== end) fillText(node, clusters, from, to);
  group.end = end;
  group.tokens = tokens;
  group.rtl = clusters.rtl[to] > clusters.rtl[from];
  group.topRank = boundaries.topRank(start, end);
  group.id = boundaries.idOf(start, tokens === 1 ? end : boundaries.tokenEnd(start));
  group.special = tokens === 1 && group.topRank === -1 && end - start > 1;
  const { dataset } = node;
  dataset.testid = "token";
  dataset.id = String(group.id);
  dataset.start = String(start);
  dataset.end = String(end);
  if (tokens > 1) dataset.tokens = String(tokens);
  else delete dataset.tokens;
}

/**
 * Put clusters from..to into an element, each that cannot be seen with its mark.
 * @param {HTMLElement} node
 * @param {import("../shared/clusters.js").Clusters} clusters
 * @param {number} from
 * @param {number} to
 */
function fillText(node, { offsets, marked, text }, from, to) {
  if (marked[to] === marked[from]) {
    node.textContent = text.slice(offsets[from], offsets[to]);
    return;
  }
  node.textContent = "";
  let plain = from;
  const flush = (/** @type {number} */ cluster) => {
    if (plain < cluster) node.append(text.slice(offsets[plain], offsets[cluster]));
  };
  for (let cluster = from; cluster < to; cluster++) {
    if (marked[cluster + 1] === marked[cluster]) continue;
    flush(cluster);
    plain = cluster + 1;
    const ch = text.slice(offsets[cluster], offsets[cluster + 1]);
    const [mark, name, kind] = MARKS.get(ch);
    const sign = make("i", `w ${kind}`, ch);
    sign.dataset.m = mark;
    if (kind === "label") sign.title = name;
    node.append(sign);
  }
  flush(to);
}

/**
 * Color a group and highlight it.
 * @param {Group} group
 * @param {number} highlight flags
 * @param {number} before hue of the group before it
 * @param {{ mode: string, goal: number, clusterAt: Int32Array }} look
 */
export function styleGroup(group, highlight, before, look) {
  const { mode } = look;
  const base = baseHue(group, look);
  let hue = base;
  if (mode === "position") while (hue === before) hue = (hue + 3) % HUES;
  group.bumped = hue !== base;
  group.hue = hue;
  const cut = hue === before ? " cut" : ""; // a line where the color does not tell them apart
  let name;
  if (group.special) name = "t special";
  else if (mode === "brackets") name = "t bracket";
  else if (mode === "age") name = `t ${hue < 0 ? "raw" : `a${hue}`}${cut}`;
  else name = `t c${hue}${cut}`;
  if (group.tokens > 1) name += " split";
  if (group.rtl) name += " rtl";
  for (const [flag, className] of CLASSES) if (highlight & flag) name += className;
  if (name === group.className) return;
  group.node.className = name;
  group.className = name;
}

/** The hue of a group by itself; -1 for none. */
function baseHue(/** @type {Group} */ group, /** @type {any} */ { mode, goal, clusterAt }) {
  if (mode === "token") return Math.imul(group.id + 1, 0x9e3779b1) >>> 29;
  if (mode !== "age") return clusterAt[group.start] % HUES;
  if (group.topRank < 0) return -1;
  const age = Math.log(1 + group.topRank) / Math.log(2 + goal);
  return Math.min(HUES - 1, Math.floor(HUES * age));
}
