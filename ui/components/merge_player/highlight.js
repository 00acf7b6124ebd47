// @ts-check
// What lights up in the text and the line below it that says why: the merge of this step, or what the visitor points at.

import { fillChip } from "../shared/chips.js";
import { make } from "../shared/dom.js";
import { count, hex } from "../shared/format.js";
import { LIT_SAME } from "./text.js";

const placesHere = (n) =>
  n === 0
    ? "No place in the text shown."
    : `${count(n)} ${n === 1 ? "place" : "places"} in the text shown.`;

export class Lamp {
  constructor(status) {
    this.status = status;
  }

  /**
   * Light what is asked for: { pair: [left, right] }, { id }, { piece } under the pointer or { id, at } pinned; with
   * nothing asked for, the merge of the player's step. Returns the lit places, as bytes. words: say it too.
   */
  show({ text, store, k, phase }, what, words) {
    const line = words ? this.status : make("p");
    line.textContent = "";
    if (what?.pair) {
      const [left, right] = what.pair;
      const places = text.pairPlaces(left, right);
      text.light(text.lightPair(places));
      line.append(
        this.chip(store, left),
        " + ",
        this.chip(store, right),
        `  ${placesHere(places.length)}`,
      );
      return places;
    }
    if (what) {
      const piece = what.piece ?? (what.at !== undefined ? text.pieceAt(what.at) : null);
      if (piece?.tokens > 1) return this.several(text, store, piece, line);
      const id = piece ? piece.id : what.id;
      const places = text.tokenPlaces(id);
      text.light(places.map((at) => [at, LIT_SAME]));
      this.biography(store, id, line);
      line.append(` · ${placesHere(places.length)}`);
      return places;
    }
    if (phase === "select") {
      // Every counted place, also one that an overlap keeps from being replaced.
      const places = text.edge
        ? text.pairPlaces(store.left[k - 1], store.right[k - 1])
        : Array.from(text.boundaries(k - 1));
      text.light(text.lightPair(places));
      line.append(placesHere(places.length));
      return places;
    }
    const marks = k > 0 ? text.lightNew(k - 1) : [];
    text.light(marks);
    if (k > 0)
      line.append(
        marks.length ? placesHere(marks.length) : "This merge has no place in the text shown.",
      );
    return marks.map(([at]) => at);
  }

  chip(store, id) {
    const node = make("span", "tk");
    fillChip(node, store.binary[id], 20);
    return node;
  }

  biography(store, id, line) {
    const binary = store.binary[id] ?? "";
    const rank = store.birth[id];
    const bytes = [...binary]
      .slice(0, 12)
      .map((ch) => hex(ch.charCodeAt(0)))
      .join(" ");
    line.append(this.chip(store, id), ` id ${id} · ${bytes}${binary.length > 12 ? " …" : ""} · `);
    if (rank !== undefined) {
      line.append(
        `merge ${count(rank + 1)}: `,
        this.chip(store, store.left[rank]),
        " + ",
        this.chip(store, store.right[rank]),
      );
    } else
      line.append(
        [...store.special.values()].includes(id)
          ? "special token, never merged"
          : "one byte, there from the start",
      );
  }

  /** A character (or a few) that several tokens share: name the tokens inside. */
  several(text, store, piece, line) {
    text.light([[piece.start, LIT_SAME]]);
    line.append(`${piece.tokens} tokens share what is drawn as one: `);
    let shown = 0;
    for (let at = piece.start; at < piece.end && shown < 12; shown++) {
      const end = text.tokenEnd(at);
      line.append(this.chip(store, text.idOf(at, end)));
      at = end;
    }
    if (piece.tokens > shown) line.append("…");
    return [piece.start];
  }
}
