"""Three problems of contextual bandits, ten seeds each.

    python bandit_problems.py

prints JSON: for each problem and seed the contexts, `[rounds][features]`, the reward of
each action, `[rounds][actions]`, and `score`, which totals add up: right answers of
digits, regret of the others.
"""
import json
import math

import numpy as np
from sklearn.datasets import load_digits

SEEDS = range(10)


def digits(seed):
    data = load_digits()
    order = np.random.default_rng(seed).permutation(len(data.target))
    x = data.data[order] / 16
    right = np.eye(10)[data.target[order]]
    return np.column_stack([np.ones(len(x)), x]), right, right


def contexts(random, rounds, d):
    x = random.normal(size=(rounds, d))
    x[:, 0] = 1
    return x


def linear(seed, rounds=2000, d=10, actions=10):
    random = np.random.default_rng(seed)
    x = contexts(random, rounds, d)
    mean = x @ random.normal(size=(d, actions)) / math.sqrt(d)
    rewards = mean + 0.5 * random.normal(size=mean.shape)
    return x, rewards, mean.max(1, keepdims=True) - mean


def clicks(seed, rounds=2000, d=8, actions=5):
    random = np.random.default_rng(seed)
    x = contexts(random, rounds, d)
    mean = 1 / (1 + np.exp(-x @ random.normal(size=(d, actions))))
    rewards = (random.uniform(size=mean.shape) < mean).astype(float)
    return x, rewards, mean.max(1, keepdims=True) - mean


PROBLEMS = {"digits": digits, "linear": linear, "clicks": clicks}


def table(methods):
    """Prints mean and sample deviation of each method's totals: JSON."""
    found = {}
    for name, make in PROBLEMS.items():
        found[name] = {}
        for method, run in methods.items():
            totals = [run(seed, *make(seed)) for seed in SEEDS]
            found[name][method] = {
                "mean": float(np.mean(totals)),
                "deviation": float(np.std(totals, ddof=1)),
                "totals": [float(it) for it in totals],
            }
    print(json.dumps(found))


if __name__ == "__main__":
    keys = ["contexts", "rewards", "scores"]
    print(json.dumps({
        name: [
            dict(zip(keys, (it.tolist() for it in make(seed)))) for seed in SEEDS
        ]
        for name, make in PROBLEMS.items()
    }))
