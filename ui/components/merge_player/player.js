// @ts-check
// The player: one step, shown by the text, the head, the bars, the curve and the log.
// Belongs here: data from Python and back, and drawing all parts at one step. How the step moves
// is playback.js, what is pointed at is pointing.js, each part has a file of its own.

import { put } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { Candidates } from "./candidates.js";
import { Controls } from "./controls.js";
import { Curve } from "./curve.js";
import { Head } from "./head.js";
import { Highlight } from "./highlight.js";
import { pressKey } from "./keys.js";
import { Log } from "./log.js";
import { keep, kept } from "./memory.js";
import { showCut, showLegend } from "./notes.js";
import { Playback } from "./playback.js";
import { Pointing } from "./pointing.js";
import { Ruler } from "./ruler.js";
import { TextView } from "./text.js";
import { column, Trace } from "./trace.js";

const LISTS_MS = 100; // while it runs, the lists are renewed this often
const SLOW_FRAME_MS = 24;
const CATCH_UP_MS = 6; // of a frame, for text out of sight
const DRAGGED_MS = 120; // rest after which a dragged step is drawn in full
const SETTLED_MS = 250; // rest before the step is told to Python
const RESYNC_MS = 300;

export class Player {
  /** @param {HTMLElement} root the element of merge_player.html */
  constructor(root) {
    this.root = root;
    const ref = (/** @type {string} */ name) =>
      /** @type {any} */ (root.querySelector(`[data-ref="${name}"]`));
    this.ref = ref;
    this.id = null; // of the training shown
    /** @type {HTMLElement} */
    this.box = ref("text");
    this.playback = new Playback({
      draw: () => this.draw(),
      reveal: () => this.revealPair(),
      rest: () => this.settle(),
    });
    this.controls = new Controls(root, ref, {
      first: () => this.playback.seek(0),
      back: () => this.playback.step(-1),
      toggle: () => this.playback.toggle(),
      forward: () => this.playback.step(1),
      end: () => this.playback.end(),
      drag: (k) => this.drag(k),
      drop: (k) => this.playback.seek(k),
      speed: (merges) => this.playback.setSpeed(merges),
      color: (mode) => {
        this.text?.setMode(mode);
        this.draw();
      },
      marks: (isOn) => {
        const legend = ref("legend");
        legend.hidden = !isOn || !legend.childElementCount;
      },
    });
    this.playback.setSpeed(Number(this.controls.speed.value));
    this.head = new Head(ref);
    this.pointing = new Pointing(this.box, this.head.chips, {
      hover: () => this.drawHighlight(),
      pin: () => this.draw(),
    });
    this.candidates = new Candidates(ref, this.pointing);
    this.highlight = new Highlight(ref("status"));
    this.ruler = new Ruler(ref("ruler"), this.box);
    this.curve = new Curve(ref, {
      seek: (k, isSettled) => (isSettled ? this.seek(k, "curve") : this.drag(k)),
    });
    this.log = new Log(ref, { jump: (k) => this.seek(k, "log") });
    root.addEventListener("keydown", (event) => pressKey(event, this));
    // Streamlit's own shortcuts (one letter each) must not fire while somebody types a filter.
    for (const type of ["keyup", "keypress"]) {
      root.addEventListener(type, (event) => event.stopPropagation());
    }
  }

  // -- data from Python ---------------------------------------------------------------------------

  /** Take what Streamlit calls the component with. @param {any} component */
  receive(component) {
    this.component = component;
    const { data } = component;
    this.setTheme();
    this.root.classList.toggle("large", Boolean(data.large));
    const isSame = data.player_id === this.id && data.text === this.data.text;
    this.data = data;
    this.playback.live = Boolean(data.live);
    const ranks = column(data.ranks, "rank");
    if (isSame) this.update(data, ranks);
    else this.load(data, ranks);
    this.draw();
    this.playback.run();
  }

  /** Another training, or another text of it. */
  load(data, ranks) {
    const { playback, box, log } = this;
    this.id = data.player_id;
    this.trace = new Trace(data);
    this.take(data);
    playback.start(playback.live);
    this.pointing.forget();
    this.told = null; // the step that Python knows
    this.nonce = data.step_nonce;
    this.ranks = ranks.slice();
    this.text?.destroy();
    const edges = data.edges ? column(data.edges, "byte") : null;
    this.text = new TextView(box, this.trace, data, ranks, edges);
    this.text.setMode(this.controls.color.value);
    box.scrollTop = 0;
    log.hands = 0;
    log.scroll(0);
    this.describe(data);
    this.refresh(data);
    const before = kept(data.player_id);
    if (before && before.nonce === data.step_nonce) {
      playback.k = playback.clamp(before.following ? playback.n : before.k);
      playback.following = playback.live && before.following;
      this.told = before.told;
      this.settle(); // it may have left before its step was told
    } else if (data.step !== null && !data.live) playback.k = playback.clamp(data.step);
    this.resync();
  }

  /** More of the same training, or a wish to go to a step. */
  update(data, ranks) {
    const { playback, curve } = this;
    const before = playback.n;
    this.take(data);
    if (ranks.length !== this.ranks.length || ranks.some((rank, i) => rank !== this.ranks[i])) {
      this.ranks = ranks.slice();
      this.text.setRanks(ranks);
    }
    const isMore = playback.n !== before || data.held_out;
    if (isMore || data.live !== curve.live || data.goal !== curve.goal) this.refresh(data);
    this.describe(data);
    if (data.step !== null && data.step_nonce !== this.nonce) {
      this.nonce = data.step_nonce;
      playback.stop(data.step);
      this.told = playback.k;
      playback.seek(data.step);
    }
    this.resync();
  }

  take(data) {
    this.trace.take(data.first, data.merges, data.candidates);
    this.playback.n = this.trace.n;
  }

  refresh(data) {
    const heldOut = data.held_out ? column(data.held_out, "value") : null;
    this.text.setGoal(Math.max(1, data.goal, this.trace.n));
    this.curve.set(this.trace, data.goal, heldOut, data.live);
    this.log.set(this.trace);
  }

  describe(data) {
    const { clusters, total } = this.text;
    showCut(this.ref("note"), total, data.total_bytes);
    showLegend(this.ref("legend"), clusters, this.controls.marks);
    this.ref("empty").hidden = total > 0;
    this.ref("window").hidden = total === 0;
  }

  /** Light or dark, as Streamlit's background says. */
  setTheme() {
    const { backgroundColor } = getComputedStyle(this.ref("probe"));
    const [r, g, b] = (backgroundColor.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number);
    this.root.dataset.theme = 0.299 * r + 0.587 * g + 0.114 * b < 128 ? "dark" : "light";
    requestAnimationFrame(() => this.ruler.measure());
  }

  // -- events to Python ---------------------------------------------------------------------------

  /** Rows are missing in between (a message was lost): ask for them, outside the render call. */
  resync() {
    const isMissing = () => this.trace.n < this.trace.top;
    if (!this.data.live || !isMissing() || this.asking) return;
    this.asking = setTimeout(() => {
      this.asking = 0;
      if (isMissing()) this.component.setTriggerValue("resync", this.trace.n);
    }, RESYNC_MS);
  }

  /**
   * The step rests: say it to screen readers and, a moment later, to Python.
   * @param {"log" | "curve" | null} jump where the visitor chose it
   */
  settle(jump = null) {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      const { k, moving } = this.playback;
      if (moving) return;
      this.say(this.head.sentence(this.trace, k, this.goal, this.data.tie_break));
      if (this.told === k) return;
      this.told = k;
      keep(this.id, { k, nonce: this.nonce, following: false, told: k });
      this.component.setStateValue("player_id", this.id);
      this.component.setStateValue("step", k);
      if (jump) this.component.setTriggerValue("jump", { step: k, from: jump });
    }, SETTLED_MS);
  }

  /** Say something to screen readers. @param {string} sentence */
  say(sentence) {
    put(this.ref("live"), sentence);
  }

  // -- moving -------------------------------------------------------------------------------------

  /** Go to a step chosen in the log or on the curve. */
  seek(/** @type {number} */ k, /** @type {"log" | "curve"} */ from) {
    this.playback.seek(k);
    this.settle(from);
  }

  /** Follow a slider that is dragged: drawn as while playing fast, and settled later. */
  drag(/** @type {number} */ k) {
    this.playback.stop(k);
    this.draw(true);
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.draw(), DRAGGED_MS);
  }

  moveCursor(/** @type {1 | -1} */ direction) {
    if (this.pointing.moveCursor(direction, this.text)) this.say(this.ref("status").textContent);
  }

  revealPair() {
    const { phase, speed, calm } = this.playback;
    if (phase !== "select" || this.pointing.hovered) return;
    this.text.reveal(this.places, !calm.matches && speed < 2);
  }

  // -- drawing ------------------------------------------------------------------------------------

  /** Merges that the axes reach to. */
  get goal() {
    return this.data.live ? Math.max(this.data.goal, this.trace.n) : this.trace.n;
  }

  /**
   * Draw everything at the present step. On the run (fast play, dragging) the lists to read are
   * renewed ten times a second only.
   */
  draw(isDragged = false) {
    if (!this.trace) return;
    const { playback, pointing, trace, data, goal } = this;
    playback.k = playback.clamp(playback.k);
    const { k, phase } = playback;
    const done = phase === "select" ? k - 1 : k; // merges that the text shows
    const isFast = isDragged || playback.fast;
    const now = performance.now();
    const isFull = !isFast || now - (this.fullAt ?? 0) >= LISTS_MS;
    this.root.classList.toggle("fast", isFast);
    if (isFast) pointing.pinned = null;
    if (isFull) this.log.go(k);
    // Where frames come slowly, the text is drawn in every other one, so that the rest keeps
    // moving evenly.
    this.isSkipped = isFast && !isFull && playback.pace > SLOW_FRAME_MS && !this.isSkipped;
    if (!this.isSkipped) {
      this.text.go(done);
      this.drawHighlight(isFull);
    }
    put(this.head.step, count(k));
    if (isFull) {
      this.fullAt = now;
      this.head.draw(trace, k, goal, phase, data.tie_break);
      this.candidates.draw(trace, done, {
        phase,
        live: data.live,
        stopReason: data.stop_reason,
        tieBreak: data.tie_break,
        pinned: pointing.pinned?.pair,
      });
      this.controls.draw(playback, goal);
      const { following } = playback;
      keep(this.id, { k, nonce: this.nonce, following, told: this.told });
      this.log.paint();
    }
    this.controls.drawStep(k, goal);
    this.curve.draw(k, isFull);
    this.catchUp();
  }

  /** Highlight what is asked for, and say it if `isSaid`. */
  drawHighlight(isSaid = true) {
    const { asked } = this.pointing;
    this.places = this.highlight.show(this, this.playback, asked, isSaid);
    this.text.paint();
    this.ruler.draw(this.places, this.text.total);
    this.catchUp();
  }

  /** Draw blocks of the text out of sight, a few per frame, once nothing moves. */
  catchUp() {
    if (!this.text.dirty.size || this.catching) return;
    this.catching = requestAnimationFrame(() => {
      this.catching = 0;
      const { following, playing } = this.playback;
      const isMoving = following || playing || this.root.classList.contains("fast");
      if (!isMoving && !this.text.catchUp(CATCH_UP_MS)) this.catchUp();
    });
  }

  destroy() {
    clearTimeout(this.settling);
    clearTimeout(this.asking);
    cancelAnimationFrame(this.catching);
    this.playback.destroy();
    this.ruler.destroy();
    this.text?.destroy();
    this.curve.destroy();
    this.log.destroy();
  }
}
