// @ts-check
// A character of several tokens, opened: characters over bytes over tokens.

import { byteLength } from "../shared/bytes.js";
import { make, makeButton } from "../shared/dom.js";
import { codePoint, count, hex } from "../shared/format.js";
import { MARKS } from "../shared/marks.js";
import { tokenStart } from "./cut.js";
import { HUES } from "./hues.js";

/** A character as it can be seen on its own. @param {string} ch */
function glyph(ch) {
  if (MARKS.has(ch)) return MARKS.get(ch)[0];
  return /\p{M}/u.test(ch) ? `\u25cc${ch}` : ch;
}

/**
 * Show group `g` of a cut.
 * @param {HTMLElement} panel
 * @param {import("./cut.js").Cut} cut
 * @param {number} g
 * @param {number} picked the token that was clicked
 * @param {{ pick: (token: number) => void, close: () => void }} on
 */
export function openGroup(panel, cut, g, picked, on) {
  const text = cut.text.slice(cut.units[g], cut.units[g + 1]);
  const nTokens = cut.first[g + 1] - cut.first[g];
  const title = make("div", "title");
  const what = make("span");
  what.append(make("bdi", "glyph", text.trim() || text), ` is ${count(nTokens)} tokens`);
  const close = makeButton("plain", "close");
  close.addEventListener("click", on.close);
  title.append(what, close);
  const wide = make("div", "wide");
  wide.append(table(text, cut, g, picked, on.pick));
  panel.replaceChildren(title, wide);
}

/** Three rows: each byte is a column, characters and tokens span theirs. */
function table(text, cut, g, picked, pick) {
  const bytes = new TextEncoder().encode(text);
  const grid = make("div", "table");
  const columns = `repeat(${bytes.length}, minmax(2.1em, max-content))`;
  grid.style.gridTemplateColumns = `max-content ${columns}`;
  const add = (row, column, span, className, ...content) => {
    const cell = make("div", className);
    cell.style.gridArea = `${row} / ${column} / auto / span ${span}`;
    cell.append(...content);
    grid.append(cell);
  };
  ["character", "UTF-8 bytes", "tokens"].forEach((name, i) => {
    add(i + 1, 1, 1, "name", name);
  });
  let column = 2;
  for (const ch of text) {
    const size = byteLength(ch);
    const code = make("small", "", codePoint(ch.codePointAt(0)));
    add(1, column, size, "cell", make("bdi", "glyph", glyph(ch)), code);
    column += size;
  }
  bytes.forEach((byte, i) => {
    add(2, i + 2, 1, "cell byte", hex(byte));
  });
  const first = cut.first[g];
  const base = tokenStart(cut, first);
  for (let token = first; token < cut.first[g + 1]; token++) {
    const hue = `c${(token - first) % HUES}`;
    const button = makeButton(token === picked ? `${hue} picked` : hue, cut.ids[token]);
    button.title = "Show this token's biography";
    button.addEventListener("click", () => pick(token));
    const from = tokenStart(cut, token);
    add(3, from - base + 2, cut.ends[token] - from, "cell token", button);
  }
  return grid;
}
