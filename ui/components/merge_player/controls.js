// @ts-check
// The controls: buttons, slider, speed, color and marks. They say what is asked for and show how
// it is; what the visitor likes is kept for the next player.

import { make, put } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { keep, kept } from "./memory.js";

const SPEEDS = [0.5, 1, 2, 4, 10, 30, 100, 300, 1000]; // merges per second

/**
 * @typedef {{
 *   first: () => void, back: () => void, toggle: () => void, forward: () => void, end: () => void,
 *   drag: (k: number) => void, drop: (k: number) => void,
 *   speed: (merges: number) => void, color: (mode: string) => void, marks: (on: boolean) => void,
 * }} Handlers
 */

export class Controls {
  /**
   * @param {HTMLElement} root
   * @param {(name: string) => any} ref
   * @param {Handlers} on
   */
  constructor(root, ref, on) {
    this.root = root;
    this.ref = ref;
    this.on = on;
    /** @type {HTMLInputElement} */
    this.scrub = ref("scrub");
    /** @type {HTMLSelectElement} */
    this.speed = ref("speed");
    /** @type {HTMLSelectElement} */
    this.color = ref("color");
    for (const value of SPEEDS) {
      const option = make("option", "", `${value === 0.5 ? "½" : count(value)}×`);
      option.value = String(value);
      this.speed.append(option);
    }
    const looks = kept("looks") ?? { speed: "4", color: "position", marks: false };
    this.speed.value = looks.speed;
    this.color.value = looks.color;
    this.showMarks(looks.marks);
    this.listen();
  }

  listen() {
    const { ref, on, scrub } = this;
    const click = (/** @type {string} */ name, /** @type {() => void} */ act) =>
      ref(name).addEventListener("click", act);
    click("first", on.first);
    click("back", on.back);
    click("play", on.toggle);
    click("forward", on.forward);
    click("last", on.end);
    click("follow", on.end);
    click("marks", () => {
      this.showMarks(!this.marks);
      on.marks(this.marks);
      this.keepLooks();
    });
    scrub.addEventListener("input", () => on.drag(Number(scrub.value)));
    scrub.addEventListener("change", () => on.drop(Number(scrub.value)));
    this.speed.addEventListener("change", () => {
      on.speed(Number(this.speed.value));
      this.keepLooks();
    });
    this.color.addEventListener("change", () => {
      on.color(this.color.value);
      this.keepLooks();
    });
  }

  /** Whether marks are always shown. */
  get marks() {
    return this.root.classList.contains("marks");
  }

  showMarks(/** @type {boolean} */ isOn) {
    this.root.classList.toggle("marks", isOn);
    this.ref("marks").setAttribute("aria-pressed", isOn);
  }

  keepLooks() {
    keep("looks", { speed: this.speed.value, color: this.color.value, marks: this.marks });
  }

  /** The next speed up or down. @param {1 | -1} direction */
  faster(direction) {
    const at = SPEEDS.indexOf(Number(this.speed.value)) + direction;
    this.speed.value = String(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))]);
    this.on.speed(Number(this.speed.value));
  }

  /** Show step k of `goal`; cheap, for every frame. */
  drawStep(/** @type {number} */ k, /** @type {number} */ goal) {
    this.scrub.value = String(k);
    this.scrub.style.setProperty("--p", String(goal ? k / goal : 0));
    put(this.ref("position"), `${count(k)} / ${count(goal)}`);
  }

  /**
   * @param {import("./playback.js").Playback} playback
   * @param {number} goal
   */
  draw({ k, n, live, playing, following }, goal) {
    const { ref, scrub } = this;
    scrub.max = String(goal);
    scrub.disabled = !n;
    scrub.style.setProperty("--q", String(goal ? n / goal : 0));
    scrub.setAttribute("aria-valuetext", `merge ${k} of ${goal}`);
    ref("position").style.minWidth = `${2 * count(goal).length + 3}ch`;
    const isMoving = playing || following;
    const play = ref("play");
    play.classList.toggle("on", isMoving);
    play.setAttribute("aria-label", isMoving ? "Pause" : "Play");
    play.title = isMoving ? "Pause (Space)" : "Play (Space)";
    play.disabled = !n && !live;
    for (const name of ["first", "back"]) ref(name).disabled = k === 0;
    for (const name of ["forward", "last"]) ref(name).disabled = k >= n;
    ref("follow").hidden = !live || following;
    this.root.classList.toggle("training", live);
  }
}
