"""Milliseconds that rliable takes for intervals by stratified bootstrap.

    python rliable_statistics.py '{"runs": 10, "tasks": 26, "resamples": 50000}'

prints JSON: the interval of the interquartile mean, by `get_interval_estimates`.
"""
import json
import sys
import time

import numpy as np
from rliable import library, metrics

task = json.loads(sys.argv[1])
scores = np.random.default_rng(0).normal(size=(task["runs"], task["tasks"]))


def interquartile_mean(matrix):
    return np.array([metrics.aggregate_iqm(matrix)])


def milliseconds(resamples):
    start = time.perf_counter()
    library.get_interval_estimates(
        {"scores": scores}, interquartile_mean, reps=resamples
    )
    return 1000 * (time.perf_counter() - start)


milliseconds(100)
print(json.dumps({"iqm": milliseconds(task["resamples"])}))
