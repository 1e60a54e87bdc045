"""Pairs of texts that mean the same, of the packages that fetch.sh unpacks.

Usage: pairs.py ROOT WORK. Writes pairs.tsv (kind, text, text) in WORK. A kind is a
source and, of translations, the two languages:

help   a paragraph of LibreOffice's help in two languages
names  the names of a CLDR symbol in two languages
gloss  words of WordNet and their definition
example  a definition and a sentence with the word
broader  a definition and that of the next broader word
synonym  two words of one meaning
"""

import glob
import json
import random
import re
import sys

from corpus import LANGUAGES, SEED, strip

MOST = 6000  # pairs of a kind; of WordNet's, five times as many
PARAGRAPH = re.compile(r'<(?:p|h\d)\b[^>]*?id="([^"]*)"[^>]*>(.*?)</(?:p|h\d)>', re.S)


def help_paragraphs(root, folder):
    """Return the paragraphs of a language's help by page and id."""
    found = {}
    for file in glob.glob(f"{root}/{folder}/usr/share/libreoffice/help/*/text/**/*.html", recursive=True):
        page = open(file, encoding="utf-8").read().split('id="DisplayArea"', 1)[-1].split('id="SearchFrame"', 1)[0]
        for name, part in PARAGRAPH.findall(page):
            text = strip(part)
            if 12 <= len(text) <= 500:
                found[file.split("/text/")[1], name] = text
    return found


def symbol_names(root, folder):
    """Return the names and keywords of CLDR's symbols by symbol."""
    data = json.load(open(f"{root}/cldr/package/annotations/{folder}/annotations.json", encoding="utf-8"))
    return {k: ", ".join(a.get("tts", []) + a.get("default", [])) for k, a in data["annotations"]["annotations"].items()}


def translations(root):
    """Yield the kind and the pairs of each language with English, and of German with the others."""
    helps = {l: help_paragraphs(root, folder) for l, (folder, *_) in LANGUAGES.items() if folder}
    names = {l: symbol_names(root, cldr) for l, (_, cldr, *_) in LANGUAGES.items()}
    for source, by_language in (("help", helps), ("names", names)):
        for first in ("en", "de"):
            for second, texts in by_language.items():
                if second not in ("en", first):
                    mine = by_language[first]
                    yield f"{source} {first} {second}", [(mine[k], texts[k]) for k in sorted(mine.keys() & texts.keys()) if mine[k] != texts[k]]


def synsets(root):
    """Return WordNet's meanings by part of speech and offset: words, definition, examples, broader."""
    found = {}
    for part in ("noun", "verb", "adj", "adv"):
        for line in open(f"{root}/wn/usr/share/wordnet/data.{part}", encoding="utf-8"):
            if "|" not in line or line.startswith("  "):
                continue
            head, gloss = line.split("|", 1)
            fields = head.split()
            count = int(fields[3], 16)
            words = [fields[4 + 2 * i].split("(")[0].replace("_", " ") for i in range(count)]
            at = 4 + 2 * count
            pointers = [fields[at + 1 + 4 * i : at + 4 + 4 * i] for i in range(int(fields[at]))]
            broader = [part[0] + offset for kind, offset, _ in pointers if kind.startswith("@")]
            found[part[0] + fields[0]] = (words, gloss.split('"')[0].strip(" ;\n"), re.findall(r'"([^"]*)"', gloss), broader[:1])
    return found


def wordnet(root):
    """Yield the kinds and the pairs of WordNet."""
    found = synsets(root)
    yield "gloss", [(", ".join(words[:4]), definition) for words, definition, _, _ in found.values()]
    yield "example", [(definition, e) for _, definition, examples, _ in found.values() for e in examples[:2]]
    yield "synonym", [(words[0], words[1]) for words, *_ in found.values() if len(words) > 1]
    entry = {k: ", ".join(words[:3]) + ": " + definition for k, (words, definition, *_) in found.items()}
    yield "broader", [(entry[k], entry[b]) for k, (*_, broader) in found.items() for b in broader]


def main(root, work):
    random.seed(SEED)
    with open(f"{work}/pairs.tsv", "w", encoding="utf-8") as f:
        for source in (wordnet, translations):
            for kind, pairs in source(root):
                pairs = list(dict.fromkeys(pairs))
                for a, b in random.sample(pairs, min(len(pairs), MOST * (5 if source is wordnet else 1))):
                    f.write(f"{kind}\t{a}\t{b}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
