"""Microseconds of drawing 256 of a million steps of a reaching task from HerReplayBuffer."""
import json
import sys
import time
from statistics import median

sys.dont_write_bytecode = True

import gymnasium  # noqa: E402 -- the line above must come first
import numpy as np  # noqa: E402
import torch  # noqa: E402
from gymnasium.spaces import Box, Dict  # noqa: E402
from stable_baselines3 import HerReplayBuffer  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv  # noqa: E402

CAPACITY, ENVS, BATCH, EPISODE = 1_000_000, 8, 256, 50
task = {"runs": 15, "calls": 200, "seed": 0, **json.loads(sys.argv[1])}
PARTS = ("observation", "achieved_goal", "desired_goal")


class Reach(gymnasium.Env):
    """Spaces and rewards of Reach-v0; its steps are taken for all at once below."""

    observation_space = Dict({it: Box(-1, 1, (2,), np.float32) for it in PARTS})
    action_space = Box(-1, 1, (2,), np.float32)

    def compute_reward(self, achieved, desired, info):
        return (np.linalg.norm(achieved - desired, axis=-1) <= 0.1) - 1.0


def filled(random):
    vec = DummyVecEnv([Reach for _ in range(ENVS)])
    buffer = HerReplayBuffer(
        CAPACITY,
        Reach.observation_space,
        Reach.action_space,
        vec,
        device="cpu",
        n_envs=ENVS,
        n_sampled_goal=4,
        goal_selection_strategy="future",
    )
    states, goals = random.uniform(-1, 1, (2, ENVS, 2)).astype(np.float32)
    infos = [{} for _ in range(ENVS)]
    for i in range(CAPACITY // ENVS):
        actions = random.uniform(-1, 1, (ENVS, 2)).astype(np.float32)
        after = np.clip(states + 0.1 * actions, -1, 1)
        ends = (i + 1) % EPISODE == 0
        rewards = vec.envs[0].compute_reward(after, goals, None)
        seen = {"observation": states, "achieved_goal": states, "desired_goal": goals}
        then = {"observation": after, "achieved_goal": after, "desired_goal": goals}
        buffer.add(seen, then, actions, rewards, np.full(ENVS, ends), infos)
        states = after
        if ends:
            states, goals = random.uniform(-1, 1, (2, ENVS, 2)).astype(np.float32)
    return buffer


def main():
    torch.set_num_threads(1)
    np.random.seed(task["seed"])
    buffer = filled(np.random.default_rng(task["seed"]))
    times = []
    for _ in range(3 + task["runs"]):
        started = time.perf_counter()
        for _ in range(task["calls"]):
            buffer.sample(BATCH)
        times.append((time.perf_counter() - started) / task["calls"])
    print(json.dumps({"sample_us": 1e6 * median(times[3:])}))


if __name__ == "__main__":
    main()
