"""Environments that do what none should, when they are made, reset or stepped."""

import os
import sys
import time

import gymnasium as gym
import numpy as np

PAIR = gym.spaces.Tuple((gym.spaces.Discrete(2), gym.spaces.Discrete(3)))
SPACES = {"none": None, "text": "Box(2)", "number": 3.0, "pair": PAIR}


class Silent(Exception):
    def __str__(self):
        raise ValueError("no message")


class Hostile(gym.Env):
    """Does something at a time: `make`, `reset` or `step`."""

    observation_space = gym.spaces.Box(-9, 9, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, do="", at="step", sees=None, acts=None):
        self.do, self.at = do, at
        if sees is not None:
            self.observation_space = SPACES[sees]
        if acts is not None:
            self.action_space = SPACES[acts]
        self.harm("make")

    def harm(self, at):
        if at != self.at:
            return None
        return getattr(self, "do_" + self.do, lambda: None)()

    def do_raise(self):
        raise ValueError("harm\nin two lines")

    def do_raise_nothing(self):
        raise ValueError()

    def do_raise_silent(self):
        raise Silent()

    def do_raise_long(self):
        raise ValueError("x" * 100_000)

    def do_raise_base(self):
        raise BaseException("harm")

    def do_leave(self):
        sys.exit(0)

    def do_exit(self):
        os._exit(0)

    def do_sleep(self):
        time.sleep(100)

    def do_print(self):
        print("x" * 100_000)
        sys.stdout.write("y\n")
        sys.stdout.flush()

    def do_close(self):
        os.closerange(0, 3)

    def do_shape(self):
        return np.zeros(3, np.float32)

    def do_dtype(self):
        return np.array([0.5, 1e300])

    def do_objects(self):
        return np.array([object(), None])

    def do_dict(self):
        return {"a": 1}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        seen = self.harm("reset")
        return np.zeros(2, np.float32) if seen is None else seen, {}

    def step(self, action):
        seen = self.harm("step")
        reward = {"nan": np.nan, "array": np.zeros(3)}.get(self.do, 1.0)
        return np.zeros(2, np.float32) if seen is None else seen, reward, False, False, {}


gym.register("Hostile-v0", "hostile_env:Hostile")
