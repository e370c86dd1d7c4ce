"""Environment steps per second of stable-baselines3's A2C, one thread."""
import json
import sys
import time

import torch
from stable_baselines3 import A2C
from stable_baselines3.common.env_util import make_vec_env

torch.set_num_threads(1)
task = json.loads(sys.argv[1])
env = make_vec_env("CartPole-v1", n_envs=task["numEnvs"], seed=task["seed"])
model = A2C(
    "MlpPolicy",
    env,
    n_steps=task["numSteps"],
    seed=task["seed"],
    device="cpu",
    policy_kwargs={"net_arch": {"pi": [64, 64], "vf": [64, 64]}},
)
model.learn(task["warmup"])
started = time.perf_counter()
model.learn(task["steps"], reset_num_timesteps=False)
print(task["steps"] / (time.perf_counter() - started))
