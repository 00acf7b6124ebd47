// @ts-check
// The pager below a token table: which page it is, and the way to the others.

import { make, makeButton, put } from "../shared/dom.js";
import { count } from "../shared/format.js";

export class Pager {
  /** @param {(page: number) => void} onTurn a page is asked for, counted from 0 */
  constructor(onTurn) {
    this.onTurn = onTurn;
    this.page = 0;
    this.pages = 1;
    this.nav = make("nav", "pager");
    this.nav.setAttribute("aria-label", "Pages of the list");
    this.first = this.newButton("First page", "«", () => 0);
    this.back = this.newButton("Page before", "‹", () => this.page - 1);
    this.next = this.newButton("Next page", "›", () => this.page + 1);
    this.last = this.newButton("Last page", "»", () => this.pages - 1);
    this.number = make("input");
    this.number.type = "text";
    this.number.inputMode = "numeric";
    this.number.dataset.testid = "page-number";
    this.number.addEventListener("change", () => {
      this.turn(Number(this.number.value.replace(/\D/g, "")) - 1);
    });
    this.of = make("span");
    const label = make("label", "", "Page ");
    label.append(this.number, this.of);
    this.where = make("span", "where");
    this.where.setAttribute("aria-live", "polite");
    this.nav.append(this.first, this.back, label, this.next, this.last, this.where);
  }

  newButton(
    /** @type {string} */ label,
    /** @type {string} */ sign,
    /** @type {() => number} */ page,
  ) {
    const button = makeButton("", sign);
    button.setAttribute("aria-label", label);
    button.addEventListener("click", () => this.turn(page()));
    return button;
  }

  /** @param {{ page: number, pages: number, total: number }} at total: rows on all pages */
  show({ page, pages, total }) {
    this.page = page;
    this.pages = pages;
    this.nav.hidden = pages < 2;
    this.first.disabled = this.back.disabled = page === 0;
    this.next.disabled = this.last.disabled = page >= pages - 1;
    this.number.value = count(page + 1);
    this.number.style.width = `${Math.max(2, count(pages).length) + 1.6}ch`;
    put(this.of, ` of ${count(pages)}`);
    put(this.where, `${count(total)} in all`);
  }

  /** Ask for a page, or the nearest there is. @param {number} page */
  turn(page) {
    const to = Math.min(this.pages - 1, Math.max(0, page || 0));
    this.number.value = count(to + 1);
    if (to !== this.page) this.onTurn(to);
  }
}
