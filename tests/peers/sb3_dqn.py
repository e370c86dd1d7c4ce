"""Environment steps per second of stable-baselines3's DQN on CartPole-v1, one thread."""
import json
import sys
import time

import torch
from stable_baselines3 import DQN

if __name__ == "__main__":
    task = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    model = DQN(
        "MlpPolicy",
        "CartPole-v1",
        learning_rate=5e-4,
        buffer_size=100_000,
        batch_size=64,
        train_freq=2,
        gradient_steps=1,
        learning_starts=100,
        target_update_interval=1000,
        exploration_initial_eps=0.05,
        policy_kwargs={"net_arch": task["hidden"]},
        seed=task.get("seed", 0),
        device="cpu",
    )
    model.learn(task["warmup"], log_interval=None)
    started = time.perf_counter()
    model.learn(task["steps"], log_interval=None, reset_num_timesteps=False)
    print(task["steps"] / (time.perf_counter() - started))
