// @ts-check
// Getting the tokens of a text from the server: at most one request at a time, late answers
// dropped, and a second way (the component's state) where the HTTP route cannot be reached.

import { byteLength } from "../shared/bytes.js";

const ROUTE_PAUSE_MS = 30000; // without the route after it failed
const PATIENCE_MS = 200; // after which a newer text does not wait for an older answer
const SLOW_MS = 400; // without an answer until it is shown that one is awaited
const BUSY_MS = 1000; // until a busy server is asked again
const RENEW_MS = 700; // for the page to publish its tokenizer again
const HEAD_NUMBERS = 16; // uint32 at the beginning of an answer

/** How long to wait for more typing: long texts are not sent at every key. */
function debounceMs(/** @type {number} */ length) {
  if (length < 80000) return 0;
  return length < 400000 ? 80 : 250;
}

/**
 * counts: the numbers at its head, by name. The arrays have one entry for each token that is drawn.
 * @typedef {{
 *   counts: Record<string, number>, ids: Uint32Array, ends: Uint32Array, age: Uint8Array,
 * }} Answer
 */

/**
 * Read an answer. The page says what its head holds.
 * @param {ArrayBuffer} buffer
 * @param {{ head: string[], version: number }} layout
 * @returns {Answer}
 */
function readAnswer(buffer, { head, version }) {
  const numbers = new Uint32Array(buffer, 0, HEAD_NUMBERS);
  const counts = Object.fromEntries(head.map((name, i) => [name, numbers[i]]));
  if (counts.version !== version) throw new Error("unknown answer");
  const n = counts.sent;
  const start = 4 * HEAD_NUMBERS;
  return {
    counts,
    ids: new Uint32Array(buffer, start, n),
    ends: new Uint32Array(buffer, start + 4 * n, n),
    age: new Uint8Array(buffer, start + 8 * n, n),
  };
}

/**
 * text() gives the text of the moment. Of what is asked, onTokens, onProblem or onWait comes back;
 * onSlow tells of delays.
 * @typedef {{
 *   text: () => string,
 *   onTokens: (text: string, answer: Answer) => void,
 *   onProblem: (sentence: string) => void,
 *   onWait: (sentence: string) => void,
 *   onSlow: (isSlow: boolean) => void,
 * }} Handlers
 */

export class EncodeClient {
  /** @param {Handlers} handlers */
  constructor(handlers) {
    this.handlers = handlers;
    /** What the page sent last. @type {any} */
    this.data = null;
    /** @type {(name: string, value: unknown) => void} */
    this.setStateValue = () => {};
    this.sequence = 0; // grows with every change of text or settings
    this.routeDownUntil = 0;
    this.isRenewed = false; // the tokenizer was asked for again
    this.isGone = false;
    this.settings = "";
    /** The request under way. @type {AbortController | null} */
    this.request = null;
    this.requestedAt = 0;
    this.timer = 0;
    this.slowTimer = 0;
  }

  /**
   * Take what the page sends: settings, a way to set state, perhaps an answer by state. Returns
   * whether the settings are new.
   * @param {any} component
   */
  use({ data, setStateValue }) {
    const settings = JSON.stringify([data.tokenizer, data.merges, data.special]);
    const isNew = settings !== this.settings;
    Object.assign(this, { data, setStateValue, settings });
    const { answer } = data;
    if (answer?.seq !== this.sequence) return isNew;
    if (answer.error) this.refused(answer.status, answer.error);
    else {
      const bytes = Uint8Array.from(atob(answer.bytes), (ch) => ch.charCodeAt(0));
      this.answered(this.handlers.text(), readAnswer(bytes.buffer, data));
    }
    return isNew;
  }

  /** The text or the settings changed: ask, sooner for short texts than for long ones. */
  changed() {
    this.sequence++;
    const wait = debounceMs(this.handlers.text().length);
    if (wait) this.askIn(wait);
    else this.ask();
  }

  askIn(/** @type {number} */ ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), ms);
  }

  address(query = {}) {
    const { tokenizer, merges, special } = this.data;
    const search = new URLSearchParams({ tokenizer, merges, special, ...query });
    return new URL(`api/encode?${search}`, document.baseURI);
  }

  async ask() {
    clearTimeout(this.timer);
    const { data, sequence } = this;
    const text = this.handlers.text();
    if (text.length > data.max_bytes / 3 && byteLength(text) > data.max_bytes) {
      this.failed(data.too_long);
      return;
    }
    if (performance.now() < this.routeDownUntil) {
      this.setStateValue("doc", { seq: sequence, text });
      return;
    }
    if (this.request) {
      const left = PATIENCE_MS - (performance.now() - this.requestedAt);
      if (left > 0) {
        this.askIn(left); // or its answer's arrival asks again
        return;
      }
      this.request.abort();
    }
    const request = new AbortController();
    this.request = request;
    this.requestedAt = performance.now();
    this.slowTimer ||= setTimeout(() => this.handlers.onSlow(true), SLOW_MS);
    let handle = () => {
      this.ask();
    };
    try {
      const answer = await this.send(text, request.signal);
      if (sequence === this.sequence) handle = () => answer(text);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return;
      this.routeDownUntil = performance.now() + ROUTE_PAUSE_MS;
    }
    if (this.request === request) this.request = null;
    if (!this.isGone) handle();
  }

  /**
   * Send a text to the route; gives what is to be done with what comes back. Throws if that is not
   * an answer of ours.
   * @param {string} text
   * @param {AbortSignal} signal
   * @returns {Promise<(text: string) => void>}
   */
  async send(text, signal) {
    const address = this.address({ limit: this.data.limit });
    const response = await fetch(address, { method: "POST", body: text, signal });
    if (response.ok && response.headers.get("content-type") === "application/octet-stream") {
      const answer = readAnswer(await response.arrayBuffer(), this.data);
      return (asked) => this.answered(asked, answer);
    }
    const { error } = await response.json();
    if (!error) throw new TypeError("no such route");
    return () => this.refused(response.status, error);
  }

  answered(/** @type {string} */ text, /** @type {Answer} */ answer) {
    this.isRenewed = false;
    this.calm();
    this.handlers.onTokens(text, answer);
  }

  refused(/** @type {number} */ status, /** @type {string} */ sentence) {
    if (status === 503) {
      this.handlers.onWait(sentence);
      this.askIn(BUSY_MS);
    } else if (status === 404 && !this.isRenewed) {
      this.isRenewed = true; // the page publishes its tokenizer again
      this.setStateValue("renew", this.sequence);
      this.askIn(RENEW_MS);
    } else this.failed(sentence);
  }

  failed(/** @type {string} */ sentence) {
    this.calm();
    this.handlers.onProblem(sentence);
  }

  /** Nothing is awaited any more. */
  calm() {
    clearTimeout(this.slowTimer);
    this.slowTimer = 0;
    this.handlers.onSlow(false);
  }

  /** All ids of a text, also those that are not drawn; null if there is no answer. */
  async allIds(/** @type {string} */ text) {
    const response = await fetch(this.address(), { method: "POST", body: text }).catch(() => null);
    return response?.ok ? readAnswer(await response.arrayBuffer(), this.data).ids : null;
  }

  leave() {
    this.isGone = true;
    clearTimeout(this.timer);
    this.calm();
    this.request?.abort();
  }
}
