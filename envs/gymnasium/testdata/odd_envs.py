"""Environments that do odd things, for the tests of the bridge."""

import ctypes
import os
import sys
import time

import gymnasium as gym
import numpy as np
from gymnasium import spaces

SPACES = {
    "discrete": spaces.Discrete(5),
    "discrete from 3": spaces.Discrete(4, start=3),
    "box float32": spaces.Box(-1, 2, (2, 3), np.float32),
    "box float64": spaces.Box(np.array([-np.inf, 0.0]), np.array([0.5, np.inf])),
    "box float16": spaces.Box(0, 1, (2,), np.float16),
    "box of no axes": spaces.Box(0, 1, (), np.float32),
    "box uint8": spaces.Box(0, 255, (4, 2, 3), np.uint8),
    "box int8": spaces.Box(-128, 127, (3,), np.int8),
    "box uint16": spaces.Box(0, 65535, (3,), np.uint16),
    "box int64": spaces.Box(-1000, 1000, (2,), np.int64),
    "box bool": spaces.Box(0, 1, (4,), np.bool_),
    "multi-discrete": spaces.MultiDiscrete([3, 2]),
    "multi-discrete of two axes": spaces.MultiDiscrete([[3, 2], [4, 5]]),
    "multi-discrete from 2": spaces.MultiDiscrete([3, 2], start=[2, -1]),
    "multi-binary": spaces.MultiBinary(3),
    "multi-binary of two axes": spaces.MultiBinary((2, 3)),
    "dict": spaces.Dict(
        {"b": spaces.Discrete(3), "a": spaces.Box(0, 1, (2,), np.float32)}
    ),
    "dict of numbers": spaces.Dict(
        {"10": spaces.Discrete(20), "9": spaces.Box(0, 1, (2,), np.float64)}
    ),
    "tuple": spaces.Tuple(
        (
            spaces.MultiBinary(2),
            spaces.Dict({"x": spaces.Tuple((spaces.Discrete(4),))}),
            spaces.Box(0, 255, (1, 2), np.uint8),
        )
    ),
    # Longer than what a pipe takes at once.
    "large": spaces.Box(0, 1, (3000,), np.float32),
    "text": spaces.Text(5),
    "graph": spaces.Graph(spaces.Discrete(2), None),
    "sequence": spaces.Sequence(spaces.Discrete(2)),
    "one of": spaces.OneOf((spaces.Discrete(2), spaces.Discrete(3))),
    "complex box": spaces.Box(0, 1, (1,), np.float32),
    "no parts": spaces.Dict({"none": spaces.Tuple(())}),
}
SPACES["complex box"].dtype = np.dtype("complex64")
REFUSED = ("text", "graph", "sequence", "one of", "complex box", "no parts")
SPACES["all"] = spaces.Dict(
    {name: space for name, space in SPACES.items() if name not in REFUSED}
)


class Echo(gym.Env):
    """Shows the action that was taken, of any space."""

    def __init__(self, space):
        self.observation_space = self.action_space = SPACES[space]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action), repr(action)
        return action, 1.5, False, False, {"text": "sent"}


class Counter(gym.Env):
    """Counts steps up to 5 and misbehaves in the third."""

    metadata = {"render_modes": ["rgb_array", "ansi"]}
    observation_space = spaces.Box(-np.inf, np.inf, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, odd=None, pause=0, render_mode=None):
        self.odd = odd
        self.resets = 0
        self.pause = pause
        self.render_mode = render_mode
        if odd == "int64":
            self.observation_space = spaces.Box(-(2**40), 2**40, (1,), np.int64)
        elif odd in ("cut", "wrap", "fit"):
            self.observation_space = spaces.Box(0, 255, (1,), np.uint8)
        elif odd == "many":
            self.observation_space = spaces.MultiDiscrete([6])
        elif odd == "one":
            self.observation_space = spaces.Discrete(8, start=-2)
        elif odd == "long":
            self.observation_space = spaces.Box(-128, 127, (1,), np.int8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        self.resets += 1
        self.own = np.random.default_rng()
        return self.seen(), {}

    def seen(self):
        if self.odd == "resets":
            return np.array([self.resets], self.observation_space.dtype)
        if self.odd == "one":
            return self.count
        return np.array([self.count], self.observation_space.dtype)

    def step(self, action):
        time.sleep(self.pause)
        self.count += 1
        self.told = {}
        seen, reward, self.said = self.seen(), 1.0, self.count == 5
        if self.count == 3 and action == 1 and self.odd is not None:
            seen, reward = getattr(self, "do_" + self.odd)(seen)
        if self.said is None:
            return seen, reward, False, self.told
        return seen, reward, self.said, False, self.told

    def do_print(self, seen):
        print("printed by print")
        sys.stdout.write("printed by write\n")
        os.write(1, b"printed to the descriptor\n")
        os.system("echo printed by a child")
        return seen, 1.0

    def do_read(self, seen):
        assert sys.stdin.read() == ""
        return seen, 1.0

    def do_raise(self, seen):
        raise ValueError("the first line\nthe second line")

    def do_hang(self, seen):
        print("about to hang")
        time.sleep(60)

    def do_lock(self, seen):
        """Hangs in native code that holds the interpreter's lock."""
        library, mutex = ctypes.PyDLL(None), ctypes.create_string_buffer(256)
        library.pthread_mutex_lock(mutex)
        library.pthread_mutex_lock(mutex)

    def do_exit(self, seen):
        print("about to exit", file=sys.stderr)
        os._exit(7)

    def do_nan(self, seen):
        return np.array([np.nan], np.float32), 1.0

    def do_uncounted(self, seen):
        return seen, float("nan")

    def do_infinite(self, seen):
        return seen, -np.inf

    def do_text(self, seen):
        return seen, "1"

    def do_said(self, seen):
        self.said = "yes"
        return seen, 1.0

    def do_old(self, seen):
        self.said = None
        return seen, 1.0

    def do_shape(self, seen):
        return np.zeros(2, np.float32), 1.0

    def do_int64(self, seen):
        return np.array([2**35]), 1.0

    def do_long(self, seen):
        return np.array([2**35]), 1.0

    def do_many(self, seen):
        return np.array([6]), 1.0

    def do_one(self, seen):
        return -3, 1.0

    def do_cut(self, seen):
        return np.array([0.7]), 1.0

    def do_wrap(self, seen):
        return np.array([300]), 1.0

    def do_fit(self, seen):
        return np.array([200.0]), 1.0

    def do_none(self, seen):
        return seen, None

    def do_tell(self, seen):
        self.told = {
            "number": np.float32(0.5),
            "count": np.int64(7),
            "mask": np.array([[1, 0], [0, 1]], np.int8),
            "isDone": np.bool_(True),
            "nested": {"text": "α", 3: (1, None, object())},
            "nan": float("nan"),
            "function": len,
        }
        return seen, 1.0

    def do_cycle(self, seen):
        self.told = {}
        self.told["self"] = self.told
        return seen, 1.0

    def do_swell(self, seen):
        self.told = {"text": "x" * 100_000}
        return seen, 1.0

    def do_random(self, seen):
        return self.own.random(1, np.float32), 1.0

    def render(self):
        picture = np.zeros((2, 4, 3), np.uint8)
        picture[0, 1] = (10, 20, 30)
        picture[1, 3] = self.count
        return picture


class Legacy(gym.Env):
    """Seeds as before, and shows that; returns less than it should if told to."""

    observation_space = spaces.Box(0, 2**32, (1,), np.float64)
    action_space = spaces.Discrete(2)

    def __init__(self, old=None):
        self.old = old

    def reset(self, *, seed=None, options=None):
        np.random.seed(seed)
        self.seen = np.array([0 if seed is None else seed], np.float64)
        return self.seen if self.old == "reset" else (self.seen, {})

    def step(self, action):
        if self.old == "own":
            _, _ = action, 0, 0
        if self.old == "step":
            return self.seen, 1.0, False, {}
        return self.seen, 1.0, False, False, {}


class Twice(gym.Wrapper):
    """Takes each reward several times."""

    def __init__(self, env, times=2):
        super().__init__(env)
        self.times = times

    def step(self, action):
        seen, reward, terminated, truncated, info = self.env.step(action)
        return seen, reward * self.times, terminated, truncated, info


gym.register("odd/Echo-v0", Echo)
gym.register("odd/Counter-v0", Counter, max_episode_steps=4, reward_threshold=4.5)
gym.register("odd/Counter-v1", Counter)
gym.register("odd/Legacy-v0", Legacy, max_episode_steps=4)
gym.register("odd/Legacy-v1", Legacy)
