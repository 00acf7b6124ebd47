// @ts-check
// One cut of a text, drawn line by line. Runs on every new `data` and on theme change.
//
// A token is a run of bytes, a drawing is a run of characters: where a token ends inside a
// character, it is drawn together with the tokens that complete the character, with their number.
// Everything is set as text, never as HTML.

import { fillChip } from "../shared/chips.js";
import { make, put } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { MARKS, RTL } from "../shared/marks.js";
import { measure } from "../shared/units.js";

const VIEWS = new WeakMap();
const POINTED = "token-view-pointed"; // event between the views of one page
const MARKED = 1;
const SPECIAL = 2;

/** [{from, to, start, end, tokens: [i, j)}]: places in the string, in its bytes, and the tokens. */
function drawable(text, ends) {
  const { unitAt, offsets } = measure(text);
  const groups = [];
  let first = 0;
  let start = 0;
  let from = 0;
  for (let i = 0; i < ends.length; i++) {
    const unit = unitAt[ends[i]];
    if (!(unit >= 0)) continue;
    groups.push({ from, to: offsets[unit], start, end: ends[i], first, last: i + 1 });
    first = i + 1;
    start = ends[i];
    from = offsets[unit];
  }
  return groups;
}

class TokenView {
  constructor(root) {
    this.root = root;
    this.top = make("p", "top");
    this.number = make("b");
    this.number.dataset.testid = "token-count";
    this.rate = make("span", "rate");
    this.top.append(this.number, " ", (this.unit = make("span")), this.rate);
    this.box = make("div", "box");
    this.box.tabIndex = 0;
    this.box.setAttribute("role", "group");
    this.says = make("p", "says");
    this.says.setAttribute("aria-live", "polite");
    root.append(this.top, this.box, this.says);
    this.hot = -1;
    this.box.addEventListener("pointerover", (e) => this.point(this.groupOf(e.target)));
    this.box.addEventListener("pointerleave", () => this.point(-1));
    this.box.addEventListener("click", (e) => this.point(this.groupOf(e.target)));
    this.box.addEventListener("blur", () => this.point(-1));
    this.box.addEventListener("keydown", (e) => this.key(e));
    this.listen = (e) => {
      if (e.detail.group === this.data.group) this.light(e.detail.start, e.detail.end);
    };
    document.addEventListener(POINTED, this.listen);
  }

  close() {
    document.removeEventListener(POINTED, this.listen);
  }

  show(data) {
    this.data = data;
    const column = (name) => data.tokens.getChild(name).toArray();
    this.ids = column("id");
    this.ends = column("end");
    this.hues = column("hue");
    this.flags = column("flags");
    this.bytes = new TextEncoder().encode(data.text);
    this.groups = drawable(data.text, this.ends);
    this.spans = [];
    put(this.number, count(data.n_tokens));
    put(this.unit, data.n_tokens === 1 ? "token" : "tokens");
    put(this.rate, data.n_tokens ? `${(data.n_bytes / data.n_tokens).toFixed(2)} bytes each` : "");
    this.box.setAttribute(
      "aria-label",
      `${data.name}: ${count(data.n_tokens)} tokens. Arrow keys walk through them.`,
    );
    const sheet = document.createDocumentFragment();
    let line = this.line(sheet);
    for (let g = 0; g < this.groups.length; g++) line = this.draw(g, line, sheet);
    if (!this.groups.length) sheet.append(make("p", "empty", "Nothing to cut yet."));
    this.box.replaceChildren(sheet);
    this.light(-1, -1);
  }

  line(sheet) {
    const line = make("div", "line");
    line.dir = "auto";
    sheet.append(line);
    return line;
  }

  /** Draw a group; a line break in it begins a new line, and the group goes on there. */
  draw(g, line, sheet) {
    const group = this.groups[g];
    const parts = this.data.text.slice(group.from, group.to).split(/(?<=\n)/);
    this.spans.push([]);
    parts.forEach((part, i) => {
      line.append(this.span(g, part, i === 0));
      if (part.endsWith("\n")) line = this.line(sheet);
    });
    return line;
  }

  span(g, part, isFirst) {
    const { first, last, start, end } = this.groups[g];
    const span = make("span");
    const flags = this.flags.subarray(first, last).reduce((a, b) => a | b, 0);
    let classes = `t c${this.hues[first]}`;
    if (flags & MARKED) classes += " marked";
    if (flags & SPECIAL) classes += " special";
    if (RTL.test(part)) classes += " rtl";
    if (isFirst) {
      span.dataset.testid = "token";
      span.dataset.id = this.ids.subarray(first, last).join(" ");
      span.dataset.start = start;
      span.dataset.end = end;
      if (last - first > 1) {
        classes += " split";
        span.dataset.n = last - first;
      }
    }
    span.className = classes;
    span.group = g;
    let plain = "";
    const flush = () => {
      if (plain) span.append(plain);
      plain = "";
    };
    const chars = [...part];
    chars.forEach((ch, i) => {
      const mark = MARKS.get(ch);
      const joins = /[\u200c\u200d\ufe00-\ufe0f]/.test(ch) && i > 0 && !MARKS.has(chars[i - 1]);
      if (!mark || ch === " " || joins) {
        plain += ch;
        return;
      }
      flush();
      span.append(
        make("i", mark[2] === "label" ? "lab" : "sp", mark[0] + (ch === "\t" ? "\t" : "")),
      );
    });
    flush();
    this.spans[g].push(span);
    return span;
  }

  // -- pointing ---------------------------------------------------------------------------------

  groupOf(node) {
    for (; node && node !== this.box; node = node.parentNode)
      if (node.group !== undefined) return node.group;
    return -1;
  }

  point(g) {
    if (g === this.hot) return;
    const { start, end } = g < 0 ? { start: -1, end: -1 } : this.groups[g];
    document.dispatchEvent(
      new CustomEvent(POINTED, { detail: { group: this.data.group, start, end } }),
    );
    this.hot = g;
  }

  key(e) {
    const n = this.groups.length;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (e.key === "Escape") this.point(-1);
    else if (step && n)
      this.point(
        this.hot < 0 ? (step > 0 ? 0 : n - 1) : Math.min(n - 1, Math.max(0, this.hot + step)),
      );
    else return;
    e.preventDefault();
    this.spans[this.hot]?.[0].scrollIntoView({ block: "nearest" });
  }

  /** Ring the tokens that touch bytes [start, end), and say what they are. */
  light(start, end) {
    this.hot = -1;
    const lit = [];
    this.groups.forEach((group, g) => {
      const on = group.start < end && group.end > start;
      if (on) lit.push(g);
      for (const span of this.spans[g]) span.classList.toggle("hot", on);
    });
    this.says.replaceChildren();
    if (!lit.length) return;
    const first = this.groups[lit[0]].first;
    const last = this.groups[lit[lit.length - 1]].last;
    for (let i = first; i < Math.min(last, first + 6); i++) {
      const chip = make("span", "chip");
      const text = make("span", "tk");
      fillChip(
        text,
        String.fromCharCode(...this.bytes.subarray(i ? this.ends[i - 1] : 0, this.ends[i])),
        16,
      );
      chip.append(text, make("span", "id", this.ids[i]));
      this.says.append(chip);
    }
    if (last - first > 6)
      this.says.append(make("span", "id", `and ${count(last - first - 6)} more`));
  }
}

export default function render({ parentElement, data }) {
  let view = VIEWS.get(parentElement);
  if (!view) VIEWS.set(parentElement, (view = new TokenView(parentElement.querySelector(".tv"))));
  view.show(data);
  return () => {
    view.close();
    VIEWS.delete(parentElement);
  };
}
