// @ts-check
// Bytes and characters: tokens are byte strings, the text is a JavaScript string.
// A byte string is held as a string with one code unit for each byte (a "binary string").

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes of one code point in UTF-8. @param {number} code */
export const utf8Length = (code) => (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);

/** Whether two code units at `u` are one character. */
export function isSurrogatePair(/** @type {string} */ text, /** @type {number} */ u) {
  const high = text.charCodeAt(u);
  const low = text.charCodeAt(u + 1);
  return high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
}

/**
 * Bytes of a text in UTF-8; half a surrogate pair counts as U+FFFD, as the engine sees it.
 * @param {string} text
 */
export function byteLength(text) {
  let n = 0;
  for (let u = 0; u < text.length; u++) {
    const code = text.charCodeAt(u);
    if (code >= 0xd800 && isSurrogatePair(text, u)) {
      n += 4;
      u++;
    } else n += utf8Length(code);
  }
  return n;
}

/** The character that `bytes` are, or null. @param {Uint8Array} bytes */
function decoded(bytes) {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null; // some bytes are only part of a character
  }
}

/**
 * The characters of a binary string: strings of whole characters, and numbers for the bytes that
 * make no character.
 * @param {string} binary
 * @returns {(string | number)[]}
 */
export function decodeParts(binary) {
  if (/^\p{ASCII}*$/u.test(binary)) return [binary];
  const bytes = Uint8Array.from(binary, (ch) => ch.charCodeAt(0));
  const all = decoded(bytes);
  if (all !== null) return [all];
  /** @type {(string | number)[]} */
  const parts = [];
  for (let i = 0; i < bytes.length; ) {
    const lead = bytes[i];
    const size = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
    const whole = size && i + size <= bytes.length ? decoded(bytes.subarray(i, i + size)) : null;
    if (whole === null) {
      parts.push(lead);
      i += 1;
      continue;
    }
    const last = parts.length - 1;
    if (typeof parts[last] === "string") parts[last] += whole;
    else parts.push(whole);
    i += size;
  }
  return parts;
}
