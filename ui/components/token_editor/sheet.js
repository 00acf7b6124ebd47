// @ts-check
// The sheet: lines of text under the text area, and as many lines of ids beside it.
//
// One div per line; a line holds segments. Only segments near the visible part are live, that is
// cut into elements. (content-visibility would cost less still, but guess the heights of lines
// never seen, and then colors and letters part.) Only segments that changed are touched.
// Belongs here: lines, segments and which of them are live. What one of them shows: segments.js.

import { make } from "../shared/dom.js";
import { EMPTY_CUT, groupOfToken, groupsBelow } from "./cut.js";
import { Exchange } from "./elements.js";
import { fillIds, fillText, firstId, newSegment, placeText, segmentOf } from "./segments.js";

/** @typedef {import("./cut.js").Cut} Cut */
/** @typedef {import("./segments.js").Segment} Segment */

/**
 * Units u0..u1 and groups g0..g1 of the text, the first of which may have begun in the line before.
 * @typedef {{
 *   u0: number, u1: number, g0: number, g1: number, segments: Segment[],
 *   div: HTMLElement, idDiv: HTMLElement,
 * }} Line
 */

const SEGMENT = 128; // groups in a segment
const ALL_LIVE = 1000; // up to so many groups, all segments are live
const MOST_LIVE = 4000; // beyond so many elements, those far away become text again
const NEAR = 200; // pixels around the visible part
const MOST_LINES = 200; // that one token is highlighted in

export class Sheet {
  /**
   * @param {HTMLElement} paint empty, inside the scrolling `paintBox`
   * @param {HTMLElement} paintBox
   * @param {HTMLElement} list empty, inside the scrolling `listBox`
   * @param {HTMLElement} listBox
   */
  constructor(paint, paintBox, list, listBox) {
    this.paint = paint;
    this.paintBox = paintBox;
    this.list = list;
    this.listBox = listBox;
    this.clear();
  }

  clear() {
    this.paint.replaceChildren();
    this.list.replaceChildren();
    this.cut = EMPTY_CUT;
    this.hues = new Uint8Array(0);
    /** @type {Line[]} */
    this.lines = [];
    /** Segments whose text is live. @type {Set<Segment>} */
    this.liveText = new Set();
    /** Segments whose ids are live. @type {Set<Segment>} */
    this.liveIds = new Set();
    this.nLive = 0; // groups whose text is live
    this.isAllLive = true;
    this.exchange = new Exchange();
  }

  // -- lines --------------------------------------------------------------------------------------

  /**
   * Draw a cut. Its first `p` and last `s` groups are drawn already, in the same hues.
   * @param {Cut} cut
   * @param {Uint8Array} hues
   * @param {number} p
   * @param {number} s
   */
  show(cut, hues, p, s) {
    const old = this.cut;
    this.cut = cut;
    this.hues = hues;
    const { lines } = this;
    const headEnd = old.units[p];
    const tailStart = old.units[old.n - s];
    let a = 0; // lines that stay, at the beginning and at the end
    let b = 0;
    while (a < lines.length - 1 && lines[a].u1 <= headEnd) a++;
    while (b < lines.length - a && lines[lines.length - 1 - b].u0 > tailStart) b++;
    const changed = lines.slice(a, lines.length - b);
    const rest = lines.slice(lines.length - b);
    const du = cut.text.length - old.text.length;
    const dg = cut.n - old.n;
    for (const line of rest) {
      line.u0 += du;
      line.u1 += du;
      line.g0 += dg;
      line.g1 += dg;
    }
    if (cut.n - p - s > ALL_LIVE) {
      // Much is new: what is near is found anew.
      for (const line of changed) for (const segment of line.segments) this.forget(segment);
    }
    const from = a ? lines[a - 1].u1 : 0;
    const to = b ? rest[0].u0 : cut.text.length;
    const fresh = this.spans(from, to, b > 0).map(([u0, u1], i) =>
      changed[i]
        ? this.changeLine(changed[i], u0, u1, old, p, s)
        : this.newLine(u0, u1, rest[0] ?? null),
    );
    for (const line of changed.slice(fresh.length)) this.drop(line);
    this.lines = lines.slice(0, a).concat(fresh, rest);
    this.refresh();
  }

  /**
   * Units of the lines between two places. The text after its last line break is a line too, even
   * an empty one.
   */
  spans(/** @type {number} */ from, /** @type {number} */ to, /** @type {boolean} */ isRest) {
    const { text } = this.cut;
    /** @type {[number, number][]} */
    const spans = [];
    for (let u0 = from; u0 < to || !isRest; ) {
      const at = text.indexOf("\n", u0);
      const isOpen = at < 0 || at >= to;
      const u1 = isOpen ? to : at + 1;
      spans.push([u0, u1]);
      if (u1 === to && (isRest || isOpen)) break;
      u0 = u1;
    }
    return spans;
  }

  /** Groups of the units u0..u1. @returns {[number, number]} */
  groupsOf(/** @type {number} */ u0, /** @type {number} */ u1) {
    const { cut } = this;
    let g0 = groupsBelow(cut, u0);
    if (u0 < u1 && cut.units[g0] !== u0) g0--;
    return [g0, u0 < u1 ? groupsBelow(cut, u1) : g0];
  }

  /** @returns {Line} */
  newLine(/** @type {number} */ u0, /** @type {number} */ u1, /** @type {Line | null} */ before) {
    const [g0, g1] = this.groupsOf(u0, u1);
    const line = { u0, u1, g0, g1, segments: [], div: make("div", "ln"), idDiv: make("div", "il") };
    this.paint.insertBefore(line.div, before?.div ?? null);
    this.list.insertBefore(line.idDiv, before?.idDiv ?? null);
    this.resegment(line, 0, 0);
    return line;
  }

  /**
   * Make a line stand for the units u0..u1, keeping those of its segments that did not change.
   * @param {Line} line
   * @param {number} u0
   * @param {number} u1
   * @param {Cut} old
   * @param {number} p
   * @param {number} s
   */
  changeLine(line, u0, u1, old, p, s) {
    const { cut } = this;
    const [g0, g1] = this.groupsOf(u0, u1);
    const least = Math.min(line.g1 - line.g0, g1 - g0);
    let head = 0;
    let tail = 0;
    if (line.u0 === u0 && line.g0 === g0) head = Math.max(0, Math.min(p - g0, least));
    if (old.n - line.g1 === cut.n - g1 && old.text.length - line.u1 === cut.text.length - u1) {
      tail = Math.min(line.g1 - Math.max(line.g0, old.n - s), least - head);
      if (tail === least && !head) tail = least - 1; // its first group may begin elsewhere
    }
    Object.assign(line, { u0, u1, g0, g1 });
    this.resegment(line, head, Math.max(0, tail));
    return line;
  }

  drop(/** @type {Line} */ line) {
    for (const segment of line.segments) this.forget(segment);
    line.div.remove();
    line.idDiv.remove();
  }

  /** The line that holds unit `u`. @param {number} u */
  lineAt(u) {
    const { lines } = this;
    let a = 0;
    let b = lines.length - 1;
    while (a < b) {
      const m = (a + b + 1) >> 1;
      if (lines[m].u0 <= u) a = m;
      else b = m - 1;
    }
    return a;
  }

  /** Units in the line that holds unit `u`. @param {number} u */
  lineLength(u) {
    const line = this.lines[this.lineAt(u)];
    return line ? line.u1 - line.u0 : 0;
  }

  // -- segments -----------------------------------------------------------------------------------

  /**
   * Cut a line into segments, keeping those inside its first `head` and last `tail` groups.
   * @param {Line} line
   * @param {number} head
   * @param {number} tail
   */
  resegment(line, head, tail) {
    const old = line.segments;
    let i = 0;
    let j = old.length;
    let kept = 0;
    let keptEnd = 0;
    while (i < j && kept + old[i].n <= head) kept += old[i++].n;
    while (j > i && keptEnd + old[j - 1].n <= tail) keptEnd += old[--j].n;
    let left = line.g1 - line.g0 - kept - keptEnd;
    let g = line.g0 + kept;
    const fresh = [];
    const spare = old.slice(i, j);
    const next = old[j] ?? null;
    while (left > 0) {
      const n = left <= SEGMENT * 1.5 ? left : SEGMENT;
      const segment = spare.shift() ?? this.insertSegment(line, n, next);
      if (this.liveText.has(segment)) this.nLive += n - segment.n;
      segment.n = n;
      fresh.push(segment);
      if (this.cut.n <= ALL_LIVE) {
        this.enliven(segment);
        this.liveIds.add(segment);
      }
      this.fillText(segment, g);
      this.fillIds(segment, g);
      g += n;
      left -= n;
    }
    for (const segment of spare) {
      this.forget(segment);
      segment.el.remove();
      segment.idEl.remove();
    }
    line.segments = [...old.slice(0, i), ...fresh, ...old.slice(j)];
  }

  insertSegment(
    /** @type {Line} */ line,
    /** @type {number} */ n,
    /** @type {Segment | null} */ next,
  ) {
    const segment = newSegment(line, n);
    line.div.insertBefore(segment.el, next?.el ?? null);
    line.idDiv.insertBefore(segment.idEl, next?.idEl ?? null);
    return segment;
  }

  /** First group of a segment. @param {Segment} segment */
  start(segment) {
    let g = segment.line.g0;
    for (const other of segment.line.segments) {
      if (other === segment) break;
      g += other.n;
    }
    return g;
  }

  fillText(/** @type {Segment} */ segment, g0 = this.start(segment)) {
    const exchange = this.liveText.has(segment) ? this.exchange : null;
    fillText(segment, g0, this.cut, this.hues, exchange);
  }

  fillIds(/** @type {Segment} */ segment, g0 = this.start(segment)) {
    fillIds(segment, g0, this.cut, this.liveIds.has(segment) ? this.exchange : null);
  }

  /** Draw the text in other hues. @param {Uint8Array} hues */
  recolor(hues) {
    this.hues = hues;
    for (const segment of this.liveText) this.fillText(segment);
  }

  // -- what is live -------------------------------------------------------------------------------

  enliven(/** @type {Segment} */ segment) {
    if (this.liveText.has(segment)) return;
    this.liveText.add(segment);
    this.nLive += segment.n;
  }

  forget(/** @type {Segment} */ segment) {
    if (this.liveText.delete(segment)) this.nLive -= segment.n;
    this.liveIds.delete(segment);
  }

  /** Draw a segment's text and ids as elements, where they are not yet. */
  ensureText(/** @type {Segment} */ segment, g0 = this.start(segment)) {
    if (this.liveText.has(segment)) return;
    this.enliven(segment);
    this.fillText(segment, g0);
  }

  ensureIds(/** @type {Segment} */ segment, g0 = this.start(segment)) {
    if (this.liveIds.has(segment)) return;
    this.liveIds.add(segment);
    this.fillIds(segment, g0);
  }

  /** Cut what is near the visible part into elements, and bring their byte places up to date. */
  refresh() {
    const isSmall = this.cut.n <= ALL_LIVE;
    if (!isSmall) this.refreshNear();
    else if (!this.isAllLive) {
      for (const { segments } of this.lines) {
        for (const segment of segments) {
          this.ensureText(segment);
          this.ensureIds(segment);
        }
      }
    }
    this.isAllLive = isSmall;
    for (const segment of this.liveText) placeText(segment, this.start(segment), this.cut);
  }

  refreshNear() {
    const text = this.near(this.paintBox, "div", "el");
    for (const segment of text) this.ensureText(segment);
    if (this.nLive > MOST_LIVE) {
      for (const segment of without(this.liveText, text)) {
        this.liveText.delete(segment);
        this.nLive -= segment.n;
        this.fillText(segment);
      }
    }
    const ids = this.near(this.listBox, "idDiv", "idEl");
    for (const segment of ids) this.ensureIds(segment);
    if (this.liveIds.size > 2 * ids.length + 50) {
      for (const segment of without(this.liveIds, ids)) {
        this.liveIds.delete(segment);
        this.fillIds(segment);
      }
    }
  }

  /**
   * Segments near the visible part of a box.
   * @param {HTMLElement} box
   * @param {"div" | "idDiv"} lineName
   * @param {"el" | "idEl"} name
   */
  near(box, lineName, name) {
    const { lines } = this;
    const view = box.getBoundingClientRect();
    const top = view.top - NEAR;
    const bottom = view.bottom + NEAR;
    const place = (/** @type {HTMLElement} */ el) => el.getBoundingClientRect();
    /** @type {Segment[]} */
    const found = [];
    let a = 0;
    let b = lines.length;
    while (a < b) {
      const m = (a + b) >> 1;
      if (place(lines[m][lineName]).bottom < top) a = m + 1;
      else b = m;
    }
    for (; a < lines.length && place(lines[a][lineName]).top <= bottom; a++) {
      const { segments } = lines[a];
      if (segments.length === 1) found.push(segments[0]);
      else {
        for (const segment of segments) {
          const at = place(segment[name]);
          if (at.bottom >= top && at.top <= bottom) found.push(segment);
        }
      }
    }
    return found;
  }

  // -- from tokens to elements and back -----------------------------------------------------------

  /** First token of the group drawn by an element of the text, or -1. @param {any} element */
  tokenOfText(element) {
    const segment = segmentOf(element);
    if (!segment) return -1;
    return this.cut.first[this.start(segment) + segment.kids.indexOf(element)];
  }

  /** Token whose id an element of the list shows, or -1. @param {any} element */
  tokenOfId(element) {
    const segment = segmentOf(element);
    if (!segment) return -1;
    return firstId(segment, this.start(segment), this.cut) + segment.idKids.indexOf(element);
  }

  /** The segment of a line that holds a group, and its first group. */
  segmentAt(/** @type {Line} */ line, /** @type {number} */ g) {
    let g0 = line.g0;
    for (const segment of line.segments) {
      if (g < g0 + segment.n) return { segment, g0 };
      g0 += segment.n;
    }
    return null;
  }

  /** Elements that draw a token's group: one for each line it touches. @param {number} token */
  textElements(token) {
    const { cut, lines } = this;
    const g = groupOfToken(cut, token);
    /** @type {HTMLElement[]} */
    const found = [];
    if (g >= cut.n) return found;
    for (let l = this.lineAt(cut.units[g]); l < lines.length && found.length < MOST_LINES; l++) {
      const line = lines[l];
      if (line.u0 >= cut.units[g + 1] || line.g0 > g) break;
      const at = this.segmentAt(line, g);
      if (!at) continue;
      this.ensureText(at.segment, at.g0);
      const element = at.segment.kids[g - at.g0];
      if (element) found.push(element);
    }
    return found;
  }

  /** The element of a token's id, or null. @param {number} token */
  idElement(token) {
    const { cut } = this;
    const g = groupOfToken(cut, token);
    if (g >= cut.n) return null;
    const at = this.segmentAt(this.lines[this.lineAt(cut.units[g])], g);
    if (!at) return null;
    this.ensureIds(at.segment, at.g0);
    return at.segment.idKids[token - firstId(at.segment, at.g0, cut)] ?? null;
  }
}

/** What of a set is not in a list. */
function without(/** @type {Set<Segment>} */ all, /** @type {Segment[]} */ kept) {
  const keep = new Set(kept);
  return [...all].filter((segment) => !keep.has(segment));
}
