"""The model's own vectors of the pieces of words: the input of its first layer."""

import struct

import numpy as np

from vocabulary import vocabulary

WIDTH, BLOCK = 384, 32


def tensor(data, name):
    """Return the offset of a tensor, from the directory behind the vocabulary."""
    at = data.index(struct.pack("<H", len(name)) + name.encode()) + 2 + len(name)
    return struct.unpack_from("<BIQQ", data, at)[2]


def embeddings(path, count):
    """Return the vectors of the first count pieces, whose blocks are a scale and 32 numbers of 4 bits."""
    data = open(path, "rb").read()
    blocks = np.frombuffer(data, np.uint8, count * WIDTH // BLOCK * 18, tensor(data, "emb.word")).reshape(-1, 18)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    low, high = blocks[:, 2:] & 15, blocks[:, 2:] >> 4
    return ((np.concatenate([low, high], axis=1).astype(np.float32) - 8) * scale).reshape(count, WIDTH)


def segment(word, scores, unknown):
    """Return the most probable pieces of a word."""
    best = [(0.0, None, None)] + [(-1e30, None, None)] * len(word)
    for i in range(len(word)):
        for j in range(i + 1, min(len(word), i + 16) + 1):
            score = best[i][0] + scores.get(word[i:j], (unknown if j == i + 1 else -1e30, None))[0]
            if score > best[j][0]:
                best[j] = (score, i, word[i:j])
    parts, at = [], len(word)
    while at > 0:
        _, at, part = best[at]
        parts.append(part)
    return [p for p in parts if p in scores]


def piece_vectors(path, forms):
    """Return the mean of the vectors of each word's pieces."""
    pieces, scores = vocabulary(path)
    vectors = embeddings(path, len(pieces))
    known = {p: (float(s), i) for i, (p, s) in enumerate(zip(pieces, scores))}
    unknown = float(scores.min()) - 10
    out = np.zeros((len(forms), WIDTH), np.float32)
    for i, form in enumerate(forms):
        if parts := segment("▁" + form, known, unknown):
            out[i] = vectors[[known[p][1] for p in parts]].mean(axis=0)
    return out
