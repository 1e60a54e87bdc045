"""Words that the table is to have, from texts.tsv and packages that fetch.sh unpacks.

Usage: words.py ROOT MODEL WORK. Reads texts.tsv in WORK and writes words.tsv (language,
the form that is given to the model, folded word, share of the running words of its
language), with the most important words first.
"""

import collections
import gzip
import json
import math
import re
import sys

from fold import UNSPACED_ONLY, surfaces
from vocabulary import vocabulary

# How far a language's list is behind that of English when the words are put in order.
PACE = {"en": 1, "de": 1, "es": 2, "fr": 2, "ru": 2, "?": 4}
ESTIMATED = 45000  # forms of a language of which spaCy estimates the share
SCRIPTS = {
    "?": "[A-Za-z\u00c0-\u024f]+$",
    "ru": "[\u0400-\u04ff]+$",
    "ar": "[\u0621-\u064a]+$",
    "ja": "[\u3041-\u30ff]+$",
    "zh": "[\u4e00-\u9fff]+$",
}


def counts(texts):
    """Return how often each folded word occurs, and its most frequent form."""
    count, forms = collections.Counter(), collections.defaultdict(collections.Counter)
    for text in texts:
        for folded, form in surfaces(text):
            count[folded] += 1
            forms[folded][form] += 1
    return count, {w: f.most_common(1)[0][0] for w, f in forms.items()}


def probabilities(root, language):
    """Return spaCy's estimates of the shares of words, and their forms."""
    count, forms = collections.Counter(), {}
    table = json.load(gzip.open(f"{root}/spacy/spacy_lookups_data/data/{language}_lexeme_prob.json.gz"))
    for form, log in sorted(table.items(), key=lambda kv: -kv[1])[:ESTIMATED]:
        pairs = list(surfaces(form))
        if len(pairs) == 1 and form.isalnum() and not form.isdigit():
            count[pairs[0][0]] += math.exp(log)
            forms.setdefault(pairs[0][0], form)
    return count, forms


def pieces(path):
    """Return the whole words of the model's own vocabulary by script: their shares and forms."""
    found = {script: (collections.Counter(), {}) for script in SCRIPTS}
    for piece, score in sorted(zip(*vocabulary(path)), key=lambda ps: -ps[1]):
        form = piece.lstrip("▁")
        if not piece.startswith("▁") and not UNSPACED_ONLY.match(form) or len(form) < 2 and not UNSPACED_ONLY.match(form):
            continue
        script = next((s for s, pattern in SCRIPTS.items() if re.match(pattern, form)), None)
        pairs = list(surfaces(form)) if script else []
        if len(pairs) == 1:
            count, forms = found[script]
            count[pairs[0][0]] += math.exp(score)
            forms.setdefault(pairs[0][0], form)
    return found


def share(count):
    total = sum(count.values()) or 1
    return {w: c / total for w, c in count.items()}


def lists(root, model, work):
    """Yield each language's words with their shares and forms."""
    texts = collections.defaultdict(list)
    for line in open(f"{work}/texts.tsv", encoding="utf-8"):
        language, text = line.rstrip("\n").split("\t", 1)
        texts[language].append(text)
    for language, mine in texts.items():
        count, forms = counts(mine)
        shares = share(count)
        if language in ("en", "de", "es"):
            more, also = probabilities(root, language)
            more = share(more)
            shares = {w: (3 * more.get(w, 0) + shares.get(w, 0)) / 4 for w in {*more, *shares}}
            forms = {**forms, **also}
        yield language, shares, forms
    found = pieces(model)
    total = sum(sum(count.values()) for count, _ in found.values())
    for script, (count, forms) in found.items():
        yield script, {w: c / total for w, c in count.items()}, forms


def main(root, model, work):
    highest, forms, place = {}, {}, {}
    for language, shares, form in lists(root, model, work):
        ranked = sorted((w for w in shares if not w.replace(".", "").isdigit() and len(w) <= 40), key=lambda w: (-shares[w], w))
        for i, w in enumerate(ranked):
            highest[w] = max(highest.get(w, 0), shares[w])
            forms.setdefault(w, form[w])
            at = (i * PACE.get(language, 4), language)
            place[w] = min(place.get(w, at), at)
    with open(f"{work}/words.tsv", "w", encoding="utf-8") as f:
        for w in sorted(place, key=lambda w: (place[w], w)):
            f.write(f"{place[w][1]}\t{forms[w]}\t{w}\t{highest[w]:.4g}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
