// @ts-check
// The merge log: a list of any length in about twenty row elements, which are filled again as it
// scrolls.

import { fillChip } from "../shared/chips.js";
import { make, put } from "../shared/dom.js";
import { count } from "../shared/format.js";

const HANDS_MS = 4000; // after the visitor scrolled, the list does not follow for so long
const DEBOUNCE_MS = 120; // pause in typing after which the filter is applied

export class Log {
  /**
   * on.jump(step): a row was chosen.
   * @param {(name: string) => any} ref
   * @param {{ jump: (step: number) => void }} on
   */
  constructor(ref, on) {
    /** @type {HTMLElement} */
    this.view = ref("log");
    /** @type {HTMLElement} */
    this.spacer = ref("log-space");
    this.headings = ref("log-headings");
    /** @type {HTMLInputElement} */
    this.filter = ref("filter");
    this.total = ref("log-total");
    this.caption = ref("log-caption");
    this.on = on;
    /** @type {import("./trace.js").Trace | null} */
    this.trace = null;
    /** Elements of rows, which are filled again as the list scrolls. @type {any[]} */
    this.rows = [];
    /** Steps that pass the filter, or null for all. @type {number[] | null} */
    this.steps = null;
    this.k = 0;
    this.hands = 0; // until then the visitor is scrolling
    this.top = 0; // scroll position; reading it from the page would force a layout
    this.listen();
    this.observer = new ResizeObserver(() => this.layout());
    this.observer.observe(this.view);
  }

  destroy() {
    this.observer.disconnect();
    clearTimeout(this.timer);
  }

  listen() {
    const { view, filter } = this;
    view.addEventListener("scroll", () => {
      this.top = view.scrollTop;
      this.paint();
    });
    const touch = () => {
      this.hands = performance.now() + HANDS_MS;
    };
    for (const type of ["wheel", "touchmove", "pointerdown"]) {
      view.addEventListener(type, touch, { passive: true });
    }
    view.addEventListener("click", (event) => {
      /** @type {HTMLElement | null} */
      const row = /** @type {HTMLElement} */ (event.target).closest(".row");
      if (row) this.on.jump(Number(row.dataset.step));
    });
    filter.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.search(), DEBOUNCE_MS);
    });
  }

  set(/** @type {import("./trace.js").Trace} */ trace) {
    this.trace = trace;
    if (this.filter.value) this.search();
    else this.layout();
  }

  // -- the filter ---------------------------------------------------------------------------------

  clearFilter() {
    this.filter.value = "";
    this.search();
  }

  /**
   * Keep merges whose left, right or new token holds the typed text; a capital letter makes case
   * count.
   */
  search() {
    const { trace } = this;
    const typed = this.filter.value
      .replaceAll("·", " ")
      .replaceAll("↵", "\n")
      .replaceAll("→", "\t");
    const isExact = typed !== typed.toLowerCase();
    /** @type {Map<number, boolean>} */
    const found = new Map();
    const holds = (/** @type {number} */ id) => {
      let answer = found.get(id);
      if (answer === undefined) {
        const text = trace.text(id);
        answer = (isExact ? text : text.toLowerCase()).includes(typed);
        found.set(id, answer);
      }
      return answer;
    };
    this.steps = typed ? [] : null;
    for (let rank = 0; this.steps && rank < trace.n; rank++) {
      if (holds(trace.new[rank]) || holds(trace.left[rank]) || holds(trace.right[rank])) {
        this.steps.push(rank + 1);
      }
    }
    this.scroll(0);
    this.layout();
    this.follow();
    this.paint();
  }

  get length() {
    return this.steps ? this.steps.length : this.trace.n;
  }

  /** Step of row i. @param {number} i */
  stepAt(i) {
    return this.steps ? this.steps[i] : i + 1;
  }

  /** Row of a step, -1 if the filter leaves it out. @param {number} step */
  indexOf(step) {
    if (!this.steps) return step - 1;
    let low = 0;
    let high = this.steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.steps[middle] < step) low = middle + 1;
      else high = middle;
    }
    return this.steps[low] === step ? low : -1;
  }

  /** Step of the next row up or down that passes the filter. @param {1 | -1} direction */
  neighbor(direction) {
    const { steps, k } = this;
    if (!steps) return k + direction;
    const at = this.indexOf(k);
    if (at >= 0) return steps[at + direction] ?? k;
    const later = steps.findIndex((step) => step > k);
    if (direction > 0) return steps[later] ?? k;
    return steps[(later < 0 ? steps.length : later) - 1] ?? k;
  }

  // -- drawing ------------------------------------------------------------------------------------

  /** Measure, and make room for all rows. */
  layout() {
    if (!this.trace) return;
    const { view, length } = this;
    this.height = this.headings.getBoundingClientRect().height; // of a row
    this.seen = view.clientHeight;
    this.room = Math.ceil(this.seen / this.height) + 1; // rows that can be seen
    this.top = view.scrollTop;
    this.spacer.style.height = `${length * this.height}px`;
    put(this.total, this.steps ? `${count(length)} of ${count(this.trace.n)}` : "");
    view.setAttribute("aria-rowcount", String(length));
    const nothing = this.steps ? "No merge holds this text." : "No merges yet.";
    const some = "Each row is one merge; choose one to see the text at that step.";
    put(this.caption, length ? some : nothing);
    this.paint();
  }

  newRow() {
    const node = make("div", "row");
    const cells = ["no", "pair", "made", "n", "n"].map((name) => make("span", name));
    const left = make("span", "tk");
    const right = make("span", "tk");
    const made = make("span", "tk");
    cells[1].append(left, make("span", "op", "+"), right);
    cells[2].append(made);
    node.append(...cells);
    node.setAttribute("role", "row");
    for (const cell of cells) cell.setAttribute("role", "cell");
    this.spacer.append(node);
    return { node, cells, left, right, made, step: 0, at: -1, trace: null };
  }

  /** Fill the rows that can be seen. */
  paint() {
    const { trace, height, room, length } = this;
    if (!trace || !height) return;
    const first = Math.max(0, Math.min(Math.floor(this.top / height), length - room));
    const shown = Math.min(room, length - first);
    for (const row of this.rows.slice(Math.max(0, shown))) row.node.hidden = true;
    for (let at = first; at < first + shown; at++) {
      const index = at % room;
      while (this.rows.length <= index) this.rows.push(this.newRow());
      const row = this.rows[index];
      row.node.hidden = false;
      if (row.at !== at) {
        row.at = at;
        row.node.style.transform = `translateY(${at * height}px)`;
        row.node.setAttribute("aria-rowindex", at + 1);
      }
      const step = this.stepAt(at);
      if (row.step !== step || row.trace !== trace) this.fillRow(row, step);
      row.node.classList.toggle("on", step === this.k);
      if (step === this.k) row.node.setAttribute("aria-current", "step");
      else row.node.removeAttribute("aria-current");
    }
  }

  fillRow(row, /** @type {number} */ step) {
    const { trace } = this;
    const rank = step - 1;
    row.step = step;
    row.trace = trace;
    row.node.dataset.step = step;
    put(row.cells[0], count(step));
    fillChip(row.left, trace.binary[trace.left[rank]], 10);
    fillChip(row.right, trace.binary[trace.right[rank]], 10);
    fillChip(row.made, trace.binary[trace.new[rank]], 14);
    put(row.cells[3], count(trace.pair_count[rank]));
    put(row.cells[4], trace.bytesPerToken(step).toFixed(2));
  }

  // -- following the step -------------------------------------------------------------------------

  /** Scroll to the current row unless the visitor is scrolling the list himself. */
  follow() {
    const at = this.k ? this.indexOf(this.k) : 0;
    const { height } = this;
    if (!height || at < 0 || performance.now() < this.hands) return;
    const top = at * height;
    const isSeen = top >= this.top + height && top <= this.top + this.seen - 2 * height;
    if (!isSeen) this.scroll(Math.max(0, top - 4 * height));
  }

  scroll(/** @type {number} */ top) {
    this.view.scrollTop = top;
    this.top = this.view.scrollTop;
  }

  /** Take the step and scroll to it. Comes before anything else is drawn: the layout is clean. */
  go(/** @type {number} */ k) {
    if (this.k === k) return;
    this.k = k;
    this.follow();
  }
}
