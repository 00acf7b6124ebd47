// @ts-check
// Getting the tokens of a text from the server: at most one question at a time, late answers
// dropped, and a second way (the component's state) where the HTTP route cannot be reached.

import { byteLength } from "./cut.js";

const ROUTE_PAUSE = 30000; // ms without the route after it failed
const PATIENCE = 200; // ms after which a newer text does not wait for an older answer
const SLOW = 400; // ms without an answer until it is shown that one is awaited

/** Read the buffer of ui/encoding.py. */
function readAnswer(buffer) {
  const head = new Uint32Array(buffer, 0, 16);
  if (head[0] !== 1) throw new Error("unknown answer");
  const names = [
    "tokens",
    "sent",
    "bytes",
    "bytesSent",
    "characters",
    "words",
    "distinct",
    "special",
    "merges",
  ];
  const counts = Object.fromEntries(names.map((name, i) => [name, head[i + 1]]));
  const n = counts.sent;
  return {
    counts,
    ids: new Uint32Array(buffer, 64, n),
    ends: new Uint32Array(buffer, 64 + 4 * n, n),
    age: new Uint8Array(buffer, 64 + 8 * n, n),
  };
}

export class Asker {
  /**
   * `text()` gives the text of the moment. Of what is asked, `onTokens(text, answer)`,
   * `onProblem(sentence)` or `onWait(sentence)` comes back; `onSlow(isSlow)` tells of delays.
   */
  constructor({ text, onTokens, onProblem, onWait, onSlow }) {
    Object.assign(this, { text, onTokens, onProblem, onWait, onSlow });
    this.seq = 0; // grows with every change of text or settings
    this.routeDownUntil = 0;
    this.renewed = false;
  }

  /** Take what the page sends: settings, a way to set state, perhaps an answer by state. */
  use({ data, setStateValue }) {
    const settings = JSON.stringify([data.tokenizer, data.merges, data.special]);
    const isNew = settings !== this.settings;
    Object.assign(this, { data, setStateValue, settings });
    const { answer } = data;
    if (answer && answer.seq === this.seq) {
      if (answer.error) this.refused(answer.status, answer.error);
      else
        this.answered(
          this.text(),
          readAnswer(Uint8Array.from(atob(answer.bytes), (c) => c.charCodeAt(0)).buffer),
        );
    }
    return isNew;
  }

  /** The text or the settings changed: ask, sooner for short texts than for long ones. */
  changed() {
    this.seq++;
    clearTimeout(this.timer);
    const n = this.text().length;
    const pause = n < 80000 ? 0 : n < 400000 ? 80 : 250;
    if (pause) this.timer = setTimeout(() => this.ask(), pause);
    else this.ask();
  }

  address(query = {}) {
    const { tokenizer, merges, special } = this.data;
    return new URL(
      `api/encode?${new URLSearchParams({ tokenizer, merges, special, ...query })}`,
      document.baseURI,
    );
  }

  async ask() {
    clearTimeout(this.timer);
    const text = this.text();
    const { data, seq } = this;
    if (text.length > data.max_bytes / 3 && byteLength(text) > data.max_bytes)
      return this.failed(data.too_long);
    if (performance.now() < this.routeDownUntil) return this.setStateValue("doc", { seq, text });
    if (this.asking) {
      const left = PATIENCE - (performance.now() - this.asked);
      if (left > 0) {
        // its answer's arrival asks again, or its delay
        this.timer = setTimeout(() => this.ask(), left);
        return;
      }
      this.asking.abort();
    }
    const asking = (this.asking = new AbortController());
    this.asked = performance.now();
    this.slow ??= setTimeout(() => this.onSlow(true), SLOW);
    let handle = () => this.ask(); // what to do with what comes back
    try {
      const response = await fetch(this.address({ limit: data.limit }), {
        method: "POST",
        body: text,
        signal: asking.signal,
      });
      if (response.ok && response.headers.get("content-type") === "application/octet-stream") {
        const answer = readAnswer(await response.arrayBuffer());
        if (seq === this.seq) handle = () => this.answered(text, answer);
      } else {
        const { error } = await response.json(); // an answer that is no JSON is not ours
        if (!error) throw new TypeError("no such route");
        if (seq === this.seq) handle = () => this.refused(response.status, error);
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      this.routeDownUntil = performance.now() + ROUTE_PAUSE;
    }
    if (this.asking === asking) this.asking = null;
    if (!this.gone) handle();
  }

  answered(text, answer) {
    this.renewed = false;
    this.calm();
    this.onTokens(text, answer);
  }

  refused(status, sentence) {
    if (status === 503) {
      this.onWait(sentence);
      this.timer = setTimeout(() => this.ask(), 1000);
    } else if (status === 404 && !this.renewed) {
      this.renewed = true; // the page publishes its tokenizer again
      this.setStateValue("renew", this.seq);
      this.timer = setTimeout(() => this.ask(), 700);
    } else this.failed(sentence);
  }

  failed(sentence) {
    this.calm();
    this.onProblem(sentence);
  }

  calm() {
    clearTimeout(this.slow);
    this.slow = undefined;
    this.onSlow(false);
  }

  /** All ids of a text, also those that are not drawn; null if there is no answer. */
  async allIds(text) {
    const response = await fetch(this.address(), { method: "POST", body: text }).catch(() => null);
    return response && response.ok ? readAnswer(await response.arrayBuffer()).ids : null;
  }

  leave() {
    this.gone = true;
    clearTimeout(this.timer);
    this.calm();
    if (this.asking) this.asking.abort();
  }
}
