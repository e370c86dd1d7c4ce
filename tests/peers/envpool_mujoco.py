"""Steps a second of all copies of HalfCheetah in EnvPool, by threads."""
import json
import os
import sys
import tempfile

import envpool
import numpy as np
import vector_speed

task = {"numEnvs": 16, "warmup": 200, "steps": 1000, "seed": 0,
        **json.loads(sys.argv[1])}
BATCHES = 64
# MuJoCo writes its warnings into a file of the working folder.
os.chdir(tempfile.gettempdir())


def speed(threads):
    count = task["numEnvs"]
    env = envpool.make("HalfCheetah-v5", env_type="gymnasium", num_envs=count,
                       num_threads=threads, seed=task["seed"])
    random = np.random.default_rng(task["seed"])
    actions = random.uniform(-1, 1, (BATCHES, count, 6))
    env.reset()
    return vector_speed.speed(env, actions, task)


print(json.dumps({"one": speed(1), "two": speed(2)}))
