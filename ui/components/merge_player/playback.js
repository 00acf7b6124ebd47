// @ts-check
// Playback: at which step the player is, and how it moves from one to the next.
//
// A step k means "k merges are done". On the way from k - 1 to k the pair is highlighted first
// (phase "select", the text still at k - 1), then it fuses (phase "rest", the text at k). At high
// speeds the select phase is left out.
// Belongs here: steps and time. Does not belong here: anything that is drawn.

const PHASED = 5; // merges per second; above this speed no select phase is shown
const SELECT_MS = 700; // how long a single step shows the pair
const SELECT_SHARE = 0.55; // of a merge's time while it plays
const AT_ONCE = 1e9; // on the clock: the next merge starts in the next frame
const CATCH_UP_FRAMES = 12; // following is at the newest merge after about so many frames

export class Playback {
  /**
   * on.draw(): the step or the phase changed. on.reveal(): a pair was selected, bring it into view.
   * on.rest(): it stands still at a step.
   * @param {{ draw: () => void, reveal: () => void, rest: () => void }} on
   */
  constructor(on) {
    this.on = on;
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.n = 0; // merges there are
    this.live = false; // more may come
    this.speed = 4; // merges per second
    this.pace = 16; // ms of a frame, on average
    this.frame = 0;
    this.start(false);
  }

  /** Begin anew at step 0; following goes along with the training. @param {boolean} following */
  start(following) {
    this.k = 0;
    /** @type {"select" | "rest"} */
    this.phase = "rest";
    this.playing = false;
    this.single = false; // one step is under way
    this.following = following;
    this.clock = 0; // ms since the phase began
  }

  get moving() {
    return this.playing || this.single || this.following;
  }

  /** Whether merges go by too fast to be read one by one. */
  get fast() {
    return this.following || (this.playing && this.speed > PHASED);
  }

  clamp(/** @type {unknown} */ k) {
    return Math.max(0, Math.min(this.n, Math.round(Number(k)) || 0));
  }

  /** @param {number} speed merges per second */
  setSpeed(speed) {
    this.speed = speed;
    this.clock = 0;
  }

  // -- what the visitor asks for ------------------------------------------------------------------

  /** Stand still at step k; nothing is drawn yet. @param {unknown} k */
  stop(k) {
    this.playing = this.single = this.following = false;
    this.phase = "rest";
    this.k = this.clamp(k);
  }

  /** Go to step k at once. @param {unknown} k */
  seek(k) {
    this.stop(k);
    this.on.draw();
    this.on.rest();
  }

  /** Go to the last merge, and along with the training while it runs. */
  end() {
    this.seek(this.n);
    if (this.live) this.follow();
  }

  follow() {
    this.following = true;
    this.on.draw();
    this.run();
  }

  /** @param {1 | -1} direction */
  step(direction) {
    if (this.single && this.phase === "select") {
      this.phase = "rest"; // a step is under way: finish it first
      this.single = false;
      if (direction < 0) {
        this.k -= 1;
        this.on.draw();
        this.on.rest();
        return;
      }
    }
    if (this.playing || direction < 0 || this.calm.matches || this.k >= this.n) {
      const from = this.playing && this.phase === "select" ? this.k - 1 : this.k;
      this.seek(from + direction);
      return;
    }
    this.following = false;
    this.single = true;
    this.clock = 0;
    this.select();
    this.run();
  }

  toggle() {
    if (this.playing || this.following) this.pause();
    else this.play();
  }

  play() {
    if (!this.n) return;
    if (this.k >= this.n) {
      if (this.live) {
        this.follow();
        return;
      }
      this.k = 0;
    }
    this.playing = true;
    if (!this.single) {
      this.phase = "rest";
      this.clock = AT_ONCE;
    }
    this.single = false;
    this.on.draw();
    this.run();
  }

  pause() {
    this.stop(this.k);
    this.on.draw();
    this.on.rest();
  }

  // -- time ---------------------------------------------------------------------------------------

  /** Move from now on, frame by frame, as long as there is something to do. */
  run() {
    if (this.frame || !this.moving) return;
    let before = performance.now();
    const tick = (/** @type {number} */ now) => {
      this.frame = 0;
      if (!this.moving) return;
      this.advance(Math.min(100, Math.max(0, now - before)));
      before = now;
      const waits = this.following && this.k >= this.n; // woken again by the next data
      if (this.moving && !waits) this.frame = requestAnimationFrame(tick);
    };
    this.frame = requestAnimationFrame(tick);
  }

  /** @param {number} ms */
  advance(ms) {
    this.pace = 0.9 * this.pace + 0.1 * ms;
    if (this.following) {
      this.advanceAlong();
      return;
    }
    this.clock += ms;
    if (this.single) this.advanceSingle();
    else if (this.speed < PHASED) this.advancePhased(1000 / this.speed);
    else this.advanceFast(1000 / this.speed);
  }

  /** Catch up with the training. */
  advanceAlong() {
    if (this.k < this.n) {
      this.k += Math.max(1, Math.ceil((this.n - this.k) / CATCH_UP_FRAMES));
      this.on.draw();
    }
    if (this.k >= this.n && !this.live) {
      this.following = false;
      this.on.draw();
      this.on.rest();
    }
  }

  advanceSingle() {
    if (this.clock < SELECT_MS) return;
    this.single = false;
    this.phase = "rest";
    this.on.draw();
    this.on.rest();
  }

  /** @param {number} period ms of a merge */
  advancePhased(period) {
    if (this.phase === "select") {
      if (this.clock < period * SELECT_SHARE) return;
      this.phase = "rest";
      this.on.draw();
      if (this.k >= this.n) this.arrive();
    } else if (this.clock >= period) {
      if (this.k >= this.n) {
        this.arrive();
        return;
      }
      this.clock = Math.min(this.clock - period, period * 0.2);
      this.select();
    }
  }

  /** @param {number} period ms of a merge */
  advanceFast(period) {
    this.clock = Math.min(this.clock, 100);
    this.phase = "rest";
    const steps = Math.floor(this.clock / period);
    if (steps) {
      this.clock -= steps * period;
      this.k = Math.min(this.n, this.k + steps);
      this.on.draw();
    }
    if (this.k >= this.n) this.arrive();
  }

  select() {
    this.k += 1;
    this.phase = "select";
    this.on.draw();
    this.on.reveal();
  }

  /** The newest merge is reached while playing. */
  arrive() {
    if (!this.live) {
      this.pause();
      return;
    }
    this.playing = false;
    this.following = true;
    this.on.draw();
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    this.playing = this.single = this.following = false;
  }
}
