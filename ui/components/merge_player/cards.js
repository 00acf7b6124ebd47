// @ts-check
// The head of the card (which merge, and what decided it) and the bars of the most frequent pairs.

import { fillChip, spoken } from "../shared/chips.js";
import { make, put } from "../shared/dom.js";
import { count } from "../shared/format.js";

/** Which rule made this pair the winner, in words. */
function decided(store, rank, tieBreak) {
  const tied = store.n_tied[rank];
  const pairs = store.n_pairs[rank];
  const others = pairs > 1 ? `highest count of ${count(pairs)} pairs` : "the only pair left";
  if (!(tied > 1)) return others;
  const rule = tieBreak === "lowest_ids" ? "lowest ids win" : "greater bytes win";
  return `tied with ${count(tied - 1)} other${tied > 2 ? "s" : ""}, ${rule}`;
}

const ENDINGS = {
  vocab_size: "Training ended here: the vocabulary has the size that was asked for.",
  no_pairs: "Training ended here: no pair is left to merge.",
  min_pair_count: "Training ended here: no pair is frequent enough.",
  stopped: "Training was stopped here.",
};

export class Head {
  constructor(root) {
    this.step = root("step");
    this.goal = root("goal");
    this.chips = root("chips");
    this.nothing = root("nothing");
    this.facts = root("facts");
    this.tokens = ["left", "right", "made"].map(root);
    this.shown = null;
  }

  draw(store, k, goal, phase, tieBreak) {
    put(this.step, count(k));
    put(this.goal, `of ${count(goal)}`);
    this.chips.hidden = k === 0;
    this.nothing.hidden = k > 0;
    this.chips.classList.toggle("selecting", phase === "select");
    const shown = `${k} ${tieBreak}`;
    if (this.shown === shown) return;
    this.shown = shown;
    this.facts.textContent = "";
    const bold = (n) => make("b", "", count(n));
    if (k === 0) {
      put(
        this.nothing,
        store.n
          ? "Nothing merged yet: every byte is a token."
          : "No merges: every byte is a token.",
      );
      this.facts.append(
        bold(store.initialTokens),
        store.initialTokens === 1 ? " token, one for each byte" : " tokens, one for each byte",
      );
      return;
    }
    const rank = k - 1;
    const ids = [store.left[rank], store.right[rank], store.new[rank]];
    ids.forEach((id, i) => {
      const chip = this.tokens[i];
      fillChip(chip, store.binary[id], 16);
      chip.dataset.id = id;
      chip.setAttribute(
        "aria-label",
        `${["left token", "right token", "new token"][i]} ${spoken(store.binary[id])}, id ${id}`,
      );
    });
    const places = store.pair_count[rank];
    const merged = store.merged[rank];
    const reused = store.birth[ids[2]] !== rank;
    this.facts.append(
      bold(places),
      places === 1 ? " place, " : " places, ",
      bold(merged),
      " replaced, ",
      bold(merged),
      merged === 1 ? " token saved" : " tokens saved",
      make(
        "span",
        "rule",
        decided(store, rank, tieBreak) +
          (reused ? ` · id ${ids[2]} spells the same and is used again` : ""),
      ),
    );
  }

  /** One sentence for screen readers. */
  sentence(store, k, goal, tieBreak) {
    if (k === 0) return `Step 0 of ${goal}: every byte is a token.`;
    const rank = k - 1;
    const say = (id) => spoken(store.binary[id]);
    return (
      `Merge ${k} of ${goal}: ${say(store.left[rank])} plus ${say(store.right[rank])} makes ${say(store.new[rank])}. ` +
      `${store.pair_count[rank]} places, ${store.merged[rank]} replaced, ${decided(store, rank, tieBreak)}.`
    );
  }
}

export class Candidates {
  /** on.hover(pair or null), on.pin(pair) */
  constructor(root, on) {
    this.list = root("candidates");
    this.side = root("side");
    this.caption = root("caption");
    this.rows = [];
    this.on = on;
  }

  row(i) {
    while (this.rows.length <= i) {
      const button = make("button", "cand");
      const pair = make("span", "pair");
      const left = make("span", "tk");
      const right = make("span", "tk");
      const bar = make("span", "bar");
      const fill = make("i");
      const number = make("span", "n");
      const tie = make("em", "", "tie");
      button.type = "button";
      button.dataset.testid = "candidate";
      bar.append(fill);
      pair.append(left, right);
      button.append(pair, bar, number, tie);
      const row = { button, left, right, fill, number, tie, ids: [-1, -1], count: -1 };
      button.addEventListener("pointerenter", () => this.on.hover(row.ids));
      button.addEventListener("pointerleave", () => this.on.hover(null));
      button.addEventListener(
        "focus",
        () => button.matches(":focus-visible") && this.on.hover(row.ids),
      );
      button.addEventListener("blur", () => this.on.hover(null));
      button.addEventListener("click", () => this.on.pin(row.ids));
      this.list.append(button);
      this.rows.push(row);
    }
    return this.rows[i];
  }

  draw(store, next, options) {
    const found = store.candidates(next);
    const best = found.length ? found[0][2] : 1;
    found.forEach(([left, right, n], i) => {
      const row = this.row(i);
      row.button.hidden = false;
      if (row.ids[0] !== left || row.ids[1] !== right) {
        row.ids = [left, right];
        fillChip(row.left, store.binary[left], 10);
        fillChip(row.right, store.binary[right], 10);
        row.button.dataset.left = left;
        row.button.dataset.right = right;
        row.count = -1;
      }
      if (row.count !== n) {
        row.count = n;
        put(row.number, count(n));
        row.button.setAttribute(
          "aria-label",
          `${spoken(store.binary[left])} and ${spoken(store.binary[right])}, ${n} ${n === 1 ? "place" : "places"}`,
        );
      }
      row.fill.style.transform = `scaleX(${n / best})`;
      row.button.classList.toggle("win", i === 0);
      row.tie.hidden = i === 0 || n !== best;
      row.button.setAttribute(
        "aria-pressed",
        options.pinned && options.pinned[0] === left && options.pinned[1] === right
          ? "true"
          : "false",
      );
    });
    for (let i = found.length; i < this.rows.length; i++) this.rows[i].button.hidden = true;
    this.side.classList.toggle("none", !found.length);
    put(this.caption, this.sentence(store, next, found, options));
  }

  sentence(store, next, found, { phase, live, stopReason, tieBreak }) {
    if (!found.length) {
      if (live) return "Waiting for the next merge.";
      return (
        ENDINGS[stopReason] ??
        (store.n ? "Training ended here." : "There is no pair to merge in this text.")
      );
    }
    const tied = store.n_tied[next];
    const now = phase === "select";
    const rule = tieBreak === "lowest_ids" ? "the lowest ids" : "the greater bytes";
    const first =
      tied > 1
        ? `${count(tied)} pairs tie at ${count(found[0][2])}: ${rule} ${now ? "merge now" : "merge next"}.`
        : `The longest bar ${now ? "merges now" : "merges next"}.`;
    return `${first} Hover a pair to see its places.`;
  }
}
