// @ts-check
// The token card: a token's biography with its merge tree, and how its pre-token was cut. It draws
// what Python says; see token_card/__init__.py.

import { fillChip, spoken } from "../shared/chips.js";
import { make, makeButton } from "../shared/dom.js";
import { count, hex } from "../shared/format.js";
import { mergeTree } from "./merge_tree.js";

const CHIP_LIMIT = 40; // characters

/** What a token was made by, where it was not a merge. */
const KINDS = {
  byte: "one of the 256 bytes every text is made of; no merge was needed",
  special: "a special token: recognized whole, never made by merges",
  whole: "by no merge: it is taken where it is an entire pre-token",
  unreachable: "in the vocabulary, but no merge makes it",
};

/** Called with the id of a token whose biography is wanted. @typedef {(id: number) => void} Go */

const spelled = (/** @type {string} */ binary) =>
  Array.from(binary, (ch) => hex(ch.charCodeAt(0))).join(" ");

function newChip(/** @type {string} */ binary, className = "") {
  const chip = make("bdi", `tk ${className}`);
  fillChip(chip, binary, CHIP_LIMIT);
  return chip;
}

/** A chip that shows the biography of its own token when pressed. */
function newLink({ bytes, id }, /** @type {Go} */ go, className = "") {
  const button = makeButton(`tk ${className}`);
  fillChip(button, bytes, CHIP_LIMIT);
  button.dataset.id = String(id);
  button.setAttribute("aria-label", `${spoken(bytes)}, id ${id}: show its biography`);
  button.addEventListener("click", () => go(id));
  return button;
}

function newFact(
  /** @type {string} */ name,
  /** @type {string} */ testid,
  /** @type {(Node | string)[]} */ ...content
) {
  const fact = make("div", "fact");
  const value = make("dd");
  value.dataset.testid = testid;
  value.append(...content);
  fact.append(make("dt", "", name), value);
  return fact;
}

// -- the two parts of the card --------------------------------------------------------------------

function newBiography(/** @type {any} */ token, /** @type {Go} */ go) {
  const part = make("section", "bio");
  const facts = make("dl", "facts");
  const n = token.bytes.length;
  facts.append(
    newFact("token", "bio-token", newChip(token.bytes, "big")),
    newFact("id", "bio-id", String(token.id)),
    newFact(n === 1 ? "byte" : `${count(n)} bytes`, "bio-bytes", spelled(token.bytes)),
  );
  if (token.kind === "merge") {
    facts.append(newFact("made at merge", "bio-merge", count(token.rank)));
    if (token.counted !== undefined) {
      facts.append(newFact("pair count then", "bio-count", count(token.counted)));
    }
    const [left, right] = token.tree.parts;
    const from = make("span", "from");
    from.append(newLink(left, go), "+", newLink(right, go));
    facts.append(newFact("from", "bio-from", from));
  } else facts.append(newFact("made", "bio-kind", KINDS[token.kind]));
  part.append(facts);
  if (token.tree) {
    const scroll = make("div", "scroll");
    scroll.append(mergeTree(token.tree, (node) => newLink(node, go, "node")));
    part.append(scroll);
  }
  return part;
}

/** Tokens side by side, one of them perhaps new. */
function newRow(/** @type {string[]} */ tokens, newAt = -1) {
  const row = make("span", "row");
  row.append(...tokens.map((binary, i) => newChip(binary, i === newAt ? "new" : "")));
  return row;
}

function newStory(/** @type {any} */ pretoken) {
  const part = make("section", "story");
  const title = make("h4");
  const how = "step by step: the earliest merge goes first, wherever it stands";
  title.append("The pre-token ", newChip(pretoken.bytes), ` ${how}`);
  part.append(title, pretoken.steps?.length ? newSteps(pretoken) : newNoSteps(pretoken));
  part.append(newComparison(pretoken));
  return part;
}

function newNoSteps(/** @type {any} */ { steps, why, n_tokens: n, size }) {
  if (!steps) {
    return make("p", "cap", `${why} It ends as ${count(n)} token${n === 1 ? "" : "s"}.`);
  }
  const byte = "It is a single byte, so there is nothing to merge.";
  const bytes = "No learned pair occurs in it, so each of its bytes stays a token.";
  return make("p", "cap", size === 1 ? byte : bytes);
}

function newSteps(/** @type {any} */ pretoken) {
  const steps = make("ol", "steps");
  steps.dataset.testid = "merge-steps";
  const add = (name, tokens, newAt) => {
    const item = make("li");
    item.append(make("span", "when", name), newRow(tokens, newAt));
    steps.append(item);
  };
  add("bytes", [...pretoken.bytes], -1);
  for (const step of pretoken.steps) add(`merge ${count(step.rank)}`, step.parts, step.at);
  return steps;
}

/** What always taking the longest token would have done. */
function newComparison(/** @type {any} */ pretoken) {
  const { same, greedy, n_greedy: greedyTokens, n_tokens: tokens } = pretoken;
  const compare = make("p", "compare");
  compare.dataset.testid = "longest-match";
  const always = "Always taking the longest token that fits would have";
  if (same) {
    compare.append(`${always} cut it the same way.`);
    return compare;
  }
  const numbers =
    greedyTokens === tokens
      ? ` (also ${count(greedyTokens)} tokens)`
      : ` (${count(greedyTokens)} instead of ${count(tokens)})`;
  const why = ". That is not BPE: the merges learned first decide.";
  compare.append(`${always} given `, newRow(greedy), numbers, why);
  return compare;
}

let presses = 0;

/** Called with every new `data` and on theme change. */
export default function render({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".tc");
  /** @type {Go} */
  const go = (id) => setStateValue("go", { id, press: ++presses + Date.now() });
  root.classList.toggle("large", Boolean(data.large));
  const { token, pretoken } = data;
  if (!token) root.replaceChildren(make("p", "empty", data.empty));
  else root.replaceChildren(newBiography(token, go), ...(pretoken ? [newStory(pretoken)] : []));
}
