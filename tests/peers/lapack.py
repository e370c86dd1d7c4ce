"""Seconds that LAPACK takes, on one thread, by way of numpy and scipy.

    python3 lapack.py 64 128 512

prints JSON: for each size the median of `eigh`, `cholesky` and `inverse`.
"""
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import json
import sys
import time

import numpy as np
import scipy.linalg

WARMUP = 3


def median_seconds(work, repeats):
    for _ in range(WARMUP):
        work()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


def inverse(matrix, identity):
    return scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix), identity)


def measure(size):
    """The same kind of matrices as bellman_linear_algebra.ts uses."""
    generator = np.random.default_rng(size)
    root = generator.uniform(-1, 1, (size, size))
    matrix = root @ root.T + np.eye(size)
    identity = np.eye(size)
    repeats = 201 if size < 256 else 15
    # The faster of numpy and scipy, which copy and check in different ways.
    eigh = (
        lambda: np.linalg.eigh(matrix),
        lambda: scipy.linalg.eigh(matrix, driver="evd"),
    )
    cholesky = (
        lambda: np.linalg.cholesky(matrix),
        lambda: scipy.linalg.cholesky(matrix, lower=True),
    )
    return {
        "eigh": min(median_seconds(work, repeats) for work in eigh),
        "cholesky": min(median_seconds(work, repeats) for work in cholesky),
        "inverse": median_seconds(lambda: inverse(matrix, identity), repeats),
    }


print(json.dumps({size: measure(int(size)) for size in sys.argv[1:]}))
