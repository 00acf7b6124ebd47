// @ts-check
// Making and filling elements. Belongs here: what every component needs of the DOM.
// Text goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * A new element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [className]
 * @param {string | number} [text]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = String(text);
  return node;
}

/**
 * A new button that does not submit.
 * @param {string} [className]
 * @param {string | number} [text]
 */
export function makeButton(className, text) {
  const button = make("button", className, text);
  button.type = "button";
  return button;
}

/**
 * A new SVG element.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number>} attributes
 * @param {string} [text]
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function makeShape(tag, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  if (text !== undefined) node.textContent = text;
  return node;
}

/**
 * Set a text only where it changed: untouched nodes cost no layout.
 * @param {Node} node
 * @param {string | number} text
 */
export function put(node, text) {
  const value = String(text);
  if (node.textContent !== value) node.textContent = value;
}
