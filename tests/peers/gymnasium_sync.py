"""Steps a second of all copies in Gymnasium's SyncVectorEnv, in this process."""
import json
import sys
import time
from functools import partial

import gymnasium as gym
import numpy as np

task = {"ids": ["CartPole-v1", "LunarLander-v3"], "numEnvs": 16, "warmup": 300,
        "steps": 1500, "seed": 0, **json.loads(sys.argv[1])}
BATCHES = 64


def speed(name):
    count = task["numEnvs"]
    # As over the bridge, an episode that ends is followed by the next at once.
    env = gym.vector.SyncVectorEnv([partial(gym.make, name)] * count,
                                   autoreset_mode="SameStep")
    size = int(env.single_action_space.n)
    actions = [(np.arange(count) + t) % size for t in range(BATCHES)]
    env.reset(seed=task["seed"])

    def run(steps):
        start = time.perf_counter()
        for i in range(steps):
            env.step(actions[i % BATCHES])
        return time.perf_counter() - start

    run(task["warmup"])
    seconds = run(task["steps"])
    env.close()
    return task["steps"] * count / seconds


print(json.dumps({name: speed(name) for name in task["ids"]}))
