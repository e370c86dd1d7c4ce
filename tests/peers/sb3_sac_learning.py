"""How well stable-baselines3's SAC learns Pendulum-v1, one seed, one thread.

Its defaults, but for rl-baselines3-zoo's learning rate for this environment.
The task may be `{"seed": 0, "steps": 20000, "episodes": 50}`.
"""
import json
import sys
import time

import torch
from stable_baselines3 import SAC
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

EVALUATION_SEED = 1_000_000


def main():
    torch.set_num_threads(1)
    task = {"seed": 0, "steps": 20_000, "episodes": 50}
    task |= json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    seed = task["seed"]
    model = SAC(
        "MlpPolicy",
        make_vec_env("Pendulum-v1", seed=seed),
        learning_rate=1e-3,
        seed=seed,
        device="cpu",
    )
    started = time.perf_counter()
    model.learn(task["steps"], log_interval=None)
    seconds = time.perf_counter() - started
    mean, std = evaluate_policy(
        model,
        make_vec_env("Pendulum-v1", seed=EVALUATION_SEED + seed),
        n_eval_episodes=task["episodes"],
        deterministic=True,
    )
    result = {"meanReturn": float(mean), "stdReturn": float(std), "seconds": seconds}
    print(json.dumps({"seed": seed, **result}))


if __name__ == "__main__":
    main()
