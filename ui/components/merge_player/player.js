// @ts-check
// The player: one step number, shown by the text, the head, the bars, the curve and the log.
// A step k means "k merges are done". On the way from k-1 to k the pair lights up first (phase "select", the text still
// at k-1), then fuses (phase "rest", the text at k). At high speeds the select phase is left out.

import { make, put } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { Candidates, Head } from "./cards.js";
import { Curve } from "./curve.js";
import { Lamp } from "./highlight.js";
import { Log } from "./log.js";
import { keep, kept } from "./memory.js";
import { TextView } from "./text.js";
import { column, Trace } from "./trace.js";

const SPEEDS = [0.5, 1, 2, 4, 10, 30, 100, 300, 1000]; // merges per second
const PHASED = 5; // above this speed no select phase is shown
const SELECT_MS = 700; // how long a single step shows the pair
const LISTS_MS = 100; // while it runs, the lists are renewed this often
const SLOW_FRAME_MS = 24;
const SETTLED_MS = 250; // rest before the step is told to Python

export class Player {
  constructor(root) {
    this.root = root;
    const ref = (name) => this.root.querySelector(`[data-ref="${name}"]`);
    this.ref = ref;
    this.box = ref("text");
    this.note = ref("note");
    this.legend = ref("legend");
    this.lamp = new Lamp(ref("status"));
    this.live = ref("live");
    this.scrub = ref("scrub");
    this.position = ref("position");
    this.speed = ref("speed");
    this.followButton = ref("follow");
    this.playButton = ref("play");
    this.ruler = ref("ruler");
    this.head = new Head(ref);
    this.candidates = new Candidates(ref, {
      hover: (pair) => this.hover(pair && { pair }),
      pin: (pair) => this.pin({ pair }),
    });
    this.curve = new Curve(ref, { seek: (k, settled) => this.seek(k, settled ? "curve" : "drag") });
    this.log = new Log(ref, { jump: (k) => this.seek(k, "log") });
    this.sizes = new ResizeObserver(() => this.measureRuler());
    this.sizes.observe(this.box);
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.id = null;
    this.raf = 0;
    for (const value of SPEEDS) {
      const option = make("option", "", `${value === 0.5 ? "½" : count(value)}×`);
      option.value = value;
      this.speed.append(option);
    }
    const looks = kept("looks") ?? { speed: "4", color: "position", marks: false };
    this.speed.value = looks.speed;
    ref("color").value = looks.color;
    this.root.classList.toggle("marks", looks.marks);
    ref("marks").setAttribute("aria-pressed", looks.marks);
    this.bind();
  }

  bind() {
    const { ref } = this;
    const click = (name, act) => ref(name).addEventListener("click", act);
    click("first", () => this.seek(0, "controls"));
    click("back", () => this.step(-1));
    click("play", () => this.toggle());
    click("forward", () => this.step(1));
    click("last", () => this.end());
    click("follow", () => this.end());
    this.scrub.addEventListener("input", () => this.seek(+this.scrub.value, "drag"));
    this.scrub.addEventListener("change", () => this.seek(+this.scrub.value, "scrub"));
    const looks = () =>
      keep("looks", {
        speed: this.speed.value,
        color: ref("color").value,
        marks: this.root.classList.contains("marks"),
      });
    this.speed.addEventListener("change", () => {
      this.clock = 0;
      looks();
    });
    ref("color").addEventListener("change", (event) => {
      this.text?.setMode(event.target.value);
      this.draw();
      looks();
    });
    click("marks", () => {
      const on = this.root.classList.toggle("marks");
      ref("marks").setAttribute("aria-pressed", on);
      this.legend.hidden = !on || !this.legend.childElementCount;
      looks();
    });
    this.box.addEventListener("pointerover", (event) => {
      const piece = event.target.closest?.(".t")?.piece;
      if (piece && event.pointerType !== "touch") this.hover({ piece });
    });
    this.box.addEventListener("pointerleave", () => this.hover(null));
    this.box.addEventListener("click", (event) => {
      const piece = event.target.closest?.(".t")?.piece;
      if (piece) {
        this.cursor = piece.start;
        this.pin({ piece });
      } else this.pin(null);
    });
    this.box.addEventListener("blur", () => {
      if (this.cursor !== null) {
        this.cursor = null;
        this.hover(null);
      }
    });
    for (const chip of this.head.tokens) {
      const show = () => this.hover({ id: +chip.dataset.id });
      chip.addEventListener("pointerenter", show);
      chip.addEventListener("pointerleave", () => this.hover(null));
      chip.addEventListener("focus", () => chip.matches(":focus-visible") && show());
      chip.addEventListener("blur", () => this.hover(null));
      chip.addEventListener("click", () => this.pin({ id: +chip.dataset.id }));
    }
    this.root.addEventListener("keydown", (event) => this.key(event));
    // Streamlit's own shortcuts (one letter each) must not fire while somebody types into the filter.
    for (const type of ["keyup", "keypress"])
      this.root.addEventListener(type, (event) => event.stopPropagation());
  }

  // ------------------------------------------------------------------------------------------- data from Python

  receive(component) {
    this.context = component;
    const { data } = component;
    this.theme();
    this.root.classList.toggle("large", !!data.large);
    const same = data.player_id === this.id && data.text === this.data.text;
    this.data = data;
    const ranks = column(data.ranks, "rank");
    if (!same) this.load(data, ranks);
    else this.update(data, ranks);
    this.draw();
    this.run();
  }

  load(data, ranks) {
    this.id = data.player_id;
    this.store = new Trace(data);
    this.store.take(data.first, data.merges, data.candidates);
    this.k = 0;
    this.phase = "rest";
    this.playing = false;
    this.single = false;
    this.following = data.live;
    this.pinned = this.hovered = this.cursor = null;
    this.committed = null;
    this.clock = 0;
    this.nonce = data.step_nonce;
    this.ranks = ranks.slice();
    this.text?.destroy();
    this.text = new TextView(
      this.box,
      this.store,
      data,
      ranks,
      data.edges ? column(data.edges, "byte") : null,
    );
    this.text.setMode(this.ref("color").value);
    this.box.scrollTop = 0;
    this.log.hands = 0;
    this.log.scroll(0);
    this.describe(data);
    this.refresh(data);
    const place = kept(data.player_id);
    if (place && place.nonce === data.step_nonce) {
      this.k = this.clamp(place.following ? this.store.n : place.k);
      this.following = data.live && place.following;
      this.committed = place.committed;
      this.settle(); // it may have left before its step was told
    } else if (data.step !== null && !data.live) this.k = this.clamp(data.step);
    this.resync();
  }

  update(data, ranks) {
    const before = this.store.n;
    this.store.take(data.first, data.merges, data.candidates);
    if (ranks.length !== this.ranks.length || ranks.some((rank, i) => rank !== this.ranks[i])) {
      this.ranks = ranks.slice();
      this.text.setRanks(ranks);
    }
    if (
      this.store.n !== before ||
      data.live !== this.curve.live ||
      data.held_out ||
      data.goal !== this.curve.goal
    )
      this.refresh(data);
    this.describe(data);
    if (data.step !== null && data.step_nonce !== this.nonce) {
      this.nonce = data.step_nonce;
      this.seek(data.step, "python");
    }
    this.resync();
  }

  refresh(data) {
    const held = data.held_out ? column(data.held_out, "value") : null;
    this.text.goal = Math.max(1, data.goal, this.store.n);
    this.curve.set(this.store, data.goal, held, data.live);
    this.log.set(this.store);
  }

  /** Rows are missing in between (a message was lost): ask for them, outside the render call. */
  resync() {
    if (!this.data.live || this.store.n >= this.store.top || this.asked) return;
    this.asked = setTimeout(() => {
      this.asked = 0;
      if (this.store.n < this.store.top) this.context.setTriggerValue("resync", this.store.n);
    }, 300);
  }

  describe(data) {
    const { units } = this.text;
    const size = (n) => {
      const [unit, name] = n < 1000 ? [1, "bytes"] : n < 999500 ? [1000, "kB"] : [1e6, "MB"];
      const value = n / unit;
      return `${unit > 1 && value < 10 ? count(Math.round(value * 10) / 10) : count(Math.round(value))} ${name}`;
    };
    const cut = data.total_bytes > units.total;
    put(
      this.note,
      cut
        ? `First ${size(units.total)} of ${size(data.total_bytes)} shown; counts are for the whole text.`
        : "",
    );
    this.note.hidden = !cut;
    this.ref("empty").hidden = units.total > 0;
    this.ref("window").hidden = units.total === 0;
    this.legend.textContent = "";
    const told = new Set();
    for (const [mark, name] of units.seen.values()) {
      if (told.has(mark)) continue;
      told.add(mark);
      const entry = make("span");
      entry.append(make("i", "lab", mark), ` ${name}`);
      this.legend.append(entry);
    }
    this.legend.hidden = !this.root.classList.contains("marks") || !told.size;
  }

  /** Sizes are read here, when they change, and not while drawing: a read then would lay the page out twice. */
  measureRuler() {
    const { ruler, box } = this;
    const scale = devicePixelRatio || 1;
    this.scrolls = box.scrollHeight > box.clientHeight + 2;
    this.rulerColor = getComputedStyle(ruler).color;
    ruler.height = Math.round(ruler.clientHeight * scale);
    ruler.width = Math.round(6 * scale);
    this.drawRuler();
  }

  /** Light or dark, as Streamlit's background says. */
  theme() {
    const probe = this.ref("probe");
    const [r, g, b] = (
      getComputedStyle(probe).backgroundColor.match(/[\d.]+/g) ?? [255, 255, 255]
    ).map(Number);
    this.root.dataset.theme = 0.299 * r + 0.587 * g + 0.114 * b < 128 ? "dark" : "light";
    requestAnimationFrame(() => this.measureRuler());
  }

  // ------------------------------------------------------------------------------------------------------ moving

  clamp(k) {
    return Math.max(0, Math.min(this.store.n, Math.round(+k) || 0));
  }

  /** Go to step k at once. source: who asked; "drag" settles later, "python" is not told back. */
  seek(k, source) {
    this.playing = this.single = this.following = false;
    this.phase = "rest";
    this.k = this.clamp(k);
    this.draw(source === "drag");
    if (source === "drag") {
      clearTimeout(this.settling);
      this.settling = setTimeout(() => this.draw(), 120);
      return;
    }
    if (source === "python") this.committed = this.k;
    this.settle(source === "log" || source === "curve" ? source : null);
  }

  end() {
    this.seek(this.store.n, "controls");
    if (this.data.live) {
      this.following = true;
      this.draw();
      this.run();
    }
  }

  step(direction) {
    if (this.single && this.phase === "select") {
      // a step is under way: finish it first
      this.phase = "rest";
      if (direction < 0) this.k -= 1;
      this.single = false;
      if (direction < 0) {
        this.draw();
        this.settle();
        return;
      }
    }
    if (this.playing || direction < 0 || this.calm.matches || this.k >= this.store.n) {
      const from = this.playing && this.phase === "select" ? this.k - 1 : this.k;
      this.seek(from + direction, "controls");
      return;
    }
    this.following = false;
    this.k += 1;
    this.phase = "select";
    this.single = true;
    this.clock = 0;
    this.draw();
    this.bringIntoView();
    this.run();
  }

  toggle() {
    if (this.playing || this.following) this.pause();
    else this.play();
  }

  play() {
    if (!this.store.n) return;
    if (this.k >= this.store.n) {
      if (this.data.live) {
        this.following = true;
        this.draw();
        this.run();
        return;
      }
      this.k = 0;
    }
    this.playing = true;
    this.phase = this.single ? this.phase : "rest";
    this.clock = this.single ? this.clock : 1e9; // the next merge starts at once
    this.single = false;
    this.draw();
    this.run();
  }

  pause() {
    this.playing = this.following = this.single = false;
    this.phase = "rest";
    this.draw();
    this.settle();
  }

  run() {
    if (this.raf || !(this.playing || this.single || this.following)) return;
    this.last = performance.now();
    const tick = (now) => {
      this.raf = 0;
      if (!(this.playing || this.single || this.following)) return;
      this.advance(Math.min(100, Math.max(0, now - this.last)));
      this.last = now;
      if (
        this.playing ||
        this.single ||
        (this.following && (this.data.live || this.k < this.store.n))
      ) {
        if (this.following && this.k >= this.store.n) return; // woken again by the next data
        this.raf = requestAnimationFrame(tick);
      }
    };
    this.raf = requestAnimationFrame(tick);
  }

  advance(ms) {
    const { n } = this.store;
    this.pace = 0.9 * (this.pace ?? 16) + 0.1 * ms;
    if (this.following) {
      // catch up with training over about 0.2 s
      if (this.k < n) {
        this.k += Math.max(1, Math.ceil((n - this.k) / 12));
        this.draw();
      }
      if (this.k >= n && !this.data.live) {
        this.following = false;
        this.draw();
        this.settle();
      }
      return;
    }
    this.clock += ms;
    if (this.single) {
      if (this.clock < SELECT_MS) return;
      this.single = false;
      this.phase = "rest";
      this.draw();
      this.settle();
      return;
    }
    const speed = +this.speed.value;
    const period = 1000 / speed;
    if (speed < PHASED) {
      if (this.phase === "select") {
        if (this.clock < period * 0.55) return;
        this.phase = "rest";
        this.draw();
        if (this.k < n) return;
      } else if (this.clock < period) return;
      else if (this.k < n) {
        this.clock = Math.min(this.clock - period, period * 0.2);
        this.k += 1;
        this.phase = "select";
        this.draw();
        this.bringIntoView();
        return;
      }
    } else {
      this.clock = Math.min(this.clock, 100);
      this.phase = "rest";
      const steps = Math.floor(this.clock / period);
      if (steps) {
        this.clock -= steps * period;
        this.k = Math.min(n, this.k + steps);
        this.draw();
      }
      if (this.k < n) return;
    }
    if (this.data.live) {
      this.playing = false;
      this.following = true;
      this.draw();
    } else this.pause();
  }

  /** The step rests: say it to screen readers and, a moment later, to Python. */
  settle(jump = null) {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      if (this.playing || this.following || this.single) return;
      put(this.live, this.head.sentence(this.store, this.k, this.goal(), this.data.tie_break));
      if (this.committed === this.k) return;
      this.committed = this.k;
      keep(this.id, { k: this.k, nonce: this.nonce, following: false, committed: this.k });
      this.context.setStateValue("player_id", this.id);
      this.context.setStateValue("step", this.k);
      if (jump) this.context.setTriggerValue("jump", { step: this.k, from: jump });
    }, SETTLED_MS);
  }

  // --------------------------------------------------------------------------------------------------- lights

  hover(what) {
    if (!what && !this.hovered) return;
    this.hovered = what;
    this.lights();
    this.text.paint();
    this.drawRuler();
    this.catchUp();
  }

  pin(what) {
    const same =
      this.pinned &&
      what &&
      JSON.stringify(this.key_of(this.pinned)) === JSON.stringify(this.key_of(what));
    this.pinned = same ? null : what && this.key_of(what);
    this.draw();
  }

  key_of(what) {
    return what.piece ? { id: what.piece.id, at: what.piece.start } : what;
  }

  /** Which tokens are lit, and the line below the text that says why. */
  lights(words = true) {
    this.places = this.lamp.show(this, this.hovered ?? this.pinned, words);
  }

  bringIntoView() {
    if (this.phase === "select" && !this.hovered)
      this.text.reveal(this.places, !this.calm.matches && +this.speed.value < 2);
  }

  // ----------------------------------------------------------------------------------------------------- drawing

  goal() {
    return this.data.live ? Math.max(this.data.goal, this.store.n) : this.store.n;
  }

  /** Everything at step k. On the run (fast play, dragging) the lists to read are renewed ten times a second. */
  draw(dragging = false) {
    const { store, text, data, phase } = this;
    if (!store) return;
    this.k = this.clamp(this.k);
    const k = this.k;
    const applied = phase === "select" ? k - 1 : k;
    const goal = this.goal();
    const fast = dragging || this.following || (this.playing && +this.speed.value > PHASED);
    const now = performance.now();
    const full = !fast || now - (this.fullAt ?? 0) >= LISTS_MS;
    this.root.classList.toggle("fast", fast);
    if (fast && this.pinned) this.pinned = null;
    if (full) this.log.go(k);
    // Where frames come slowly, the text is drawn in every other one, so that the rest keeps moving evenly.
    this.resting = fast && !full && this.pace > SLOW_FRAME_MS && !this.resting;
    if (!this.resting) {
      text.apply(applied);
      this.lights(full);
      text.paint();
      this.drawRuler();
    }
    put(this.head.step, count(k));
    if (full) {
      this.fullAt = now;
      this.head.draw(store, k, goal, phase, data.tie_break);
      this.candidates.draw(store, applied, {
        phase,
        live: data.live,
        stopReason: data.stop_reason,
        tieBreak: data.tie_break,
        pinned: this.pinned?.pair,
      });
      this.drawControls(k, goal);
      keep(this.id, { k, nonce: this.nonce, following: this.following, committed: this.committed });
      this.log.paint();
    }
    this.scrub.value = k;
    this.scrub.style.setProperty("--p", goal ? k / goal : 0);
    put(this.position, `${count(k)} / ${count(goal)}`);
    this.curve.draw(k, full);
    this.catchUp();
  }

  /** Blocks of the text out of sight, a few per frame, once nothing moves. */
  catchUp() {
    if (!this.text.dirty.size || this.chasing) return;
    this.chasing = requestAnimationFrame(() => {
      this.chasing = 0;
      const moving = this.following || this.playing || this.root.classList.contains("fast");
      if (moving || !this.text.catchUp(6)) {
        if (!moving) this.catchUp();
      }
    });
  }

  drawControls(k, goal) {
    const { store, data } = this;
    this.scrub.max = goal;
    this.scrub.disabled = !store.n;
    this.scrub.style.setProperty("--q", goal ? store.n / goal : 0);
    this.scrub.setAttribute("aria-valuetext", `merge ${k} of ${goal}`);
    this.position.style.minWidth = `${2 * count(goal).length + 3}ch`;
    const moving = this.playing || this.following;
    this.playButton.classList.toggle("on", moving);
    this.playButton.setAttribute("aria-label", moving ? "Pause" : "Play");
    this.playButton.title = moving ? "Pause (Space)" : "Play (Space)";
    this.playButton.disabled = !store.n && !data.live;
    for (const name of ["first", "back"]) this.ref(name).disabled = k === 0;
    for (const name of ["forward", "last"]) this.ref(name).disabled = k >= store.n;
    this.followButton.hidden = !data.live || this.following;
    this.root.classList.toggle("training", !!data.live);
  }

  /** A strip beside the text: where in it the lit places lie, seen or scrolled away. */
  drawRuler() {
    const { ruler, text } = this;
    const scale = devicePixelRatio || 1;
    const pixels = ruler.height;
    if (!text) return;
    const paint = ruler.getContext("2d");
    paint.clearRect(0, 0, ruler.width, pixels);
    if (!this.scrolls) return;
    paint.fillStyle = this.rulerColor;
    for (const at of this.places ?? [])
      paint.fillRect(
        0,
        Math.round((at / text.total) * (pixels - 2 * scale)),
        ruler.width,
        2 * scale,
      );
  }

  // ------------------------------------------------------------------------------------------------------- keys

  key(event) {
    const target = event.target;
    const tag = target.tagName;
    const typing = tag === "INPUT" && target.type !== "range";
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.stopPropagation();
    if (typing) {
      if (event.key === "Escape") {
        target.value = "";
        this.log.search();
      }
      return;
    }
    if (tag === "SELECT" || !this.store) return;
    const inLog = target === this.log.view;
    const tenth = Math.max(1, Math.round(this.store.n / 10));
    const act = {
      " ": () => this.toggle(),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      Home: () => this.seek(0, "controls"),
      End: () => this.end(),
      "+": () => this.faster(1),
      "=": () => this.faster(1),
      "-": () => this.faster(-1),
      "]": () => this.moveCursor(1),
      "[": () => this.moveCursor(-1),
      Escape: () => {
        this.hovered = this.cursor = null;
        this.pin(null);
      },
      PageUp: target === this.box ? null : () => this.seek(this.k - tenth, "controls"),
      PageDown: target === this.box ? null : () => this.seek(this.k + tenth, "controls"),
      ArrowUp: inLog
        ? () => this.seek(this.log.neighbor(-1), "log")
        : target === this.scrub
          ? () => this.step(1)
          : null,
      ArrowDown: inLog
        ? () => this.seek(this.log.neighbor(1), "log")
        : target === this.scrub
          ? () => this.step(-1)
          : null,
    }[event.key];
    if (!act || (event.key === " " && tag === "BUTTON")) return;
    event.preventDefault();
    if (inLog) this.log.hands = 0;
    act();
  }

  faster(direction) {
    const at = SPEEDS.indexOf(+this.speed.value);
    this.speed.value = String(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at + direction))]);
    this.clock = 0;
    put(this.live, `Speed ${this.speed.value} merges per second`);
  }

  /** Walk over the tokens by keyboard: the token under the cursor is lit like one under the mouse. */
  moveCursor(direction) {
    const { text } = this;
    if (!text.total) return;
    let at = this.cursor === null ? (direction > 0 ? 0 : text.total - 1) : -1;
    if (at < 0) {
      const piece = text.pieceAt(Math.min(this.cursor, text.total - 1));
      at = direction > 0 ? piece.end : piece.start - 1;
      if (at < 0 || at >= text.total) return;
    }
    const piece = text.pieceAt(at);
    this.cursor = piece.start;
    this.hover({ piece });
    text.reveal([piece.start], false);
    put(this.live, this.lamp.status.textContent);
  }

  destroy() {
    cancelAnimationFrame(this.raf);
    clearTimeout(this.settling);
    clearTimeout(this.asked);
    this.playing = this.single = this.following = false;
    cancelAnimationFrame(this.chasing);
    this.sizes.disconnect();
    this.text?.destroy();
    this.curve.destroy();
    this.log.destroy();
  }
}
