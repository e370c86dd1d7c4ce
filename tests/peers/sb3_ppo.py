"""Environment steps per second of stable-baselines3's PPO, one thread.

With the network `lstm` it is sb3-contrib's RecurrentPPO, whose minibatches are
of rows: as many as ours has sequences in one.
"""
import json
import sys
import time

import gymnasium
import numpy as np
import torch
from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

torch.set_num_threads(1)
TASK = {"env": "CartPole-v1", "network": "auto", "numEnvs": 8, "numSteps": 128}
TASK |= {"epochs": 4, "minibatches": 4, "seed": 0}
TASK |= {"warmup": 2048, "steps": 16_384}


class Frames(gymnasium.Env):
    """Random frames that no action changes: what acting and learning cost alone."""

    observation_space = gymnasium.spaces.Box(0, 255, (84, 84, 4), np.uint8)
    action_space = gymnasium.spaces.Discrete(6)
    frames = np.random.default_rng(0).integers(256, size=(8, 84, 84, 4), dtype=np.uint8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.frames[0], {}

    def step(self, action):
        self.steps += 1
        return self.frames[self.steps % 8], 1.0, self.steps == 500, False, {}


def main():
    task = TASK | json.loads(sys.argv[1])
    frames, recurrent = task["env"] == "frames", task["network"] == "lstm"
    network = {"net_arch": {"pi": [64, 64], "vf": [64, 64]}}
    if recurrent:
        network = {"net_arch": [], "lstm_hidden_size": 64}
    env = make_vec_env(
        Frames if frames else task["env"], task["numEnvs"], seed=task["seed"]
    )
    model = (RecurrentPPO if recurrent else PPO)(
        "CnnPolicy" if frames else "MlpLstmPolicy" if recurrent else "MlpPolicy",
        env,
        n_steps=task["numSteps"],
        n_epochs=task["epochs"],
        batch_size=task["numEnvs"] * task["numSteps"] // task["minibatches"],
        ent_coef=0.01,
        policy_kwargs=None if frames else network,
        seed=task["seed"],
        device="cpu",
    )
    model.learn(task["warmup"])
    started = time.perf_counter()
    model.learn(task["steps"], reset_num_timesteps=False)
    print(task["steps"] / (time.perf_counter() - started))


if __name__ == "__main__":
    main()
