// @ts-check
// From tokens to what can be drawn. A token is a run of bytes, a drawing is a run of characters:
// where a token ends inside a character (as readers see it: with its marks, joiners, flags), it
// is drawn together with the tokens that complete the character. Such a run is a group here.
//
// Positions: "end" counts UTF-8 bytes, "unit" counts places in a JavaScript string.

export const PENDING = 0xffffffff; // stands for text that was typed and has no tokens yet
const LONGEST_GROUP = 64; // tokens; endless runs of combining marks are cut here

const EXTENDS = /^[\p{M}\u200c\u200d\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}]/u;
const PICTURE = /^\p{Extended_Pictographic}/u;
const LETTER = /^\p{L}/u;
const LINKERS = new Set([0x94d, 0x9cd, 0xacd, 0xb4d, 0xc4d, 0xd4d]); // viramas that join letters
const isFlagHalf = (text, u) =>
  text.charCodeAt(u) === 0xd83c &&
  text.charCodeAt(u + 1) >= 0xdde6 &&
  text.charCodeAt(u + 1) <= 0xddff;

/** Whether readers see the characters left and right of `u` as one. */
function joins(text, u) {
  const c = text.charCodeAt(u);
  if (c < 0x300 || u === 0 || u >= text.length) return false;
  if (c >= 0x3400 && c < 0xd7b0) return false; // ideographs, Hangul syllables
  const next = text.slice(u, u + 2);
  const before = text.charCodeAt(u - 1);
  if (EXTENDS.test(next)) return before !== 10;
  if (before === 0x200d) return PICTURE.test(next);
  if (LINKERS.has(before)) return LETTER.test(next);
  if (before === 0x200c || before === 0x200d) return false;
  if (isFlagHalf(text, u)) {
    let halves = 0;
    for (let v = u - 2; v >= 0 && isFlagHalf(text, v); v -= 2) halves++;
    return halves % 2 === 1;
  }
  return c >= 0x1160 && c <= 0x11ff && before >= 0x1100 && before <= 0x11ff; // Hangul letters
}

/** Number of UTF-8 bytes of `text`; half a surrogate pair counts as U+FFFD, as the engine sees it. */
export function byteLength(text) {
  let n = 0;
  for (let u = 0; u < text.length; u++) {
    const c = text.charCodeAt(u);
    if (c < 0x80) n += 1;
    else if (c < 0x800) n += 2;
    else if (isPair(text, u)) {
      n += 4;
      u++;
    } else n += 3;
  }
  return n;
}

function isPair(text, u) {
  const c = text.charCodeAt(u);
  const d = text.charCodeAt(u + 1);
  return c >= 0xd800 && c < 0xdc00 && d >= 0xdc00 && d < 0xe000;
}

/**
 * Group the tokens of `text`. Returns the cut: `ids`, `ends`, `age` (one per token), `first` (index
 * of each group's first token, with one more at the end), `units` (where each group starts, with
 * the drawn length at the end), `n` (groups), `text` (the part of it that the tokens cover).
 */
export function group(text, ids, ends, age) {
  const first = new Uint32Array(ids.length + 1);
  const units = new Uint32Array(ids.length + 1);
  let n = 0;
  let byte = 0;
  let u = 0;
  for (let i = 0; i < ids.length; i++) {
    const end = ends[i];
    while (byte < end && u < text.length) {
      const c = text.charCodeAt(u);
      if (c < 0x80) byte += 1;
      else if (c < 0x800) byte += 2;
      else if (isPair(text, u)) {
        byte += 4;
        u++;
      } else byte += 3;
      u++;
    }
    const whole = byte === end && (!joins(text, u) || i + 1 - first[n] >= LONGEST_GROUP);
    if (whole || i === ids.length - 1) {
      n++;
      first[n] = i + 1;
      units[n] = u;
    }
  }
  return {
    text: text.slice(0, u),
    ids,
    ends,
    age,
    n,
    first: first.slice(0, n + 1),
    units: units.slice(0, n + 1),
  };
}

export const EMPTY_CUT = group("", new Uint32Array(0), new Uint32Array(0), new Uint8Array(0));

/** How many units `a` and `b` share at their beginning, and then at their end. */
export function shared(a, b) {
  const most = Math.min(a.length, b.length);
  let p = 0;
  let s = 0;
  while (p + 4096 <= most && a.slice(p, p + 4096) === b.slice(p, p + 4096)) p += 4096;
  while (p < most && a.charCodeAt(p) === b.charCodeAt(p)) p++;
  while (
    s + 4096 <= most - p &&
    a.slice(a.length - s - 4096, a.length - s) === b.slice(b.length - s - 4096, b.length - s)
  )
    s += 4096;
  while (s < most - p && a.charCodeAt(a.length - 1 - s) === b.charCodeAt(b.length - 1 - s)) s++;
  return [p, s];
}

/**
 * The cut to draw between a keystroke and its answer: the tokens that the edit from `before` to
 * `after` did not touch, and one pending token for the rest, at most `longest` units of it. The two
 * share `p` and `s` units at their ends. Null where nothing drawn changes.
 */
export function editedCut(cut, before, after, [p, s], longest) {
  if (p >= cut.text.length && before.length > cut.text.length) return null;
  let a = 0;
  let b = cut.n;
  while (a < cut.n && cut.units[a + 1] <= p) a++;
  while (b > a && cut.units[b - 1] >= before.length - s) b--;
  const shift = after.length - before.length;
  const from = cut.units[a];
  const to = b < cut.n ? cut.units[b] + shift : after.length - (before.length - cut.text.length);
  const tooLong = to - from > longest;
  const middle = after.slice(from, tooLong ? from + longest : to);
  const end = tooLong ? cut.n : b;
  const ta = cut.first[a];
  const tb = cut.first[end];
  const rest = cut.ids.length - tb;
  const extra = middle ? 1 : 0;
  const byteA = ta ? cut.ends[ta - 1] : 0;
  const byteB = tb ? cut.ends[tb - 1] : 0;
  const byteShift = byteA + byteLength(middle) - byteB;
  const ids = new Uint32Array(ta + extra + rest);
  const ends = new Uint32Array(ids.length);
  const age = new Uint8Array(ids.length);
  for (const [to_, from_] of [
    [ids, cut.ids],
    [ends, cut.ends],
    [age, cut.age],
  ]) {
    to_.set(from_.subarray(0, ta));
    to_.set(from_.subarray(tb), ta + extra);
  }
  if (extra) {
    ids[ta] = PENDING;
    ends[ta] = byteA + byteLength(middle);
  }
  for (let i = ta + extra; i < ends.length; i++) ends[i] += byteShift;
  const n = a + extra + (cut.n - end);
  const first = new Uint32Array(n + 1);
  const units = new Uint32Array(n + 1);
  first.set(cut.first.subarray(0, a + 1));
  units.set(cut.units.subarray(0, a + 1));
  const tokenShift = ta + extra - tb;
  const unitShift = from + middle.length - cut.units[end];
  for (let g = end; g <= cut.n; g++) {
    first[g - end + a + extra] = cut.first[g] + tokenShift;
    units[g - end + a + extra] = cut.units[g] + unitShift;
  }
  return { text: after.slice(0, units[n]), ids, ends, age, n, first, units };
}
