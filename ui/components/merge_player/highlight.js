// @ts-check
// What is highlighted in the text, and the line below it that says why: the merge of this step, or
// what the visitor points at.

import { fillChip } from "../shared/chips.js";
import { make } from "../shared/dom.js";
import { count, hex } from "../shared/format.js";
import { LEFT, NEW, RIGHT, SAME } from "./groups.js";

const MOST_BYTES = 12;
const MOST_TOKENS = 12;

const placesHere = (/** @type {number} */ n) =>
  n === 0
    ? "No place in the text shown."
    : `${count(n)} ${n === 1 ? "place" : "places"} in the text shown.`;

/**
 * What may be asked for: a pair of ids; every token of an id; the group under the pointer; or the
 * group that was at a byte when it was pinned.
 * @typedef {{
 *   pair?: [number, number], id?: number, at?: number, group?: import("./groups.js").Group,
 * }} Asked
 */

/** Both sides of a pair, from the starts of its right-hand tokens. */
function pairTokens(/** @type {any} */ boundaries, /** @type {number[] | Int32Array} */ places) {
  /** @type {[number, number][]} */
  const tokens = [];
  for (const at of places) {
    tokens.push([boundaries.tokenStart(at - 1), LEFT], [at, RIGHT]);
  }
  return tokens;
}

export class Highlight {
  /** @param {HTMLElement} status the line below the text */
  constructor(status) {
    this.status = status;
  }

  /**
   * Highlight what is asked for; with nothing asked for, the merge of the player's step. Returns
   * the highlighted places, as bytes.
   * @param {{ text: import("./text.js").TextView, trace: import("./trace.js").Trace }} shown
   * @param {{ k: number, phase: string }} at
   * @param {Asked | null} asked
   * @param {boolean} isSaid whether the line is written too
   * @returns {number[] | Int32Array}
   */
  show({ text, trace }, { k, phase }, asked, isSaid) {
    const line = isSaid ? this.status : make("p");
    line.textContent = "";
    if (asked?.pair) return this.pair(text, trace, asked.pair, line);
    if (asked) return this.token(text, trace, asked, line);
    if (phase === "select") return this.selected(text, trace, k - 1, line);
    return k > 0 ? this.fused(text, k - 1, line) : this.nothing(text);
  }

  /** Every place of a pair. */
  pair(text, trace, [left, right], line) {
    const places = text.boundaries.pairPlaces(left, right);
    text.highlight(pairTokens(text.boundaries, places));
    line.append(
      this.chip(trace, left),
      " + ",
      this.chip(trace, right),
      `  ${placesHere(places.length)}`,
    );
    return places;
  }

  /** Every place of a token, or the one group whose tokens share a character. */
  token(text, trace, asked, line) {
    const group = asked.group ?? (asked.at === undefined ? null : text.groupAt(asked.at));
    if (group?.tokens > 1) return this.several(text, trace, group, line);
    const id = group ? group.id : asked.id;
    const places = text.boundaries.tokenPlaces(id);
    text.highlight(places.map((at) => [at, SAME]));
    this.biography(trace, id, line);
    line.append(` · ${placesHere(places.length)}`);
    return places;
  }

  /** The pair that is about to fuse: every counted place, also one that an overlap keeps whole. */
  selected(text, trace, rank, line) {
    const { boundaries } = text;
    const places = boundaries.edge
      ? boundaries.pairPlaces(trace.left[rank], trace.right[rank])
      : boundaries.joinedBy(rank);
    text.highlight(pairTokens(boundaries, places));
    line.append(placesHere(places.length));
    return places;
  }

  /** The tokens that the merge of this step made. */
  fused(text, rank, line) {
    const { boundaries } = text;
    const starts = Array.from(boundaries.joinedBy(rank), (at) => boundaries.tokenStart(at));
    text.highlight(starts.map((at) => [at, NEW]));
    line.append(
      starts.length ? placesHere(starts.length) : "This merge has no place in the text shown.",
    );
    return starts;
  }

  nothing(text) {
    text.highlight([]);
    return [];
  }

  /** A character (or a few) that several tokens share: name the tokens inside. */
  several(text, trace, group, line) {
    const { boundaries } = text;
    text.highlight([[group.start, SAME]]);
    line.append(`${group.tokens} tokens share what is drawn as one: `);
    let shown = 0;
    for (let at = group.start; at < group.end && shown < MOST_TOKENS; shown++) {
      const end = boundaries.tokenEnd(at);
      line.append(this.chip(trace, boundaries.idOf(at, end)));
      at = end;
    }
    if (group.tokens > shown) line.append("…");
    return [group.start];
  }

  chip(trace, id) {
    const node = make("span", "tk");
    fillChip(node, trace.binary[id], 20);
    return node;
  }

  biography(trace, id, line) {
    const binary = trace.binary[id] ?? "";
    const rank = trace.birth[id];
    const bytes = Array.from(binary.slice(0, MOST_BYTES), (ch) => hex(ch.charCodeAt(0))).join(" ");
    const more = binary.length > MOST_BYTES ? " …" : "";
    line.append(this.chip(trace, id), ` id ${id} · ${bytes}${more} · `);
    if (rank !== undefined) {
      const [left, right] = [trace.left[rank], trace.right[rank]];
      line.append(
        `merge ${count(rank + 1)}: `,
        this.chip(trace, left),
        " + ",
        this.chip(trace, right),
      );
    } else if ([...trace.special.values()].includes(id)) {
      line.append("special token, never merged");
    } else line.append("one byte, there from the start");
  }
}
