// @ts-check
// "Bytes per token against vocabulary size": an SVG drawn once per trace; only the dot and its
// line move with the step.

import { makeShape, put } from "../shared/dom.js";
import { count } from "../shared/format.js";

const LEAST_WIDTH = 60; // pixels; a narrower curve is not drawn

/** Value after k merges. @typedef {(k: number) => number} Series */

/** Round numbers from low to high, about `wanted` of them, at least `least` apart. */
function ticks(
  /** @type {number} */ low,
  /** @type {number} */ high,
  /** @type {number} */ wanted,
  least = 0,
) {
  const raw = Math.max(least, (high - low) / Math.max(1, wanted));
  const power = 10 ** Math.floor(Math.log10(raw || 1));
  const tick = [1, 2, 2.5, 5, 10].map((m) => m * power).find((m) => m >= raw) ?? power * 10;
  const out = [];
  for (let v = Math.ceil(low / tick - 1e-9) * tick; v <= high + tick * 1e-6; v += tick) {
    out.push(Number(v.toFixed(10)));
  }
  return out;
}

export class Curve {
  /**
   * on.seek(step, isSettled): the visitor drags or clicks.
   * @param {(name: string) => any} ref
   * @param {{ seek: (k: number, isSettled: boolean) => void }} on
   */
  constructor(ref, on) {
    /** @type {HTMLElement} */
    this.frame = ref("plot");
    this.caption = ref("curve-caption");
    this.reading = ref("reading");
    this.on = on;
    this.svg = makeShape("svg", { "aria-hidden": "true" });
    this.frame.append(this.svg);
    this.k = 0;
    /** @type {import("./trace.js").Trace | null} */
    this.trace = null;
    this.goal = 0;
    /** @type {ArrayLike<number> | null} */
    this.heldOut = null;
    this.live = false;
    /** Where things are, in pixels; null as long as nothing is drawn. @type {any} */
    this.scale = null;
    this.listen();
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(this.frame);
  }

  destroy() {
    this.observer.disconnect();
  }

  listen() {
    const { frame } = this;
    let isDragging = false;
    const seek = (/** @type {PointerEvent} */ event, /** @type {boolean} */ isSettled) => {
      const { x0, x1, span } = this.scale;
      const x = event.clientX - frame.getBoundingClientRect().left;
      this.on.seek(Math.round(((x - x0) / (x1 - x0)) * span), isSettled);
    };
    frame.addEventListener("pointerdown", (event) => {
      if (!this.scale || event.button) return;
      isDragging = true;
      frame.setPointerCapture(event.pointerId);
      frame.focus({ preventScroll: true });
      seek(event, false);
    });
    frame.addEventListener("pointermove", (event) => {
      if (isDragging) seek(event, false);
    });
    const done = (/** @type {PointerEvent} */ event) => {
      if (!isDragging) return;
      isDragging = false;
      seek(event, true);
    };
    frame.addEventListener("pointerup", done);
    frame.addEventListener("pointercancel", done);
  }

  /**
   * @param {import("./trace.js").Trace} trace
   * @param {number} goal merges asked for
   * @param {ArrayLike<number> | null} heldOut bytes per token after 0, 1, ... merges
   * @param {boolean} live
   */
  set(trace, goal, heldOut, live) {
    Object.assign(this, { trace, goal, heldOut, live });
    this.redraw();
  }

  // -- what is drawn once -------------------------------------------------------------------------

  redraw() {
    const { frame, svg, trace } = this;
    if (!trace || frame.clientWidth < LEAST_WIDTH) return;
    svg.textContent = "";
    svg.setAttribute("viewBox", `0 0 ${frame.clientWidth} ${frame.clientHeight}`);
    if (!trace.n) {
      this.scale = null;
      this.drawNothing();
      return;
    }
    const scale = this.newScale();
    this.scale = scale;
    this.drawValues(scale);
    this.drawSizes(scale);
    this.drawLines(scale);
    this.drawDots(scale);
    const held = "where the dashed line falls behind, merges fit the training text only.";
    put(
      this.caption,
      this.heldOut?.length
        ? `Each new token buys less; ${held} Drag the dot: the text follows.`
        : "Each new token buys less. Drag the dot: the text above follows.",
    );
    this.draw(this.k);
  }

  /** The plot's sides, and the places of steps (x) and values (y). */
  newScale() {
    const { frame, trace, heldOut } = this;
    const em = parseFloat(getComputedStyle(frame).fontSize);
    const x0 = 3 * em;
    const x1 = frame.clientWidth - em;
    const y0 = frame.clientHeight - 3.1 * em;
    const y1 = 1.4 * em;
    const span = Math.max(1, this.live ? Math.max(this.goal, trace.n) : trace.n);
    const end = trace.bytesPerToken(trace.n);
    let top = Math.max(1.05, Number.isFinite(end) ? end : 1);
    for (const value of Array.from(heldOut ?? [])) if (value > top) top = value;
    top = 1 + (top - 1) * 1.06;
    const x = (/** @type {number} */ k) => x0 + ((x1 - x0) * k) / span;
    const y = (/** @type {number} */ value) => y0 - ((y0 - y1) * (value - 1)) / (top - 1);
    return { em, x0, x1, y0, y1, span, top, x, y };
  }

  shape(tag, attributes) {
    const node = makeShape(tag, attributes);
    this.svg.append(node);
    return node;
  }

  label(text, x, y, anchor, className = "") {
    this.shape("text", { x, y, "text-anchor": anchor, class: className }).textContent = text;
  }

  drawNothing() {
    const { clientWidth, clientHeight } = this.frame;
    const sentence = "The curve appears with the first merges.";
    this.label(sentence, clientWidth / 2, clientHeight / 2, "middle", "name");
    put(this.caption, "");
    put(this.reading, "");
  }

  /** Lines and labels of bytes per token. */
  drawValues({ em, x0, x1, top, y }) {
    const gap = (top - 1) * 0.12;
    const inner = ticks(1, top, 4).filter((value) => value - 1 > gap);
    const isFine = inner.some((value) => Math.abs(value * 10 - Math.round(value * 10)) > 1e-6);
    for (const value of [1, ...inner]) {
      this.shape("line", { x1: x0, x2: x1, y1: y(value), y2: y(value), class: "grid" });
      this.label(value.toFixed(isFine ? 2 : 1), x0 - 0.6 * em, y(value) + 0.35 * em, "end");
    }
  }

  /** Labels of vocabulary sizes, and the names of the axes. */
  drawSizes({ em, x0, x1, y0, span, x }) {
    const { baseSize } = this.trace;
    const wanted = this.frame.clientWidth < 420 ? 2 : 4;
    const inner = ticks(baseSize, baseSize + span, wanted, 1).filter(
      (size) => size > baseSize + span * 0.12 && size < baseSize + span * 0.88,
    );
    const size = (value, anchor) =>
      this.label(count(value), x(value - baseSize), y0 + 1.4 * em, anchor);
    size(baseSize, "start");
    for (const value of inner) size(value, "middle");
    size(baseSize + span, "end");
    this.label("vocabulary size", (x0 + x1) / 2, y0 + 2.8 * em, "middle", "axis");
    this.label("bytes per token", 0, 0.8 * em, "start", "axis");
  }

  /** The lines of the training text and of the held-out text, with their names. */
  drawLines(scale) {
    const { trace, heldOut } = this;
    const { em, x0, span, x } = scale;
    /** @type {Series} */
    const train = (k) => trace.bytesPerToken(k);
    /** @type {Series} */
    const held = (k) => heldOut[Math.min(k, heldOut.length - 1)];
    if (heldOut?.length) {
      const last = Math.min(heldOut.length - 1, span);
      this.shape("path", { d: this.path(held, last, scale), class: "held" });
    }
    this.shape("path", { d: this.path(train, trace.n, scale), class: "train" });
    if (x(trace.n) - x0 <= 12 * em) return; // no room for names
    if (!heldOut?.length) {
      this.nameLine("training text", train, false, scale);
      return;
    }
    const isHeldHigher = held(trace.n) > train(trace.n);
    this.nameLine("training text", train, !isHeldHigher, scale);
    this.nameLine("held-out text", held, isHeldHigher, scale);
  }

  /** A line through the values after 0 to `last` merges, at most one point for each pixel. */
  path(/** @type {Series} */ value, /** @type {number} */ last, { x0, x1, x, y }) {
    const points = Math.min(last, Math.ceil(x1 - x0));
    const out = [];
    for (let i = 0; i <= points; i++) {
      const k = points ? Math.round((i * last) / points) : 0;
      const v = value(k);
      if (Number.isFinite(v)) out.push(`${x(k).toFixed(1)} ${y(v).toFixed(1)}`);
    }
    return out.length > 1 ? `M${out.join("L")}` : "";
  }

  /**
   * Names stand clear of their rising line: above it by its height at their right end, below it by
   * the one at their left.
   */
  nameLine(text, /** @type {Series} */ value, /** @type {boolean} */ isAbove, scale) {
    const { em, x0, x1, span, x, y } = scale;
    const n = this.trace.n;
    const at = x(n) - 5.5 * em;
    const room = 3.4 * em;
    const height = (/** @type {number} */ px) => {
      const k = Math.min(n, ((px - x0) / (x1 - x0)) * span);
      const low = Math.floor(k);
      const high = Math.ceil(k);
      return y(value(low) + (value(high) - value(low)) * (k - low));
    };
    const up = isAbove ? height(at + room) - 0.7 * em : height(at - room) + 1.6 * em;
    this.label(text, at, up, "middle", "name");
  }

  drawDots({ em, y0, y1 }) {
    this.line = this.shape("line", { y1: y1 - 0.4 * em, y2: y0, class: "cursor" });
    this.ring = this.shape("circle", { r: 0.5 * em, class: "held-dot" });
    this.dot = this.shape("circle", { r: 0.55 * em, class: "dot" });
  }

  // -- what moves with the step -------------------------------------------------------------------

  /** Show step k. isSaid: renew the reading too. */
  draw(/** @type {number} */ k, isSaid = true) {
    this.k = k;
    const { scale, trace, heldOut } = this;
    if (!scale) return;
    const x = scale.x(k).toFixed(1);
    const value = trace.bytesPerToken(k);
    const held = heldOut && k < heldOut.length ? heldOut[k] : NaN;
    this.line.setAttribute("x1", x);
    this.line.setAttribute("x2", x);
    const place = (dot, v) => {
      const isSeen = Number.isFinite(v);
      dot.setAttribute("visibility", isSeen ? "visible" : "hidden");
      if (!isSeen) return;
      dot.setAttribute("cx", x);
      dot.setAttribute("cy", scale.y(v).toFixed(1));
    };
    place(this.dot, value);
    place(this.ring, held);
    if (isSaid) this.read(k, value, held);
  }

  /** Write what the dots show, for the eye and for screen readers. */
  read(/** @type {number} */ k, /** @type {number} */ value, /** @type {number} */ held) {
    const rate = Number.isFinite(value) ? value.toFixed(2) : "no";
    const other = Number.isFinite(held) ? `, held-out ${held.toFixed(2)}` : "";
    const size = count(this.trace.baseSize + k);
    const reading = `${size} tokens in the vocabulary: ${rate} bytes per token${other}`;
    put(this.reading, reading);
    this.frame.setAttribute("aria-valuemax", String(this.trace.n));
    this.frame.setAttribute("aria-valuenow", String(k));
    this.frame.setAttribute("aria-valuetext", reading);
  }
}
