// @ts-check
// Large pastes. Browsers take seconds to paste very many lines, because they prepare to undo each
// of them; so a large paste is put in without the browser's help, and undone here.

const LARGE_UNITS = 100000;
const LARGE_LINES = 1000;

/** @param {HTMLTextAreaElement} area */
export function handleLargePastes(area) {
  let pasted = null;

  area.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text/plain");
    const lines = text.split("\n", LARGE_LINES).length;
    if (text.length < LARGE_UNITS && lines < LARGE_LINES) return;
    event.preventDefault();
    const { value: before, selectionStart: start, selectionEnd: end } = area;
    area.setRangeText(text, start, end, "end");
    pasted = { before, start, end, after: area.value };
    area.dispatchEvent(new InputEvent("input", { inputType: "insertFromPaste" }));
  });

  area.addEventListener("keydown", (event) => {
    const isUndo = event.key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
    if (!isUndo || area.value !== pasted?.after) return; // changed since: the browser's matter
    event.preventDefault();
    area.value = pasted.before;
    area.setSelectionRange(pasted.start, pasted.end);
    pasted = null;
    area.dispatchEvent(new InputEvent("input", { inputType: "historyUndo" }));
  });
}
