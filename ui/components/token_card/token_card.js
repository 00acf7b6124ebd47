// @ts-check
// The token card: a token's biography with its merge tree, and how its pre-token was cut.
// It draws what ui/biography.py says; fillChip, spoken, make, count and hex are merge_player/bytes.js.

import { fillChip, spoken } from "../shared/chips.js";
import { make } from "../shared/dom.js";
import { count, hex } from "../shared/format.js";

const SVG = "http://www.w3.org/2000/svg";
const spelled = (binary) => [...binary].map((c) => hex(c.charCodeAt(0))).join(" ");

function chip(binary, className = "") {
  const el = make("bdi", `tk ${className}`);
  fillChip(el, binary, 40);
  return el;
}

/** A chip that shows the biography of its own token when pressed. */
function linkChip(binary, id, go, className = "") {
  const button = make("button", `tk ${className}`);
  button.type = "button";
  fillChip(button, binary, 40);
  button.dataset.id = id;
  button.setAttribute("aria-label", `${spoken(binary)}, id ${id}: show its biography`);
  button.addEventListener("click", () => go(id));
  return button;
}

function fact(name, testid, ...content) {
  const el = make("div", "fact");
  const value = make("dd");
  value.dataset.testid = testid;
  value.append(...content);
  el.append(make("dt", "", name), value);
  return el;
}

// -- the merge tree ------------------------------------------------------------------------------

/** Place leaves side by side and each merge above the middle of its parts. */
function place(node, x, depth, placed) {
  const at = placed.length;
  placed.push(node);
  node.depth = depth;
  if (!node.parts) {
    node.x = x;
    return x + 1;
  }
  let next = x;
  for (const part of node.parts) next = place(part, next, depth + 1, placed);
  node.x = (node.parts[0].x + node.parts[1].x) / 2;
  return next;
}

function tree(root, go) {
  const nodes = [];
  const leaves = place(root, 0, 0, nodes);
  const depth = Math.max(...nodes.map((n) => n.depth));
  const wide = Math.max(...nodes.filter((n) => !n.parts).map((n) => Math.min(6, n.bytes.length)));
  const dx = 26 + 9 * wide;
  const dy = 50;
  const width = Math.max(leaves * dx, 60);
  const height = depth * dy + 30;
  const box = make("div", "tree");
  box.style.cssText = `width:${width / 16}rem;height:${height / 16}rem`;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("aria-hidden", "true");
  box.append(svg);
  const X = (node) => (node.x + 0.5) * dx + (width - leaves * dx) / 2;
  const Y = (node) => node.depth * dy + 14;
  for (const node of nodes) {
    for (const part of node.parts || []) {
      const line = document.createElementNS(SVG, "line");
      for (const [name, value] of Object.entries({
        x1: X(node),
        y1: Y(node) + 12,
        x2: X(part),
        y2: Y(part) - 12,
      })) {
        line.setAttribute(name, value);
      }
      svg.append(line);
    }
    const label = linkChip(node.bytes, node.id, go, "node");
    label.style.left = `${(100 * X(node)) / width}%`;
    label.style.top = `${(100 * Y(node)) / height}%`;
    label.title = node.rank ? `id ${node.id}, merge ${count(node.rank)}` : `id ${node.id}, a byte`;
    box.append(label);
  }
  return box;
}

// -- the two parts of the card ---------------------------------------------------------------------

function biography(token, go) {
  const part = make("section", "bio");
  const facts = make("dl", "facts");
  const { parts } = token.tree || {};
  facts.append(
    fact("token", "bio-token", chip(token.bytes, "big")),
    fact("id", "bio-id", String(token.id)),
    fact(
      token.bytes.length === 1 ? "byte" : `${count(token.bytes.length)} bytes`,
      "bio-bytes",
      spelled(token.bytes),
    ),
  );
  const kinds = {
    byte: "one of the 256 bytes every text is made of; no merge was needed",
    special: "a special token: recognized whole, never made by merges",
    whole: "by no merge: it is taken where it is an entire pre-token",
    unreachable: "in the vocabulary, but no merge makes it",
  };
  if (token.kind === "merge") {
    facts.append(fact("made at merge", "bio-merge", count(token.rank)));
    if (token.counted !== undefined)
      facts.append(fact("pair count then", "bio-count", count(token.counted)));
    const from = make("span", "from");
    from.append(
      linkChip(parts[0].bytes, parts[0].id, go),
      "+",
      linkChip(parts[1].bytes, parts[1].id, go),
    );
    facts.append(fact("from", "bio-from", from));
  } else facts.append(fact("made", "bio-kind", kinds[token.kind]));
  part.append(facts);
  if (token.tree) {
    const scroll = make("div", "scroll");
    scroll.append(tree(token.tree, go));
    part.append(scroll);
  }
  return part;
}

function row(tokens, lit) {
  const el = make("span", "row");
  tokens.forEach((binary, i) => el.append(chip(binary, i === lit ? "new" : "")));
  return el;
}

function story(pretoken) {
  const part = make("section", "story");
  const title = make("h4");
  title.append(
    "The pre-token ",
    chip(pretoken.bytes),
    ` step by step: the earliest merge goes first, wherever it stands`,
  );
  part.append(title);
  if (!pretoken.steps) {
    part.append(
      make(
        "p",
        "cap",
        `${pretoken.why} It ends as ${count(pretoken.n_tokens)} ` +
          `token${pretoken.n_tokens === 1 ? "" : "s"}.`,
      ),
    );
  } else if (!pretoken.steps.length) {
    part.append(
      make(
        "p",
        "cap",
        pretoken.size === 1
          ? "It is a single byte, so there is nothing to merge."
          : "No learned pair occurs in it, so each of its bytes stays a token.",
      ),
    );
  } else {
    const steps = make("ol", "steps");
    const line = (name, tokens, lit) => {
      const item = make("li");
      item.append(make("span", "when", name), row(tokens, lit));
      steps.append(item);
    };
    line("bytes", [...pretoken.bytes]);
    for (const step of pretoken.steps) line(`merge ${count(step.rank)}`, step.parts, step.at);
    steps.dataset.testid = "merge-steps";
    part.append(steps);
  }
  const compare = make("p", "compare");
  compare.dataset.testid = "longest-match";
  if (pretoken.same)
    compare.append("Always taking the longest token that fits would have cut it the same way.");
  else {
    compare.append(
      "Always taking the longest token that fits would have given ",
      row(pretoken.greedy),
      pretoken.n_greedy === pretoken.n_tokens
        ? ` (also ${count(pretoken.n_greedy)} tokens)`
        : ` (${count(pretoken.n_greedy)} instead of ${count(pretoken.n_tokens)})`,
      ". That is not BPE: the merges learned first decide.",
    );
  }
  part.append(compare);
  return part;
}

let presses = 0;

export default function render({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".tc");
  const go = (id) => setStateValue("go", { id, press: ++presses + Date.now() });
  root.classList.toggle("large", Boolean(data.large));
  if (data.token)
    root.replaceChildren(
      biography(data.token, go),
      ...(data.pretoken ? [story(data.pretoken)] : []),
    );
  else root.replaceChildren(make("p", "empty", data.empty));
}
