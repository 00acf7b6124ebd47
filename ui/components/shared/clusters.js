// @ts-check
// Clusters of a text (grapheme clusters): what readers see as one character and is drawn as one.

import { utf8Length } from "./bytes.js";
import { MARKS, RTL } from "./marks.js";

const CLUSTERS = Intl.Segmenter ? new Intl.Segmenter("und", { granularity: "grapheme" }) : null;

/** @typedef {ReturnType<typeof measure>} Clusters */

/**
 * Cut a text into clusters, with their positions.
 *
 * offsets and starts: where each cluster starts in the string and in its UTF-8 bytes, with one more
 * entry for the end. clusterAt: the cluster that starts at each byte, -1 inside a cluster. marked
 * and rtl: how many clusters before each one need a mark or run right to left. seen: the marks that
 * occur.
 * @param {string} text
 */
export function measure(text) {
  const offsets = [0];
  const starts = [0];
  const marked = [0];
  const rtl = [0];
  /** @type {typeof MARKS} */
  const seen = new Map();
  const add = (/** @type {string} */ cluster) => {
    let bytes = 0;
    for (const ch of cluster) bytes += utf8Length(ch.codePointAt(0));
    const mark = MARKS.get(cluster);
    if (mark) seen.set(cluster, mark);
    offsets.push(offsets[offsets.length - 1] + cluster.length);
    starts.push(starts[starts.length - 1] + bytes);
    marked.push(marked[marked.length - 1] + (mark ? 1 : 0));
    rtl.push(rtl[rtl.length - 1] + (RTL.test(cluster) ? 1 : 0));
  };
  const clusters = CLUSTERS ? Array.from(CLUSTERS.segment(text), (part) => part.segment) : text;
  for (const cluster of clusters) {
    if (cluster === "\r\n") {
      add("\r");
      add("\n");
    } else add(cluster);
  }
  const total = starts[starts.length - 1];
  const clusterAt = new Int32Array(total + 1).fill(-1);
  starts.forEach((byte, cluster) => {
    clusterAt[byte] = cluster;
  });
  return {
    text,
    total,
    clusterAt,
    seen,
    bytes: new TextEncoder().encode(text),
    offsets: Int32Array.from(offsets),
    starts: Int32Array.from(starts),
    marked: Int32Array.from(marked),
    rtl: Int32Array.from(rtl),
  };
}
