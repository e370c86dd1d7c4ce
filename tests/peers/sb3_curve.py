"""A learning curve of an algorithm of stable-baselines3, sb3_contrib or sbx, one
seed, one thread.

The task is such as `{"library": "stable_baselines3", "algorithm": "SAC", "env":
"HalfCheetah-v5", "seed": 0, "steps": 300000, "every": 20000, "episodes": 10,
"noise": 0, "settings": {"learning_starts": 10000}}`; `noise` is the standard
deviation of TD3's exploration. Each evaluation is a line of JSON; the last line
has them all.
"""
import importlib
import json
import os
import sys
import time

os.environ["XLA_FLAGS"] = (
    "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)
os.environ["OMP_NUM_THREADS"] = os.environ["NPROC"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.noise import NormalActionNoise

EVALUATION_SEED = 10_000


class Curve(BaseCallback):
    """Evaluates every so many steps, outside of the time that is counted."""

    def __init__(self, task):
        super().__init__()
        self.task = task
        self.env = make_vec_env(task["env"], seed=EVALUATION_SEED)
        self.points = []
        self.evaluating = 0.0
        self.started = time.perf_counter()

    def _on_step(self):
        if self.num_timesteps % self.task["every"] == 0:
            self.evaluate()
        return True

    def evaluate(self):
        began = time.perf_counter()
        self.env.seed(EVALUATION_SEED)
        mean, std = evaluate_policy(
            self.model,
            self.env,
            n_eval_episodes=self.task["episodes"],
            deterministic=True,
        )
        ended = time.perf_counter()
        self.evaluating += ended - began
        point = {
            "step": self.num_timesteps,
            "meanReturn": float(mean),
            "stdReturn": float(std),
            "seconds": ended - self.started - self.evaluating,
        }
        self.points.append(point)
        print(json.dumps(point), flush=True)


def main():
    torch.set_num_threads(1)
    task = {"library": "stable_baselines3", "algorithm": "SAC"}
    task |= {"env": "HalfCheetah-v5", "seed": 0, "steps": 300_000}
    task |= {"every": 20_000, "episodes": 10, "noise": 0, "settings": {}}
    task |= json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    env = make_vec_env(task["env"], seed=task["seed"])
    size = env.action_space.shape
    noise = NormalActionNoise(np.zeros(size), np.full(size, task["noise"]))
    library = importlib.import_module(task["library"])
    model = getattr(library, task["algorithm"])(
        "MlpPolicy",
        env,
        seed=task["seed"],
        device="cpu",
        action_noise=noise if task["noise"] else None,
        **task["settings"],
    )
    curve = Curve(task)
    model.learn(task["steps"], callback=curve, log_interval=None)
    print(json.dumps({"seed": task["seed"], "curve": curve.points}))


if __name__ == "__main__":
    main()
