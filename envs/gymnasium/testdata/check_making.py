"""Checks what the host asks of Gymnasium where episodes are to have no limit: its
releases differ in what they take for that. Prints nothing if it is fine."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import gymnasium as gym
from host import making

SETTINGS = {"scheme": "gym", "draws": False, "wrappers": []}
make, asked = gym.make, []


def record(spec, **kwargs):
    asked.append((spec, kwargs))
    return make(spec, **kwargs)


gym.make = record
registered = gym.spec("FrozenLake-v1").max_episode_steps
for name in ("FrozenLake-v1", "FrozenLake", "gymnasium:FrozenLake-v1"):
    kwargs = {"is_slippery": False, "max_episode_steps": -1}
    envs = []
    making.make({**SETTINGS, "id": name, "kwargs": kwargs}, envs)
    [env] = envs
    assert env.spec.max_episode_steps is None
    assert env.spec.kwargs["is_slippery"] is False
    env.reset(seed=0)
    assert not any(env.step(0)[3] for _ in range(registered + 1))
    spec, given = asked.pop()
    assert spec.max_episode_steps is None and "max_episode_steps" not in given
    # Others have it as it was.
    assert gym.spec("FrozenLake-v1").max_episode_steps == registered
