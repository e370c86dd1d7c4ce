"""Steps a second of all copies in Gymnasium's SyncVectorEnv, in this process."""
import json
import sys
from functools import partial

import gymnasium as gym
import numpy as np
import vector_speed

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
    figure = vector_speed.speed(env, actions, task)
    env.close()
    return figure


print(json.dumps({name: speed(name) for name in task["ids"]}))
