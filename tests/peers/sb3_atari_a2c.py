"""Environment steps per second of stable-baselines3's A2C on an Atari game.

All cores may be used. The task may be `{"env": "PongNoFrameskip-v4",
"numEnvs": 16, "processes": true, "warmup": 800, "steps": 8000, "seed": 0}`:
copies in processes of their own, or one after the other.
"""
import json
import sys
import time

import ale_py
import gymnasium
from stable_baselines3 import A2C
from stable_baselines3.common.env_util import make_atari_env
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecFrameStack,
)

gymnasium.register_envs(ale_py)


def main():
    task = {"env": "PongNoFrameskip-v4", "numEnvs": 16, "processes": True}
    task |= {"warmup": 800, "steps": 8000, "seed": 0}
    task |= json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    env = make_atari_env(
        task["env"],
        n_envs=task["numEnvs"],
        seed=task["seed"],
        vec_env_cls=SubprocVecEnv if task["processes"] else DummyVecEnv,
    )
    model = A2C(
        "CnnPolicy",
        VecFrameStack(env, n_stack=4),
        seed=task["seed"],
        ent_coef=0.01,
        device="cpu",
    )
    model.learn(task["warmup"])
    started = time.perf_counter()
    model.learn(task["steps"], reset_num_timesteps=False)
    print(task["steps"] / (time.perf_counter() - started), flush=True)
    env.close()


if __name__ == "__main__":
    main()
