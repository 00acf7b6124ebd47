// @ts-check
// The editor itself: what the page sends, what the visitor types, what the server answers, and
// what of it is kept.

import { byteLength } from "../shared/bytes.js";
import { count } from "../shared/format.js";
import { copyLink, copyText, dropLink, sayBriefly, writeIds } from "./copying.js";
import {
  cutText,
  EMPTY_CUT,
  editedCut,
  groupOfToken,
  PENDING,
  sharedEnds,
  tokenStart,
} from "./cut.js";
import { EncodeClient } from "./encode_client.js";
import { recall, remember, store, stored } from "./memory.js";
import { aboutToken, cutNote, say, showLegend, showNumbers } from "./notes.js";
import { openGroup } from "./opened.js";
import { Painting } from "./painting.js";
import { handleLargePastes } from "./pasting.js";
import { Pointing } from "./pointing.js";

const LONGEST_PENDING = 20000; // units typed or pasted at once that are drawn before the answer
const LONGEST_TYPED = 5000; // units of a text of the page that can be undone
const CONTEXT_UNITS = 1000; // around a clicked token, up to a line break if one is near
const MOST_CONTEXT_BEFORE = 4000;
const STORE_MS = 800;
const MEASURE = "token-editor: keystroke to colors";
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufefc\ud802\ud803\ud83a\ud83b]/;

export class Editor {
  /** @param {any} host the shadow root that holds token_editor.html */
  constructor(host) {
    /** @type {(selector: string) => any} */
    this.$ = (selector) => host.querySelector(selector);
    this.host = host;
    /** @type {HTMLElement} */
    this.root = this.$(".te");
    /** @type {HTMLTextAreaElement} */
    this.area = this.$("textarea");
    /** @type {HTMLElement} */
    this.textBox = this.$(".text-box");
    /** @type {HTMLElement} */
    this.listBox = this.$(".list-box");
    this.painting = new Painting(this.$(".paint"), this.textBox, this.$(".list"), this.listBox);
    this.client = new EncodeClient({
      text: () => this.area.value,
      onTokens: (text, answer) => this.take(text, answer),
      onProblem: (sentence) => this.fail(sentence),
      onWait: (sentence) => this.note(sentence, "wait"),
      onSlow: (isSlow) => this.root.classList.toggle("busy", isSlow),
    });
    this.pointing = new Pointing(this, {
      point: (token) => {
        this.root.dataset.hot = token < 0 ? "" : String(token);
        this.about(token);
      },
      pick: (token) => this.pick(token),
    });
    this.full = ""; // the text that the painting stands for
    /** @type {Record<string, number> | null} */
    this.counts = null;
    this.typedAt = 0; // when the keystroke was that is being answered
    this.listen();
  }

  // -- what the page sends ------------------------------------------------------------------------

  /** Take what Streamlit calls the component with. @param {any} component */
  update(component) {
    const { data, key } = component;
    const before = this.data;
    this.component = component;
    this.data = data;
    this.key = key;
    this.root.classList.toggle("large", Boolean(data.large));
    this.root.dataset.color = data.color;
    this.painting.setMode(data.color);
    const isNewText = this.takeText(!before);
    if (before && before.tokenizer !== data.tokenizer) this.clear();
    const isNewCut = this.client.use(component);
    if (isNewCut || isNewText) this.changed(0);
    this.legend();
  }

  /** Put the page's text into the text area if it is a newer one; returns whether it did. */
  takeText(/** @type {boolean} */ isFirst) {
    const { data, area, key } = this;
    const memory = recall(key) ?? (data.linked ? null : stored());
    const isSameVisit = memory?.session === data.session;
    const isNew = !memory || (isSameVisit ? data.epoch > memory.epoch : data.linked);
    const text = isNew ? data.text : memory.text;
    const { session, epoch } = data;
    const always = Boolean(memory?.always);
    remember(key, { session, epoch, text, always });
    if (!isFirst && !isNew) return false;
    this.setMarks(always);
    if (text === area.value) return isFirst;
    this.replaceText(text, !isFirst && matchMedia("(pointer: fine)").matches);
    area.setSelectionRange(0, 0);
    this.textBox.scrollTop = 0;
    return true;
  }

  /** isTyped: so that undo brings the old text back, unless the new one is long. */
  replaceText(/** @type {string} */ text, /** @type {boolean} */ isTyped) {
    const { area } = this;
    if (!isTyped || text.length >= LONGEST_TYPED) {
      area.value = text;
      return;
    }
    const active = this.host.activeElement;
    area.focus({ preventScroll: true });
    area.select();
    if (!document.execCommand("insertText", false, text)) area.value = text;
    if (active !== area) area.blur();
  }

  // -- what is kept -------------------------------------------------------------------------------

  remember() {
    const memory = recall(this.key);
    if (!memory) return;
    memory.text = this.area.value;
    memory.always = this.root.classList.contains("marks-always");
    clearTimeout(this.storing);
    this.storing = setTimeout(() => store(this.key), STORE_MS);
  }

  leave() {
    this.remember();
    store(this.key);
    clearTimeout(this.storing);
    this.resizing.disconnect();
    removeEventListener("pagehide", this.leaving);
    this.client.leave();
  }

  // -- what the server answers --------------------------------------------------------------------

  /** Ask for the tokens anew. typedAt: when the key was pressed, 0 if none was. */
  changed(/** @type {number} */ typedAt) {
    this.typedAt = typedAt;
    this.root.dataset.state = "waiting";
    this.client.changed();
  }

  /** Draw no tokens. */
  clear() {
    this.painting.clear();
    this.painting.show(EMPTY_CUT);
    this.full = "";
  }

  fail(/** @type {string} */ sentence) {
    this.root.dataset.state = "ready";
    this.counts = null;
    this.stretch();
    showNumbers(this.root, null);
    this.clear();
    this.$(".opened").hidden = true;
    this.about(-1);
    this.note(sentence, "problem");
  }

  take(/** @type {string} */ text, /** @type {import("./encode_client.js").Answer} */ answer) {
    this.root.dataset.state = "ready";
    this.counts = answer.counts;
    this.painting.show(cutText(text, answer.ids, answer.ends, answer.age));
    this.full = text;
    this.setDirection(text);
    this.stretch();
    showNumbers(this.root, this.counts);
    this.legend();
    this.note();
    if (this.painting.picked < 0) this.$(".opened").hidden = true;
    this.about(-1);
    if (this.typedAt) this.measure(this.typedAt);
    this.typedAt = 0;
  }

  /** Note how long it took from a keystroke to its colors, once they are painted. */
  measure(/** @type {number} */ start) {
    requestAnimationFrame(() =>
      setTimeout(() => {
        performance.clearMeasures(MEASURE);
        performance.measure(MEASURE, { start, end: performance.now() });
      }),
    );
  }

  /** Lines find their own direction where the text has letters that run right to left. */
  setDirection(/** @type {string} */ text) {
    this.root.classList.toggle("rtl", RIGHT_TO_LEFT.test(text));
  }

  /** Where the drawing is cut, the text area is the taller one: make room for all of it. */
  stretch() {
    const sheet = this.$(".sheet");
    const isCut = this.counts && this.counts.sent < this.counts.tokens;
    if (!isCut && !sheet.style.minHeight) return;
    sheet.style.minHeight = "";
    if (isCut) sheet.style.minHeight = `${this.area.scrollHeight}px`;
  }

  // -- notes --------------------------------------------------------------------------------------

  note(sentence = cutNote(this.counts), kind = "info") {
    const el = this.$(".notice");
    el.hidden = !sentence;
    el.className = `notice ${kind}`;
    say(el, sentence);
  }

  legend() {
    showLegend(this.$(".legend"), this.painting.cut, this.data.color);
  }

  /** Say in words which token is highlighted; -1 for none. */
  about(/** @type {number} */ token) {
    const { cut } = this.painting;
    const total = this.counts ? this.counts.tokens : cut.ids.length;
    say(this.$(".about"), aboutToken(cut, token, total));
  }

  // -- what the visitor does ----------------------------------------------------------------------

  listen() {
    const { area, root } = this;
    handleLargePastes(area);
    area.addEventListener("input", (event) => this.typed(event));
    area.addEventListener("blur", () => store(this.key));
    area.addEventListener("scroll", () => {
      area.scrollTop = area.scrollLeft = 0; // the box around it scrolls
    });
    this.listenToSizes();
    this.$(".always").addEventListener("change", (/** @type {any} */ event) => {
      this.setMarks(event.target.checked);
      this.remember();
    });
    const link = this.$(".link");
    link.addEventListener("click", async () => {
      sayBriefly(link, await copyLink(root, area.value, this.data.special));
    });
    const menu = this.$(".copy");
    menu.addEventListener("click", (/** @type {any} */ event) => {
      const { format } = event.target.dataset;
      if (!format) return;
      menu.open = false;
      this.copyIds(format);
    });
    menu.addEventListener("focusout", (/** @type {FocusEvent} */ event) => {
      if (!menu.contains(event.relatedTarget)) menu.open = false;
    });
    root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      menu.open = false;
      this.$(".opened").hidden = true;
    });
    this.leaving = () => store(this.key);
    addEventListener("pagehide", this.leaving);
  }

  listenToSizes() {
    let ticking = 0;
    const refresh = () => {
      if (ticking) return;
      ticking = requestAnimationFrame(() => {
        ticking = 0;
        this.painting.refresh();
      });
    };
    this.textBox.addEventListener("scroll", refresh, { passive: true });
    this.listBox.addEventListener("scroll", refresh, { passive: true });
    this.resizing = new ResizeObserver(() => {
      this.stretch();
      refresh();
    });
    this.resizing.observe(this.textBox);
  }

  /** The text changed under the visitor's hands: the rest of it moves along at once. */
  typed(/** @type {Event} */ event) {
    const text = this.area.value;
    this.changed(event.timeStamp || performance.now()); // the server works while this is drawn
    if (text.length < LONGEST_PENDING * 10) this.setDirection(text);
    const ends = sharedEnds(this.full, text); // asking for the caret would split the undo steps
    // Laying out a very long line costs more than waiting for its colors.
    if (this.painting.sheet.lineLength(ends[0]) <= LONGEST_PENDING) {
      const cut = editedCut(this.painting.cut, this.full, text, ends, LONGEST_PENDING);
      if (cut) this.painting.show(cut);
      this.full = text;
    }
    this.remember();
    dropLink();
  }

  /** Choose a token: the page shows its biography, and a split character opens. */
  pick(/** @type {number} */ token) {
    const { painting, full } = this;
    const { cut } = painting;
    const id = cut.ids[token];
    if (id === PENDING) return;
    painting.pick(token);
    const g = groupOfToken(cut, token);
    this.open(cut.first[g + 1] - cut.first[g] > 1 ? g : -1);
    const unit = cut.units[g];
    const line = full.lastIndexOf("\n", Math.max(0, unit - CONTEXT_UNITS)) + 1;
    const from = Math.max(0, line, unit - MOST_CONTEXT_BEFORE);
    const start = tokenStart(cut, token);
    this.component.setStateValue("pick", {
      id,
      start,
      context: full.slice(from, cut.units[g + 1] + CONTEXT_UNITS),
      offset: byteLength(full.slice(from, unit)) + start - tokenStart(cut, cut.first[g]),
    });
  }

  /** Open a character of several tokens, group `g`; -1 closes. */
  open(/** @type {number} */ g) {
    const panel = this.$(".opened");
    const { cut, picked } = this.painting;
    panel.hidden = g < 0;
    if (g < 0) return;
    openGroup(panel, cut, g, picked, {
      pick: (token) => this.pick(token),
      close: () => {
        panel.hidden = true;
        this.area.focus();
      },
    });
  }

  setMarks(/** @type {boolean} */ isAlways) {
    this.root.classList.toggle("marks-always", isAlways);
    this.$(".always").checked = isAlways;
  }

  async copyIds(/** @type {string} */ format) {
    const label = this.$(".copy summary");
    if (!this.counts) {
      sayBriefly(label, "nothing to copy");
      return;
    }
    const isCut = this.counts.sent < this.counts.tokens;
    const ids = isCut ? await this.client.allIds(this.full) : this.painting.cut.ids;
    if (!ids) {
      sayBriefly(label, "not copied, try again");
      return;
    }
    const isCopied = await copyText(this.root, writeIds(ids, format));
    sayBriefly(label, isCopied ? `copied ${count(ids.length)}` : "not allowed here");
  }
}
