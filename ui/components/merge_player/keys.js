// @ts-check
// The player's keys.

/**
 * Do what a key asks for, if anything.
 * @param {KeyboardEvent} event
 * @param {import("./player.js").Player} player
 */
export function pressKey(event, player) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  event.stopPropagation();
  const target = /** @type {HTMLInputElement} */ (event.target);
  const { tagName } = target;
  if (tagName === "INPUT" && target.type !== "range") {
    if (event.key === "Escape") player.log.clearFilter();
    return;
  }
  if (tagName === "SELECT" || !player.trace) return;
  if (event.key === " " && tagName === "BUTTON") return;
  const act = actions(player, target)[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

/**
 * What each key does while `target` has the focus.
 * @param {import("./player.js").Player} player
 * @param {HTMLElement} target
 * @returns {Record<string, () => void>}
 */
function actions(player, target) {
  const { playback, controls, pointing, log } = player;
  const tenth = Math.max(1, Math.round(playback.n / 10));
  const faster = (/** @type {1 | -1} */ direction) => {
    controls.faster(direction);
    player.say(`Speed ${controls.speed.value} merges per second`);
  };
  /** @type {Record<string, () => void>} */
  const keys = {
    " ": () => playback.toggle(),
    ArrowRight: () => playback.step(1),
    ArrowLeft: () => playback.step(-1),
    Home: () => playback.seek(0),
    End: () => playback.end(),
    "+": () => faster(1),
    "=": () => faster(1),
    "-": () => faster(-1),
    "]": () => player.moveCursor(1),
    "[": () => player.moveCursor(-1),
    Escape: () => {
      pointing.hovered = pointing.cursor = null;
      pointing.pin(null);
    },
  };
  if (target !== player.box) {
    keys.PageUp = () => playback.seek(playback.k - tenth);
    keys.PageDown = () => playback.seek(playback.k + tenth);
  }
  if (target === controls.scrub) {
    keys.ArrowUp = () => playback.step(1);
    keys.ArrowDown = () => playback.step(-1);
  }
  if (target !== log.view) return keys;
  keys.ArrowUp = () => player.seek(log.neighbor(-1), "log");
  keys.ArrowDown = () => player.seek(log.neighbor(1), "log");
  return Object.fromEntries(
    Object.entries(keys).map(([key, act]) => [
      key,
      () => {
        log.hands = 0; // the list may scroll to the step again
        act();
      },
    ]),
  );
}
