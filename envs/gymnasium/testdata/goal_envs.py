"""Environments with goals, for the tests of the bridge."""

import gymnasium as gym
import numpy as np
from gymnasium import spaces

GOALS = {
    "box": spaces.Box(-9, 9, (2,), np.float64),
    "float32": spaces.Box(-9, 9, (2, 1), np.float32),
    "discrete": spaces.Discrete(5, start=3),
}


class Point(gym.Env):
    """Achieves goals at random, whose rewards are distances below 0. Where it is asked
    for rows at once, `by` says what comes: rows, a scalar, or an error, as of one that
    `if` cannot take; `never` is an error for each. The info tells how it was asked."""

    action_space = spaces.Discrete(2)

    def __init__(self, by="rows", goals="box", constant=False, tells=True):
        self.by, self.constant, self.asked = by, constant, []
        self.tells = tells
        goal = GOALS[goals]
        self.observation_space = spaces.Dict(
            observation=spaces.Discrete(2), achieved_goal=goal, desired_goal=goal
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.goal = self.draw()
        return self.see(), {}

    def draw(self):
        goal = self.observation_space["achieved_goal"]
        if isinstance(goal, spaces.Discrete):
            return int(self.np_random.integers(3, 8))
        return self.np_random.uniform(-1, 1, goal.shape).astype(goal.dtype)

    def see(self):
        self.achieved = self.draw()
        return {"observation": 0, "achieved_goal": self.achieved, "desired_goal": self.goal}

    def step(self, action):
        seen = self.see()
        reward = self.compute_reward(self.achieved, self.goal, {})
        ended = self.compute_terminated(self.achieved, self.goal, {})
        asked, self.asked = self.asked[:-2], []
        told = {"is_success": np.bool_(ended)} if self.tells else {}
        return seen, reward, ended, False, {"asked": asked, **told}

    def distance(self, achieved, desired):
        goal = self.observation_space["achieved_goal"]
        gap = np.abs(np.asarray(achieved, np.float64) - desired)
        rows = self.by == "rows" and np.ndim(achieved) > len(goal.shape)
        self.asked.append(len(gap) if rows or np.ndim(gap) > len(goal.shape) else 0)
        return gap.reshape((len(gap), -1)).sum(axis=1) if rows else gap.sum()

    def compute_reward(self, achieved, desired, info):
        if self.constant:
            return np.zeros(np.shape(achieved)[:-1]) - 1
        distance = self.distance(achieved, desired)
        if self.by == "never":
            raise ValueError("no goal is one")
        if self.by == "error" and self.asked[-1] > 0:
            raise ValueError("rows are no goal")
        return -distance

    def compute_terminated(self, achieved, desired, info):
        distance = self.distance(achieved, desired)
        return distance < 0.5 if self.by == "rows" else bool(distance < 0.5)


class Half(gym.Wrapper):
    """Halves the rewards, those of goals too."""

    def step(self, action):
        seen, reward, *rest = self.env.step(action)
        return seen, reward / 2, *rest

    def compute_reward(self, *goals):
        return self.env.unwrapped.compute_reward(*goals) / 2


class Flat(gym.Env):
    """Has the functions, and no goals in what it sees."""

    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def compute_reward(self, *goals):
        return 0


gym.register("goals/Point-v0", Point, max_episode_steps=6)
gym.register("goals/Flat-v0", Flat)
