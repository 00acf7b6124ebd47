// @ts-check
// The tally table: rows that can be pressed, each with numbers, a sentence or a bar.

import { make, makeButton } from "../shared/dom.js";

const LONG = 8; // rows; more of them scroll

/** @param {any} row @param {(key: string) => void} pick */
function newRow(row, pick) {
  const line = make("tr", row.on ? "on" : "");
  const head = make("th");
  head.scope = "row";
  const button = makeButton("name", row.name);
  button.dataset.key = row.key;
  button.setAttribute("aria-pressed", String(row.on));
  head.append(button);
  if (row.note) head.append(make("p", "note", row.note));
  if (row.share !== null) head.append(newBar(row.share));
  line.append(head, ...row.numbers.map((text) => make("td", "", text)));
  line.addEventListener("click", () => pick(row.key));
  return line;
}

/** @param {number} share from 0 to 1 */
function newBar(share) {
  const bar = make("div", "bar");
  const part = make("div");
  part.style.width = `${Math.max(0.3, 100 * share)}%`;
  bar.setAttribute("aria-hidden", "true");
  bar.append(part);
  return bar;
}

function newTable(data, pick) {
  const table = make("table");
  const head = make("thead");
  const heads = make("tr");
  for (const text of data.heads) {
    const cell = make("th", "", text);
    cell.scope = "col";
    heads.append(cell);
  }
  head.append(heads);
  const body = make("tbody");
  body.append(...data.rows.map((row) => newRow(row, pick)));
  table.append(make("caption", "", data.name), head, body);
  return table;
}

/** Called with every new `data` and on theme change. */
export default function render({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".ty");
  const focused = root.getRootNode().activeElement?.dataset?.key;
  const top = root.firstChild?.scrollTop ?? 0;
  root.classList.toggle("large", Boolean(data.large));
  const isLong = data.rows.length > LONG;
  const scroll = make("div", isLong ? "scroll long" : "scroll");
  if (isLong) scroll.tabIndex = 0;
  scroll.setAttribute("role", "group");
  scroll.setAttribute("aria-label", data.name);
  scroll.append(newTable(data, (key) => setTriggerValue("pick", key)));
  root.replaceChildren(scroll);
  scroll.scrollTop = top;
  if (!focused) return;
  const buttons = [...scroll.querySelectorAll("button")];
  buttons.find((button) => button.dataset.key === focused)?.focus({ preventScroll: true });
}
