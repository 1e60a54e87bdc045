"""Words of a text, as words.go splits and folds them: lower case, no diacritics;
in scripts without spaces, each pair of characters is a word."""

import functools
import re
import unicodedata

UNSPACED = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
)
SPECIAL = {"ß": "ss", "æ": "ae", "ø": "o", "ł": "l"}
TOKEN = re.compile(
    rf"[{UNSPACED}]+|\d+(?:[.,]\d+)+|(?:(?![{UNSPACED}])[^\W_](?:[\u0300-\u036f\u064b-\u065f]|['’](?=[^\W\d_]))*)+"
)
UNSPACED_ONLY = re.compile(rf"[{UNSPACED}]+$")


@functools.lru_cache(maxsize=1 << 20)
def fold(word):
    """Return a word without case and diacritics."""
    out = []
    for r in word.replace("'", "").replace("’", "").replace(",", "").lower():
        if r in SPECIAL:
            out.append(SPECIAL[r])
            continue
        out += (d.lower() for d in unicodedata.normalize("NFKD", r) if unicodedata.category(d) != "Mn")
    return "".join(out)


def surfaces(text):
    """Yield (folded word, surface) for each word of a text."""
    for match in TOKEN.finditer(text):
        word = match.group()
        if not UNSPACED_ONLY.match(word):
            if folded := fold(word):
                yield folded, word
        elif len(word) == 1:
            yield fold(word), word
        else:
            for i in range(len(word) - 1):
                yield fold(word[i : i + 2]), word[i : i + 2]


def words(text):
    """Return the folded words of a text."""
    return [folded for folded, _ in surfaces(text)]
