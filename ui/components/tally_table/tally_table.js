// @ts-check
// Rows that can be pressed, each with numbers, a sentence or a bar. make is merge_player/bytes.js.

import { make } from "../shared/dom.js";

function line(row, pick) {
  const el = make("tr", row.on ? "on" : "");
  const head = make("th");
  const button = make("button", "name", row.name);
  head.scope = "row";
  button.type = "button";
  button.dataset.key = row.key;
  button.setAttribute("aria-pressed", String(row.on));
  head.append(button);
  if (row.note) head.append(make("p", "note", row.note));
  if (row.share !== null) {
    const bar = make("div", "bar");
    const part = make("div");
    part.style.width = `${Math.max(0.3, 100 * row.share)}%`;
    bar.setAttribute("aria-hidden", "true");
    bar.append(part);
    head.append(bar);
  }
  el.append(head, ...row.numbers.map((text) => make("td", "", text)));
  el.addEventListener("click", () => pick(row.key));
  return el;
}

export default function render({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".ty");
  const at = root.getRootNode().activeElement?.dataset?.key;
  root.classList.toggle("large", Boolean(data.large));
  const table = make("table");
  const head = make("thead");
  const heads = make("tr");
  const body = make("tbody");
  for (const text of data.heads) {
    const cell = make("th", "", text);
    cell.scope = "col";
    heads.append(cell);
  }
  head.append(heads);
  body.append(...data.rows.map((row) => line(row, (key) => setTriggerValue("pick", key))));
  table.append(make("caption", "", data.name), head, body);
  const top = root.firstChild ? root.firstChild.scrollTop : 0;
  const scroll = make("div", data.rows.length > 8 ? "scroll long" : "scroll");
  if (data.rows.length > 8) scroll.tabIndex = 0;
  scroll.setAttribute("role", "group");
  scroll.setAttribute("aria-label", data.name);
  scroll.append(table);
  root.replaceChildren(scroll);
  scroll.scrollTop = top;
  if (at)
    [...root.querySelectorAll("button")]
      .find((button) => button.dataset.key === at)
      ?.focus({ preventScroll: true });
}
