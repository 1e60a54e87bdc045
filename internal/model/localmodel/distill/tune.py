"""Moves the vectors of words until texts that mean the same are near each other."""

import numpy as np
import scipy.sparse

BATCH, STEPS, SEEDS = 256, 600, (27, 28, 29)
TEMPERATURE = 0.1  # of the softmax over a batch
RATE = 0.01  # of a step, relative to the mean of a word's gradients (Adagrad, one number a word)
PULL = 0.02  # back to where a word began, at each step that moves it


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-9)


class Side:
    """One side of a batch: the sums of some texts' words."""

    def __init__(self, incidence, rows, x):
        part = incidence[rows]
        self.words, columns = np.unique(part.indices, return_inverse=True)
        self.part = scipy.sparse.csr_matrix((part.data, columns, part.indptr), (len(rows), len(self.words)))
        sums = self.part @ x[self.words]
        self.length = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
        self.vectors = sums / self.length

    def gradient(self, g):
        """Return the gradient of each word from that of the unit vectors."""
        g = (g - (g * self.vectors).sum(axis=1, keepdims=True) * self.vectors) / self.length
        return self.part.T @ g


def softmax(s, axis):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def run(x, kinds, seed):
    """Return x, moved by contrastive learning: the other pairs of a batch are the wrong answers.

    kinds has a tuple for each kind of pairs: the incidence of the first texts, that of
    the second ones or their fixed vectors, and how often the kind is drawn.
    """
    rng = np.random.default_rng(seed)
    start, x, squares = x, x.copy(), np.zeros(len(x), np.float32)
    shares = np.array([share for _, _, share in kinds], float)

    def move(side, g):
        g, words = side.gradient(g), side.words
        squares[words] += (g * g).mean(axis=1)
        x[words] -= RATE * g / np.sqrt(squares[words] + 1e-12)[:, None] + PULL * (x[words] - start[words])

    for _ in range(STEPS):
        first, second, _ = kinds[rng.choice(len(kinds), p=shares / shares.sum())]
        rows = rng.choice(first.shape[0], min(BATCH, first.shape[0]), replace=False)
        a = Side(first, rows, x)
        b = None if isinstance(second, np.ndarray) else Side(second, rows, x)
        vectors = second[rows] if b is None else b.vectors
        s = a.vectors @ vectors.T / TEMPERATURE
        g = (softmax(s, 1) + softmax(s, 0) - 2 * np.eye(len(rows), dtype=np.float32)) / (2 * TEMPERATURE)
        ga, gb = g @ vectors, g.T @ a.vectors
        move(a, ga)
        if b is not None:
            move(b, gb)
    return x


def tuned(x, kinds):
    """Return the mean of runs with several seeds."""
    return sum(run(x, kinds, seed) for seed in SEEDS) / len(SEEDS)


def found_first(x, pairs):
    """Return the share of pairs whose second text is the nearest to the first of all second ones."""
    first, second = pairs
    a, b = unit(first @ x), second if isinstance(second, np.ndarray) else unit(second @ x)
    return float(((a @ b.T).argmax(axis=1) == np.arange(a.shape[0])).mean())
