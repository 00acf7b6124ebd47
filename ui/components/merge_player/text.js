// @ts-check
// The colored text. One integer per byte boundary (its join rank) gives the tokens at every step:
// a boundary stands as long as its rank >= the number of merges done. Only blocks (lines) with a boundary that changed,
// or a light that changed, are gone through again, and in them only the pieces that differ touch the page. While the
// text runs, blocks scrolled out of sight wait; they are caught up a few at a time once it rests, or when they are seen.

import { make } from "../shared/dom.js";
import { MARKS } from "../shared/marks.js";
import { measure } from "../shared/units.js";

const LIT_LEFT = 1;
const LIT_RIGHT = 2;
const LIT_NEW = 4;
export const LIT_SAME = 8;
const LIT_PINNED = 16;
const NEVER = 0x7fffffff;
const HUES = 8;
const LONG_LINE = 600; // bytes

export class TextView {
  /** ranks: int32, boundary i lies between bytes i and i+1. edges: byte offsets where pre-tokens end, or null. */
  constructor(box, store, data, ranks, edges) {
    this.box = box;
    this.store = store;
    this.byteIds = data.byte_ids;
    this.units = measure(data.text);
    this.total = this.units.total;
    this.goal = Math.max(1, data.goal);
    this.mode = "position";
    this.applied = 0;
    this.open = new Uint8Array(this.total + 1).fill(1); // boundary before byte i stands
    this.lit = new Uint8Array(this.total + 1); // LIT_* of the token that starts at byte i
    this.litStarts = [];
    this.edge = null;
    if (edges) {
      this.edge = new Uint8Array(this.total + 1);
      for (const byte of edges) if (byte <= this.total) this.edge[byte] = 1;
    }
    this.blocks = [];
    this.dirty = new Set();
    this.watch = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) target.block.seen = isIntersecting;
        if (this.dirty.size) this.paint();
      },
      { root: box, rootMargin: "20px" },
    );
    this.setRanks(ranks);
  }

  /** New ranks for the same text (training went on): boundaries erased so far stay erased. */
  setRanks(ranks) {
    const total = this.total;
    this.rank = new Int32Array(total + 1).fill(NEVER); // rank of the boundary before byte i
    for (let i = 1; i < total; i++) this.rank[i] = ranks[i - 1];
    const order = [];
    for (let i = 1; i < total; i++) if (this.rank[i] !== NEVER) order.push(i);
    order.sort((a, b) => this.rank[a] - this.rank[b] || a - b);
    this.order = Int32Array.from(order);
    this.erased = this.lower(this.applied);
    const cuts = this.cuts();
    if (
      !this.blocks.length ||
      cuts.length !== this.blocks.length ||
      cuts.some((at, i) => at !== this.blocks[i].start)
    ) {
      for (let i = 1; i < total; i++) this.open[i] = this.rank[i] >= this.applied ? 1 : 0;
      this.build(cuts);
      return;
    }
    for (let i = 1; i < total; i++) {
      const open = this.rank[i] >= this.applied ? 1 : 0;
      if (open !== this.open[i]) {
        this.open[i] = open;
        this.dirty.add(this.blockAt[i]);
      }
    }
  }

  /**
   * Where a new block begins: after a line break that no token ever crosses. A line too long to be laid out anew in
   * every frame is cut too, between pre-tokens and if possible after a sentence.
   */
  cuts() {
    const { units, total } = this;
    const cuts = total ? [0] : [];
    for (let unit = 1; unit < units.starts.length - 1; unit++) {
      const at = units.starts[unit];
      const before = units.text[units.offsets[unit] - 1];
      const length = at - cuts[cuts.length - 1];
      const end =
        before === "\n"
          ? this.rank[at] === NEVER
          : this.edge?.[at] &&
            ((length > LONG_LINE && /[.!?。！？؟।]/.test(before)) || length > 2 * LONG_LINE);
      if (end) cuts.push(at);
    }
    return cuts;
  }

  build(cuts) {
    this.watch.disconnect();
    this.dirty.clear();
    this.litStarts = [];
    this.lit.fill(0);
    this.box.textContent = "";
    this.blockAt = new Int32Array(this.total + 1);
    this.blocks = cuts.map((start, i) => {
      const node = make("div", "line");
      const end = i + 1 < cuts.length ? cuts[i + 1] : this.total;
      this.blockAt.fill(i, start, end);
      this.box.append(node);
      const block = { node, start, end, pieces: [], before: -1, last: -1, seen: true };
      node.block = block;
      return block;
    });
    this.repaint();
    this.paint();
    for (const { node } of this.blocks) this.watch.observe(node);
  }

  repaint() {
    this.blocks.forEach((_, i) => this.dirty.add(i));
  }

  setMode(mode) {
    this.mode = mode;
    this.repaint();
  }

  /** Index in `order` of the first boundary with rank >= k. */
  lower(k) {
    let low = 0;
    let high = this.order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rank[this.order[middle]] < k) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Bring the boundaries to the state after k merges: costs what lies between the two states, both ways. */
  apply(k) {
    const target = this.lower(k);
    while (this.erased < target) {
      const at = this.order[this.erased++];
      this.open[at] = 0;
      this.dirty.add(this.blockAt[at]);
    }
    while (this.erased > target) {
      const at = this.order[--this.erased];
      this.open[at] = 1;
      this.dirty.add(this.blockAt[at]);
    }
    this.applied = k;
  }

  tokenStart(byte) {
    while (byte > 0 && !this.open[byte]) byte--;
    return byte;
  }

  tokenEnd(byte) {
    do byte++;
    while (byte < this.total && !this.open[byte]);
    return byte;
  }

  /** Id of the token over bytes start..end: what the largest rank inside made, or the byte's own id. */
  idOf(start, end) {
    if (end - start === 1) return this.byteIds[this.units.bytes[start]];
    const top = this.topRank(start, end);
    if (top >= 0) return this.store.new[top] ?? -1;
    const { unitAt, offsets, text } = this.units;
    return this.store.special.get(text.slice(offsets[unitAt[start]], offsets[unitAt[end]])) ?? -1;
  }

  topRank(start, end) {
    let top = -1;
    for (let i = start + 1; i < end; i++) if (this.rank[i] > top) top = this.rank[i];
    return top;
  }

  /** Calls visit(start, end, id) for each token, in order. */
  tokens(visit) {
    for (let start = 0; start < this.total; ) {
      const end = this.tokenEnd(start);
      visit(start, end, this.idOf(start, end));
      start = end;
    }
  }

  /** Starts of right-hand tokens where (left, right) stand side by side inside one pre-token. */
  pairPlaces(left, right) {
    const places = [];
    let before = -1;
    this.tokens((start, end, id) => {
      const joinable = this.edge ? !this.edge[start] : this.rank[start] !== NEVER;
      if (id === right && before === left && start > 0 && joinable) places.push(start);
      before = id;
    });
    return places;
  }

  tokenPlaces(id) {
    const places = [];
    this.tokens((start, end, here) => {
      if (here === id) places.push(start);
    });
    return places;
  }

  /** Boundaries (right-hand starts) that merge `rank` erases in this text. */
  boundaries(rank) {
    return this.order.subarray(this.lower(rank), this.lower(rank + 1));
  }

  /** Put lights on tokens: marks = list of [byte where a token starts, LIT_*]. Replaces those before. */
  light(marks) {
    for (const at of this.litStarts) {
      this.lit[at] = 0;
      this.dirty.add(this.blockAt[at]);
    }
    this.litStarts = [];
    for (const [at, flag] of marks) {
      if (!this.lit[at]) this.litStarts.push(at);
      this.lit[at] |= flag;
      this.dirty.add(this.blockAt[at]);
    }
  }

  lightPair(places) {
    const marks = [];
    for (const at of places) marks.push([this.tokenStart(at - 1), LIT_LEFT], [at, LIT_RIGHT]);
    return marks;
  }

  lightNew(rank) {
    return Array.from(this.boundaries(rank), (at) => [this.tokenStart(at), LIT_NEW]);
  }

  /** Draw what changed and can be seen; the rest waits for catchUp. */
  paint() {
    for (const index of [...this.dirty].sort((a, b) => a - b)) {
      if (this.dirty.has(index) && this.blocks[index].seen) this.paintFrom(index);
    }
  }

  /** Draw blocks out of sight, for at most `ms`; true when nothing waits any more. */
  catchUp(ms) {
    const until = performance.now() + ms;
    for (const index of [...this.dirty].sort((a, b) => a - b)) {
      if (this.dirty.has(index)) this.paintFrom(index);
      if (performance.now() > until) break;
    }
    return !this.dirty.size;
  }

  destroy() {
    this.watch.disconnect();
  }

  paintFrom(index) {
    for (; index < this.blocks.length; index++) {
      const block = this.blocks[index];
      this.paintBlock(block);
      this.dirty.delete(index);
      // Two lines' ends must not share a color: go on only where the next line begins with ours.
      const next = this.blocks[index + 1];
      if (!next || !next.pieces.length || next.before === block.last) return;
      next.before = block.last;
      if (next.pieces[0].hue !== block.last && !next.pieces[0].bumped) return;
      if (!next.seen) {
        this.dirty.add(index + 1);
        return;
      }
    }
  }

  /** Bring one block's elements to the present tokens; pieces are matched by where they start. */
  paintBlock(block) {
    const { unitAt } = this.units;
    const old = block.pieces;
    const fresh = [];
    let j = 0;
    let hue = block.before;
    for (let start = block.start; start < block.end; ) {
      let end = start + 1;
      let tokens = 1;
      let lit = this.lit[start];
      for (; end < block.end; end++) {
        if (!this.open[end]) continue;
        if (unitAt[end] >= 0) break;
        tokens++; // a boundary inside a character cannot be drawn
        lit |= this.lit[end];
      }
      while (j < old.length && old[j].start < start) old[j++].node.remove();
      let piece;
      if (j < old.length && old[j].start === start) piece = old[j++];
      else {
        piece = {
          node: make("span"),
          start,
          end: -1,
          tokens: 0,
          style: "",
          hue: -1,
          bumped: false,
        };
        piece.node.piece = piece;
        block.node.insertBefore(piece.node, j < old.length ? old[j].node : null);
      }
      if (piece.end !== end || piece.tokens !== tokens) this.fill(piece, end, tokens);
      this.style(piece, lit, hue);
      hue = piece.hue;
      fresh.push(piece);
      start = end;
    }
    while (j < old.length) old[j++].node.remove();
    block.pieces = fresh;
    block.last = hue;
  }

  fill(piece, end, tokens) {
    const { unitAt, offsets, marked, rtl, text } = this.units;
    const { node, start } = piece;
    const from = unitAt[start];
    const to = unitAt[end];
    if (piece.end !== end) {
      if (marked[to] === marked[from]) node.textContent = text.slice(offsets[from], offsets[to]);
      else {
        node.textContent = "";
        let plain = from;
        const flush = (unit) => {
          if (plain < unit) node.append(text.slice(offsets[plain], offsets[unit]));
        };
        for (let unit = from; unit < to; unit++) {
          if (marked[unit + 1] === marked[unit]) continue;
          flush(unit);
          plain = unit + 1;
          const ch = text.slice(offsets[unit], offsets[unit + 1]);
          const mark = MARKS.get(ch);
          const sign = make("i", "w " + mark[2], ch);
          sign.dataset.m = mark[0];
          if (mark[2] === "label") sign.title = mark[1];
          node.append(sign);
        }
        flush(to);
      }
    }
    piece.end = end;
    piece.tokens = tokens;
    piece.rtl = rtl[to] > rtl[from];
    piece.top = this.topRank(start, end);
    piece.id = tokens === 1 ? this.idOf(start, end) : this.idOf(start, this.tokenEnd(start));
    piece.special = tokens === 1 && piece.top === -1 && end - start > 1;
    node.dataset.testid = "token";
    node.dataset.id = piece.id;
    node.dataset.start = start;
    node.dataset.end = end;
    if (tokens > 1) node.dataset.tokens = tokens;
    else delete node.dataset.tokens;
  }

  style(piece, lit, before) {
    const base = this.baseHue(piece);
    let hue = base;
    let name;
    if (this.mode === "position") while (hue === before) hue = (hue + 3) % HUES;
    piece.bumped = hue !== base;
    piece.hue = hue;
    if (piece.special) name = "t special";
    else if (this.mode === "brackets") name = "t bracket";
    else if (this.mode === "age")
      name = "t " + (hue < 0 ? "raw" : "a" + hue) + (hue === before ? " cut" : "");
    else name = "t c" + hue + (hue === before ? " cut" : "");
    if (piece.tokens > 1) name += " split";
    if (piece.rtl) name += " rtl";
    if (lit & LIT_LEFT) name += " pl";
    if (lit & LIT_RIGHT) name += " pr";
    if (lit & LIT_NEW) name += " new";
    if (lit & LIT_SAME) name += " same";
    if (lit & LIT_PINNED) name += " pinned";
    if (name !== piece.style) {
      piece.node.className = name;
      piece.style = name;
    }
  }

  baseHue(piece) {
    if (this.mode === "token") return Math.imul(piece.id + 1, 0x9e3779b1) >>> 29;
    if (this.mode === "age") {
      if (piece.top < 0) return -1;
      return Math.min(
        HUES - 1,
        Math.floor((HUES * Math.log(1 + piece.top)) / Math.log(2 + this.goal)),
      );
    }
    return this.units.unitAt[piece.start] % HUES;
  }

  /** Scroll so that one of the given places is seen, if none is. Blocks out of sight are not measured. */
  reveal(places, smooth) {
    if (!places.length) return;
    const frame = this.box.getBoundingClientRect();
    const place = (at) => {
      const index = this.blockAt[at];
      if (this.dirty.has(index)) this.paintFrom(index);
      return this.pieceAt(at).node.getBoundingClientRect();
    };
    for (const at of places) {
      if (!this.blocks[this.blockAt[at]].seen) continue;
      const { top, bottom } = place(at);
      if (top >= frame.top && bottom <= frame.bottom) return;
    }
    const shown = this.blocks.find((block) => block.seen) ?? this.blocks[0];
    const nearest = places.reduce((a, b) =>
      Math.abs(b - shown.start) < Math.abs(a - shown.start) ? b : a,
    );
    this.box.scrollTo({
      top: this.box.scrollTop + place(nearest).top - frame.top - frame.height / 3,
      behavior: smooth ? "smooth" : "auto",
    });
  }

  /** The drawn piece that holds byte `at`. */
  pieceAt(at) {
    const { pieces } = this.blocks[this.blockAt[at]];
    let low = 0;
    let high = pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (pieces[middle].start <= at) low = middle;
      else high = middle - 1;
    }
    return pieces[low];
  }
}
