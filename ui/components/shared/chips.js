// @ts-check
// Chips: how a token is shown on its own, in a box or in words. Their look is in chips.css.

import { decodeParts } from "./bytes.js";
import { make } from "./dom.js";
import { count, hex } from "./format.js";
import { joinsUnseen, MARKS } from "./marks.js";

/**
 * Fill `node` with a token's text: blanks as marks, bytes that make no character in hexadecimal.
 * A chip of few characters gets the class "short", so that it is not squeezed where room is scarce.
 * @param {HTMLElement} node
 * @param {string | undefined} binary
 * @param {number} [limit] characters and bytes shown
 */
export function fillChip(node, binary, limit = 24) {
  node.textContent = "";
  if (binary === undefined) {
    node.append(make("i", "sp", "…"));
    node.title = "not received yet";
    return;
  }
  const cut = binary.slice(0, limit * 4);
  const signs = chipSigns(cut);
  const isCut = cut.length < binary.length || signs.length > limit;
  let plain = "";
  const flush = () => {
    if (plain) node.append(plain);
    plain = "";
  };
  for (const sign of signs.slice(0, limit)) {
    if (typeof sign === "string") {
      plain += sign;
      continue;
    }
    flush();
    node.append(sign);
  }
  flush();
  if (isCut) node.append(make("i", "sp", "…"));
  node.classList.toggle("short", signs.length <= 4);
  node.title = isCut ? `${count(binary.length)} bytes` : "";
}

/**
 * What a chip shows, one entry for each character or byte: a character, or the element of a mark.
 * @param {string} binary
 */
function chipSigns(binary) {
  /** @type {(string | HTMLElement)[]} */
  const signs = [];
  for (const part of decodeParts(binary)) {
    if (typeof part === "number") {
      signs.push(make("i", "hex", hex(part)));
      continue;
    }
    const chars = [...part];
    chars.forEach((ch, i) => {
      const mark = MARKS.get(ch);
      if (!mark || joinsUnseen(ch, chars[i - 1])) {
        signs.push(ch);
        return;
      }
      const sign = make("i", mark[2] === "label" ? "lab" : "sp", mark[0]);
      sign.title = mark[1];
      signs.push(sign);
    });
  }
  return signs;
}

/**
 * A token in words that a screen reader can say.
 * @param {string | undefined} binary
 */
export function spoken(binary) {
  if (binary === undefined) return "a token not received yet";
  const say = (/** @type {string} */ ch) => (MARKS.has(ch) ? ` ${MARKS.get(ch)[1]} ` : ch);
  return decodeParts(binary.slice(0, 120))
    .map((part) => (typeof part === "number" ? `byte ${hex(part)}` : [...part].map(say).join("")))
    .join(" ")
    .trim();
}
