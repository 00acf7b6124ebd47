// @ts-check
// The merge tree of a token: bytes side by side, and each merge above the middle of its parts.

import { make, makeShape } from "../shared/dom.js";
import { count } from "../shared/format.js";

const LEVEL = 50; // pixels between a merge and its parts, at the usual type size
const LINE_GAP = 12; // between the middle of a chip and its lines
const TOP = 14;
const BOTTOM = 30;
const LEAST_WIDTH = 60;
const REM = 16; // pixels

/**
 * x: in leaves, depth: in levels, both filled in here.
 * @typedef {{
 *   bytes: string, id: number, rank: number, parts?: [Node, Node], x?: number, depth?: number,
 * }} Node
 */

/** Place a node and what is below it from leaf `x` on; returns the next leaf. */
function place(
  /** @type {Node} */ node,
  /** @type {number} */ x,
  /** @type {number} */ depth,
  /** @type {Node[]} */ placed,
) {
  placed.push(node);
  node.depth = depth;
  if (!node.parts) {
    node.x = x;
    return x + 1;
  }
  let next = x;
  for (const part of node.parts) next = place(part, next, depth + 1, placed);
  node.x = (node.parts[0].x + node.parts[1].x) / 2;
  return next;
}

/**
 * The tree as an element.
 * @param {Node} root
 * @param {(node: Node) => HTMLElement} newChip
 */
export function mergeTree(root, newChip) {
  /** @type {Node[]} */
  const nodes = [];
  const leaves = place(root, 0, 0, nodes);
  const depth = Math.max(...nodes.map((node) => node.depth));
  const leafSizes = nodes.filter((node) => !node.parts).map((node) => node.bytes.length);
  const leafWidth = 26 + 9 * Math.min(6, Math.max(...leafSizes));
  const width = Math.max(leaves * leafWidth, LEAST_WIDTH);
  const height = depth * LEVEL + BOTTOM;
  const left = (width - leaves * leafWidth) / 2;
  const x = (/** @type {Node} */ node) => (node.x + 0.5) * leafWidth + left;
  const y = (/** @type {Node} */ node) => node.depth * LEVEL + TOP;

  const box = make("div", "tree");
  box.style.width = `${width / REM}rem`;
  box.style.height = `${height / REM}rem`;
  const svg = makeShape("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  box.append(svg);
  for (const node of nodes) {
    for (const part of node.parts ?? []) {
      const ends = { x1: x(node), y1: y(node) + LINE_GAP, x2: x(part), y2: y(part) - LINE_GAP };
      svg.append(makeShape("line", ends));
    }
    const chip = newChip(node);
    chip.style.left = `${(100 * x(node)) / width}%`;
    chip.style.top = `${(100 * y(node)) / height}%`;
    chip.title = `id ${node.id}, ${node.rank ? `merge ${count(node.rank)}` : "a byte"}`;
    box.append(chip);
  }
  return box;
}
