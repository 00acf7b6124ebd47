// @ts-check
// The merge log: a list of any length in about twenty row elements, which are filled again as it scrolls.

import { fillChip } from "../shared/chips.js";
import { make, put } from "../shared/dom.js";
import { count } from "../shared/format.js";

export class Log {
  /** on.jump(step): a row was chosen. */
  constructor(root, on) {
    this.view = root("log");
    this.spacer = root("log-space");
    this.headings = root("log-headings");
    this.filter = root("filter");
    this.total = root("log-total");
    this.caption = root("log-caption");
    this.on = on;
    this.rows = [];
    this.steps = null; // steps that pass the filter, or null for all
    this.k = 0;
    this.hands = 0; // the visitor scrolled: do not follow until then
    this.top = 0; // scroll position; reading it from the page would force a layout
    this.view.addEventListener("scroll", () => {
      this.top = this.view.scrollTop;
      this.paint();
    });
    for (const type of ["wheel", "touchmove", "pointerdown"]) {
      this.view.addEventListener(
        type,
        () => {
          this.hands = performance.now() + 4000;
        },
        { passive: true },
      );
    }
    this.view.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.on.jump(+row.dataset.step);
    });
    this.filter.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.search(), 120);
    });
    this.observer = new ResizeObserver(() => this.layout());
    this.observer.observe(this.view);
  }

  set(store) {
    this.store = store;
    this.filled = -1;
    if (this.filter.value) this.search();
    else this.layout();
  }

  /** Keep merges whose left, right or new token holds the typed text; a capital letter makes case count. */
  search() {
    const typed = this.filter.value
      .replaceAll("·", " ")
      .replaceAll("↵", "\n")
      .replaceAll("→", "\t");
    const store = this.store;
    const exact = typed !== typed.toLowerCase();
    this.steps = null;
    if (typed) {
      this.steps = [];
      const hit = new Map();
      const holds = (id) => {
        let yes = hit.get(id);
        if (yes === undefined) {
          const text = store.text(id);
          yes = (exact ? text : text.toLowerCase()).includes(typed);
          hit.set(id, yes);
        }
        return yes;
      };
      for (let r = 0; r < store.n; r++)
        if (holds(store.new[r]) || holds(store.left[r]) || holds(store.right[r]))
          this.steps.push(r + 1);
    }
    this.scroll(0);
    this.layout();
    this.follow();
    this.paint();
  }

  scroll(top) {
    this.view.scrollTop = top;
    this.top = this.view.scrollTop;
  }

  length() {
    return this.steps ? this.steps.length : this.store.n;
  }

  stepAt(i) {
    return this.steps ? this.steps[i] : i + 1;
  }

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

  layout() {
    if (!this.store) return;
    this.height = this.headings.getBoundingClientRect().height;
    this.seen = this.view.clientHeight;
    this.room = Math.ceil(this.seen / this.height) + 1;
    this.top = this.view.scrollTop;
    this.spacer.style.height = `${this.length() * this.height}px`;
    put(this.total, this.steps ? `${count(this.length())} of ${count(this.store.n)}` : "");
    this.view.setAttribute("aria-rowcount", this.length());
    put(
      this.caption,
      this.length()
        ? "Each row is one merge; choose one to see the text at that step."
        : this.steps
          ? "No merge holds this text."
          : "No merges yet.",
    );
    this.paint();
  }

  row(i) {
    while (this.rows.length <= i) {
      const node = make("div", "row");
      const cells = [
        make("span", "no"),
        make("span", "pair"),
        make("span", "made"),
        make("span", "n"),
        make("span", "n"),
      ];
      const left = make("span", "tk");
      const right = make("span", "tk");
      const made = make("span", "tk");
      cells[1].append(left, make("span", "op", "+"), right);
      cells[2].append(made);
      node.append(...cells);
      node.setAttribute("role", "row");
      cells.forEach((cell) => cell.setAttribute("role", "cell"));
      this.spacer.append(node);
      this.rows.push({ node, cells, left, right, made, step: 0 });
    }
    return this.rows[i];
  }

  paint() {
    const { store, height } = this;
    if (!store || !height) return;
    const { room } = this;
    const first = Math.max(0, Math.min(Math.floor(this.top / height), this.length() - room));
    const shown = Math.min(room, this.length() - first);
    for (let i = 0; i < Math.max(shown, this.rows.length); i++) {
      if (i >= shown) {
        this.rows[i].node.hidden = true;
        continue;
      }
      const at = first + i;
      const step = this.stepAt(at);
      const row = this.row(at % room);
      row.node.hidden = false;
      if (row.at !== at) {
        row.at = at;
        row.node.style.transform = `translateY(${at * height}px)`;
        row.node.setAttribute("aria-rowindex", at + 1);
      }
      if (row.step !== step || row.store !== store) {
        row.step = step;
        row.store = store;
        const rank = step - 1;
        row.node.dataset.step = step;
        put(row.cells[0], count(step));
        fillChip(row.left, store.binary[store.left[rank]], 10);
        fillChip(row.right, store.binary[store.right[rank]], 10);
        fillChip(row.made, store.binary[store.new[rank]], 14);
        put(row.cells[3], count(store.pair_count[rank]));
        put(row.cells[4], store.bytesPerToken(step).toFixed(2));
      }
      row.node.classList.toggle("on", step === this.k);
      if (step === this.k) row.node.setAttribute("aria-current", "step");
      else row.node.removeAttribute("aria-current");
    }
  }

  /** Scroll to the current row unless the visitor is scrolling the list himself. */
  follow() {
    const at = this.k ? this.indexOf(this.k) : 0;
    const { height } = this;
    if (!height || at < 0 || performance.now() < this.hands) return;
    const top = at * height;
    if (top < this.top + height || top > this.top + this.seen - 2 * height)
      this.scroll(Math.max(0, top - 4 * height));
  }

  /** Take the step and scroll to it. Comes before anything else is drawn, while the layout is still clean. */
  go(k) {
    if (this.k === k) return;
    this.k = k;
    this.follow();
  }

  /** Step of the next row up or down that passes the filter. */
  neighbor(direction) {
    if (!this.steps) return this.k + direction;
    const later = this.steps.findIndex((step) => step > this.k);
    const at = this.indexOf(this.k);
    const to =
      at >= 0
        ? at + direction
        : direction > 0
          ? later
          : (later < 0 ? this.steps.length : later) - 1;
    return this.steps[to] ?? this.k;
  }

  destroy() {
    this.observer.disconnect();
    clearTimeout(this.timer);
  }
}
