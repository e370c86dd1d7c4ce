"""Games for the tests of the bridge to PettingZoo."""

import random

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv


class Fading(ParallelEnv):
    """Who chooses what chance chooses is out, with a reward of 2; so is `late` from step
    6 on. Two roles, as `late` also sees the time, and masks in the `info`. Nothing is
    seen by who is out if it is silent."""

    metadata = {"render_modes": ["human"]}
    possible_agents = ["early_0", "early_1", "late"]

    def __init__(self, masks=True, silent=False):
        self.masks, self.silent = masks, silent

    def observation_space(self, agent):
        box = spaces.Box(0, 99, (1,), np.float32)
        return spaces.Dict({"x": box, "time": spaces.Discrete(99)}) if agent == "late" else box

    def action_space(self, agent):
        return spaces.Discrete(4 if agent == "late" else 3)

    def seen(self, agent):
        box = np.float32([self.x])
        return {"x": box, "time": self.time} if agent == "late" else box

    def told(self, agents):
        seen = {it: self.seen(it) for it in agents}
        free = lambda it: [1, 1, (self.x % 3 > 0) * 1, 1][: self.action_space(it).n]
        infos = {it: {"action_mask": np.int8(free(it))} if self.masks else {} for it in agents}
        return seen, infos

    def reset(self, seed=None, options=None):
        self.random = np.random.default_rng(seed)
        self.agents, self.time = self.possible_agents[:], 0
        self.x = int(self.random.integers(9))
        return self.told(self.agents)

    def step(self, actions):
        assert set(actions) == set(self.agents)
        self.time += 1
        self.x = int(self.random.integers(9))
        acted, out = self.agents, int(self.random.integers(3))
        is_out = {it: action == out for it, action in actions.items()}
        is_cut = {it: it == "late" and self.time >= 6 for it in acted}
        rewards = {it: 2 * is_out[it] for it in acted}
        self.agents = [it for it in acted if not (is_out[it] or is_cut[it])]
        seen, infos = self.told(self.agents if self.silent else acted)
        return seen, rewards, is_out, is_cut, infos


class Countdown(AECEnv):
    """Three agents by turns take 1 or 2 from a number: who takes the last is out with a
    reward of -3, and pays one to each of the others; the last one left wins a 5."""

    metadata = {"render_modes": []}
    possible_agents = ["a_0", "a_1", "b_0"]

    def observation_space(self, agent):
        return spaces.Box(0, 9, (2,), np.int64)

    def action_space(self, agent):
        return spaces.Discrete(2, start=1)

    def observe(self, agent):
        assert agent in self.agents
        return np.array([self.left, self.agents.index(agent)])

    def reset(self, seed=None, options=None):
        self.random = np.random.default_rng(seed)
        self.agents = self.possible_agents[:]
        for name in ("rewards", "_cumulative_rewards"):
            setattr(self, name, dict.fromkeys(self.agents, 0))
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {it: {} for it in self.agents}
        self.left = int(self.random.integers(3, 8))
        self.agent_selection = "a_0"

    def step(self, action):
        own = self.agent_selection
        if self.terminations[own]:
            return self._was_dead_step(action)
        self._cumulative_rewards[own] = 0
        self._clear_rewards()
        self.left = max(self.left - int(action), 0)
        after = self.agents[(self.agents.index(own) + 1) % len(self.agents)]
        if self.left == 0:
            others = [it for it in self.agents if it != own]
            self.rewards.update({own: -3, **dict.fromkeys(others, 1)})
            self.terminations[own] = True
            self.left = int(self.random.integers(3, 8))
            if len(others) == 1:
                self.rewards[others[0]] += 5
                self.terminations[others[0]] = True
        self._accumulate_rewards()
        self.agent_selection = after
        if self.terminations[own]:
            self._deads_step_first()


class Unseeded(Fading):
    """Draws what no seed decides."""

    def reset(self, seed=None, options=None):
        return super().reset(random.SystemRandom().getrandbits(31))


class Odd(Fading):
    """Tells what cannot be used."""

    def __init__(self, what):
        super().__init__()
        self.what = what

    def told(self, agents):
        seen, infos = super().told(agents)
        if self.what == "mask" and self.time > 0:
            infos["early_1"]["action_mask"][:] = 0
        if self.what == "seen" and self.time > 0:
            seen["early_1"] = np.zeros(3)
        return seen, infos

    def step(self, actions):
        seen, rewards, *rest = super().step(actions)
        if self.what == "reward":
            rewards["early_1"] = np.nan
        if self.what == "raise":
            raise ValueError("no luck")
        return seen, rewards, *rest


nothing = 3
