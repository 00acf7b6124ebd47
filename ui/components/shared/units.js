// @ts-check
// Units of a text: what readers see as one character (a grapheme cluster) and is drawn as one.

import { utf8Length } from "./bytes.js";
import { MARKS, RTL } from "./marks.js";

const CLUSTERS = Intl.Segmenter ? new Intl.Segmenter("und", { granularity: "grapheme" }) : null;

/** @typedef {ReturnType<typeof measure>} Units */

/**
 * Cut a text into units, with their positions.
 *
 * offsets and starts: where each unit starts in the string and in its UTF-8 bytes, with one more
 * entry for the end. unitAt: the unit that starts at each byte, -1 inside a unit. marked and rtl:
 * how many units before each one need a mark or run right to left. seen: the marks that occur.
 * @param {string} text
 */
export function measure(text) {
  const offsets = [0];
  const starts = [0];
  const marked = [0];
  const rtl = [0];
  /** @type {typeof MARKS} */
  const seen = new Map();
  const add = (/** @type {string} */ unit) => {
    let bytes = 0;
    for (const ch of unit) bytes += utf8Length(ch.codePointAt(0));
    const mark = MARKS.get(unit);
    if (mark) seen.set(unit, mark);
    offsets.push(offsets[offsets.length - 1] + unit.length);
    starts.push(starts[starts.length - 1] + bytes);
    marked.push(marked[marked.length - 1] + (mark ? 1 : 0));
    rtl.push(rtl[rtl.length - 1] + (RTL.test(unit) ? 1 : 0));
  };
  const clusters = CLUSTERS ? Array.from(CLUSTERS.segment(text), (part) => part.segment) : text;
  for (const cluster of clusters) {
    if (cluster === "\r\n") {
      add("\r");
      add("\n");
    } else add(cluster);
  }
  const total = starts[starts.length - 1];
  const unitAt = new Int32Array(total + 1).fill(-1);
  starts.forEach((byte, unit) => {
    unitAt[byte] = unit;
  });
  return {
    text,
    total,
    unitAt,
    seen,
    bytes: new TextEncoder().encode(text),
    offsets: Int32Array.from(offsets),
    starts: Int32Array.from(starts),
    marked: Int32Array.from(marked),
    rtl: Int32Array.from(rtl),
  };
}
