// @ts-check
// What is kept of the text: in this tab while another page is shown, and in the browser's session
// storage over a reload.

const STORE = "mergescope.editor";

/**
 * session, epoch: of the visit, and of the page's text that this one came after. always: whether
 * marks are always shown.
 * @typedef {{ session: string, epoch: number, text: string, always: boolean }} Memory
 */

/** By component key. @type {Map<string, Memory>} */
const MEMORY = new Map();

/** What is known of this tab's text, if anything. @returns {Memory | undefined} */
export const recall = (/** @type {string} */ key) => MEMORY.get(key);

export function remember(/** @type {string} */ key, /** @type {Memory} */ memory) {
  MEMORY.set(key, memory);
}

/** What was stored before the page was loaded, if anything. @returns {Memory | null} */
export function stored() {
  try {
    return JSON.parse(sessionStorage.getItem(STORE));
  } catch {
    return null;
  }
}

/** Store what is known for after a reload. */
export function store(/** @type {string} */ key) {
  const memory = MEMORY.get(key);
  try {
    if (memory) sessionStorage.setItem(STORE, JSON.stringify(memory));
  } catch {
    // too long, or not allowed
  }
}
