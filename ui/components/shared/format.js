// @ts-check
// Numbers and bytes in writing. Belongs here: short functions from values to strings.

const NUMBER = new Intl.NumberFormat("en-US");

/** @param {number | bigint} n */
export const count = (n) => NUMBER.format(n);

/** One byte in hexadecimal, two digits. @param {number} byte */
export const hex = (byte) => byte.toString(16).toUpperCase().padStart(2, "0");

/** A code point's name, such as U+00AD. @param {number} code */
export const codePoint = (code) => `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
