# XGBoost (python3-xgboost of Debian) on LightGBM's example of lambdarank, at the settings of
# `npm run bench:rank`: writes the scores of the later rows, one JSON list a seed.
# Arguments: the folder of the data, then the seeds.
import gzip
import json
import os
import sys

import numpy
import xgboost

FEATURES = 301


def rows_of(folder, name):
    with gzip.open(os.path.join(folder, name + ".gz"), "rt") as lines:
        rows = [line.split() for line in lines if line.strip()]
    values = numpy.full((len(rows), FEATURES), numpy.nan)
    for at, (_, *pairs) in enumerate(rows):
        for pair in pairs:
            feature, value = pair.split(":")
            values[at, int(feature)] = float(value)
    with open(os.path.join(folder, name + ".query")) as sizes:
        groups = [int(size) for size in sizes.read().split()]
    matrix = xgboost.DMatrix(values, label=[float(row[0]) for row in rows])
    matrix.set_group(groups)
    return matrix


folder, *seeds = sys.argv[1:]
train, later = rows_of(folder, "rank.train"), rows_of(folder, "rank.test")
for seed in seeds:
    settings = {
        "objective": "rank:ndcg",
        "eta": 0.1,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": 31,
        "max_depth": 0,
        "max_bin": 255,
        "subsample": 0.9,
        "min_child_weight": 5,
        "seed": int(seed),
        "nthread": 1,
    }
    model = xgboost.train(settings, train, num_boost_round=100)
    print(json.dumps([float(score) for score in model.predict(later)]))
print(xgboost.__version__, file=sys.stderr)
