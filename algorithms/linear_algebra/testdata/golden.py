"""Makes golden.json: numpy's results for a few small matrices.

    python3 golden.py > golden.json
"""
import json

import numpy as np
from numpy.linalg import cholesky, eigh, eigvalsh, inv


def flat(array):
    return np.asarray(array, dtype=float).ravel().tolist()


def main():
    generator = np.random.default_rng(7)
    cases = []
    for size in (1, 2, 3, 5, 8, 13):
        root = generator.standard_normal((size, size))
        matrix = np.round(root @ root.T + 0.5 * np.eye(size), 3)
        values, vectors = eigh(matrix)
        # Signs are free: here the largest number of each column is positive.
        largest = np.abs(vectors).argmax(axis=0)
        vectors *= np.sign(vectors[largest, np.arange(size)])
        cases.append({
            "size": size,
            "matrix": flat(matrix),
            "values": flat(values),
            "vectors": flat(vectors),
            "factor": flat(cholesky(matrix)),
            "inverse": flat(inv(matrix)),
        })
    size = 40
    root = generator.integers(-9, 10, (size, size))
    symmetric = (root + root.T).astype(float)
    large = {
        "size": size,
        "matrix": symmetric.astype(int).ravel().tolist(),
        "values": flat(eigvalsh(symmetric)),
    }
    hilbert = 1 / (np.arange(10)[:, None] + np.arange(10)[None, :] + 1.0)
    print(json.dumps({
        "cases": cases,
        "large": large,
        "hilbertValues": flat(eigvalsh(hilbert)),
    }))


main()
