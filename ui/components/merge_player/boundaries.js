// @ts-check
// The tokens of the text at every step, out of one integer for each byte boundary: its join rank.
// A boundary stands as long as its rank >= the number of merges done.
// Belongs here: what follows from the ranks. Does not belong here: how it is drawn (text.js).

/** Rank of a boundary that no merge erases. */
export const NEVER = 0x7fffffff;

export class Boundaries {
  /**
   * @param {import("../shared/clusters.js").Clusters} clusters the text
   * @param {import("./trace.js").Trace} trace
   * @param {number[]} byteIds id of each of the 256 bytes
   * @param {ArrayLike<number>} ranks boundary i lies between bytes i and i + 1
   * @param {ArrayLike<number> | null} edges byte offsets where pre-tokens end, if they are known
   */
  constructor(clusters, trace, byteIds, ranks, edges) {
    const { total } = clusters;
    this.clusters = clusters;
    this.trace = trace;
    this.byteIds = byteIds;
    this.total = total;
    this.step = 0; // merges done
    this.open = new Uint8Array(total + 1).fill(1); // 1: the boundary before byte i stands
    this.edge = null; // 1: a pre-token ends before byte i
    if (edges) {
      this.edge = new Uint8Array(total + 1);
      for (const byte of Array.from(edges)) if (byte <= total) this.edge[byte] = 1;
    }
    this.setRanks(ranks);
  }

  /**
   * Take new ranks of the same text (training went on) and stay at the same step. Returns the
   * bytes before which a boundary came or went.
   * @param {ArrayLike<number>} ranks
   */
  setRanks(ranks) {
    const { total } = this;
    this.rank = new Int32Array(total + 1).fill(NEVER); // rank of the boundary before byte i
    for (let i = 1; i < total; i++) this.rank[i] = ranks[i - 1];
    const order = [];
    for (let i = 1; i < total; i++) if (this.rank[i] !== NEVER) order.push(i);
    order.sort((a, b) => this.rank[a] - this.rank[b] || a - b);
    this.order = Int32Array.from(order); // boundaries as they go
    this.erased = this.lowerBound(this.step); // how many of them are gone
    const changed = [];
    for (let i = 1; i < total; i++) {
      const open = this.rank[i] >= this.step ? 1 : 0;
      if (open === this.open[i]) continue;
      this.open[i] = open;
      changed.push(i);
    }
    return changed;
  }

  /** Index in `order` of the first boundary with rank >= k. @param {number} k */
  lowerBound(k) {
    let low = 0;
    let high = this.order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rank[this.order[middle]] < k) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Go to the state after k merges, forward or back; costs what lies between the two states.
   * @param {number} k
   * @param {(at: number) => void} changed called with the byte after each boundary that changes
   */
  go(k, changed) {
    const target = this.lowerBound(k);
    while (this.erased < target) {
      const at = this.order[this.erased++];
      this.open[at] = 0;
      changed(at);
    }
    while (this.erased > target) {
      const at = this.order[--this.erased];
      this.open[at] = 1;
      changed(at);
    }
    this.step = k;
  }

  /** Start of the token that holds a byte. @param {number} byte */
  tokenStart(byte) {
    let at = byte;
    while (at > 0 && !this.open[at]) at--;
    return at;
  }

  /** End of the token that holds a byte. @param {number} byte */
  tokenEnd(byte) {
    let at = byte + 1;
    while (at < this.total && !this.open[at]) at++;
    return at;
  }

  /** Id of the token over bytes start..end: made at the largest rank inside, or the byte's own. */
  idOf(/** @type {number} */ start, /** @type {number} */ end) {
    if (end - start === 1) return this.byteIds[this.clusters.bytes[start]];
    const top = this.topRank(start, end);
    if (top >= 0) return this.trace.new[top] ?? -1;
    const { clusterAt, offsets, text } = this.clusters;
    return (
      this.trace.special.get(text.slice(offsets[clusterAt[start]], offsets[clusterAt[end]])) ?? -1
    );
  }

  /** Largest rank inside bytes start..end, -1 if there is none. */
  topRank(/** @type {number} */ start, /** @type {number} */ end) {
    let top = -1;
    for (let i = start + 1; i < end; i++) if (this.rank[i] > top) top = this.rank[i];
    return top;
  }

  /** Call visit(start, end, id) for each token, in order. */
  tokens(/** @type {(start: number, end: number, id: number) => void} */ visit) {
    for (let start = 0; start < this.total; ) {
      const end = this.tokenEnd(start);
      visit(start, end, this.idOf(start, end));
      start = end;
    }
  }

  /** Starts of right-hand tokens where (left, right) stand side by side inside one pre-token. */
  pairPlaces(/** @type {number} */ left, /** @type {number} */ right) {
    /** @type {number[]} */
    const places = [];
    let before = -1;
    this.tokens((start, _end, id) => {
      const joinable = this.edge ? !this.edge[start] : this.rank[start] !== NEVER;
      if (id === right && before === left && start > 0 && joinable) places.push(start);
      before = id;
    });
    return places;
  }

  /** Starts of all tokens of an id. @param {number} id */
  tokenPlaces(id) {
    /** @type {number[]} */
    const places = [];
    this.tokens((start, _end, here) => {
      if (here === id) places.push(start);
    });
    return places;
  }

  /** Starts of the right-hand tokens that merge `rank` joins in this text. @param {number} rank */
  joinedBy(rank) {
    return this.order.subarray(this.lowerBound(rank), this.lowerBound(rank + 1));
  }
}
