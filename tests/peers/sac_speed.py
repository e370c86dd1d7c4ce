"""The task of the SAC programs: environment steps per second on Pendulum-v1."""
import json
import sys
import time
from statistics import median


def main(SAC):
    """Prints the steps per second of a class with stable-baselines3's API."""
    task = json.loads(sys.argv[1])
    model = SAC(
        "MlpPolicy",
        "Pendulum-v1",
        learning_rate=3e-4,
        batch_size=256,
        train_freq=1,
        gradient_steps=1,
        learning_starts=100,
        policy_kwargs={"net_arch": [256, 256]},
        seed=task["seed"],
        device="cpu",
    )
    model.learn(task["warmup"], log_interval=None)
    rates = []
    for _ in range(task["repeats"]):
        started = time.perf_counter()
        model.learn(task["steps"], log_interval=None, reset_num_timesteps=False)
        rates.append(task["steps"] / (time.perf_counter() - started))
    print(median(rates))
