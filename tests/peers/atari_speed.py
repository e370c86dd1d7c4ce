"""The task of Atari's programs: steps a second of all copies, by threads."""
import json
import sys
import time

import numpy as np

ACTIONS, BATCHES = 6, 64
task = {"numEnvs": 8, "warmup": 200, "steps": 1500, "seed": 0,
        **json.loads(sys.argv[1])}


def speed(env):
    """Of an environment that was reset; each step is one of four frames."""
    count = task["numEnvs"]
    random = np.random.default_rng(task["seed"])
    actions = random.integers(0, ACTIONS, (BATCHES, count), np.int32)

    def run(steps):
        start = time.perf_counter()
        for i in range(steps):
            env.step(actions[i % BATCHES])
        return time.perf_counter() - start

    run(task["warmup"])
    return task["steps"] * count / run(task["steps"])
