// @ts-check
// The trace in the browser: merges and candidates by step, and the bytes of every token.
// No tokenizer: bytes are put together from left + right in the order of the merges.

import { decodeParts } from "../shared/bytes.js";
import { hex } from "../shared/format.js";

const COLUMNS = [
  "left",
  "right",
  "new",
  "pair_count",
  "merged",
  "corpus_tokens",
  "n_pairs",
  "n_tied",
];
const CANDIDATES = ["left", "right", "count"];

/** An Arrow column as a typed array (views into the message, no copy). */
export function column(table, name) {
  const vector = table && table.numRows ? table.getChild(name) : null;
  return vector ? vector.toArray() : new Int32Array(0);
}

function grown(array, size) {
  if (array instanceof Float64Array && array.length >= size) return array;
  const bigger = new Float64Array(Math.max(size, Math.min(size * 2, size + 65536), 1024));
  bigger.set(array);
  return bigger;
}

export class Trace {
  constructor(data) {
    this.topK = data.top_k;
    this.initialTokens = data.initial_tokens;
    this.corpusBytes = data.corpus_bytes;
    this.baseSize = 256 + Object.keys(data.special_tokens).length;
    this.binary = []; // id -> bytes
    this.birth = []; // id -> rank of the merge that first makes it
    this.special = new Map(); // text of a special token -> id
    data.byte_ids.forEach((id, byte) => {
      this.binary[id] = String.fromCharCode(byte);
    });
    const encoder = new TextEncoder();
    for (const [name, id] of Object.entries(data.special_tokens)) {
      this.special.set(name, id);
      this.binary[id] = String.fromCharCode(...encoder.encode(name));
    }
    this.texts = []; // id -> text for the filter
    this.clear();
  }

  clear() {
    for (const name of COLUMNS) this[name] = new Float64Array(0);
    this.cand = CANDIDATES.map(() => new Float64Array(0));
    this.have = new Uint8Array(0);
    this.n = 0; // rows known without a gap; what the player can show
    this.top = 0; // rows up to the last one known
  }

  /** Take rows first .. first+rows-1. Rows known already are written again: they are equal. */
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
    while (this.n < this.top && this.have[this.n]) {
      const rank = this.n++;
      const id = this.new[rank];
      if (this.binary[id] === undefined)
        this.binary[id] = this.binary[this.left[rank]] + this.binary[this.right[rank]];
      if (this.birth[id] === undefined) this.birth[id] = rank; // a merge may spell a token that exists already
    }
  }

  /** Candidates before merge `row` (0-based): [left, right, count], winner first. */
  candidates(row) {
    const out = [];
    const [left, right, counts] = this.cand;
    const from = row * this.topK;
    if (row >= this.n) return out;
    for (let i = from; i < from + this.topK && counts[i] > 0; i++)
      out.push([left[i], right[i], counts[i]]);
    return out;
  }

  /** Tokens of the whole training text after k merges. */
  tokens(k) {
    return k > 0 ? this.corpus_tokens[k - 1] : this.initialTokens;
  }

  bytesPerToken(k) {
    const tokens = this.tokens(k);
    return tokens > 0 ? this.corpusBytes / tokens : NaN;
  }

  text(id) {
    if (this.texts[id] === undefined && this.binary[id] !== undefined) {
      this.texts[id] = decodeParts(this.binary[id])
        .map((part) => (typeof part === "number" ? hex(part) : part))
        .join("");
    }
    return this.texts[id] ?? "";
  }
}
