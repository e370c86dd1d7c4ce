"""Environments whose numbers are of every kind that Python has, a kind a step, and that
draw, tell and close in unusual ways, for the tests of the bridge."""

from decimal import Decimal
from fractions import Fraction

import gymnasium as gym
import numpy as np

NUMBERS = (
    float,
    Decimal,
    Fraction,
    np.float16,
    np.longdouble,
    np.array,
    lambda it: np.array(Decimal(it), object),
)
FLAGS = (bool, np.bool_, int, np.int64, np.uint8, np.array)
BAD_FLAGS = (float, lambda it: [it], str, lambda it: None)
WHOLE = (
    [Decimal(3), Fraction(8, 2)],
    [Decimal("0.5"), 1],
    np.array([1, None]),
    np.array(["1", "2"], object),
    np.array(["1", "2"]),
    [10**400, 1],
    np.array([1j, 0]),
    np.array(["2020-01-01", "2020-01-02"], "M8"),
    [[1, 2], [3]],
)
GREY = np.full((2, 4, 3), 51, np.uint8)
PICTURES = (
    GREY,
    np.dstack([GREY, np.full((2, 4), 255, np.uint8)]),
    GREY[..., 0],
    GREY[..., :1],
    GREY.tolist(),
    GREY[::-1, :, ::-1],
    GREY.astype(int),
    GREY + 0.2,
    np.full((2, 4, 3), 0.2, np.float32),
    np.full((2, 4, 4), 0.2),
    np.full((2, 4), np.nan),
    np.full((2, 4), 1e9),
    np.ones((2, 4), bool),
    np.zeros((2, 4, 2), np.uint8),
    np.array([["a"]]),
    None,
)


class Numbers(gym.Env):
    """Shows, rewards and tells a half; episodes have as many steps as there are kinds."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": np.float32(30)}
    observation_space = gym.spaces.Box(-np.inf, np.inf, (3,), np.float32)
    action_space = gym.spaces.Discrete(2)
    pictures = iter(PICTURES)

    def __init__(self, flags="FLAGS", tells_from=0, log=None, render_mode=None):
        self.flags, self.tells_from, self.log = globals()[flags], tells_from, log
        self.render_mode = render_mode
        self.t, self.episode = 0, -1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        self.episode += 1
        return [0, 0, 0], {}

    def step(self, action):
        number, flag = (of[self.t % len(of)] for of in (NUMBERS, self.flags))
        self.t += 1
        np.seterr(all="raise")
        # From an episode on.
        told = {"half": number(0.5)} if self.episode >= self.tells_from else {"other": 1}
        over = flag(self.t == len(NUMBERS))
        # The last one is 0 as float32.
        return [number(0.5), number(1), 1e-60], number(0.5), over, flag(False), told

    def render(self):
        return next(self.pictures)

    def close(self):
        if self.log is not None:
            with open(self.log, "a") as log:
                log.write("closed\n")
            raise ValueError("not closed")


class Whole(gym.Env):
    """Sees whole numbers, as objects that may be none; says that it draws and does not."""

    metadata = {"render_modes": ["rgb_array"]}
    observation_space = gym.spaces.Box(0, 9, (2,), np.int32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seen = iter(WHOLE)
        return np.zeros(2, np.int32), {}

    def step(self, action):
        return next(self.seen), 0.0, False, False, {}


class Refused(Numbers):
    """Is made, but cannot be used."""

    action_space = gym.spaces.Text(3)


gym.register("Numbers-v0", Numbers, reward_threshold=np.float32(10.5))
gym.register("Numbers-v1", Numbers, reward_threshold=float("inf"))
gym.register("Whole-v0", Whole, reward_threshold="10.5")
gym.register("Refused-v0", Refused)
gym.register("Named-v0", "env.v2:Whole")
