// @ts-check
// The ruler: a strip beside the text that shows where in it the highlighted places lie, seen or
// scrolled away.

export class Ruler {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLElement} box the scrolling text
   */
  constructor(canvas, box) {
    this.canvas = canvas;
    this.box = box;
    this.scrolls = false;
    this.color = "";
    /** @type {number[] | Int32Array} */
    this.places = [];
    this.total = 1;
    this.observer = new ResizeObserver(() => this.measure());
    this.observer.observe(box);
  }

  destroy() {
    this.observer.disconnect();
  }

  /** Sizes and color are read here, when they change: a read while drawing would cost a layout. */
  measure() {
    const { canvas, box } = this;
    const scale = devicePixelRatio || 1;
    this.scrolls = box.scrollHeight > box.clientHeight + 2;
    this.color = getComputedStyle(canvas).color;
    canvas.height = Math.round(canvas.clientHeight * scale);
    canvas.width = Math.round(6 * scale);
    this.draw(this.places, this.total);
  }

  /** @param {number[] | Int32Array} places bytes @param {number} total bytes of the text */
  draw(places, total) {
    this.places = places;
    this.total = total;
    const { width, height } = this.canvas;
    const paint = this.canvas.getContext("2d");
    paint.clearRect(0, 0, width, height);
    if (!this.scrolls) return;
    const thick = 2 * (devicePixelRatio || 1);
    paint.fillStyle = this.color;
    for (const at of places) {
      paint.fillRect(0, Math.round((at / total) * (height - thick)), width, thick);
    }
  }
}
