// @ts-check
// The component as Streamlit sees it: one editor for each mounted element.

import { Editor } from "./editor.js";

/** @type {WeakMap<object, Editor>} */
const EDITORS = new WeakMap();

/** Called with every new `data` and on theme change. Returns what cleans up. */
export default function render(component) {
  const { parentElement } = component;
  let editor = EDITORS.get(parentElement);
  if (!editor) {
    editor = new Editor(parentElement);
    EDITORS.set(parentElement, editor);
  }
  editor.update(component);
  return () => editor.leave();
}
