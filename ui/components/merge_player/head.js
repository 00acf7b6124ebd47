// @ts-check
// The head of the card: which merge this step is, and what decided it.

import { fillChip, spoken } from "../shared/chips.js";
import { make, put } from "../shared/dom.js";
import { count } from "../shared/format.js";

/** @typedef {import("./trace.js").Trace} Trace */

/**
 * Which rule made this pair the winner, in words.
 * @param {Trace} trace
 * @param {number} rank
 * @param {string} tieBreak
 */
function decided(trace, rank, tieBreak) {
  const tied = trace.n_tied[rank];
  const pairs = trace.n_pairs[rank];
  if (tied > 1) {
    const rule = tieBreak === "lowest_ids" ? "lowest ids win" : "greater bytes win";
    return `tied with ${count(tied - 1)} other${tied > 2 ? "s" : ""}, ${rule}`;
  }
  return pairs > 1 ? `highest count of ${count(pairs)} pairs` : "the only pair left";
}

const bold = (/** @type {number} */ n) => make("b", "", count(n));

export class Head {
  /** @param {(name: string) => any} ref */
  constructor(ref) {
    this.step = ref("step");
    this.goal = ref("goal");
    this.pair = ref("chips");
    this.nothing = ref("nothing");
    this.facts = ref("facts");
    /** @type {HTMLElement[]} */
    this.chips = ["left", "right", "made"].map(ref);
    this.shown = "";
    this.trace = null;
  }

  /**
   * @param {Trace} trace
   * @param {number} k
   * @param {number} goal
   * @param {string} phase
   * @param {string} tieBreak
   */
  draw(trace, k, goal, phase, tieBreak) {
    put(this.step, count(k));
    put(this.goal, `of ${count(goal)}`);
    this.pair.hidden = k === 0;
    this.nothing.hidden = k > 0;
    this.pair.classList.toggle("selecting", phase === "select");
    const shown = `${k} ${tieBreak}`;
    if (this.shown === shown && this.trace === trace) return;
    this.shown = shown;
    this.trace = trace;
    this.facts.textContent = "";
    if (k === 0) this.drawBeginning(trace);
    else this.drawMerge(trace, k - 1, tieBreak);
  }

  drawBeginning(/** @type {Trace} */ trace) {
    const n = trace.initialTokens;
    put(this.nothing, `${trace.n ? "Nothing merged yet" : "No merges"}: every byte is a token.`);
    this.facts.append(bold(n), ` token${n === 1 ? "" : "s"}, one for each byte`);
  }

  drawMerge(
    /** @type {Trace} */ trace,
    /** @type {number} */ rank,
    /** @type {string} */ tieBreak,
  ) {
    const ids = [trace.left[rank], trace.right[rank], trace.new[rank]];
    const names = ["left token", "right token", "new token"];
    ids.forEach((id, i) => {
      const chip = this.chips[i];
      fillChip(chip, trace.binary[id], 16);
      chip.dataset.id = String(id);
      chip.setAttribute("aria-label", `${names[i]} ${spoken(trace.binary[id])}, id ${id}`);
    });
    const places = trace.pair_count[rank];
    const merged = trace.merged[rank];
    const isReused = trace.birth[ids[2]] !== rank;
    const reused = isReused ? ` · id ${ids[2]} spells the same and is used again` : "";
    this.facts.append(
      bold(places),
      ` place${places === 1 ? "" : "s"}, `,
      bold(merged),
      " replaced, ",
      bold(merged),
      ` token${merged === 1 ? "" : "s"} saved`,
      make("span", "rule", decided(trace, rank, tieBreak) + reused),
    );
  }

  /**
   * One sentence for screen readers.
   * @param {Trace} trace
   * @param {number} k
   * @param {number} goal
   * @param {string} tieBreak
   */
  sentence(trace, k, goal, tieBreak) {
    if (k === 0) return `Step 0 of ${goal}: every byte is a token.`;
    const rank = k - 1;
    const [left, right, made] = [trace.left[rank], trace.right[rank], trace.new[rank]].map((id) =>
      spoken(trace.binary[id]),
    );
    const [places, merged] = [trace.pair_count[rank], trace.merged[rank]];
    return (
      `Merge ${k} of ${goal}: ${left} plus ${right} makes ${made}. ` +
      `${places} places, ${merged} replaced, ${decided(trace, rank, tieBreak)}.`
    );
  }
}
