// @ts-check
// The token table: one page of a list of tokens. Sorting, turning pages and choosing a token are
// told to Python, which sends the rows.

import { fillChip, spoken } from "../shared/chips.js";
import { make, makeButton, put } from "../shared/dom.js";
import { Pager } from "./pager.js";

const CHIP_LIMIT = 28; // characters
const LONG_CELL = 12; // characters; a longer text is said when it is pointed at

/** Bring an element into view. @param {Element} element */
function bring(element) {
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ block: "start", behavior: isCalm ? "auto" : "smooth" });
}

const columnClasses = (/** @type {any} */ { key, number, spare }) =>
  `${number ? "num" : ""} ${spare ? "spare" : ""} c-${key}`;

class TokenTable {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** What Streamlit called the component with last. @type {any} */
    this.component = null;
    /** @type {any} */
    this.data = null;
    /** Key of the column whose head was pressed. @type {string | null} */
    this.sorting = null;
    this.table = make("table");
    this.caption = make("caption");
    this.head = make("thead");
    this.body = make("tbody");
    this.table.append(this.caption, this.head, this.body);
    this.nothing = make("p", "empty");
    this.pager = new Pager((page) => this.component.setTriggerValue("page", page));
    this.told = make("p", "told");
    this.told.setAttribute("role", "status");
    root.append(this.table, this.nothing, this.pager.nav, this.told);
    this.body.addEventListener("click", (event) => {
      const row = /** @type {Element} */ (event.target).closest("tr");
      if (row && this.data.opens) this.open(row);
    });
    this.body.addEventListener("keydown", (event) => this.key(event));
  }

  /** Take what Streamlit calls the component with. @param {any} component */
  show(component) {
    const { data } = component;
    const isCome = this.data !== null && this.data.come !== data.come;
    const focused = this.focused();
    this.component = component;
    this.data = data;
    this.root.classList.toggle("large", Boolean(data.large));
    put(this.caption, data.name);
    this.drawHead();
    this.body.replaceChildren(...data.rows.map((row) => this.newRow(row)));
    put(this.nothing, data.empty);
    this.nothing.hidden = data.rows.length > 0;
    this.table.hidden = data.rows.length === 0;
    this.pager.show(data);
    const buttons = this.buttons();
    if (focused >= 0 && buttons.length) {
      buttons[Math.min(focused, buttons.length - 1)].focus({ preventScroll: true });
    }
    if (this.sorting) {
      /** @type {HTMLElement | null} */
      const head = this.head.querySelector(`[data-key="${this.sorting}"]`);
      head?.focus();
      this.sorting = null;
    }
    if (isCome) this.come();
  }

  /** Come into view, for the eye and for the keyboard. */
  come() {
    bring(this.root);
    this.buttons()[0]?.focus({ preventScroll: true });
  }

  // -- drawing ------------------------------------------------------------------------------------

  drawHead() {
    const line = make("tr");
    const columns = [{ key: "token", label: "token", number: false }, ...this.data.columns];
    line.append(...columns.map((column) => this.newHead(column)));
    this.head.replaceChildren(line);
  }

  newHead(/** @type {any} */ column) {
    const { key, label, about } = column;
    const [by, isDown] = this.data.sort;
    const cell = make("th", columnClasses(column));
    cell.scope = "col";
    if (about) cell.title = about;
    if (!this.data.sorts) {
      cell.append(label);
      return cell;
    }
    const button = makeButton("", label);
    button.dataset.key = key;
    if (key === by) {
      cell.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      button.append(make("span", "way", isDown ? " ↓" : " ↑"));
    }
    button.addEventListener("click", () => {
      this.sorting = key;
      this.component.setTriggerValue("sort", key);
    });
    cell.append(button);
    return cell;
  }

  newRow(/** @type {[number, string, string[]]} */ [id, binary, cells]) {
    const isSelected = id === this.data.selected;
    const line = make("tr", isSelected ? "on" : "");
    line.dataset.id = String(id);
    line.dataset.testid = "token-row";
    const head = make("th");
    head.scope = "row";
    const chip = this.data.opens ? makeButton("tk") : make("bdi", "tk");
    fillChip(chip, binary, CHIP_LIMIT);
    if (this.data.opens) {
      chip.setAttribute("aria-label", `${spoken(binary)}, id ${id}`);
      chip.setAttribute("aria-pressed", String(isSelected));
    }
    head.append(chip);
    line.append(head);
    this.data.columns.forEach((column, i) => {
      const cell = make("td", columnClasses(column), cells[i]);
      if (cells[i].length > LONG_CELL) cell.title = cells[i];
      line.append(cell);
    });
    return line;
  }

  // -- choosing -----------------------------------------------------------------------------------

  /** The buttons of the tokens, one for each row. */
  buttons() {
    return [...this.body.querySelectorAll("button")];
  }

  /** Row that has the focus, or -1. */
  focused() {
    const root = /** @type {Document | ShadowRoot} */ (this.root.getRootNode());
    const at = root.activeElement;
    return at && this.body.contains(at) ? this.buttons().indexOf(/** @type {any} */ (at)) : -1;
  }

  /** Choose the token of a row, and bring its biography into view. */
  open(/** @type {HTMLElement} */ line) {
    for (const other of this.body.children) {
      other.classList.toggle("on", other === line);
      other.querySelector("button").setAttribute("aria-pressed", String(other === line));
    }
    const name = line.querySelector("button").getAttribute("aria-label");
    put(this.told, `${name} is chosen; its biography is beside the list.`);
    this.component.setTriggerValue("open", Number(line.dataset.id));
    const { beside } = this.data;
    const shown = beside && document.querySelector(`.st-key-${beside}`);
    if (!shown) return;
    const { top, bottom } = shown.getBoundingClientRect();
    if (top > innerHeight * 0.7 || bottom < innerHeight * 0.2) bring(shown);
  }

  /** Arrow keys walk through the rows, Page Up and Page Down turn the page. */
  key(/** @type {KeyboardEvent} */ event) {
    const buttons = this.buttons();
    const at = buttons.indexOf(/** @type {any} */ (event.target));
    if (at < 0) return;
    const last = buttons.length - 1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      buttons[Math.max(0, Math.min(last, to))].focus();
    }
    if (event.key === "PageDown" || event.key === "PageUp") {
      event.preventDefault();
      this.pager.turn(this.data.page + (event.key === "PageDown" ? 1 : -1));
    }
  }
}

/** @type {WeakMap<object, TokenTable>} */
const TABLES = new WeakMap();

/** Called with every new `data` and on theme change. */
export default function render(component) {
  const root = component.parentElement.querySelector(".tt");
  const table = TABLES.get(root) ?? new TokenTable(root);
  TABLES.set(root, table);
  table.show(component);
}
