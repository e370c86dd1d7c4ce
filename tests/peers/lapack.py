"""Seconds that LAPACK takes, on one thread, by way of numpy and scipy.

    python3 lapack.py 64 128 512

prints JSON: for each size the median of `eigh`, of `eigh_single` in single
precision, of `cholesky` and `inverse`, in the processor's time.
"""
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import json
import sys
import time

import numpy as np
import scipy.linalg

WARMUP = 0.2
MEASURED = 0.6
COUNT = 11


def median_seconds(work):
    start = time.process_time()
    calls = 0
    while time.process_time() - start < WARMUP:
        work()
        calls += 1
    each = (time.process_time() - start) / calls
    repeats = max(1, round(MEASURED / COUNT / each))
    seconds = []
    for _ in range(1 if each > MEASURED else COUNT):
        start = time.process_time()
        for _ in range(repeats):
            work()
        seconds.append((time.process_time() - start) / repeats)
    return float(np.median(seconds))


def inverse(matrix, identity):
    return scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix), identity)


def fastest_eigh(matrix):
    """The faster of numpy and scipy, which copy and check in different ways."""
    return min(
        median_seconds(lambda: np.linalg.eigh(matrix)),
        median_seconds(lambda: scipy.linalg.eigh(matrix, driver="evd")),
    )


def measure(size):
    """The same kind of matrices as bellman_linear_algebra.ts uses."""
    generator = np.random.default_rng(size)
    root = generator.uniform(-1, 1, (size, size))
    single = (root @ root.T / size + np.eye(size)).astype(np.float32)
    matrix = single.astype(np.float64)
    identity = np.eye(size)
    cholesky = (
        lambda: np.linalg.cholesky(matrix),
        lambda: scipy.linalg.cholesky(matrix, lower=True),
    )
    return {
        "eigh": fastest_eigh(matrix),
        "eigh_single": fastest_eigh(single),
        "cholesky": min(median_seconds(work) for work in cholesky),
        "inverse": median_seconds(lambda: inverse(matrix, identity)),
    }


sizes = " ".join(sys.argv[1:]).split()
print(json.dumps({size: measure(int(size)) for size in sizes}))
