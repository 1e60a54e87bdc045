"""Fits the table of word meanings to the model's vectors of words.

Usage: fit.py MODEL WORK TABLE WORDS. Reads words.tsv, texts.tsv, pairs.tsv and what
teacher.py made of the first two in WORK (words.*, texts.*), and writes TABLE, of all
words that the model has read and the first others, WORDS together, in the format that
meaning.go reads.

1. Vectors lose the mean of their language, so that languages do not part them.
2. Words that teacher.py did not reach get a vector by a linear map from the model's
   own vectors of their pieces, fitted on the words that it reached, and half of the
   vector of their relatives that it reached.
3. The vectors lose the COMMON first principal components, which all words share, and
   keep the next DIMENSIONS.
4. Each word gets a weight: the less frequent, the more.
5. tune.py moves the words until texts of a pair are near each other.
6. Each row is written with 4 bits a number and a scale of 8 bits.

There is no linear map from the mean of a text's words to the model's vector of the
text: fitted by ridge regression, it halves what is found in the Cranfield collection.
"""

import struct
import sys

import numpy as np
import scipy.sparse

from fold import words as words_of
from pieces import piece_vectors
from relatives import relatives
from teacher import reached
from tune import found_first, tuned, unit

WIDTH = 384
DIMENSIONS, COMMON = 256, 3
FREQUENT = 2e-4  # a word of this share of the running words has half the weight of a rare one
UNREAD = 0.85  # weight of a word that the model has not read
RELATIVES = 0.5  # their share of the vector of such a word
RIDGE = 3.0
FEW = 50  # vectors of a language whose mean says nothing
HELD = 20  # each twentieth word, text or pair tells how near the fit is, and is not fitted
# How often pairs of a kind are drawn.
SHARES = {"help": 750, "names": 1000, "gloss": 6000, "example": 6000, "broader": 6000, "synonym": 6000, "texts": 6000}


def centred(vectors, languages):
    """Return unit vectors without the mean of their language, or of all if it has few."""
    vectors = unit(vectors)
    out, every = np.empty_like(vectors), vectors.mean(axis=0)
    for language in np.unique(languages):
        mine = languages == language
        out[mine] = vectors[mine] - (vectors[mine].mean(axis=0) if mine.sum() >= FEW else every)
    return unit(out)


def ridge(a, b, penalty):
    """Return the matrix x that minimises |a x - b|^2 + penalty |x|^2."""
    return np.linalg.solve(a.T @ a + penalty * np.eye(a.shape[1], dtype=a.dtype), a.T @ b)


def table(path):
    return [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8")]


def incidence(texts, index):
    """Return the matrix that counts words in texts."""
    at, columns = [], []
    for i, text in enumerate(texts):
        known = [index[w] for w in words_of(text) if w in index]
        at += [i] * len(known)
        columns += known
    return scipy.sparse.csr_matrix((np.ones(len(at), np.float32), (at, columns)), (len(texts), len(index)))


def fnv(word):
    h = 14695981039346656037
    for c in word.encode():
        h = (h ^ c) * 1099511628211 % 2**64
    h ^= h >> 33
    h = h * 0xFF51AFD7ED558CCD % 2**64
    h ^= h >> 33
    h = h * 0xC4CEB9FE1A85EC53 % 2**64
    return (h ^ h >> 33) >> 32


def quantised(x):
    """Return the exponents and the 4-bit numbers of rows."""
    best = np.full(len(x), np.inf)
    exponents, numbers = np.zeros(len(x), np.uint8), np.zeros(x.shape, np.uint8)
    deviation = np.maximum(np.sqrt((x * x).mean(axis=1)), 1e-9)
    for step in (0.26, 0.3, 0.34, 0.38, 0.43):  # of a normal distribution's deviation
        e = np.clip(np.rint(8 * np.log2(step * deviation)) + 128, 0, 255)
        scale = np.exp2((e - 128) / 8)[:, None]
        q = np.clip(np.rint(x / scale + 7.5), 0, 15)
        error = (((q - 7.5) * scale - x) ** 2).sum(axis=1)
        better = error < best
        best[better], exponents[better], numbers[better] = error[better], e[better], q[better]
    return exponents, numbers


def write(path, keys, x):
    by_hash = {}
    for i, word in enumerate(keys):
        by_hash.setdefault(fnv(word), i)  # the more frequent of two words with one hash
    order = [by_hash[h] for h in sorted(by_hash)]
    exponents, numbers = quantised(x[order])
    with open(path, "wb") as f:
        f.write(b"CWT1" + struct.pack("<II", len(order), x.shape[1]))
        f.write(np.array(sorted(by_hash), "<u4").tobytes())
        f.write(exponents.tobytes())
        f.write((numbers[:, 0::2] | numbers[:, 1::2] << 4).tobytes())


def unread(model, forms, keys, languages, x, have):
    """Fill in the vectors of words that the model has not read."""
    parts = centred(piece_vectors(model, forms), languages)
    test = have & (np.arange(len(forms)) % HELD == 0)
    fit = ridge(parts[have & ~test], x[have & ~test], RIDGE)
    mapped = unit(parts @ fit).astype(np.float32)

    def mixed(targets, source):
        family = relatives(keys, languages, targets, source)
        for i, near in family.items():
            mapped[i] = (1 - RELATIVES) * mapped[i] + RELATIVES * unit(x[near].mean(axis=0))
        return unit(mapped[targets])

    held = np.flatnonzero(test)
    print("cosine of held-out words to the model's own, by their pieces:", (mapped[held] * x[held]).sum(axis=1).mean())
    print("and by relatives too:", (mixed(held, np.flatnonzero(have & ~test)) * x[held]).sum(axis=1).mean())
    missing = np.flatnonzero(~have)
    x[missing] = mixed(missing, np.flatnonzero(have))


def word_vectors(model, forms, keys, languages, vectors):
    """Return the vectors of words, and which are the model's own."""
    have = np.array([form in vectors for form in forms])
    x = np.zeros((len(forms), WIDTH), np.float32)
    x[have] = centred(np.array([vectors[form] for form in forms if form in vectors]), languages[have])
    unread(model, forms, keys, languages, x, have)
    return x, have


def kinds_of(work, index, axes):
    """Return the kinds of pairs for tune.py, and the held-out pairs of each kind."""
    texts = {}
    for kind, first, second in table(f"{work}/pairs.tsv"):
        texts.setdefault(kind, []).append((first, second))
    sides = {kind: [incidence(side, index) for side in zip(*pairs)] for kind, pairs in texts.items()}
    vectors = reached(f"{work}/texts")
    taught = [(language, text) for language, text in table(f"{work}/texts.tsv") if text in vectors]
    y = centred(np.array([vectors[text] for _, text in taught]), np.array([language for language, _ in taught]))
    sides["texts"] = [incidence([text for _, text in taught], index), unit(y @ axes)]
    fitted, held = [], {}
    for kind, (a, b) in sides.items():
        known = a.getnnz(axis=1) > 0
        if not isinstance(b, np.ndarray):
            known &= b.getnnz(axis=1) > 0
        a, b = a[known], b[known]
        test = np.arange(a.shape[0]) % HELD == 0
        fitted.append((a[~test], b[~test], SHARES[kind.split()[0]]))
        held.setdefault(kind.split()[0], []).append((a[test], b[test]))
    print(len(taught), "texts that the model has read,", sum(a.shape[0] for a, _, _ in fitted), "pairs")
    return fitted, held


def report(x, held):
    for kind, sets in held.items():
        print(f"  {kind}: {np.mean([found_first(x, pairs) for pairs in sets]):.3f}")


def chosen(work, vectors, limit):
    """Return the lines of the words that the model has read, and of the first others."""
    lines = table(f"{work}/words.tsv")
    room = limit - sum(fields[1] in vectors for fields in lines)
    kept = []
    for fields in lines:
        if fields[1] not in vectors:
            room -= 1
            if room < 0:
                continue
        kept.append(fields)
    return kept[:limit]


def main(model, work, out, limit):
    vectors = reached(f"{work}/words")
    lines = chosen(work, vectors, int(limit))
    languages = np.array([fields[0] for fields in lines])
    keys = [fields[2] for fields in lines]
    share = np.array([float(fields[3]) for fields in lines], np.float32)
    x, have = word_vectors(model, [fields[1] for fields in lines], keys, languages, vectors)
    print(len(lines), "words,", int(have.sum()), "that the model has read")
    axes = np.linalg.eigh(x[have].T @ x[have])[1][:, ::-1][:, COMMON : COMMON + DIMENSIONS]
    weights = FREQUENT / (FREQUENT + share) * np.where(have, 1, UNREAD)
    x = np.ascontiguousarray(x @ axes * weights[:, None], dtype=np.float32)
    kinds, held = kinds_of(work, {w: i for i, w in enumerate(keys)}, axes)
    print("held-out pairs that are found first, before and after tuning:")
    report(x, held)
    x = tuned(x, kinds)
    report(x, held)
    write(out, keys, x)


if __name__ == "__main__":
    main(*sys.argv[1:])
