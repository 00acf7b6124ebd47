// @ts-check
// What the visitor points at, with the mouse or with keys, in the text or in the list of ids: the
// token is highlighted in both, and brought into view in the other.

import { tokenAtUnit } from "./cut.js";

const MARGIN = 24; // pixels above or below a token that was brought into view
const ROW = 10; // ids that arrow up and down go on by, about a row

/** Scroll a box so that an element is seen. */
function reveal(/** @type {HTMLElement} */ box, /** @type {Element | null | undefined} */ element) {
  if (!element) return;
  const frame = box.getBoundingClientRect();
  const place = element.getBoundingClientRect();
  if (place.top < frame.top) box.scrollTop += place.top - frame.top - MARGIN;
  else if (place.bottom > frame.bottom) box.scrollTop += place.bottom - frame.bottom + MARGIN;
}

export class Pointing {
  /**
   * on.point(token): another one is pointed at, -1 for none. on.pick(token): it was chosen.
   * @param {{
   *   host: DocumentOrShadowRoot, area: HTMLTextAreaElement, textBox: HTMLElement,
   *   listBox: HTMLElement, painting: import("./painting.js").Painting,
   * }} parts
   * @param {{ point: (token: number) => void, pick: (token: number) => void }} on
   */
  constructor({ host, area, textBox, listBox, painting }, on) {
    this.host = host;
    this.area = area;
    this.textBox = textBox;
    this.listBox = listBox;
    this.painting = painting;
    this.on = on;
    this.walkedTo = -1; // the last token that keys or a click in the list came to
    this.listenToText();
    this.listenToList();
  }

  listenToText() {
    const { area, listBox } = this;
    let hovering = 0;
    /** @type {PointerEvent | null} */
    let at = null;
    area.addEventListener("pointermove", (event) => {
      at = event;
      if (hovering) return;
      hovering = requestAnimationFrame(() => {
        hovering = 0;
        if (at) this.point(this.tokenUnder(at), listBox);
      });
    });
    area.addEventListener("pointerleave", () => {
      at = null;
      this.point(-1);
    });
    area.addEventListener("click", (event) => {
      if (area.selectionStart !== area.selectionEnd) return;
      this.pick(this.tokenUnder(event));
    });
    area.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.pick(this.tokenAtCaret());
    });
    area.addEventListener("keyup", (event) => {
      if (/^(Arrow|Home|End|Page)/.test(event.key)) this.point(this.tokenAtCaret(), listBox);
    });
  }

  listenToList() {
    const { listBox, textBox, painting } = this;
    const tokenOf = (/** @type {Event} */ event) => {
      const element = /** @type {Element} */ (event.target).closest(".id");
      return element ? painting.sheet.tokenOfId(element) : null;
    };
    listBox.addEventListener("pointerover", (event) => {
      const token = tokenOf(event);
      if (token !== null) this.point(token, textBox);
    });
    listBox.addEventListener("pointerleave", () => this.point(-1));
    listBox.addEventListener("click", (event) => {
      const token = tokenOf(event);
      if (token === null) return;
      this.walkedTo = token;
      this.on.pick(token);
    });
    listBox.addEventListener("keydown", (event) => this.walk(event));
    listBox.addEventListener("blur", () => this.point(-1));
  }

  /** Highlight a token, and bring it into view in the other box. */
  point(/** @type {number} */ token, /** @type {HTMLElement | null} */ other = null) {
    const { painting, listBox } = this;
    if (token === painting.hot) return;
    painting.highlight(token);
    this.on.point(token);
    if (token < 0 || !other) return;
    const { sheet } = painting;
    reveal(other, other === listBox ? sheet.idElement(token) : sheet.textElements(token)[0]);
  }

  pick(/** @type {number} */ token) {
    if (token >= 0) this.on.pick(token);
  }

  /** Arrow keys walk through the ids; Enter picks. */
  walk(/** @type {KeyboardEvent} */ event) {
    const { painting, listBox, textBox } = this;
    const n = painting.cut.ids.length;
    if (!n || event.ctrlKey || event.metaKey || event.altKey) return;
    /** @type {Record<string, number>} */
    const steps = {
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: ROW,
      ArrowUp: -ROW,
      Home: -n,
      End: n,
    };
    if (event.key === "Enter" && painting.hot >= 0) this.on.pick(painting.hot);
    else if (event.key in steps) {
      const from = painting.hot >= 0 ? painting.hot : this.walkedTo;
      const to = from < 0 ? 0 : from + steps[event.key];
      this.walkedTo = Math.max(0, Math.min(n - 1, to));
      this.point(this.walkedTo, textBox);
      reveal(listBox, painting.sheet.idElement(this.walkedTo));
    } else return;
    event.preventDefault();
  }

  /** The token under the mouse, or -1: the text area lies over the colors. */
  tokenUnder(/** @type {MouseEvent} */ event) {
    for (const element of this.host.elementsFromPoint(event.clientX, event.clientY)) {
      const span = element.closest(".paint .t");
      if (span) return this.painting.sheet.tokenOfText(span);
    }
    return -1;
  }

  tokenAtCaret() {
    return tokenAtUnit(this.painting.cut, this.area.selectionStart);
  }
}
