// @ts-check
// Characters that cannot be seen, and the marks that stand for them.
// Belongs here: which characters these are. How a component draws a mark is its own matter.

import { codePoint } from "./format.js";

/**
 * How a mark is drawn. over: it lies over the blank. line: it is always drawn, the line breaks
 * after it. label: the character has no width of its own.
 * @typedef {"over" | "line" | "label"} Kind
 */

/** Character -> mark, name, kind. @type {Map<string, [string, string, Kind]>} */
export const MARKS = new Map([
  [" ", ["·", "space", "over"]],
  ["\t", ["→", "tab", "over"]],
  ["\n", ["↵", "line break", "line"]],
  ["\r", ["CR", "carriage return", "label"]],
  ["\u00a0", ["°", "no-break space", "over"]],
  ["\u202f", ["˚", "narrow no-break space", "over"]],
  ["\u3000", ["□", "ideographic space", "over"]],
  ["\u1680", ["▫", "other space", "over"]],
  ["\u205f", ["▫", "other space", "over"]],
  ["\u0085", ["NEL", "next line", "label"]],
  ["\u00ad", ["SHY", "soft hyphen", "label"]],
  ["\u061c", ["ALM", "Arabic letter mark", "label"]],
  ["\u180e", ["MVS", "Mongolian vowel separator", "label"]],
  ["\u200b", ["ZWSP", "zero-width space", "label"]],
  ["\u200c", ["ZWNJ", "zero-width non-joiner", "label"]],
  ["\u200d", ["ZWJ", "zero-width joiner", "label"]],
  ["\u200e", ["LRM", "left-to-right mark", "label"]],
  ["\u200f", ["RLM", "right-to-left mark", "label"]],
  ["\u2028", ["LS", "line separator", "label"]],
  ["\u2029", ["PS", "paragraph separator", "label"]],
  ["\u2060", ["WJ", "word joiner", "label"]],
  ["\ufeff", ["BOM", "byte order mark", "label"]],
  ["\u007f", ["DEL", "delete", "label"]],
]);

/**
 * Add marks for characters from `first` on, but for those that have one.
 * @param {number} first
 * @param {string[]} signs
 * @param {string} name
 * @param {Kind} kind
 */
function addMarks(first, signs, name, kind) {
  signs.forEach((sign, i) => {
    const ch = String.fromCharCode(first + i);
    if (!MARKS.has(ch)) MARKS.set(ch, [sign, name, kind]);
  });
}

addMarks(0x2000, Array(11).fill("▫"), "other space", "over");
addMarks(0x202a, ["LRE", "RLE", "PDF", "LRO", "RLO"], "bidirectional control", "label");
addMarks(0x2066, ["LRI", "RLI", "FSI", "PDI"], "bidirectional control", "label");
addMarks(
  0,
  (
    "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI " +
    "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US"
  ).split(" "),
  "control character",
  "label",
);
addMarks(
  0x80,
  Array.from({ length: 32 }, (_, i) => codePoint(0x80 + i)),
  "control character",
  "label",
);
addMarks(
  0xfe00,
  Array.from({ length: 16 }, (_, i) => `VS${i + 1}`),
  "variation selector",
  "label",
);

/** Joiners and variation selectors. */
export const JOINER = /\u200c|\u200d|[\ufe00-\ufe0f]/;

/** Whether `ch` joins the character before it to the next, and so does its work unseen. */
export const joinsUnseen = (/** @type {string} */ ch, /** @type {string | undefined} */ before) =>
  JOINER.test(ch) && before !== undefined && !MARKS.has(before);

/** Letters of the scripts that run right to left. */
export const RTL = new RegExp(
  `[${["Hebrew", "Arabic", "Syriac", "Thaana", "Nko", "Samaritan", "Mandaic", "Adlam"]
    .map((script) => `\\p{Script=${script}}`)
    .join("")}]`,
  "u",
);
