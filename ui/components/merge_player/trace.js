// @ts-check
// The trace in the browser: merges and candidates by step, and the bytes of every token.
// No tokenizer: bytes are put together from left + right in the order of the merges.

import { decodeParts } from "../shared/bytes.js";
import { hex } from "../shared/format.js";

const COLUMNS = /** @type {const} */ ([
  "left",
  "right",
  "new",
  "pair_count",
  "merged",
  "corpus_tokens",
  "n_pairs",
  "n_tied",
]);
const CANDIDATES = ["left", "right", "count"];

/** A column of numbers; typed arrays of any kind. @typedef {any} Column */

/** A column of an Arrow table, as a view into the message. @returns {Column} */
export function column(/** @type {any} */ table, /** @type {string} */ name) {
  const vector = table?.numRows ? table.getChild(name) : null;
  return vector ? vector.toArray() : new Int32Array(0);
}

/** `array` with room for `size` numbers; it grows in leaps. */
function grown(/** @type {Column} */ array, /** @type {number} */ size) {
  if (array instanceof Float64Array && array.length >= size) return array;
  const bigger = new Float64Array(Math.max(size, Math.min(size * 2, size + 65536), 1024));
  bigger.set(array);
  return bigger;
}

export class Trace {
  /** @param {any} data as sent by Python */
  constructor(data) {
    this.topK = data.top_k;
    this.initialTokens = data.initial_tokens;
    this.corpusBytes = data.corpus_bytes;
    this.baseSize = 256 + Object.keys(data.special_tokens).length;
    /** id -> bytes. @type {string[]} */
    this.binary = [];
    /** id -> rank of the merge that first makes it. @type {number[]} */
    this.birth = [];
    /** Text of a special token -> id. @type {Map<string, number>} */
    this.special = new Map();
    /** id -> text that the filter looks at. @type {string[]} */
    this.texts = [];
    data.byte_ids.forEach((id, byte) => {
      this.binary[id] = String.fromCharCode(byte);
    });
    const encoder = new TextEncoder();
    for (const [name, id] of Object.entries(data.special_tokens)) {
      this.special.set(name, id);
      this.binary[id] = String.fromCharCode(...encoder.encode(name));
    }
    /** @type {Column} */ this.left = [];
    /** @type {Column} */ this.right = [];
    /** @type {Column} */ this.new = [];
    /** @type {Column} */ this.pair_count = [];
    /** @type {Column} */ this.merged = [];
    /** @type {Column} */ this.corpus_tokens = [];
    /** @type {Column} */ this.n_pairs = [];
    /** @type {Column} */ this.n_tied = [];
    /** Of the candidates: left, right, count. @type {Column[]} */
    this.cand = CANDIDATES.map(() => new Float64Array(0));
    this.have = new Uint8Array(0); // 1: this row is known
    this.n = 0; // rows known without a gap; what the player can show
    this.top = 0; // rows up to the last one known
  }

  /**
   * Take the rows from `first` on. Rows known already are written again: they are equal.
   * @param {number} first
   * @param {any} merges
   * @param {any} candidates
   */
  take(first, merges, candidates) {
    const columns = COLUMNS.map((name) => column(merges, name));
    const tables = CANDIDATES.map((name) => column(candidates, name));
    const rows = columns[0].length;
    const end = first + rows;
    if (first === 0 && rows >= this.top) {
      COLUMNS.forEach((name, i) => {
        this[name] = columns[i];
      });
      this.cand = tables;
      this.have = new Uint8Array(rows).fill(1);
    } else {
      COLUMNS.forEach((name, i) => {
        this[name] = grown(this[name], end);
        this[name].set(columns[i], first);
      });
      tables.forEach((values, i) => {
        this.cand[i] = grown(this.cand[i], end * this.topK);
        this.cand[i].set(values, first * this.topK);
      });
      if (this.have.length < end) {
        const have = new Uint8Array(Math.max(end, this.have.length * 2));
        have.set(this.have);
        this.have = have;
      }
      this.have.fill(1, first, end);
    }
    this.top = Math.max(this.top, end);
    while (this.n < this.top && this.have[this.n]) this.learn(this.n++);
  }

  /** Note what the merge `rank` makes. It may spell a token that exists already. */
  learn(/** @type {number} */ rank) {
    const id = this.new[rank];
    this.binary[id] ??= this.binary[this.left[rank]] + this.binary[this.right[rank]];
    this.birth[id] ??= rank;
  }

  /**
   * Candidates before merge `row` (0-based), the winner first: left, right, count.
   * @param {number} row
   */
  candidates(row) {
    /** @type {[number, number, number][]} */
    const out = [];
    if (row >= this.n) return out;
    const [left, right, counts] = this.cand;
    const from = row * this.topK;
    for (let i = from; i < from + this.topK && counts[i] > 0; i++) {
      out.push([left[i], right[i], counts[i]]);
    }
    return out;
  }

  /** Tokens of the whole training text after k merges. @param {number} k */
  tokens(k) {
    return k > 0 ? this.corpus_tokens[k - 1] : this.initialTokens;
  }

  /** @param {number} k */
  bytesPerToken(k) {
    const tokens = this.tokens(k);
    return tokens > 0 ? this.corpusBytes / tokens : NaN;
  }

  /** A token as text, bytes that make no character in hexadecimal. @param {number} id */
  text(id) {
    const binary = this.binary[id];
    if (this.texts[id] === undefined && binary !== undefined) {
      const parts = decodeParts(binary);
      this.texts[id] = parts.map((part) => (typeof part === "number" ? hex(part) : part)).join("");
    }
    return this.texts[id] ?? "";
  }
}
