// @ts-check
// The editor itself: what the page sends, what the visitor does, and what of it is kept.
// Runs on every new `data` and on theme change; what must outlive that is kept per mounted element.

import { count } from "../shared/format.js";
import { byteLength, editedCut, EMPTY_CUT, group, PENDING, shared } from "./cut.js";
import { Asker } from "./encode_client.js";
import {
  copyText,
  cutNote,
  openCharacter,
  say,
  sayBriefly,
  showLegend,
  showNumbers,
  spelled,
} from "./notes.js";
import { below, Painting } from "./painting.js";

const MEMORY = new Map(); // by component key: the text survives a page switch
const STORE = "mergescope.editor";
const LONGEST_PENDING = 20000; // units typed or pasted at once that are drawn before the answer
const LARGE_PASTE = [100000, 1000]; // units or lines from which a paste is put in without the browser's help
const LONGEST_LINK = 1000; // units of text that a link carries
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufefc\ud802\ud803\ud83a\ud83b]/;

export class Editor {
  constructor(root) {
    this.$ = (name) => root.querySelector(name);
    this.root = this.$(".te");
    this.host = root;
    this.area = this.$("textarea");
    this.sheet = this.$(".sheet");
    this.textBox = this.$(".text-box");
    this.listBox = this.$(".list-box");
    this.painting = new Painting(this.$(".paint"), this.textBox, this.$(".list"), this.listBox);
    this.asker = new Asker({
      text: () => this.area.value,
      onTokens: (text, answer) => this.take(text, answer),
      onProblem: (sentence) => this.fail(sentence),
      onWait: (sentence) => this.note(sentence, "wait"),
      onSlow: (isSlow) => this.root.classList.toggle("busy", isSlow),
    });
    this.full = ""; // the text that the painting stands for
    this.counts = null;
    this.typed = 0;
    this.listen();
  }

  // -- what the page sends --------------------------------------------------------------------

  update(component) {
    const { data, key } = component;
    const before = this.data;
    this.component = component;
    this.data = data;
    this.key = key;
    this.root.classList.toggle("large", Boolean(data.large));
    this.root.dataset.color = data.color;
    this.painting.setMode(data.color);
    const isNew = this.takeText(!before);
    if (before && before.tokenizer !== data.tokenizer) {
      this.painting.clear();
      this.painting.show(EMPTY_CUT);
      this.full = "";
    }
    if (this.asker.use(component) || isNew) this.changed(0);
    this.legend();
  }

  /** Put the page's text into the text area if it is a newer one; returns whether it did. */
  takeText(first) {
    const { data } = this;
    let memory = MEMORY.get(this.key) || (data.linked ? null : this.stored());
    const fresh =
      !memory || (memory.session === data.session ? data.epoch > memory.epoch : data.linked);
    const text = fresh ? data.text : memory.text;
    MEMORY.set(this.key, {
      session: data.session,
      epoch: data.epoch,
      text,
      always: memory && memory.always,
    });
    if (!first && !fresh) return false;
    this.setMarks(Boolean(memory && memory.always));
    if (text === this.area.value) return first;
    const active = this.host.activeElement;
    if (!first && matchMedia("(pointer: fine)").matches && text.length < 5000) {
      this.area.focus({ preventScroll: true }); // typed in, so that undo brings the old text back
      this.area.select();
      if (!document.execCommand("insertText", false, text)) this.area.value = text;
      if (active !== this.area) this.area.blur();
    } else this.area.value = text;
    this.area.setSelectionRange(0, 0);
    this.textBox.scrollTop = 0;
    return true;
  }

  stored() {
    try {
      return JSON.parse(sessionStorage.getItem(STORE));
    } catch {
      return null;
    }
  }

  remember() {
    const memory = MEMORY.get(this.key);
    if (!memory) return;
    memory.text = this.area.value;
    memory.always = this.root.classList.contains("marks-always");
    clearTimeout(this.storing);
    this.storing = setTimeout(() => this.store(), 800);
  }

  store() {
    const memory = MEMORY.get(this.key);
    try {
      if (memory) sessionStorage.setItem(STORE, JSON.stringify(memory));
    } catch {
      /* too long, or not allowed */
    }
  }

  // -- what the server answers ------------------------------------------------------------------

  changed(typed) {
    this.typed = typed;
    this.root.dataset.state = "waiting";
    this.asker.changed();
  }

  fail(sentence) {
    this.root.dataset.state = "ready";
    this.counts = null;
    this.stretch();
    showNumbers(this.root, null);
    this.painting.clear();
    this.painting.show(EMPTY_CUT);
    this.full = "";
    this.$(".opened").hidden = true;
    this.about(-1);
    this.note(sentence, "problem");
  }

  take(text, answer) {
    this.root.dataset.state = "ready";
    this.counts = answer.counts;
    this.painting.show(group(text, answer.ids, answer.ends, answer.age));
    this.full = text;
    this.direct(text);
    this.stretch();
    showNumbers(this.root, this.counts);
    this.legend();
    this.note();
    if (this.painting.picked < 0) this.$(".opened").hidden = true;
    this.about(-1);
    const { typed } = this;
    this.typed = 0;
    if (typed)
      requestAnimationFrame(() =>
        setTimeout(() => {
          const name = "token-editor: keystroke to colors";
          performance.clearMeasures(name);
          performance.measure(name, { start: typed, end: performance.now() });
        }),
      );
  }

  /** Lines find their own direction where the text has letters that run right to left. */
  direct(text) {
    this.root.classList.toggle("rtl", RIGHT_TO_LEFT.test(text));
  }

  /** Where the drawing is cut, the text area is the taller one: make room for all of it. */
  stretch() {
    const { sheet } = this;
    const isCut = this.counts && this.counts.sent < this.counts.tokens;
    if (!isCut && !sheet.style.minHeight) return;
    sheet.style.minHeight = "";
    if (isCut) sheet.style.minHeight = `${this.area.scrollHeight}px`;
  }

  // -- notes ------------------------------------------------------------------------------------

  note(sentence = cutNote(this.counts), kind = "info") {
    const el = this.$(".notice");
    el.hidden = !sentence;
    el.className = `notice ${kind}`;
    say(el, sentence);
  }

  legend() {
    showLegend(this.$(".legend"), this.painting.cut, this.data.color);
  }

  /** Say in words which token is lit. */
  about(token) {
    const { cut } = this.painting;
    const el = this.$(".about");
    if (token < 0 || token >= cut.ids.length || cut.ids[token] === PENDING) {
      say(el, "");
      return;
    }
    const start = token ? cut.ends[token - 1] : 0;
    say(
      el,
      `token ${count(token + 1)} of ${count(this.counts ? this.counts.tokens : cut.ids.length)}, ` +
        `bytes ${spelled(this.bytes(token).slice(0, 12))}${cut.ends[token] - start > 12 ? " …" : ""}`,
    );
  }

  /** Bytes of one token, out of the text of its group. */
  bytes(token) {
    const { cut } = this.painting;
    const g = this.painting.groupOf(token);
    const i = cut.first[g];
    const bytes = new TextEncoder().encode(cut.text.slice(cut.units[g], cut.units[g + 1]));
    const base = i ? cut.ends[i - 1] : 0;
    const start = (token ? cut.ends[token - 1] : 0) - base;
    return bytes.slice(start, cut.ends[token] - base);
  }

  // -- what the visitor does --------------------------------------------------------------------

  listen() {
    const { area, textBox, listBox, painting } = this;
    area.addEventListener("input", (event) => {
      const text = area.value;
      this.changed(event.timeStamp || performance.now()); // the server works while this is drawn
      if (text.length < LONGEST_PENDING * 10) this.direct(text);
      const same = shared(this.full, text); // asking for the caret would split the undo steps
      if (!this.inLongLine(same[0])) {
        // the rest of the line moves along at once
        const cut = editedCut(painting.cut, this.full, text, same, LONGEST_PENDING);
        if (cut) painting.show(cut);
        this.full = text;
      }
      this.remember();
      this.unlink();
    });
    area.addEventListener("paste", (event) => this.paste(event));
    area.addEventListener("blur", () => this.store());
    area.addEventListener("scroll", () => {
      area.scrollTop = area.scrollLeft = 0;
    });
    let ticking = 0;
    const scrolled = () => {
      ticking ||= requestAnimationFrame(() => {
        ticking = 0;
        painting.refresh();
        painting.mark();
      });
    };
    textBox.addEventListener("scroll", scrolled, { passive: true });
    listBox.addEventListener("scroll", scrolled, { passive: true });
    this.resizing = new ResizeObserver(() => {
      this.stretch();
      scrolled();
    });
    this.resizing.observe(textBox);

    let hovering = 0;
    let at = null;
    area.addEventListener("pointermove", (event) => {
      at = event;
      hovering ||= requestAnimationFrame(() => {
        hovering = 0;
        if (at) this.light(this.tokenUnder(at), listBox);
      });
    });
    area.addEventListener("pointerleave", () => {
      at = null;
      this.light(-1);
    });
    area.addEventListener("click", (event) => {
      if (area.selectionStart !== area.selectionEnd) return;
      const token = this.tokenUnder(event);
      if (token >= 0) this.pick(token);
    });
    area.addEventListener("keydown", (event) => {
      if (event.key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey)
        this.undoPaste(event);
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        const token = this.tokenAtCaret();
        if (token >= 0) this.pick(token);
      }
    });
    area.addEventListener("keyup", (event) => {
      if (/^(Arrow|Home|End|Page)/.test(event.key)) this.light(this.tokenAtCaret(), listBox);
    });

    listBox.addEventListener("pointerover", (event) => {
      const el = event.target.closest(".id");
      if (el) this.light(painting.tokenOfId(el), textBox);
    });
    listBox.addEventListener("pointerleave", () => this.light(-1));
    listBox.addEventListener("click", (event) => {
      const el = event.target.closest(".id");
      if (el) {
        this.at = painting.tokenOfId(el);
        this.pick(this.at);
      }
    });
    listBox.addEventListener("keydown", (event) => this.walk(event));
    listBox.addEventListener("blur", () => this.light(-1));

    this.$(".always").addEventListener("change", (event) => {
      this.setMarks(event.target.checked);
      this.remember();
    });
    this.$(".link").addEventListener("click", (event) => this.copyLink(event.target));
    const menu = this.$(".copy");
    menu.addEventListener("click", (event) => {
      const format = event.target.dataset.format;
      if (format) {
        menu.open = false;
        this.copyIds(format);
      }
    });
    menu.addEventListener("focusout", (event) => {
      if (!menu.contains(event.relatedTarget)) menu.open = false;
    });
    this.root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      menu.open = false;
      this.$(".opened").hidden = true;
    });
    this.leaving = () => this.store();
    addEventListener("pagehide", this.leaving);
  }

  /** Browsers take seconds to paste very many lines, because they prepare to undo each of them. */
  paste(event) {
    const { area } = this;
    const text = event.clipboardData.getData("text/plain");
    if (text.length < LARGE_PASTE[0] && text.split("\n", LARGE_PASTE[1]).length < LARGE_PASTE[1])
      return;
    event.preventDefault();
    const [before, start, end] = [area.value, area.selectionStart, area.selectionEnd];
    area.setRangeText(text, start, end, "end");
    this.pasted = { before, start, end, after: area.value };
    area.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste" }));
  }

  /** Undo such a paste, as long as nothing was changed since. */
  undoPaste(event) {
    const { area, pasted } = this;
    if (!pasted || area.value !== pasted.after) return;
    event.preventDefault();
    this.pasted = null;
    area.value = pasted.before;
    area.setSelectionRange(pasted.start, pasted.end);
    area.dispatchEvent(new InputEvent("input", { inputType: "historyUndo" }));
  }

  /** Laying out a very long line costs more than waiting for its colors. */
  inLongLine(u) {
    const { lines } = this.painting;
    const line = lines[this.painting.lineAt(u)];
    return line !== undefined && line.u1 - line.u0 > LONGEST_PENDING;
  }

  /** Arrow keys walk through the ids; Enter picks. */
  walk(event) {
    const { painting, listBox } = this;
    const n = painting.cut.ids.length;
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10, Home: -n, End: n };
    if (!n || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && painting.hot >= 0) this.pick(painting.hot);
    else if (event.key in steps) {
      const from = painting.hot >= 0 ? painting.hot : this.at >= 0 ? this.at : -1;
      this.at = Math.max(0, Math.min(n - 1, from < 0 ? 0 : from + steps[event.key]));
      this.light(this.at, this.textBox);
      this.reveal(listBox, painting.idElement(this.at));
    } else return;
    event.preventDefault();
  }

  tokenUnder(event) {
    for (const el of this.host.elementsFromPoint(event.clientX, event.clientY)) {
      const span = el.closest && el.closest(".paint .t");
      if (span) return this.painting.tokenOfText(span);
    }
    return -1;
  }

  tokenAtCaret() {
    const { cut } = this.painting;
    const u = this.area.selectionStart;
    if (!cut.n || u > cut.units[cut.n]) return -1;
    return cut.first[Math.max(0, below(cut.units, cut.n, u + 1) - 1)];
  }

  /** Light a token, and bring it into view in the other place. */
  light(token, other) {
    const { painting } = this;
    if (token === painting.hot) return;
    painting.light(token);
    this.about(token);
    this.root.dataset.hot = token < 0 ? "" : token;
    if (token < 0 || !other) return;
    this.reveal(
      other,
      other === this.listBox ? painting.idElement(token) : painting.textElements(token)[0],
    );
  }

  reveal(box, el) {
    if (!el) return;
    const a = box.getBoundingClientRect();
    const b = el.getBoundingClientRect();
    const margin = 24;
    if (b.top < a.top) box.scrollTop += b.top - a.top - margin;
    else if (b.bottom > a.bottom) box.scrollTop += b.bottom - a.bottom + margin;
  }

  /** Choose a token: the page shows its biography, and a split character opens. */
  pick(token) {
    const { painting } = this;
    const { cut } = painting;
    const id = cut.ids[token];
    if (id === PENDING) return;
    painting.pick(token);
    const g = painting.groupOf(token);
    this.open(cut.first[g + 1] - cut.first[g] > 1 ? g : -1);
    const start = cut.units[g];
    const from = Math.max(
      0,
      this.full.lastIndexOf("\n", Math.max(0, start - 1000)) + 1,
      start - 4000,
    );
    const context = this.full.slice(from, cut.units[g + 1] + 1000);
    const first = cut.first[g];
    const offset =
      byteLength(this.full.slice(from, start)) +
      (token ? cut.ends[token - 1] : 0) -
      (first ? cut.ends[first - 1] : 0);
    this.component.setStateValue("pick", {
      id,
      start: token ? cut.ends[token - 1] : 0,
      context,
      offset,
    });
  }

  /** Open a character of several tokens, group `g`; -1 closes. */
  open(g) {
    const panel = this.$(".opened");
    const { cut, picked } = this.painting;
    panel.hidden = g < 0;
    const close = () => {
      panel.hidden = true;
      this.area.focus();
    };
    if (g >= 0) openCharacter(panel, cut, g, picked, (token) => this.pick(token), close);
  }

  // -- marks, links, copies -----------------------------------------------------------------------

  setMarks(always) {
    this.root.classList.toggle("marks-always", always);
    this.$(".always").checked = always;
  }

  async copyIds(format) {
    let { ids } = this.painting.cut;
    const label = this.$(".copy summary");
    if (!this.counts) return sayBriefly(label, "nothing to copy");
    if (this.counts.sent < this.counts.tokens) ids = await this.asker.allIds(this.full);
    if (!ids) return sayBriefly(label, "not copied, try again");
    const text =
      format === "list"
        ? `[${[...ids].join(", ")}]`
        : [...ids].join(format === "lines" ? "\n" : " ");
    sayBriefly(
      label,
      (await copyText(this.root, text)) ? `copied ${count(ids.length)}` : "not allowed here",
    );
  }

  async copyLink(button) {
    const text = this.area.value;
    if (text.length > LONGEST_LINK)
      return sayBriefly(button, `only up to ${count(LONGEST_LINK)} characters`);
    const url = new URL(location.href);
    url.searchParams.set("text", text);
    url.searchParams.set("special", this.data.special);
    url.hash = "";
    history.replaceState(history.state, "", url);
    sayBriefly(
      button,
      (await copyText(this.root, url.href)) ? "link copied" : "the link is in the address bar",
    );
  }

  /** A link in the address bar no longer fits once the text changes. */
  unlink() {
    if (!location.search.includes("text=")) return;
    const url = new URL(location.href);
    url.searchParams.delete("text");
    url.searchParams.delete("special");
    history.replaceState(history.state, "", url);
  }

  leave() {
    this.remember();
    this.store();
    clearTimeout(this.storing);
    this.resizing.disconnect();
    removeEventListener("pagehide", this.leaving);
    this.asker.leave();
  }
}
