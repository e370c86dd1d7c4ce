"""Environments that mask actions, for the tests of the bridge."""

import os
import random
import signal

import gymnasium as gym
import numpy as np
from gymnasium import spaces

SPACES = {
    "discrete": spaces.Discrete(4, start=2),
    "multi-discrete": spaces.MultiDiscrete([2, 3]),
    "multi-discrete of two axes": spaces.MultiDiscrete([[2, 3], [4, 1]]),
    "multi-binary": spaces.MultiBinary(3),
    "box": spaces.Box(-1, 1, (2,), np.float32),
}


def parts_of(space):
    if isinstance(space, spaces.Discrete):
        return [int(space.n)]
    if isinstance(space, spaces.MultiDiscrete):
        return space.nvec.reshape(-1).tolist()
    return [2] * int(space.n) if isinstance(space, spaces.MultiBinary) else [2]


class Masked(gym.Env):
    """Sees the parts of its masks as numbers, which a random stream draws anew in each
    step; a forbidden action has the reward -1. Episodes end after six steps, where it
    allows nothing if `over` says so."""

    observation_space = spaces.Box(0, 1e6, (9,), np.float32)
    resets = 0

    def __init__(self, kind="discrete", wrong=None, over=False, draws="own", counts=False):
        self.action_space = SPACES[kind]
        self.parts = parts_of(self.action_space)
        self.wrong, self.over, self.draws, self.counts = wrong, over, draws, counts

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.resets += 1
        self.steps = 0
        return self.see(), self.info()

    def see(self):
        stream = random if self.draws == "elsewhere" else self.np_random
        self.masks = []
        for n in self.parts:
            drawn = np.array([stream.random() < 0.5 for _ in range(n)], np.int8)
            drawn[int(stream.random() * n)] = 1
            self.masks.append(drawn)
        numbers = [int("".join(map(str, it)), 2) for it in self.masks]
        seen = np.zeros(9, np.float32)
        seen[: len(numbers)] = numbers
        seen[8] = self.resets if self.counts else 0
        return seen

    def info(self):
        return {}

    def step(self, action):
        if self.steps == 3 and self.wrong == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        first = getattr(self.action_space, "start", 0)
        chosen = (np.asarray(action) - first).reshape(-1)
        allowed = all(it[int(at)] for it, at in zip(self.masks, chosen))
        self.steps += 1
        seen, over = self.see(), self.steps == 6
        if self.over and over:
            self.masks = [it * 0 for it in self.masks]
        return seen, 0.0 if allowed else -1.0, over, False, self.info()


class ByMethod(Masked):
    def action_masks(self):
        if self.wrong is not None and self.wrong != "dies" and self.steps == 2:
            return WRONG[self.wrong]
        return [bool(it) for part in self.masks for it in part]


class ByInfo(Masked):
    def info(self):
        if self.steps == {"missing": 2, "late": 0}.get(self.wrong):
            return {}
        single = isinstance(self.action_space, spaces.Discrete)
        return {"action_mask": self.masks[0] if single else tuple(self.masks)}


WRONG = {
    "nothing": [0, 0, 0, 0],
    "short": [1, 1, 1],
    "two": [1, 2, 0, 0],
    "none": None,
    "text": "1111",
}

for kind in (ByMethod, ByInfo, Masked):
    gym.register("masked/%s-v0" % kind.__name__, kind, max_episode_steps=100)
    gym.register("masked/%s-v1" % kind.__name__, kind, max_episode_steps=4)
