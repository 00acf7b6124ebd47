"""Short texts that show what tokenizers do with unusual input. Written for this app."""

from __future__ import annotations

EXAMPLES: dict[str, str] = {
    "Many scripts": (
        "The moon is bright tonight.\n"
        "今晚的月亮很亮。\n"
        "今夜は月が明るい。\n"
        "오늘 밤은 달이 밝다.\n"
        "Сегодня ночью луна яркая.\n"
        "आज रात चाँद चमक रहा है।\n"
        "القمر ساطع هذه الليلة.\n"
        "הירח בהיר הלילה.\n"
    ),
    "Emoji and accents": (
        "One face: 🙃  one family: 👨‍👩‍👧  one flag: 🇫🇷\n"
        "Written in one piece: é  and as a letter with a mark: e\u0301\n"
        "A wave in five shades: 👋🏻 👋🏼 👋🏽 👋🏾 👋🏿\n"
    ),
    "Code": (
        "def merge(tokens, pair, new):\n"
        '    """Replace each place of a pair, from left to right."""\n'
        "    out, i = [], 0\n"
        "    while i < len(tokens):\n"
        "        if tuple(tokens[i:i + 2]) == pair:\n"
        "            out.append(new)\n"
        "            i += 2\n"
        "        else:\n"
        "            out.append(tokens[i])\n"
        "            i += 1\n"
        "    return out\n"
    ),
    "Numbers": (
        "7 77 777 7777 77777 777777\n"
        "3.14159265358979\n"
        "2026-11-30 09:05:00\n"
        "1,000,000 + 234,567 = 1,234,567\n"
    ),
    "White space": (
        "one  two   three    four\n"
        "\tone tab\t\ttwo tabs\n"
        "no-break\u00a0space, narrow\u202fno-break space, zero\u200bwidth space\n"
        "\n\n"
        "two empty lines above, and blanks at the end   \n"
    ),
    "Special tokens": (
        "First document.<|endoftext|>Second document.\n"
        "A marker in a sentence, such as <|endoftext|>, is only a token of its own where it is "
        "registered and recognized.\n"
    ),
    "Rare words": (
        "Antidisestablishmentarianism, floccinaucinihilipilification, "
        "pneumonoultramicroscopicsilicovolcanoconiosis.\n"
        "Spelling variants: color colour COLOR Color  color-\n"
    ),
}
