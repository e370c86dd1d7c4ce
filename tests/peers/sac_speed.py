"""The task of the programs of SAC, its methods and TD3: steps per second on Pendulum-v1."""
import json
import sys
import time
from statistics import median

import numpy as np
from stable_baselines3.common.noise import NormalActionNoise


def main(library):
    """Prints the steps per second of an algorithm with stable-baselines3's API."""
    task = json.loads(sys.argv[1])
    name = task.get("algorithm", "SAC")
    noise = {"action_noise": NormalActionNoise(np.zeros(1), np.full(1, 0.1))}
    model = getattr(library, name)(
        "MlpPolicy",
        "Pendulum-v1",
        learning_rate=task.get("learning_rate", 3e-4),
        batch_size=256,
        train_freq=1,
        gradient_steps=1,
        learning_starts=100,
        policy_kwargs={"net_arch": task.get("net_arch", [256, 256])},
        seed=task["seed"],
        device="cpu",
        **(noise if name == "TD3" else {}),
    )
    model.learn(task["warmup"], log_interval=None)
    rates = []
    for _ in range(task["repeats"]):
        started = time.perf_counter()
        model.learn(task["steps"], log_interval=None, reset_num_timesteps=False)
        rates.append(task["steps"] / (time.perf_counter() - started))
    print(median(rates))
