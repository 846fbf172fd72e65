"""The p-values of a trader's buckets, without our code: the outcomes of one mode, moved in blocks.

Reads JSON from standard input: {"seed", "permutations", "block_mean", "cells", "outcomes",
"buckets"}. `cells` gives the cell of each outcome (its hour of day in UTC, 24 more at a weekend),
`outcomes` what each gained, in any unit, in the order of time; a bucket is a list of cells. Prints
the p-value of each bucket as JSON. docs/concepts/traders.md describes the test.
"""

import json
import math
import sys

SCORE_MAX = 2**18
MASK = 0xFFFFFFFF


def generator(seed):
    """mulberry32: shares from 0 to 1."""
    state = seed & MASK

    def multiply(a, b):
        return (a * b) & MASK

    def draw():
        nonlocal state
        state = (state + 0x6D2B79F5) & MASK
        mixed = multiply(state ^ (state >> 15), state | 1)
        mixed ^= (mixed + multiply(mixed ^ (mixed >> 7), mixed | 61)) & MASK
        return ((mixed ^ (mixed >> 14)) & MASK) / 2**32

    return draw


def scores_of(outcomes):
    """Integers up to SCORE_MAX; what lies over the 90% quantile of sizes counts as much as it."""
    sizes = sorted(abs(one) for one in outcomes)
    limit = sizes[math.ceil(0.9 * len(sizes)) - 1]
    end = limit if limit > 0 else sizes[-1]
    if end == 0:
        return [0] * len(outcomes)
    return [math.floor(max(-1, min(1, one / end)) * SCORE_MAX + 0.5) for one in outcomes]


def welch(total, squares, count, rest, rest_squares, rest_count):
    if count < 2 or rest_count < 2:
        return 0.0
    mean, rest_mean = total / count, rest / rest_count
    gap = mean - rest_mean
    variance = max(0, squares - total * mean) / (count - 1)
    rest_variance = max(0, rest_squares - rest * rest_mean) / (rest_count - 1)
    spread = math.sqrt(variance / count + rest_variance / rest_count)
    if spread > 0:
        return gap / spread
    return 0.0 if gap == 0 else gap * math.inf


def statistics(scores, cells, buckets):
    total, squares = sum(scores), sum(one * one for one in scores)
    found = []
    for bucket in buckets:
        inside = [score for score, cell in zip(scores, cells) if cell in bucket]
        own, own_squares = sum(inside), sum(one * one for one in inside)
        rest = len(scores) - len(inside)
        found.append(
            welch(own, own_squares, len(inside), total - own, squares - own_squares, rest)
        )
    return found


def move(scores, chance, draw):
    """Each score begins a block by chance; the blocks are laid in a new order (Fisher, Yates)."""
    blocks = [[scores[0]]]
    for score in scores[1:]:
        if draw() < chance:
            blocks.append([score])
        else:
            blocks[-1].append(score)
    for last in range(len(blocks) - 1, 0, -1):
        other = math.floor(draw() * (last + 1))
        blocks[last], blocks[other] = blocks[other], blocks[last]
    return [score for block in blocks for score in block]


def p_values(asked):
    scores = scores_of(asked["outcomes"])
    cells = asked["cells"]
    buckets = [set(bucket) for bucket in asked["buckets"]]
    observed = statistics(scores, cells, buckets)
    draw = generator(asked["seed"])
    reached = [0] * len(buckets)
    for _ in range(asked["permutations"]):
        moved = move(scores, 1 / asked["block_mean"], draw)
        for at, value in enumerate(statistics(moved, cells, buckets)):
            reached[at] += value >= observed[at]
    return [(count + 1) / (asked["permutations"] + 1) for count in reached]


if __name__ == "__main__":
    print(json.dumps(p_values(json.load(sys.stdin))))
