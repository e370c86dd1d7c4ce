"""Microseconds of decisions and updates of contextual bandits, by MABWiser.

    python mabwiser_bandits.py '{"sizes": [{"d": 16, "actions": 10, "peers": ["ucb"]}]}'

prints JSON: `predict` of one context for LinUCB (ucb) and LinTS (thompson), `partial_fit` of
one row (update), where they are among `peers`.
"""
import json
import sys
import time

import numpy as np
from mabwiser.mab import MAB, LearningPolicy


def microseconds(call):
    """What one call takes: the fastest of 40 runs of 25 ms, or one call."""

    def measure_calls(calls):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        return 1e6 * (time.perf_counter() - start) / calls

    measure_calls(3)
    calls = max(1, int(25_000 / measure_calls(1)))
    return min(measure_calls(calls) for _ in range(40))


def measure(d, actions, peers):
    random = np.random.default_rng(0)
    contexts = random.normal(size=(500, d))
    contexts[:, 0] = 1
    weights = random.normal(size=(actions, d))
    rows = max(2000, 5 * actions)
    x = contexts[np.arange(rows) % len(contexts)]
    chosen = np.arange(rows) % actions
    rewards = (x * weights[chosen]).sum(1) / np.sqrt(d) + 0.5 * random.normal(size=rows)
    found = {}
    policies = {
        "ucb": LearningPolicy.LinUCB(alpha=1, l2_lambda=1),
        "thompson": LearningPolicy.LinTS(alpha=1, l2_lambda=1),
    }
    at = 0

    def next_context():
        nonlocal at
        at += 1
        return contexts[at % len(contexts)][None]

    for name, policy in policies.items():
        if name not in peers:
            continue
        mab = MAB(arms=list(range(actions)), learning_policy=policy)
        mab.fit(decisions=chosen, rewards=rewards, contexts=x)
        found[name] = microseconds(lambda: mab.predict(next_context()))
        if name == "ucb" and "update" in peers:
            found["update"] = microseconds(
                lambda: mab.partial_fit([at % actions], [1.0], next_context())
            )
    return found


sizes = json.loads(sys.argv[1])["sizes"]
print(json.dumps({f"{it['d']}x{it['actions']}": measure(**it) for it in sizes}))
