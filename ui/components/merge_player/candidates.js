// @ts-check
// The candidates: bars of the most frequent pairs, and the sentence below them.

import { fillChip, spoken } from "../shared/chips.js";
import { make, makeButton, put } from "../shared/dom.js";
import { count } from "../shared/format.js";

/** @typedef {import("./trace.js").Trace} Trace */

const ENDINGS = {
  vocab_size: "Training ended here: the vocabulary has the size that was asked for.",
  no_pairs: "Training ended here: no pair is left to merge.",
  min_pair_count: "Training ended here: no pair is frequent enough.",
  stopped: "Training was stopped here.",
};

/**
 * @typedef {{
 *   phase: string, live: boolean, stopReason: string | null, tieBreak: string,
 *   pinned?: [number, number],
 * }} Options
 */

export class Candidates {
  /**
   * @param {(name: string) => any} ref
   * @param {import("./pointing.js").Pointing} pointing
   */
  constructor(ref, pointing) {
    this.list = ref("candidates");
    this.side = ref("side");
    this.caption = ref("caption");
    /** @type {ReturnType<Candidates["newRow"]>[]} */
    this.rows = [];
    this.trace = null;
    this.pointing = pointing;
  }

  newRow() {
    const button = makeButton("cand");
    const pair = make("span", "pair");
    const left = make("span", "tk");
    const right = make("span", "tk");
    const bar = make("span", "bar");
    const fill = make("i");
    const number = make("span", "n");
    const tie = make("em", "", "tie");
    button.dataset.testid = "candidate";
    bar.append(fill);
    pair.append(left, right);
    button.append(pair, bar, number, tie);
    /** @type {[number, number]} */
    const ids = [-1, -1];
    const row = { button, left, right, fill, number, tie, ids, count: -1 };
    this.pointing.listen(button, () => ({ pair: row.ids }));
    this.list.append(button);
    return row;
  }

  /**
   * Show the candidates before merge `next`.
   * @param {Trace} trace
   * @param {number} next
   * @param {Options} options
   */
  draw(trace, next, options) {
    const found = trace.candidates(next);
    const most = found.length ? found[0][2] : 1;
    const isNew = this.trace !== trace; // the same ids may stand for other tokens
    this.trace = trace;
    while (this.rows.length < found.length) this.rows.push(this.newRow());
    this.rows.forEach((row, i) => {
      row.button.hidden = i >= found.length;
      if (isNew) row.ids = [-1, -1];
      if (i >= found.length) return;
      const [left, right, n] = found[i];
      if (row.ids[0] !== left || row.ids[1] !== right) {
        row.ids = [left, right];
        fillChip(row.left, trace.binary[left], 10);
        fillChip(row.right, trace.binary[right], 10);
        row.button.dataset.left = String(left);
        row.button.dataset.right = String(right);
        row.count = -1;
      }
      if (row.count !== n) {
        row.count = n;
        put(row.number, count(n));
        const tokens = `${spoken(trace.binary[left])} and ${spoken(trace.binary[right])}`;
        const label = `${tokens}, ${n} ${n === 1 ? "place" : "places"}`;
        row.button.setAttribute("aria-label", label);
      }
      row.fill.style.transform = `scaleX(${n / most})`;
      row.button.classList.toggle("win", i === 0);
      row.tie.hidden = i === 0 || n !== most;
      const isPinned = options.pinned?.[0] === left && options.pinned[1] === right;
      row.button.setAttribute("aria-pressed", String(isPinned));
    });
    this.side.classList.toggle("none", !found.length);
    put(this.caption, this.sentence(trace, next, found, options));
  }

  /**
   * What decides between the candidates, or why there are none.
   * @param {Trace} trace
   * @param {number} next
   * @param {[number, number, number][]} found
   * @param {Options} options
   */
  sentence(trace, next, found, { phase, live, stopReason, tieBreak }) {
    if (!found.length) {
      if (live) return "Waiting for the next merge.";
      const nothing = "There is no pair to merge in this text.";
      return ENDINGS[stopReason] ?? (trace.n ? "Training ended here." : nothing);
    }
    const tied = trace.n_tied[next];
    const when = phase === "select" ? "now" : "next";
    const rule = tieBreak === "lowest_ids" ? "the lowest ids" : "the greater bytes";
    const first =
      tied > 1
        ? `${count(tied)} pairs tie at ${count(found[0][2])}: ${rule} merge ${when}.`
        : `The longest bar merges ${when}.`;
    return `${first} Hover a pair to see its places.`;
  }
}
