// @ts-check
// The token view: one cut of a text, drawn line by line.
//
// A token is a run of bytes, a drawing is a run of characters: where a token ends inside a
// character, it is drawn together with the tokens that complete the character, with their number.
// Such a run is a group here. Everything is set as text, never as HTML.

import { fillChip } from "../shared/chips.js";
import { measure } from "../shared/clusters.js";
import { make, put } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { joinsUnseen, MARKS, RTL } from "../shared/marks.js";

const POINTED = "token-view-pointed"; // event between the views of one page
const MARKED = 1; // flags of tokens
const SPECIAL = 2;
const MOST_CHIPS = 6;

/**
 * from, to: places in the string; start, end: in its bytes; tokens first..last.
 * @typedef {{
 *   from: number, to: number, start: number, end: number, first: number, last: number,
 * }} Group
 */

/** The groups of a text whose tokens end at the bytes `ends`. @returns {Group[]} */
function grouped(/** @type {string} */ text, /** @type {Uint32Array} */ ends) {
  const { clusterAt, offsets } = measure(text);
  const groups = [];
  let first = 0;
  let start = 0;
  let from = 0;
  for (let i = 0; i < ends.length; i++) {
    const cluster = clusterAt[ends[i]];
    if (!(cluster >= 0)) continue;
    groups.push({ from, to: offsets[cluster], start, end: ends[i], first, last: i + 1 });
    first = i + 1;
    start = ends[i];
    from = offsets[cluster];
  }
  return groups;
}

class TokenView {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.top = make("p", "top");
    this.number = make("b");
    this.number.dataset.testid = "token-count";
    this.unit = make("span");
    this.rate = make("span", "rate");
    this.top.append(this.number, " ", this.unit, this.rate);
    this.box = make("div", "box");
    this.box.tabIndex = 0;
    this.box.setAttribute("role", "group");
    this.says = make("p", "says");
    this.says.setAttribute("aria-live", "polite");
    root.append(this.top, this.box, this.says);
    /** @type {Group[]} */
    this.groups = [];
    /** The elements of each group, one for each line it touches. @type {HTMLElement[][]} */
    this.spans = [];
    this.hot = -1; // the group that is pointed at
    this.listen();
  }

  listen() {
    const { box } = this;
    box.addEventListener("pointerover", (event) => this.point(this.groupOf(event.target)));
    box.addEventListener("pointerleave", () => this.point(-1));
    box.addEventListener("click", (event) => this.point(this.groupOf(event.target)));
    box.addEventListener("blur", () => this.point(-1));
    box.addEventListener("keydown", (event) => this.key(event));
    this.pointed = (/** @type {any} */ event) => {
      const { group, start, end } = event.detail;
      if (group === this.data.group) this.highlight(start, end);
    };
    document.addEventListener(POINTED, this.pointed);
  }

  close() {
    document.removeEventListener(POINTED, this.pointed);
  }

  // -- drawing ------------------------------------------------------------------------------------

  /** @param {any} data as sent by Python */
  show(data) {
    this.data = data;
    const column = (/** @type {string} */ name) => data.tokens.getChild(name).toArray();
    this.ids = column("id");
    this.ends = column("end");
    this.hues = column("hue");
    this.flags = column("flags");
    this.bytes = new TextEncoder().encode(data.text);
    this.groups = grouped(data.text, this.ends);
    this.spans = this.groups.map(() => []);
    const { n_tokens: n, n_bytes: bytes } = data;
    put(this.number, count(n));
    put(this.unit, n === 1 ? "token" : "tokens");
    put(this.rate, n ? `${(bytes / n).toFixed(2)} bytes each` : "");
    const label = `${data.name}: ${count(n)} tokens. Arrow keys walk through them.`;
    this.box.setAttribute("aria-label", label);
    const sheet = document.createDocumentFragment();
    /** @type {HTMLElement} */
    let line = this.newLine(sheet);
    this.groups.forEach((_group, g) => {
      line = this.draw(g, line, sheet);
    });
    if (!this.groups.length) sheet.append(make("p", "empty", "Nothing to cut yet."));
    this.box.replaceChildren(sheet);
    this.highlight(-1, -1);
  }

  newLine(/** @type {DocumentFragment} */ sheet) {
    const line = make("div", "line");
    line.dir = "auto";
    sheet.append(line);
    return line;
  }

  /**
   * Draw a group; a line break in it begins a new line, and the group goes on there. Returns the
   * last line.
   * @param {number} g
   * @param {HTMLElement} line
   * @param {DocumentFragment} sheet
   */
  draw(g, line, sheet) {
    const { from, to } = this.groups[g];
    let last = line;
    this.data.text
      .slice(from, to)
      .split(/(?<=\n)/)
      .forEach((part, i) => {
        const span = this.newSpan(g, part, i === 0);
        this.spans[g].push(span);
        last.append(span);
        if (part.endsWith("\n")) last = this.newLine(sheet);
      });
    return last;
  }

  newSpan(/** @type {number} */ g, /** @type {string} */ part, /** @type {boolean} */ isFirst) {
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
      span.dataset.start = String(start);
      span.dataset.end = String(end);
      if (last - first > 1) {
        classes += " split";
        span.dataset.n = String(last - first);
      }
    }
    span.className = classes;
    Object.assign(span, { group: g });
    this.fill(span, part);
    return span;
  }

  /** Put a text into an element, with marks for what cannot be seen, but for spaces. */
  fill(/** @type {HTMLElement} */ span, /** @type {string} */ part) {
    let plain = "";
    const flush = () => {
      if (plain) span.append(plain);
      plain = "";
    };
    const chars = [...part];
    chars.forEach((ch, i) => {
      const mark = MARKS.get(ch);
      if (!mark || ch === " " || joinsUnseen(ch, chars[i - 1])) {
        plain += ch;
        return;
      }
      flush();
      const [sign, , kind] = mark;
      span.append(make("i", kind === "label" ? "lab" : "sp", ch === "\t" ? `${sign}\t` : sign));
    });
    flush();
  }

  // -- pointing -----------------------------------------------------------------------------------

  /** The group an element belongs to, or -1. @param {any} target */
  groupOf(target) {
    for (let node = target; node && node !== this.box; node = node.parentNode) {
      if (node.group !== undefined) return node.group;
    }
    return -1;
  }

  /** Point at a group, here and in the views beside. @param {number} g */
  point(g) {
    if (g === this.hot) return;
    const { start, end } = g < 0 ? { start: -1, end: -1 } : this.groups[g];
    const detail = { group: this.data.group, start, end };
    document.dispatchEvent(new CustomEvent(POINTED, { detail }));
    this.hot = g;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const n = this.groups.length;
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const step = steps[event.key];
    if (event.key === "Escape") this.point(-1);
    else if (step && n) {
      const first = step > 0 ? 0 : n - 1;
      const next = Math.min(n - 1, Math.max(0, this.hot + step));
      this.point(this.hot < 0 ? first : next);
    } else return;
    event.preventDefault();
    this.spans[this.hot]?.[0].scrollIntoView({ block: "nearest" });
  }

  /** Ring the tokens that touch bytes start..end, and say what they are. */
  highlight(/** @type {number} */ start, /** @type {number} */ end) {
    this.hot = -1;
    /** @type {Group[]} */
    const found = [];
    this.groups.forEach((group, g) => {
      const isHot = group.start < end && group.end > start;
      if (isHot) found.push(group);
      for (const span of this.spans[g]) span.classList.toggle("hot", isHot);
    });
    this.says.replaceChildren();
    if (found.length) this.say(found[0].first, found[found.length - 1].last);
  }

  /** Show the tokens first..last as chips with their ids. */
  say(/** @type {number} */ first, /** @type {number} */ last) {
    for (let i = first; i < Math.min(last, first + MOST_CHIPS); i++) {
      const bytes = this.bytes.subarray(i ? this.ends[i - 1] : 0, this.ends[i]);
      const chip = make("span", "chip");
      const text = make("span", "tk");
      fillChip(text, String.fromCharCode(...bytes), 16);
      chip.append(text, make("span", "id", this.ids[i]));
      this.says.append(chip);
    }
    const more = last - first - MOST_CHIPS;
    if (more > 0) this.says.append(make("span", "id", `and ${count(more)} more`));
  }
}

/** @type {WeakMap<object, TokenView>} */
const VIEWS = new WeakMap();

/** Called with every new `data` and on theme change. Returns what cleans up. */
export default function render({ parentElement, data }) {
  const view = VIEWS.get(parentElement) ?? new TokenView(parentElement.querySelector(".tv"));
  VIEWS.set(parentElement, view);
  view.show(data);
  return () => {
    view.close();
    VIEWS.delete(parentElement);
  };
}
