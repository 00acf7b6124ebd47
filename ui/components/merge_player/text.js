// @ts-check
// The colored text. Only blocks (lines) with a boundary or a highlight that changed are gone
// through again, and in them only the groups that differ touch the page. While the text runs,
// blocks scrolled out of sight wait; they are caught up a few at a time once it rests, or when
// they are seen.
// Belongs here: which elements are brought up to date, and when. What an element shows: groups.js.

import { measure } from "../shared/clusters.js";
import { make } from "../shared/dom.js";
import { Boundaries, NEVER } from "./boundaries.js";
import { fillGroup, newGroup, styleGroup } from "./groups.js";

const LONG_LINE = 600; // bytes
const SENTENCE_END = /[.!?。！？؟।]/;

/**
 * Bytes start..end of the text in one element. before: hue of the group before its first one;
 * last: hue of its last one.
 * @typedef {{
 *   node: HTMLElement, start: number, end: number, groups: import("./groups.js").Group[],
 *   before: number, last: number, seen: boolean,
 * }} Block
 */

export class TextView {
  /**
   * @param {HTMLElement} box
   * @param {import("./trace.js").Trace} trace
   * @param {any} data as sent by Python
   * @param {ArrayLike<number>} ranks
   * @param {ArrayLike<number> | null} edges
   */
  constructor(box, trace, data, ranks, edges) {
    this.box = box;
    this.clusters = measure(data.text);
    this.boundaries = new Boundaries(this.clusters, trace, data.byte_ids, ranks, edges);
    this.total = this.clusters.total;
    this.look = {
      mode: "position",
      goal: Math.max(1, data.goal),
      clusterAt: this.clusters.clusterAt,
    };
    this.highlighted = new Uint8Array(this.total + 1); // flags of the token that starts at byte i
    /** @type {number[]} */
    this.highlightedStarts = [];
    /** @type {Block[]} */
    this.blocks = [];
    /** Blocks that are not up to date. @type {Set<number>} */
    this.dirty = new Set();
    this.watch = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          /** @type {any} */ (target).block.seen = isIntersecting;
        }
        if (this.dirty.size) this.paint();
      },
      { root: box, rootMargin: "20px" },
    );
    this.build(this.cuts());
  }

  destroy() {
    this.watch.disconnect();
  }

  // -- what is to be drawn ------------------------------------------------------------------------

  /** New ranks for the same text: training went on. @param {ArrayLike<number>} ranks */
  setRanks(ranks) {
    const changed = this.boundaries.setRanks(ranks);
    const cuts = this.cuts();
    const { blocks } = this;
    if (cuts.length === blocks.length && cuts.every((at, i) => at === blocks[i].start)) {
      for (const at of changed) this.dirty.add(this.blockAt[at]);
    } else this.build(cuts);
  }

  /** @param {string} mode "position", "token", "age" or "brackets" */
  setMode(mode) {
    this.look.mode = mode;
    this.repaint();
  }

  /** Merges asked for, which the colors by age are spread over. @param {number} goal */
  setGoal(goal) {
    this.look.goal = goal;
  }

  /** Go to the state after k merges. @param {number} k */
  go(k) {
    this.boundaries.go(k, (at) => this.dirty.add(this.blockAt[at]));
  }

  /**
   * Highlight tokens instead of those before: [byte where a token starts, flag of groups.js].
   * @param {[number, number][]} tokens
   */
  highlight(tokens) {
    for (const at of this.highlightedStarts) {
      this.highlighted[at] = 0;
      this.dirty.add(this.blockAt[at]);
    }
    this.highlightedStarts = [];
    for (const [at, flag] of tokens) {
      if (!this.highlighted[at]) this.highlightedStarts.push(at);
      this.highlighted[at] |= flag;
      this.dirty.add(this.blockAt[at]);
    }
  }

  // -- blocks -------------------------------------------------------------------------------------

  /**
   * Where a new block begins: after a line break that no token ever crosses. A line too long to be
   * laid out anew in every frame is cut too, between pre-tokens and if possible after a sentence.
   */
  cuts() {
    const { clusters, total } = this;
    const { rank, edge } = this.boundaries;
    const cuts = total ? [0] : [];
    for (let cluster = 1; cluster < clusters.starts.length - 1; cluster++) {
      const at = clusters.starts[cluster];
      const before = clusters.text[clusters.offsets[cluster] - 1];
      const length = at - cuts[cuts.length - 1];
      const isLong = length > (SENTENCE_END.test(before) ? 1 : 2) * LONG_LINE;
      if (before === "\n" ? rank[at] === NEVER : isLong && edge?.[at]) cuts.push(at);
    }
    return cuts;
  }

  /** Lay out all blocks anew. @param {number[]} cuts */
  build(cuts) {
    this.watch.disconnect();
    this.dirty.clear();
    this.highlightedStarts = [];
    this.highlighted.fill(0);
    this.box.textContent = "";
    this.blockAt = new Int32Array(this.total + 1); // block that holds byte i
    this.blocks = cuts.map((start, i) => {
      const node = make("div", "line");
      const end = i + 1 < cuts.length ? cuts[i + 1] : this.total;
      this.blockAt.fill(i, start, end);
      this.box.append(node);
      const block = { node, start, end, groups: [], before: -1, last: -1, seen: true };
      Object.assign(node, { block });
      return block;
    });
    this.repaint();
    this.paint();
    for (const { node } of this.blocks) this.watch.observe(node);
  }

  repaint() {
    this.blocks.forEach((_block, i) => {
      this.dirty.add(i);
    });
  }

  /** Draw what changed and can be seen; the rest waits for catchUp. */
  paint() {
    for (const index of this.waiting()) {
      if (this.dirty.has(index) && this.blocks[index].seen) this.paintFrom(index);
    }
  }

  /** Draw blocks out of sight, for at most `ms`; true when nothing waits any more. */
  catchUp(/** @type {number} */ ms) {
    const until = performance.now() + ms;
    for (const index of this.waiting()) {
      if (this.dirty.has(index)) this.paintFrom(index);
      if (performance.now() > until) break;
    }
    return !this.dirty.size;
  }

  waiting() {
    return [...this.dirty].sort((a, b) => a - b);
  }

  /** Draw a block, and the next ones as far as their colors depend on it. */
  paintFrom(/** @type {number} */ first) {
    for (let index = first; index < this.blocks.length; index++) {
      const block = this.blocks[index];
      this.paintBlock(block);
      this.dirty.delete(index);
      // Two lines' ends must not share a color: go on only where the next line begins with ours.
      const next = this.blocks[index + 1];
      if (!next?.groups.length || next.before === block.last) return;
      next.before = block.last;
      if (next.groups[0].hue !== block.last && !next.groups[0].bumped) return;
      if (!next.seen) {
        this.dirty.add(index + 1);
        return;
      }
    }
  }

  /** Bring a block's elements to the present tokens; groups are matched by where they start. */
  paintBlock(/** @type {Block} */ block) {
    const { highlighted } = this;
    const { clusterAt } = this.clusters;
    const { open } = this.boundaries;
    const old = block.groups;
    const fresh = [];
    let j = 0;
    let hue = block.before;
    for (let start = block.start; start < block.end; ) {
      let end = start + 1;
      let tokens = 1;
      let highlight = highlighted[start];
      for (; end < block.end; end++) {
        if (!open[end]) continue;
        if (clusterAt[end] >= 0) break;
        tokens++; // a boundary inside a character cannot be drawn
        highlight |= highlighted[end];
      }
      while (j < old.length && old[j].start < start) old[j++].node.remove();
      let group = old[j];
      if (group?.start === start) j++;
      else {
        group = newGroup(start);
        block.node.insertBefore(group.node, j < old.length ? old[j].node : null);
      }
      if (group.end !== end || group.tokens !== tokens) {
        fillGroup(group, end, tokens, this.boundaries);
      }
      styleGroup(group, highlight, hue, this.look);
      hue = group.hue;
      fresh.push(group);
      start = end;
    }
    while (j < old.length) old[j++].node.remove();
    block.groups = fresh;
    block.last = hue;
  }

  // -- from bytes to elements ---------------------------------------------------------------------

  /** The drawn group that holds byte `at`. */
  groupAt(/** @type {number} */ at) {
    const { groups } = this.blocks[this.blockAt[at]];
    let low = 0;
    let high = groups.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (groups[middle].start <= at) low = middle;
      else high = middle - 1;
    }
    return groups[low];
  }

  /**
   * Scroll so that one of the given places is seen, if none is. Blocks out of sight are not
   * measured.
   * @param {number[] | Int32Array} places bytes
   * @param {boolean} smooth
   */
  reveal(places, smooth) {
    if (!places.length) return;
    const frame = this.box.getBoundingClientRect();
    const measured = (/** @type {number} */ at) => {
      const index = this.blockAt[at];
      if (this.dirty.has(index)) this.paintFrom(index);
      return this.groupAt(at).node.getBoundingClientRect();
    };
    for (const at of places) {
      if (!this.blocks[this.blockAt[at]].seen) continue;
      const { top, bottom } = measured(at);
      if (top >= frame.top && bottom <= frame.bottom) return;
    }
    const { start } = this.blocks.find((block) => block.seen) ?? this.blocks[0];
    let nearest = places[0];
    for (const at of places) {
      if (Math.abs(at - start) < Math.abs(nearest - start)) nearest = at;
    }
    this.box.scrollTo({
      top: this.box.scrollTop + measured(nearest).top - frame.top - frame.height / 3,
      behavior: smooth ? "smooth" : "auto",
    });
  }
}
