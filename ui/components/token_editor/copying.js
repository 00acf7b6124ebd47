// @ts-check
// Copies and links: what the visitor takes away, and what the buttons say about it.

import { make } from "../shared/dom.js";
import { count } from "../shared/format.js";

const LONGEST_LINK = 1000; // units of text that a link carries
const SAID_MS = 1800;

/** Copy a text; returns whether the browser allowed it. */
export async function copyText(/** @type {HTMLElement} */ root, /** @type {string} */ text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // not allowed here: try the old way
  }
  const helper = make("textarea");
  helper.value = text;
  helper.style.cssText = "position:fixed;opacity:0";
  root.append(helper);
  helper.select();
  const isDone = document.execCommand("copy");
  helper.remove();
  return isDone;
}

/** Say something on a button for a moment. */
export function sayBriefly(/** @type {any} */ button, /** @type {string} */ text) {
  button.dataset.label ||= button.textContent;
  button.textContent = text;
  clearTimeout(button.saying);
  button.saying = setTimeout(() => {
    button.textContent = button.dataset.label;
  }, SAID_MS);
}

/** Ids as text. @param {string} format "list", "lines" or "blanks" */
export function writeIds(/** @type {Uint32Array} */ ids, format) {
  if (format === "list") return `[${ids.join(", ")}]`;
  return ids.join(format === "lines" ? "\n" : " ");
}

/**
 * Put a link to the text into the address bar and the clipboard; returns what came of it.
 * @param {HTMLElement} root
 * @param {string} text
 * @param {string} special what special tokens in it may do
 */
export async function copyLink(root, text, special) {
  if (text.length > LONGEST_LINK) return `only up to ${count(LONGEST_LINK)} characters`;
  const url = new URL(location.href);
  url.searchParams.set("text", text);
  url.searchParams.set("special", special);
  url.hash = "";
  history.replaceState(history.state, "", url);
  const isCopied = await copyText(root, url.href);
  return isCopied ? "link copied" : "the link is in the address bar";
}

/** A link in the address bar no longer fits once the text changes. */
export function dropLink() {
  if (!location.search.includes("text=")) return;
  const url = new URL(location.href);
  url.searchParams.delete("text");
  url.searchParams.delete("special");
  history.replaceState(history.state, "", url);
}
