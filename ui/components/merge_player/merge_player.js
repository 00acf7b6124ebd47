// @ts-check
// The component as Streamlit sees it: one player for each mounted element.

import { Player } from "./player.js";

/** @type {WeakMap<object, Player>} */
const PLAYERS = new WeakMap();

/** Called with every new `data` and on theme change. Returns what cleans up. */
export default function render(component) {
  const { parentElement } = component;
  const root = parentElement.querySelector(".mp");
  let player = PLAYERS.get(parentElement);
  if (!player || player.root !== root) {
    player?.destroy();
    player = new Player(root);
    PLAYERS.set(parentElement, player);
  }
  player.receive(component);
  // The clean-up also runs where the same elements go on to be used, so look whether they are
  // still on the page.
  return () =>
    setTimeout(() => {
      if (root.isConnected) return;
      player.destroy();
      if (PLAYERS.get(parentElement) === player) PLAYERS.delete(parentElement);
    });
}
