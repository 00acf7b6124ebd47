// @ts-check
// "Bytes per token against vocabulary size": an SVG drawn once per trace; only the dot and its line move with the step.

import { put } from "../shared/dom.js";
import { count } from "../shared/format.js";

const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes, parent) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  parent?.append(node);
  return node;
}

/** Round numbers from low to high, about `wanted` of them. */
function ticks(low, high, wanted, least = 0) {
  const raw = Math.max(least, (high - low) / Math.max(1, wanted));
  const power = 10 ** Math.floor(Math.log10(raw || 1));
  const unit = [1, 2, 2.5, 5, 10].map((m) => m * power).find((m) => m >= raw) ?? power * 10;
  const out = [];
  for (let v = Math.ceil(low / unit - 1e-9) * unit; v <= high + unit * 1e-6; v += unit)
    out.push(+v.toFixed(10));
  return out;
}

export class Curve {
  /** on.seek(step, settled): the visitor drags or clicks. */
  constructor(root, on) {
    this.card = root("curve");
    this.frame = root("plot");
    this.caption = root("curve-caption");
    this.reading = root("reading");
    this.on = on;
    this.svg = shape("svg", { "aria-hidden": "true" }, this.frame);
    this.k = 0;
    this.dragging = false;
    const toStep = (event) => {
      const left = this.frame.getBoundingClientRect().left;
      const { x0, x1, span } = this.scale;
      return Math.round(((event.clientX - left - x0) / (x1 - x0)) * span);
    };
    this.frame.addEventListener("pointerdown", (event) => {
      if (!this.scale || event.button) return;
      this.dragging = true;
      this.frame.setPointerCapture(event.pointerId);
      this.frame.focus({ preventScroll: true });
      this.on.seek(toStep(event), false);
    });
    this.frame.addEventListener("pointermove", (event) => {
      if (this.dragging) this.on.seek(toStep(event), false);
    });
    const done = (event) => {
      if (!this.dragging) return;
      this.dragging = false;
      this.on.seek(toStep(event), true);
    };
    this.frame.addEventListener("pointerup", done);
    this.frame.addEventListener("pointercancel", done);
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(this.frame);
  }

  set(store, goal, heldOut, live) {
    Object.assign(this, { store, goal, heldOut, live });
    this.redraw();
  }

  redraw() {
    const width = this.frame.clientWidth;
    const height = this.frame.clientHeight;
    const store = this.store;
    if (!store || width < 60) return;
    const em = parseFloat(getComputedStyle(this.frame).fontSize);
    this.svg.textContent = "";
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const n = store.n;
    const span = Math.max(1, this.live ? Math.max(this.goal, n) : n);
    const x0 = 3 * em;
    const x1 = width - em;
    const y0 = height - 3.1 * em;
    const y1 = 1.4 * em;
    const end = store.bytesPerToken(n);
    const held = this.heldOut;
    let top = Math.max(1.05, Number.isFinite(end) ? end : 1);
    if (held) for (let k = 0; k < held.length; k++) if (held[k] > top) top = held[k];
    top = 1 + (top - 1) * 1.06;
    const x = (k) => x0 + ((x1 - x0) * k) / span;
    const y = (v) => y0 - ((y0 - y1) * (v - 1)) / (top - 1);
    this.scale = { x0, x1, y0, y1, span, x, y };
    const label = (text, at, up, anchor, name = "") => {
      const node = shape("text", { x: at, y: up, "text-anchor": anchor, class: name }, this.svg);
      node.textContent = text;
      return node;
    };
    const gap = (top - 1) * 0.12;
    const inner = ticks(1, top, 4).filter((v) => v - 1 > gap);
    const steps = [1, ...inner];
    const digits = inner.some((v) => Math.abs(v * 10 - Math.round(v * 10)) > 1e-6) ? 2 : 1;
    for (const v of steps) {
      shape("line", { x1: x0, x2: x1, y1: y(v), y2: y(v), class: "grid" }, this.svg);
      label(v.toFixed(digits), x0 - 0.6 * em, y(v) + 0.35 * em, "end");
    }
    if (!n) {
      this.scale = null;
      this.nothing(width, height, label);
      return;
    }
    const base = store.baseSize;
    const sizes = [
      base,
      ...ticks(base, base + span, width < 420 ? 2 : 4, 1).filter(
        (s) => s > base + span * 0.12 && s < base + span * 0.88,
      ),
      base + span,
    ];
    sizes.forEach((size, i) =>
      label(
        count(size),
        x(size - base),
        y0 + 1.4 * em,
        i === 0 ? "start" : i === sizes.length - 1 ? "end" : "middle",
      ),
    );
    label("vocabulary size", (x0 + x1) / 2, y0 + 2.8 * em, "middle", "axis");
    label("bytes per token", 0, 0.8 * em, "start", "axis");
    const path = (value, last) => {
      const points = Math.min(last, Math.ceil(x1 - x0));
      const out = [];
      for (let i = 0; i <= points; i++) {
        const k = points ? Math.round((i * last) / points) : 0;
        const v = value(k);
        if (Number.isFinite(v)) out.push(`${x(k).toFixed(1)} ${y(v).toFixed(1)}`);
      }
      return out.length > 1 ? "M" + out.join("L") : "";
    };
    if (held?.length)
      shape(
        "path",
        { d: path((k) => held[k], Math.min(held.length - 1, span)), class: "held" },
        this.svg,
      );
    shape("path", { d: path((k) => store.bytesPerToken(k), n), class: "train" }, this.svg);
    if (x(n) - x0 > 12 * em) {
      // Names stand clear of their rising line: above it by its height at their right end, below it at their left.
      const at = x(n) - 5.5 * em;
      const room = 3.4 * em;
      const height = (value, px) => {
        const k = Math.min(n, ((px - x0) / (x1 - x0)) * span);
        const low = Math.floor(k);
        const high = Math.ceil(k);
        return y(value(low) + (value(high) - value(low)) * (k - low));
      };
      const name = (text, value, above) =>
        label(
          text,
          at,
          above ? height(value, at + room) - 0.7 * em : height(value, at - room) + 1.6 * em,
          "middle",
          "name",
        );
      const train = (k) => store.bytesPerToken(k);
      const other = (k) => held[Math.min(k, held.length - 1)];
      const higher = held?.length && other(n) > train(n);
      name("training text", train, held?.length ? !higher : false);
      if (held?.length) name("held-out text", other, higher);
    }
    this.line = shape("line", { y1: y1 - 0.4 * em, y2: y0, class: "cursor" }, this.svg);
    this.ring = shape("circle", { r: 0.5 * em, class: "held-dot" }, this.svg);
    this.dot = shape("circle", { r: 0.55 * em, class: "dot" }, this.svg);
    put(
      this.caption,
      held?.length
        ? "Each new token buys less; where the dashed line falls behind, merges fit the training text only. Drag the dot: the text follows."
        : "Each new token buys less. Drag the dot: the text above follows.",
    );
    this.draw(this.k);
  }

  nothing(width, height, label) {
    this.svg.textContent = "";
    label("The curve appears with the first merges.", width / 2, height / 2, "middle", "name");
    put(this.caption, "");
    put(this.reading, "");
  }

  /** words: renew the reading too. */
  draw(k, words = true) {
    this.k = k;
    const { scale, store, heldOut } = this;
    if (!scale) return;
    const value = store.bytesPerToken(k);
    const at = scale.x(k).toFixed(1);
    this.line.setAttribute("x1", at);
    this.line.setAttribute("x2", at);
    const seen = Number.isFinite(value);
    this.dot.setAttribute("visibility", seen ? "visible" : "hidden");
    if (seen) {
      this.dot.setAttribute("cx", at);
      this.dot.setAttribute("cy", scale.y(value).toFixed(1));
    }
    const held = heldOut && k < heldOut.length ? heldOut[k] : NaN;
    this.ring.setAttribute("visibility", Number.isFinite(held) ? "visible" : "hidden");
    if (Number.isFinite(held)) {
      this.ring.setAttribute("cx", at);
      this.ring.setAttribute("cy", scale.y(held).toFixed(1));
    }
    if (!words) return;
    const size = store.baseSize + k;
    const reading =
      `${count(size)} tokens in the vocabulary: ${seen ? value.toFixed(2) : "no"} bytes per token` +
      (Number.isFinite(held) ? `, held-out ${held.toFixed(2)}` : "");
    put(this.reading, reading);
    this.frame.setAttribute("aria-valuemax", store.n);
    this.frame.setAttribute("aria-valuenow", k);
    this.frame.setAttribute("aria-valuetext", reading);
  }

  destroy() {
    this.observer.disconnect();
  }
}
