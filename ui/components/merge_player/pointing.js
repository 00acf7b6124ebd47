// @ts-check
// What the visitor points at: hovered with the mouse or by keyboard focus, pinned by a click, or
// under the cursor that the bracket keys move over the tokens.

import { groupOf } from "./groups.js";

/** @typedef {import("./highlight.js").Asked} Asked */

/** What is pinned outlives the group that was clicked. @param {Asked} asked @returns {Asked} */
const lasting = (asked) => (asked.group ? { id: asked.group.id, at: asked.group.start } : asked);

const same = (/** @type {Asked} */ a, /** @type {Asked} */ b) =>
  JSON.stringify(lasting(a)) === JSON.stringify(lasting(b));

export class Pointing {
  /**
   * @param {HTMLElement} box the text
   * @param {HTMLElement[]} chips that stand for the token of their data-id
   * @param {{ hover: () => void, pin: () => void }} on
   */
  constructor(box, chips, on) {
    this.on = on;
    this.forget();
    box.addEventListener("pointerover", (event) => {
      const group = groupOf(event.target);
      if (group && event.pointerType !== "touch") this.hover({ group });
    });
    box.addEventListener("pointerleave", () => this.hover(null));
    box.addEventListener("click", (event) => {
      const group = groupOf(event.target);
      if (group) this.cursor = group.start;
      this.pin(group ? { group } : null);
    });
    box.addEventListener("blur", () => {
      if (this.cursor === null) return;
      this.cursor = null;
      this.hover(null);
    });
    for (const chip of chips) this.listen(chip, () => ({ id: Number(chip.dataset.id) }));
  }

  /** Point with an element at what `asked` gives. */
  listen(/** @type {HTMLElement} */ element, /** @type {() => Asked} */ asked) {
    element.addEventListener("pointerenter", () => this.hover(asked()));
    element.addEventListener("pointerleave", () => this.hover(null));
    element.addEventListener("focus", () => {
      if (element.matches(":focus-visible")) this.hover(asked());
    });
    element.addEventListener("blur", () => this.hover(null));
    element.addEventListener("click", () => this.pin(asked()));
  }

  /** What is to be highlighted, if anything. */
  get asked() {
    return this.hovered ?? this.pinned;
  }

  forget() {
    /** @type {Asked | null} */
    this.hovered = null;
    /** @type {Asked | null} */
    this.pinned = null;
    /** Byte of the token under the cursor. @type {number | null} */
    this.cursor = null;
  }

  hover(/** @type {Asked | null} */ asked) {
    if (!asked && !this.hovered) return;
    this.hovered = asked;
    this.on.hover();
  }

  /** Pin what was clicked; a second click, or null, takes it away. */
  pin(/** @type {Asked | null} */ asked) {
    const again = this.pinned && asked && same(this.pinned, asked);
    this.pinned = again || !asked ? null : lasting(asked);
    this.on.pin();
  }

  /** Walk over the tokens; false where there is no next one. */
  moveCursor(/** @type {1 | -1} */ direction, /** @type {import("./text.js").TextView} */ text) {
    const { total } = text;
    let at = direction > 0 ? 0 : total - 1;
    if (this.cursor !== null && total) {
      const { start, end } = text.groupAt(Math.min(this.cursor, total - 1));
      at = direction > 0 ? end : start - 1;
    }
    if (at < 0 || at >= total) return false;
    const group = text.groupAt(at);
    this.cursor = group.start;
    this.hover({ group });
    text.reveal([group.start], false);
    return true;
  }
}
