// @ts-check
// The notes below the text: which marks occur in it, and where the drawing is cut.

import { make, put } from "../shared/dom.js";
import { count } from "../shared/format.js";

/** A number of bytes in words, with two or three digits. @param {number} n */
function size(n) {
  if (n < 1000) return `${count(n)} bytes`;
  const [value, unit] = n < 999500 ? [n / 1000, "kB"] : [n / 1e6, "MB"];
  return `${count(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))} ${unit}`;
}

/**
 * Say that only the beginning of the text is shown, if so.
 * @param {HTMLElement} note
 * @param {number} shown bytes
 * @param {number} total bytes of the whole training text
 */
export function showCut(note, shown, total) {
  const isCut = total > shown;
  const sizes = `First ${size(shown)} of ${size(total)} shown`;
  put(note, isCut ? `${sizes}; counts are for the whole text.` : "");
  note.hidden = !isCut;
}

/**
 * List the marks that occur in the text, each once.
 * @param {HTMLElement} legend
 * @param {import("../shared/clusters.js").Clusters} clusters
 * @param {boolean} isWanted
 */
export function showLegend(legend, clusters, isWanted) {
  const names = new Map();
  for (const [mark, name] of clusters.seen.values()) if (!names.has(mark)) names.set(mark, name);
  legend.textContent = "";
  for (const [mark, name] of names) {
    const entry = make("span");
    entry.append(make("i", "lab", mark), ` ${name}`);
    legend.append(entry);
  }
  legend.hidden = !isWanted || !names.size;
}
