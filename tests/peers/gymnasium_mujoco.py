"""Steps a second of all copies of HalfCheetah in Gymnasium's vector forms."""
import json
import os
import sys
import tempfile
import types

import numpy as np

# Gymnasium imports it to save videos, which nobody does here.
sys.modules.setdefault("imageio", types.ModuleType("imageio"))
import gymnasium as gym  # noqa: E402
import vector_speed  # noqa: E402

task = {"numEnvs": 16, "warmup": 50, "steps": 250, "seed": 0,
        **json.loads(sys.argv[1])}
BATCHES = 64
# MuJoCo writes its warnings into a file of the working folder.
os.chdir(tempfile.gettempdir())


def make():
    # A worker's process imports anew.
    sys.modules.setdefault("imageio", types.ModuleType("imageio"))
    return gym.make("HalfCheetah-v5")


def speed(form):
    count = task["numEnvs"]
    env = form([make] * count)
    random = np.random.default_rng(task["seed"])
    actions = random.uniform(-1, 1, (BATCHES, count, 6)).astype(np.float32)
    env.reset(seed=task["seed"])
    figure = vector_speed.speed(env, actions, task)
    env.close()
    return figure


if __name__ == "__main__":
    print(json.dumps({
        "one": speed(gym.vector.SyncVectorEnv),
        "two": speed(gym.vector.AsyncVectorEnv),
    }))
