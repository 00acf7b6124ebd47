// @ts-check
// One page of a list of tokens. Runs on every new `data` and on theme change.
// fillChip, spoken, make, put and count are merge_player/bytes.js; everything is set as text.

import { fillChip, spoken } from "../shared/chips.js";
import { make, put } from "../shared/dom.js";
import { count } from "../shared/format.js";

const TABLES = new WeakMap();

function bring(element) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
}

class TokenTable {
  constructor(root) {
    this.root = root;
    this.table = make("table");
    this.table.append(
      (this.caption = make("caption")),
      (this.head = make("thead")),
      (this.body = make("tbody")),
    );
    this.nothing = make("p", "empty");
    this.pager = make("nav", "pager");
    this.pager.setAttribute("aria-label", "Pages of the list");
    this.step = (label, sign, to) => {
      const button = make("button", "", sign);
      button.type = "button";
      button.setAttribute("aria-label", label);
      button.addEventListener("click", () => this.turn(to()));
      return button;
    };
    this.first = this.step("First page", "«", () => 0);
    this.back = this.step("Page before", "‹", () => this.data.page - 1);
    this.next = this.step("Next page", "›", () => this.data.page + 1);
    this.last = this.step("Last page", "»", () => this.data.pages - 1);
    const label = make("label", "", "Page ");
    this.number = make("input");
    this.number.type = "text";
    this.number.inputMode = "numeric";
    this.number.dataset.testid = "page-number";
    const go = () => this.turn(Number(this.number.value.replace(/\D/g, "")) - 1);
    this.number.addEventListener("change", go);
    label.append(this.number, (this.of = make("span")));
    this.where = make("span", "where");
    this.where.setAttribute("aria-live", "polite");
    this.pager.append(this.first, this.back, label, this.next, this.last, this.where);
    this.told = make("p", "told");
    this.told.setAttribute("role", "status");
    root.append(this.table, this.nothing, this.pager, this.told);
    this.body.addEventListener("click", (e) => {
      const row = e.target.closest("tr");
      if (row && this.data.opens) this.open(row);
    });
    this.body.addEventListener("keydown", (e) => this.key(e));
  }

  show(data) {
    const came = this.data && this.data.come !== data.come;
    const wasAt = this.focused();
    this.data = data;
    this.root.classList.toggle("large", Boolean(data.large));
    put(this.caption, data.name);
    this.drawHead();
    this.body.replaceChildren(...data.rows.map((row) => this.row(row)));
    put(this.nothing, data.empty);
    this.nothing.hidden = data.rows.length > 0;
    this.table.hidden = data.rows.length === 0;
    this.pager.hidden = data.pages < 2;
    for (const [button, off] of [
      [this.first, data.page === 0],
      [this.back, data.page === 0],
      [this.next, data.page >= data.pages - 1],
      [this.last, data.page >= data.pages - 1],
    ])
      button.disabled = off;
    this.number.value = count(data.page + 1);
    this.number.style.width = `${Math.max(2, count(data.pages).length) + 1.6}ch`;
    put(this.of, ` of ${count(data.pages)}`);
    put(this.where, `${count(data.total)} in all`);
    if (wasAt >= 0 && this.buttons().length)
      this.buttons()[Math.min(wasAt, this.buttons().length - 1)].focus({ preventScroll: true });
    if (this.sorting) {
      this.head.querySelector(`[data-key="${this.sorting}"]`)?.focus();
      this.sorting = null;
    }
    if (came) this.come();
  }

  /** Come into view, for the eye and for the keyboard. */
  come() {
    bring(this.root);
    this.buttons()[0]?.focus({ preventScroll: true });
  }

  drawHead() {
    const [by, down] = this.data.sort;
    const line = make("tr");
    const columns = [{ key: "token", label: "token", number: false }, ...this.data.columns];
    for (const { key, label, about, number, spare } of columns) {
      const cell = make("th", `${number ? "num" : ""} ${spare ? "spare" : ""} c-${key}`);
      if (about) cell.title = about;
      cell.scope = "col";
      if (!this.data.sorts) {
        cell.append(label);
        line.append(cell);
        continue;
      }
      if (key === by) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      const button = make("button", "", label);
      button.type = "button";
      button.dataset.key = key;
      if (key === by) button.append(make("span", "way", down ? " ↓" : " ↑"));
      button.addEventListener("click", () => {
        this.sorting = key;
        this.context.setTriggerValue("sort", key);
      });
      cell.append(button);
      line.append(cell);
    }
    this.head.replaceChildren(line);
  }

  row([id, binary, cells]) {
    const line = make("tr");
    const head = make("th");
    line.dataset.id = id;
    line.dataset.testid = "token-row";
    if (id === this.data.selected) line.className = "on";
    head.scope = "row";
    const chip = make(this.data.opens ? "button" : "bdi", "tk");
    fillChip(chip, binary, 28);
    if (this.data.opens) {
      chip.type = "button";
      chip.setAttribute("aria-label", `${spoken(binary)}, id ${id}`);
      chip.setAttribute("aria-pressed", String(id === this.data.selected));
    }
    head.append(chip);
    line.append(head);
    this.data.columns.forEach(({ key, number, spare }, i) => {
      const cell = make("td", `${number ? "num" : ""} ${spare ? "spare" : ""} c-${key}`, cells[i]);
      if (cells[i].length > 12) cell.title = cells[i];
      line.append(cell);
    });
    return line;
  }

  buttons() {
    return [...this.body.querySelectorAll("button")];
  }

  focused() {
    const at = this.root.getRootNode().activeElement;
    return at && this.body.contains(at) ? this.buttons().indexOf(at) : -1;
  }

  open(line) {
    for (const other of this.body.children) {
      other.classList.toggle("on", other === line);
      other.querySelector("button").setAttribute("aria-pressed", String(other === line));
    }
    put(
      this.told,
      `${line.querySelector("button").getAttribute("aria-label")} is chosen; its biography is beside the list.`,
    );
    this.context.setTriggerValue("open", Number(line.dataset.id));
    const shown = this.data.beside && document.querySelector(`.st-key-${this.data.beside}`);
    if (shown) {
      const { top, bottom } = shown.getBoundingClientRect();
      if (top > innerHeight * 0.7 || bottom < innerHeight * 0.2) bring(shown);
    }
  }

  turn(page) {
    const to = Math.min(this.data.pages - 1, Math.max(0, page || 0));
    this.number.value = count(to + 1);
    if (to !== this.data.page) this.context.setTriggerValue("page", to);
  }

  /** Arrow keys walk through the rows, Page Up and Page Down turn the page. */
  key(e) {
    const buttons = this.buttons();
    const at = buttons.indexOf(e.target);
    if (at < 0) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[e.key];
    if (to !== undefined) {
      buttons[Math.max(0, Math.min(buttons.length - 1, to))].focus();
      e.preventDefault();
    }
    if (e.key === "PageDown" || e.key === "PageUp") {
      this.turn(this.data.page + (e.key === "PageDown" ? 1 : -1));
      e.preventDefault();
    }
  }
}

export default function render(context) {
  const root = context.parentElement.querySelector(".tt");
  let table = TABLES.get(root);
  if (!table) TABLES.set(root, (table = new TokenTable(root)));
  table.context = context;
  table.show(context.data);
}
