"""Words that share most of their letters with a word: its other forms."""

import bisect
import os

NEAR = 6  # neighbours in the alphabet that are compared, to either side
LEAST, SHARED = 4, 0.7  # letters of the common prefix, and its share of the longer word


def relatives(words, languages, targets, source):
    """Return up to three relatives in source for those targets that have any; all are indices."""
    order = sorted(source, key=lambda i: words[i])
    keys = [words[i] for i in order]
    found = {}
    for target in targets:
        at, near = bisect.bisect_left(keys, words[target]), []
        for j in range(max(0, at - NEAR), min(len(keys), at + NEAR)):
            common = len(os.path.commonprefix([words[target], keys[j]]))
            share = common / max(len(words[target]), len(keys[j]))
            if common >= LEAST and share >= SHARED and order[j] != target:
                near.append((share + 0.1 * (languages[order[j]] == languages[target]), order[j]))
        if near:
            found[target] = [i for _, i in sorted(near, reverse=True)[:3]]
    return found
