"""Plays environments in Python alone: what the bridge must give."""

import json
import sys

import gymnasium as gym


def plain(value):
    """A value as nested lists."""
    if isinstance(value, (tuple, list)):
        return [plain(it) for it in value]
    return value.tolist() if hasattr(value, "tolist") else value


def play(task):
    """The steps of a copy that is reset in the step that ends an episode."""
    env = gym.make(task["id"])
    steps = []
    observation, _ = env.reset(seed=task["seed"])
    first = plain(observation)
    for action in task["actions"]:
        if isinstance(action, list):
            action = env.action_space.dtype.type(action)
        observation, reward, terminated, truncated, _ = env.step(action)
        final = None
        if terminated or truncated:
            final = plain(observation)
            observation, _ = env.reset()
        steps.append(
            [plain(observation), float(reward), int(terminated), int(truncated), final]
        )
    return {"first": first, "steps": steps}


json.dump([play(task) for task in json.load(sys.stdin)], sys.stdout)
