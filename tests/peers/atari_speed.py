"""The task of Atari's programs: steps of four frames a second."""
import json
import sys

import numpy as np
import vector_speed

ACTIONS, BATCHES = 6, 64
task = {"numEnvs": 8, "warmup": 200, "steps": 1500, "seed": 0,
        **json.loads(sys.argv[1])}


def speed(env):
    """Of an environment that was reset."""
    random = np.random.default_rng(task["seed"])
    actions = random.integers(0, ACTIONS, (BATCHES, task["numEnvs"]), np.int32)
    return vector_speed.speed(env, actions, task)
