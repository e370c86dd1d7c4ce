"""An environment and wrappers in a file of one's own, beside another one."""

import gymnasium as gym
import numpy as np

from beside_own_env import SIZE


class Own(gym.Env):
    """Sees its own count, and raises where it is told to."""

    observation_space = gym.spaces.Box(0, np.inf, (SIZE,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, raises=None):
        self.raises = raises
        if raises == "make":
            raise ValueError("not made")

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return np.zeros(SIZE, np.float32), {}

    def step(self, action):
        if self.raises == "step":
            raise ValueError("not stepped\nin two lines")
        self.count += 1
        return np.full(SIZE, self.count, np.float32), 1.0, False, False, {}


class Repeated(gym.ObservationWrapper):
    """Shows an observation several times."""

    def __init__(self, env, times=2):
        super().__init__(env)
        self.times = times
        shape = (SIZE * times,)
        self.observation_space = gym.spaces.Box(0, np.inf, shape, np.float32)

    def observation(self, observation):
        return np.tile(observation, self.times)


def tenfold(env):
    """Takes each reward ten times."""
    return gym.wrappers.TransformReward(env, lambda reward: 10 * reward)


def nothing(env):
    """Returns no environment."""


class Leaves(gym.Wrapper):
    """Ends Python's program."""

    def __init__(self, env):
        raise SystemExit(3)


gym.register("Own-v0", "own_env:Own", max_episode_steps=20)
