// @ts-check
// A token's use over training as a chart: its places against the merges, as steps, since the
// number holds until a merge changes it.

import { makeShape } from "../shared/dom.js";
import { count } from "../shared/format.js";

const HEIGHT = 150;
const TOP = 22;
const BOTTOM = 26;
const SIDE = 8;
const USUAL_WIDTH = 440;
const BYTES = 256;

/**
 * The chart as an element.
 * @param {{
 *   n_merges: number, steps: number[], counts: number[], born: number, peak: number | null,
 *   most: number, sentence: string,
 * }} use
 * @param {number} room pixels
 */
export function useChart(use, room) {
  const width = Math.max(260, Math.min(560, room || USUAL_WIDTH));
  const floor = HEIGHT - BOTTOM;
  const last = use.n_merges;
  const most = Math.max(1, ...use.counts);
  // Early merges change most, so the axis is that of the vocabulary's size, logarithmic.
  const log = (/** @type {number} */ k) => Math.log((BYTES + k) / BYTES);
  const share = (/** @type {number} */ k) => (last ? log(k) / Math.max(log(last), 1e-9) : 0);
  const x = (/** @type {number} */ k) => SIDE + (width - 2 * SIDE) * share(k);
  const y = (/** @type {number} */ n) => floor - ((floor - TOP) * n) / most;

  const svg = makeShape("svg", {
    viewBox: `0 0 ${width} ${HEIGHT}`,
    role: "img",
    "aria-label": use.sentence,
  });
  svg.dataset.testid = "use-chart";
  const points = use.steps.map((k, i) => [x(k).toFixed(1), y(use.counts[i]).toFixed(1)]);
  const steps = points.map(([px, py], i) => (i ? `H${px}V${py}` : `M${px},${py}`));
  const path = `${steps.join("")}H${x(last)}`;
  svg.append(
    makeShape("line", { x1: SIDE, x2: width - SIDE, y1: floor, y2: floor, class: "axis" }),
    makeShape("path", { d: `${path}V${floor}H${x(use.steps[0])}Z`, class: "area" }),
    makeShape("path", { d: path, class: "line" }),
  );
  if (use.peak !== null) {
    const px = x(use.peak);
    const py = y(use.most);
    const anchor = px > width * 0.75 ? "end" : px < width * 0.2 ? "start" : "middle";
    const label = { x: px, y: Math.max(12, py - 8), "text-anchor": anchor };
    svg.append(
      makeShape("circle", { cx: px, cy: py, r: 4, class: "dot" }),
      makeShape("text", label, `most: ${count(use.most)}`),
    );
  }
  const tick = (
    /** @type {number} */ k,
    /** @type {string} */ text,
    /** @type {string} */ anchor,
  ) =>
    svg.append(
      makeShape("text", { x: x(k), y: HEIGHT - 8, "text-anchor": anchor, class: "tick" }, text),
    );
  tick(0, "0 merges", "start");
  tick(last, `${count(last)} merges`, "end");
  const born = x(use.born);
  const hasRoom = born > 110 && born < width - 130;
  if (use.born > 0 && hasRoom) tick(use.born, `merge ${count(use.born)}`, "middle");
  return svg;
}
