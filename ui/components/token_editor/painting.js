// @ts-check
// The colored text under the text area and the list of ids beside it.
//
// One div per line; a line holds segments of some hundred groups. Only segments near the visible
// part are cut into token elements, the others are plain text: their height is exact, their cost
// small. (content-visibility would cost less still, but guess the heights of lines never seen, and
// then colors and letters part.) A new cut is compared with the drawn one, and only segments that differ are touched.
// Everything is set as text, never as HTML.

import { make } from "../shared/dom.js";
import { MARKS } from "../shared/marks.js";
import { EMPTY_CUT, PENDING } from "./cut.js";

export const HUES = 8;
const OTHER_SHADE = 8;
const NO_HUE = 16;
const SEGMENT = 128; // groups in a segment
const ALL_LIVE = 1000; // up to so many groups, all segments are cut into elements
const MOST_LIVE = 4000; // beyond so many elements, those far away become text again
const NEAR = 200; // pixels around the visible part
const PAUSE = 1500; // ms without a change until what is out of sight is removed

// What gets a mark (MARKS is in merge_player/bytes.js), but for line breaks, which are classes.
export const MARKED = new RegExp(
  `[${[...MARKS.keys()]
    .filter((c) => c !== "\n")
    .map((c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"))
    .join("")}]`,
  "g",
);
const JOINER = /[\u200c\u200d\ufe00-\ufe0f]/;

/** Whether the marked character at `i` does its work unseen, between two characters. */
const unseen = (text, i) => i > 0 && JOINER.test(text[i]) && !MARKS.has(text[i - 1]);

/** Number of groups with starts below `u` in the ascending `units`. */
export function below(units, n, u) {
  let a = 0;
  let b = n;
  while (a < b) {
    const m = (a + b) >> 1;
    if (units[m] < u) a = m + 1;
    else b = m;
  }
  return a;
}

export class Painting {
  /** `paint` and `list` are empty elements inside the scrolling `paintBox` and `listBox`. */
  constructor(paint, paintBox, list, listBox) {
    Object.assign(this, {
      paint,
      paintBox,
      list,
      listBox,
      mode: "position",
      picked: -1,
      hot: -1,
      marked: [],
    });
    this.clear();
  }

  clear() {
    this.paint.replaceChildren();
    this.list.replaceChildren();
    this.cut = EMPTY_CUT;
    this.hues = new Uint8Array(0);
    this.lines = [];
    this.liveText = new Set();
    this.liveIds = new Set();
    this.nLive = 0;
    this.allLive = true;
    this.hot = this.picked = -1;
    this.buried = [];
  }

  // -- colors -----------------------------------------------------------------------------------

  setMode(mode) {
    if (mode === this.mode) return;
    this.mode = mode;
    this.hues = this.colorAll(this.cut);
    for (const segment of this.liveText) this.fillText(segment, this.start(segment));
    this.mark();
  }

  /** Hue of a group by token or by age; neighbors of one hue take turns between two shades. */
  colorAll(cut) {
    const hues = new Uint8Array(cut.n);
    for (let g = 0, before = NO_HUE; g < cut.n; g++) {
      const i = cut.first[g];
      const age = cut.age[i];
      let hue;
      if (this.mode === "token") hue = (Math.imul(cut.ids[i] + 1, 2654435761) >>> 16) % HUES;
      else if (this.mode === "age")
        hue = age && age < 255 ? 1 + Math.floor(((age - 1) * (HUES - 1)) / 254) : 0;
      else hue = g % HUES;
      hues[g] = before = hue === before ? hue + OTHER_SHADE : hue;
    }
    return hues;
  }

  /** By position: what stays keeps its hue, so that typing does not recolor the rest. */
  colorOn(cut, p, s) {
    const hues = new Uint8Array(cut.n);
    const end = cut.n - s;
    hues.set(this.hues.subarray(0, p));
    hues.set(this.hues.subarray(this.hues.length - s), end);
    const other = (g) => {
      const left = g ? hues[g - 1] : NO_HUE;
      const right = g + 1 < cut.n ? hues[g + 1] : NO_HUE;
      let hue = (hues[g] + 1) % HUES;
      while (hue === left || hue === right) hue = (hue + 1) % HUES;
      return hue;
    };
    for (let g = p; g < end; g++) hues[g] = g ? (hues[g - 1] + 1) % HUES : 0;
    if (end > 0 && end < cut.n && hues[end - 1] === hues[end]) {
      if (end > p) hues[end - 1] = other(end - 1);
      else {
        hues[end] = other(end);
        s--;
      }
    }
    return [hues, s];
  }

  // -- comparing --------------------------------------------------------------------------------

  /** Draw `cut`; what did not change stays untouched. */
  show(cut) {
    const old = this.cut;
    const most = Math.min(old.n, cut.n);
    const same = (g, h) => {
      const i = old.first[g];
      const j = cut.first[h];
      const k = old.first[g + 1] - i;
      if (
        cut.first[h + 1] - j !== k ||
        old.units[g + 1] - old.units[g] !== cut.units[h + 1] - cut.units[h]
      )
        return false;
      for (let d = 0; d < k; d++)
        if (old.ids[i + d] !== cut.ids[j + d] || cut.ids[j + d] === PENDING) return false;
      return true;
    };
    let p = 0;
    let s = 0;
    while (p < most && same(p, p)) p++;
    while (s < most - p && same(old.n - 1 - s, cut.n - 1 - s)) s++;
    const reach = [
      old.first[p],
      old.ids.length - old.first[old.n - s],
      cut.ids.length - old.ids.length,
    ];
    let hues;
    if (this.mode === "position") [hues, s] = this.colorOn(cut, p, s);
    else {
      hues = this.colorAll(cut);
      while (p > 0 && hues[p - 1] !== this.hues[p - 1]) p--;
      while (s > 0 && hues[cut.n - s] !== this.hues[old.n - s]) s--;
    }
    this.cut = cut;
    this.hues = hues;
    this.picked = this.moved(this.picked, old, ...reach);
    this.hot = -1;
    this.showLines(old, cut, p, s);
    this.refresh();
    this.mark();
  }

  moved(token, old, head, tail, shift) {
    if (token < 0 || token < head) return token;
    return token >= old.ids.length - tail ? token + shift : -1;
  }

  showLines(old, cut, p, s) {
    const lines = this.lines;
    const text = cut.text;
    const headEnd = old.units[p];
    const tailStart = old.units[old.n - s];
    let a = 0;
    let b = 0;
    while (a < lines.length - 1 && lines[a].u1 <= headEnd) a++;
    while (b < lines.length - a && lines[lines.length - 1 - b].u0 > tailStart) b++;
    const changed = lines.slice(a, lines.length - b);
    const rest = lines.slice(lines.length - b);
    const du = text.length - old.text.length;
    const dg = cut.n - old.n;
    for (const line of rest) {
      line.u0 += du;
      line.u1 += du;
      line.g0 += dg;
      line.g1 += dg;
    }
    if (cut.n - p - s > ALL_LIVE) {
      // much is new: what is near is found anew
      for (const line of changed) for (const segment of line.segments) this.forget(segment);
    }
    const from = a ? lines[a - 1].u1 : 0;
    const to = b ? rest[0].u0 : text.length;
    const fresh = [];
    const before = b ? rest[0] : null;
    for (let u0 = from; u0 < to || !b; ) {
      const at = text.indexOf("\n", u0);
      const open = at < 0 || at >= to;
      const u1 = open ? to : at + 1;
      fresh.push(this.line(u0, u1, changed[fresh.length], old, p, s, before));
      if (u1 === to && (b || open)) break;
      u0 = u1;
    }
    for (const line of changed.slice(fresh.length)) this.drop(line);
    this.lines = lines.slice(0, a).concat(fresh, rest);
  }

  drop(line) {
    for (const segment of line.segments) this.forget(segment);
    line.div.remove();
    line.idDiv.remove();
  }

  forget(segment) {
    if (this.liveText.delete(segment)) this.nLive -= segment.n;
    this.liveIds.delete(segment);
  }

  /** Make the line of units [u0, u1), out of `was` if given. */
  line(u0, u1, was, old, p, s, before) {
    const { cut } = this;
    let g0 = below(cut.units, cut.n, u0);
    if (u0 < u1 && cut.units[g0] !== u0) g0--;
    const g1 = u0 < u1 ? below(cut.units, cut.n, u1) : g0;
    if (!was) {
      const line = {
        u0,
        u1,
        g0,
        g1,
        segments: [],
        div: document.createElement("div"),
        idDiv: document.createElement("div"),
      };
      line.div.className = "ln";
      line.idDiv.className = "il";
      this.paint.insertBefore(line.div, before ? before.div : null);
      this.list.insertBefore(line.idDiv, before ? before.idDiv : null);
      this.resegment(line, 0, 0);
      return line;
    }
    const least = Math.min(was.g1 - was.g0, g1 - g0);
    let head = 0;
    let tail = 0;
    if (was.u0 === u0 && was.g0 === g0) head = Math.max(0, Math.min(p - g0, least));
    if (old.n - was.g1 === cut.n - g1 && old.text.length - was.u1 === cut.text.length - u1) {
      tail = Math.min(was.g1 - Math.max(was.g0, old.n - s), least - head);
      if (tail === least && !head) tail = least - 1; // its first piece may begin elsewhere
    }
    Object.assign(was, { u0, u1, g0, g1 });
    this.resegment(was, head, Math.max(0, tail));
    return was;
  }

  /** Cut a line into segments, keeping those inside its first `head` and last `tail` groups. */
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
    const next = old[j];
    while (left > 0) {
      const n = left <= SEGMENT * 1.5 ? left : SEGMENT;
      let segment = spare.shift();
      if (segment) {
        if (this.liveText.has(segment)) this.nLive += n - segment.n;
        segment.n = n;
      } else {
        segment = {
          n,
          line,
          el: document.createElement("span"),
          idEl: document.createElement("span"),
          kids: null,
          idKids: null,
        };
        segment.el.segment = segment.idEl.segment = segment;
        line.div.insertBefore(segment.el, next ? next.el : null);
        line.idDiv.insertBefore(segment.idEl, next ? next.idEl : null);
      }
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

  enliven(segment) {
    if (!this.liveText.has(segment)) {
      this.liveText.add(segment);
      this.nLive += segment.n;
    }
  }

  /** First group of a segment. */
  start(segment) {
    let g = segment.line.g0;
    for (const other of segment.line.segments) {
      if (other === segment) break;
      g += other.n;
    }
    return g;
  }

  // -- drawing ----------------------------------------------------------------------------------

  piece(g, line) {
    const { units, text } = this.cut;
    return text.slice(Math.max(units[g], line.u0), Math.min(units[g + 1], line.u1));
  }

  fillText(segment, g0) {
    const { cut, hues } = this;
    const { el, line, n } = segment;
    if (!this.liveText.has(segment)) {
      const text = cut.text.slice(
        Math.max(cut.units[g0], line.u0),
        Math.min(cut.units[g0 + n], line.u1),
      );
      segment.kids = null;
      el.textContent = text.endsWith("\n") ? text.slice(0, -1) : text;
      return;
    }
    const keys = [];
    for (let g = g0; g < g0 + n; g++) {
      const i = cut.first[g];
      keys.push(`${cut.ids.subarray(i, cut.first[g + 1])}|${hues[g]}|${this.piece(g, line)}`);
    }
    if (!segment.kids) {
      segment.kids = [];
      el.textContent = "";
    }
    this.exchange(el, segment.kids, keys, (k) => [this.token(g0 + k, line)]);
    this.place(segment, g0);
  }

  /** Make `kids` the elements of `keys`: what is equal at both ends stays, the rest is made anew. */
  exchange(parent, kids, keys, make) {
    const n = keys.length;
    let p = 0;
    let s = 0;
    while (p < n && p < kids.length && kids[p].drawn === keys[p]) p++;
    while (s < n - p && s < kids.length - p && kids[kids.length - 1 - s].drawn === keys[n - 1 - s])
      s++;
    const next = kids[kids.length - s] || null;
    const fresh = [];
    for (let k = p; k < n - s; k++) {
      const nodes = make(k);
      nodes[0].drawn = keys[k];
      fresh.push(nodes[0]);
      for (const node of nodes) parent.insertBefore(node, next);
    }
    for (const kid of kids.splice(p, kids.length - s - p, ...fresh)) this.bury(kid);
  }

  /**
   * Take an element out of sight at once and out of the document soon. While nothing is removed
   * from the page, Chromium undoes what was typed in one step instead of letter by letter.
   */
  bury(el) {
    el.className = "gone";
    delete el.dataset.testid;
    for (const node of el.childNodes) (node.firstChild || node).nodeValue = "";
    if (el.nextSibling && el.nextSibling.nodeValue === " ") el.nextSibling.nodeValue = "";
    this.buried.push(el);
    clearTimeout(this.sweeping);
    if (this.buried.length > 2000) this.sweep();
    else this.sweeping = setTimeout(() => this.sweep(), PAUSE);
  }

  sweep() {
    for (const el of this.buried) {
      if (el.nextSibling && el.nextSibling.nodeValue === "") el.nextSibling.remove();
      el.remove();
    }
    this.buried = [];
  }

  token(g, line) {
    const { cut } = this;
    const i = cut.first[g];
    const n = cut.first[g + 1] - i;
    const span = document.createElement("span");
    let text = this.piece(g, line);
    let classes = "t";
    if (cut.ids[i] === PENDING) classes += " pending";
    else {
      classes += ` c${this.hues[g] % HUES}`;
      if (this.hues[g] >= OTHER_SHADE) classes += " shade";
      if (cut.age[i] === 255) classes += " special";
      if (cut.units[g] < line.u0) classes += " goes-on";
      else {
        span.dataset.testid = "token";
        span.dataset.id = cut.ids.subarray(i, i + n).join(" ");
        if (n > 1) {
          classes += " multi";
          span.dataset.n = n;
        }
      }
    }
    if (text.endsWith("\n")) {
      classes += " newline";
      text = text.slice(0, -1);
    }
    let from = 0;
    if (n === 1 && text.startsWith(" ")) {
      classes += " lead";
      from = 1;
    }
    span.className = classes;
    MARKED.lastIndex = from;
    let at = 0;
    for (let m; text.length < 5000 && (m = MARKED.exec(text)); ) {
      if (unseen(text, m.index)) continue;
      if (m.index > at) span.append(text.slice(at, m.index));
      const [sign, , kind] = MARKS.get(m[0]);
      const mark = make("i", `mark ${kind}`, m[0]);
      mark.dataset.mark = sign;
      span.append(mark);
      at = m.index + 1;
    }
    if (at < text.length) span.append(text.slice(at));
    return span;
  }

  /** Write where its tokens are, in bytes, on the elements of a segment. */
  place(segment, g0) {
    const { cut } = this;
    let g = g0;
    for (const el of segment.kids) {
      const start = cut.first[g] ? cut.ends[cut.first[g] - 1] : 0;
      if (el.byte !== start) {
        el.byte = start;
        el.dataset.start = start;
        el.dataset.end = cut.ends[cut.first[g + 1] - 1];
      }
      g++;
    }
  }

  /** Tokens whose ids a segment lists: those of the groups that start in its line. */
  listed(segment, g0) {
    const { cut } = this;
    const from = cut.units[g0] < segment.line.u0 ? g0 + 1 : g0;
    return [cut.first[from], cut.first[g0 + segment.n]];
  }

  fillIds(segment, g0) {
    const { cut } = this;
    const [a, b] = this.listed(segment, g0);
    const { idEl } = segment;
    if (!this.liveIds.has(segment)) {
      let text = "";
      for (let i = a; i < b; i++) text += cut.ids[i] === PENDING ? "… " : cut.ids[i] + " ";
      segment.idKids = null;
      idEl.textContent = text;
      return;
    }
    const keys = [];
    const classes = [];
    for (let g = a < b ? (cut.first[g0] === a ? g0 : g0 + 1) : 0, i = a; i < b; g++) {
      const many = cut.first[g + 1] - i > 1;
      for (; i < cut.first[g + 1]; i++) {
        const name = "id" + (many ? " part" : "") + (cut.age[i] === 255 ? " special" : "");
        classes.push(name);
        keys.push(`${cut.ids[i]} ${name}`);
      }
    }
    if (!segment.idKids) {
      segment.idKids = [];
      idEl.textContent = "";
    }
    this.exchange(idEl, segment.idKids, keys, (k) => {
      const id = cut.ids[a + k];
      return [make("span", classes[k], id === PENDING ? "…" : id), document.createTextNode(" ")];
    });
  }

  // -- what is near the visible part -------------------------------------------------------------

  near(box, root, lineEl, segmentEl) {
    const view = box.getBoundingClientRect();
    const top = view.top - NEAR;
    const bottom = view.bottom + NEAR;
    const { lines } = this;
    const found = [];
    let a = 0;
    let b = lines.length;
    while (a < b) {
      const m = (a + b) >> 1;
      if (lines[m][lineEl].getBoundingClientRect().bottom < top) a = m + 1;
      else b = m;
    }
    for (; a < lines.length; a++) {
      const { segments } = lines[a];
      if (lines[a][lineEl].getBoundingClientRect().top > bottom) break;
      if (segments.length === 1) found.push(segments[0]);
      else
        for (const segment of segments) {
          const box_ = segment[segmentEl].getBoundingClientRect();
          if (box_.bottom >= top && box_.top <= bottom) found.push(segment);
        }
    }
    return found;
  }

  /** Cut what is near the visible part into elements, and bring their byte places up to date. */
  refresh() {
    if (this.cut.n > ALL_LIVE) {
      const text = this.near(this.paintBox, this.paint, "div", "el");
      for (const segment of text)
        if (!this.liveText.has(segment)) {
          this.enliven(segment);
          this.fillText(segment, this.start(segment));
        }
      if (this.nLive > MOST_LIVE) {
        const keep = new Set(text);
        for (const segment of [...this.liveText])
          if (!keep.has(segment)) {
            this.forgetText(segment);
          }
      }
      const ids = this.near(this.listBox, this.list, "idDiv", "idEl");
      for (const segment of ids)
        if (!this.liveIds.has(segment)) {
          this.liveIds.add(segment);
          this.fillIds(segment, this.start(segment));
        }
      if (this.liveIds.size > 2 * ids.length + 50) {
        const keep = new Set(ids);
        for (const segment of [...this.liveIds])
          if (!keep.has(segment)) {
            this.liveIds.delete(segment);
            this.fillIds(segment, this.start(segment));
          }
      }
    } else if (!this.allLive) this.enlivenAll();
    this.allLive = this.cut.n <= ALL_LIVE;
    for (const segment of this.liveText) this.place(segment, this.start(segment));
  }

  enlivenAll() {
    for (const { segments } of this.lines)
      for (const segment of segments) {
        if (this.liveText.has(segment) && this.liveIds.has(segment)) continue;
        this.enliven(segment);
        this.liveIds.add(segment);
        this.fillText(segment, this.start(segment));
        this.fillIds(segment, this.start(segment));
      }
  }

  forgetText(segment) {
    this.liveText.delete(segment);
    this.nLive -= segment.n;
    this.fillText(segment, this.start(segment));
  }

  // -- from places to elements and back ----------------------------------------------------------

  /** Group that holds a token. */
  groupOf(token) {
    let a = 0;
    let b = this.cut.n;
    while (a < b) {
      const m = (a + b) >> 1;
      if (this.cut.first[m + 1] <= token) a = m + 1;
      else b = m;
    }
    return a;
  }

  /** First token of the group drawn by an element of the text, or -1. */
  tokenOfText(el) {
    const segment = el.parentNode && el.parentNode.segment;
    if (!segment) return -1;
    return this.cut.first[this.start(segment) + segment.kids.indexOf(el)];
  }

  /** Token whose id an element of the list shows, or -1. */
  tokenOfId(el) {
    const segment = el.parentNode && el.parentNode.segment;
    if (!segment) return -1;
    return this.listed(segment, this.start(segment))[0] + segment.idKids.indexOf(el);
  }

  lineAt(u) {
    let a = 0;
    let b = this.lines.length - 1;
    while (a < b) {
      const m = (a + b + 1) >> 1;
      if (this.lines[m].u0 <= u) a = m;
      else b = m - 1;
    }
    return a;
  }

  /** Elements that draw a token's group: one for each line it touches. */
  textElements(token) {
    const { cut } = this;
    const g = this.groupOf(token);
    const found = [];
    if (g >= cut.n) return found;
    for (let l = this.lineAt(cut.units[g]); l < this.lines.length && found.length < 200; l++) {
      const line = this.lines[l];
      if (line.u0 >= cut.units[g + 1] || line.g0 > g) break;
      let at = line.g0;
      for (const segment of line.segments) {
        if (g < at + segment.n) {
          if (!this.liveText.has(segment)) {
            this.enliven(segment);
            this.fillText(segment, at);
          }
          const el = segment.kids[g - at];
          if (el) found.push(el);
          break;
        }
        at += segment.n;
      }
    }
    return found;
  }

  idElement(token) {
    const { cut } = this;
    const g = this.groupOf(token);
    if (g >= cut.n) return null;
    const line = this.lines[this.lineAt(cut.units[g])];
    let at = line.g0;
    for (const segment of line.segments) {
      if (g < at + segment.n) {
        if (!this.liveIds.has(segment)) {
          this.liveIds.add(segment);
          this.fillIds(segment, at);
        }
        return segment.idKids[token - this.listed(segment, at)[0]] || null;
      }
      at += segment.n;
    }
    return null;
  }

  /** Light one token (-1: none) in both places. */
  light(token) {
    if (token === this.hot) return;
    this.hot = token;
    this.mark();
  }

  pick(token) {
    this.picked = token;
    this.mark();
  }

  mark() {
    for (const el of this.marked) el.classList.remove("hot", "picked");
    this.marked = [];
    for (const [token, name] of [
      [this.picked, "picked"],
      [this.hot, "hot"],
    ]) {
      if (token < 0 || token >= this.cut.ids.length) continue;
      const id = this.idElement(token);
      for (const el of id ? [...this.textElements(token), id] : this.textElements(token)) {
        el.classList.add(name);
        this.marked.push(el);
      }
    }
  }
}
