// Bytes and characters: how tokens (byte strings) and the text (a JS string) are shown.
// A byte string is held as a JS string with one code unit per byte ("binary string").

const NEVER = 0x7fffffff;
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const CLUSTERS = Intl.Segmenter ? new Intl.Segmenter("und", { granularity: "grapheme" }) : null;
const RTL =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Adlam}]/u;

// Characters that cannot be seen: [mark, name, kind].
//   over: the mark lies over the blank;  line: always drawn, the line breaks after it;  label: has no width of its own.
const MARKS = new Map([
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
for (let c = 0x2000; c <= 0x200a; c++)
  MARKS.set(String.fromCharCode(c), ["▫", "other space", "over"]);
["LRE", "RLE", "PDF", "LRO", "RLO"].forEach((name, i) =>
  MARKS.set(String.fromCharCode(0x202a + i), [name, "bidirectional control", "label"]),
);
["LRI", "RLI", "FSI", "PDI"].forEach((name, i) =>
  MARKS.set(String.fromCharCode(0x2066 + i), [name, "bidirectional control", "label"]),
);
"NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US"
  .split(" ")
  .forEach((name, c) => {
    const ch = String.fromCharCode(c);
    if (!MARKS.has(ch)) MARKS.set(ch, [name, "control character", "label"]);
  });
for (let c = 0x80; c < 0xa0; c++) {
  const ch = String.fromCharCode(c);
  if (!MARKS.has(ch))
    MARKS.set(ch, [
      "U+" + c.toString(16).toUpperCase().padStart(4, "0"),
      "control character",
      "label",
    ]);
}
for (let c = 0; c < 16; c++)
  MARKS.set(String.fromCharCode(0xfe00 + c), ["VS" + (c + 1), "variation selector", "label"]);

const NUMBER = new Intl.NumberFormat("en-US");
const count = (n) => NUMBER.format(n);
const hex = (byte) => byte.toString(16).toUpperCase().padStart(2, "0");
const utf8Length = (code) => (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);

/** A new element; `text` goes in as text, never as markup. */
function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

/** Set text only where it changed: untouched nodes cost no layout. */
function put(node, text) {
  const value = String(text);
  if (node.textContent !== value) node.textContent = value;
}

/**
 * Cut a string into what can be drawn as one (grapheme clusters), with byte positions.
 * Returns unit starts in the string and in its UTF-8 bytes (one more entry than units), the unit at each
 * byte (-1 inside a unit), prefix counts of units that need a mark or run right to left, and the bytes.
 */
function measure(text) {
  const offsets = [0];
  const starts = [0];
  const marked = [0];
  const rtl = [0];
  const seen = new Map();
  const add = (piece) => {
    let bytes = 0;
    for (const ch of piece) bytes += utf8Length(ch.codePointAt(0));
    const mark = MARKS.get(piece);
    if (mark) seen.set(piece, mark);
    offsets.push(offsets[offsets.length - 1] + piece.length);
    starts.push(starts[starts.length - 1] + bytes);
    marked.push(marked[marked.length - 1] + (mark ? 1 : 0));
    rtl.push(rtl[rtl.length - 1] + (RTL.test(piece) ? 1 : 0));
  };
  if (CLUSTERS) {
    for (const { segment } of CLUSTERS.segment(text)) {
      if (segment === "\r\n") {
        add("\r");
        add("\n");
      } else add(segment);
    }
  } else for (const ch of text) add(ch);
  const total = starts[starts.length - 1];
  const unitAt = new Int32Array(total + 1).fill(-1);
  starts.forEach((byte, unit) => {
    unitAt[byte] = unit;
  });
  return {
    text,
    total,
    unitAt,
    seen,
    bytes: new TextEncoder().encode(text),
    offsets: Int32Array.from(offsets),
    starts: Int32Array.from(starts),
    marked: Int32Array.from(marked),
    rtl: Int32Array.from(rtl),
  };
}

/** Binary string -> list of strings (whole characters) and numbers (bytes that make no character). */
function decodeParts(binary) {
  if (/^[\x00-\x7f]+$/.test(binary)) return [binary];
  const bytes = Uint8Array.from(binary, (ch) => ch.charCodeAt(0));
  try {
    return [UTF8.decode(bytes)];
  } catch {
    /* some bytes are only part of a character */
  }
  const parts = [];
  for (let i = 0; i < bytes.length; ) {
    const lead = bytes[i];
    const size = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
    let piece = null;
    if (size && i + size <= bytes.length) {
      try {
        piece = UTF8.decode(bytes.subarray(i, i + size));
      } catch {
        /* not a character */
      }
    }
    if (piece === null) {
      parts.push(lead);
      i += 1;
      continue;
    }
    if (typeof parts[parts.length - 1] === "string") parts[parts.length - 1] += piece;
    else parts.push(piece);
    i += size;
  }
  return parts;
}

/**
 * Fill `node` with a token's text: blanks as marks, bytes that make no character in hexadecimal. A chip of few
 * characters gets the class "short", so that it is not squeezed where room is scarce.
 */
function fillChip(node, binary, limit = 24) {
  node.textContent = "";
  if (binary === undefined) {
    node.append(make("i", "sp", "…"));
    node.title = "not received yet";
    return;
  }
  const cut = binary.length > limit * 4 ? binary.slice(0, limit * 4) : binary;
  let plain = "";
  let shown = 0;
  let more = cut.length < binary.length;
  const flush = () => {
    if (plain) node.append(plain);
    plain = "";
  };
  const parts = decodeParts(cut);
  outer: for (const part of parts) {
    if (typeof part === "number") {
      if (shown++ >= limit) {
        more = true;
        break;
      }
      flush();
      node.append(make("i", "hex", hex(part)));
      continue;
    }
    const chars = [...part];
    for (let i = 0; i < chars.length; i++) {
      if (shown++ >= limit) {
        more = true;
        break outer;
      }
      const ch = chars[i];
      const mark = MARKS.get(ch);
      // Joiners and variation selectors between two characters do their work unseen.
      const joins = /[\u200c\u200d\ufe00-\ufe0f]/.test(ch) && i > 0 && !MARKS.has(chars[i - 1]);
      if (!mark || joins) {
        plain += ch;
        continue;
      }
      flush();
      const sign = make("i", mark[2] === "label" ? "lab" : "sp", mark[0]);
      sign.title = mark[1];
      node.append(sign);
    }
  }
  flush();
  if (more) node.append(make("i", "sp", "…"));
  node.classList.toggle("short", shown <= 4);
  node.title = more ? `${count(binary.length)} bytes` : "";
}

/** A token in words a screen reader can say. */
function spoken(binary) {
  if (binary === undefined) return "a token not received yet";
  return decodeParts(binary.slice(0, 120))
    .map((part) =>
      typeof part === "number"
        ? `byte ${hex(part)}`
        : [...part].map((ch) => (MARKS.has(ch) ? ` ${MARKS.get(ch)[1]} ` : ch)).join(""),
    )
    .join(" ")
    .trim();
}
