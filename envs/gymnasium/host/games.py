"""Games of PettingZoo, of several agents, as environments: an action is one of all
seats, and so is what is seen."""

import importlib
import os
import pkgutil
import re
import sys

import gymnasium as gym
import numpy as np
import pettingzoo

from .copies import flag
from .errors import EnvDataError, Refused, told
from .infos import finite
from .making import can_draw
from .masks import ENTRY, Masks, choices_of
from .modules import hint, load
from .spaces import map_space

MODULE = re.compile(r"\w+_v\d+")


def modules_in(folders):
    """Names of the modules of games in folders."""
    return [it.name for it in pkgutil.iter_modules(folders) if MODULE.fullmatch(it.name)]


def families():
    """PettingZoo's games by the package that they are in."""
    root = pettingzoo.__path__[0]
    packages = [it.name for it in pkgutil.iter_modules([root]) if it.ispkg]
    return {it: modules_in([os.path.join(root, it)]) for it in packages}


def find_own(owner, name):
    """A game of another package than PettingZoo."""
    package = load(owner, "the module '%s' for '%s:%s'" % (owner, owner, name))
    inside = modules_in(getattr(package, "__path__", []))
    if name in inside:
        return load("%s.%s" % (package.__name__, name), "'%s:%s'" % (owner, name))
    found = getattr(package, name, None)
    if found is None:
        names = inside or [it for it in vars(package) if creator_of(getattr(package, it))]
        raise Refused(
            "RangeError",
            "Unknown environment '%s:%s': the module has none of that name; %s"
            % (owner, name, hint(name, names)),
        )
    return found


def find(whole):
    """The module of a game, or what else makes it."""
    owner, _, name = whole.rpartition(":")
    if owner:
        return find_own(owner, name)
    family, _, name = whole.rpartition("/")
    games = families()
    family = family or next((it for it in games if name in games[it]), "")
    if name not in games.get(family, ()):
        prefix = "%s/" if "/" in whole else "%.0s"
        known = [prefix % it + name for it, names in games.items() for name in names]
        raise Refused("RangeError", "there is no game '%s'" % whole, known=known)
    try:
        return importlib.import_module("pettingzoo.%s.%s" % (family, name))
    except ImportError as error:
        raise Refused(
            "TypeError",
            "Cannot import '%s' in %s: %s. Run '%s -m pip install \"pettingzoo[%s]\"'"
            % (whole, sys.executable, told(error), sys.executable, family),
        ) from error


def creator_of(found):
    """What makes a game: of a module first that of the parallel form."""
    makers = (getattr(found, "parallel_env", None), getattr(found, "env", None), found)
    return next((it for it in makers if callable(it)), None)


def game(name, kwargs):
    """A game by its name."""
    found = find(name)
    limit = kwargs.pop("max_episode_steps", -1)
    creator = creator_of(found)
    if creator is None:
        raise Refused("TypeError", "Cannot make '%s': it has neither env nor parallel_env" % name)
    if can_draw(creator) or can_draw(getattr(found, "raw_env", None)):
        kwargs.setdefault("render_mode", "rgb_array")
    made = creator(**kwargs)
    if not isinstance(made, (pettingzoo.AECEnv, pettingzoo.ParallelEnv)):
        raise Refused("TypeError", "Cannot make '%s': it is no environment of PettingZoo" % name)
    return Game(made, name, limit)


class Game(gym.Env):
    """A game. An action says whether the game moves at all: a game that does not is
    shown as it was."""

    def __init__(self, game, name, limit):
        self.game, self.seats, self.limit = game, list(game.possible_agents), limit
        self.metadata = getattr(game, "metadata", None)
        self.render_mode = getattr(game.unwrapped, "render_mode", None)
        self.by_turns = isinstance(game, pettingzoo.AECEnv)
        actions = [game.action_space(it) for it in self.seats]
        whole = [game.observation_space(it) for it in self.seats]
        # The masks of a dict are none of its parts.
        self.parts = [
            sorted({*it.spaces} - {ENTRY}) if ENTRY in getattr(it, "spaces", ()) else None
            for it in whole
        ]
        spaces = [self.part(i, it) for i, it in enumerate(whole)]
        count = len(self.seats)
        # What a seat sees that was never there.
        for it in spaces:
            it.seed(0)
        self.view = {
            "acts": np.zeros(count, "i1"),
            "ends": np.zeros(2 * count, "i1"),
            "rewards": np.zeros(count),
            "seen": [it.sample() for it in spaces],
        }
        bits, tuple_of = gym.spaces.MultiBinary, gym.spaces.Tuple
        parts = {
            "acts": bits(count),
            "ends": bits(2 * count),
            "rewards": gym.spaces.Box(-np.inf, np.inf, (count,), np.float64),
            "seen": tuple_of(spaces),
        }
        self.infos, self.masks = {}, {}
        self.reset(seed=0)
        masked = [
            i
            for i, seat in enumerate(self.seats)
            if self.parts[i] or (self.infos.get(seat) or {}).get(ENTRY) is not None
        ]
        if masked:
            choices = [choices_of(map_space(it, "action", name)[1]) or [1] for it in actions]
            self.view["masks"] = [np.ones(sum(it), "i1") for it in choices]
            parts["masks"] = tuple_of([bits(sum(it)) for it in choices])
            rows = self.view["masks"]
            self.masks = {i: Masks(choices[i], None, [rows[i]], self) for i in masked}
        self.observation_space = gym.spaces.Dict(parts)
        self.action_space = gym.spaces.Dict({"moves": bits(1), "seats": tuple_of(actions)})

    def part(self, i, whole):
        """What a seat sees without the masks, or the space of it."""
        names = self.parts[i]
        if names is None:
            return whole
        parts = {it: whole[it] for it in names}
        if len(parts) == 1:
            return parts[names[0]]
        return gym.spaces.Dict(parts) if isinstance(whole, gym.Space) else parts

    def length(self, copy):
        """The steps so far, for messages about masks."""
        return self.steps

    def reset(self, seed=None, options=None):
        self.steps = 0
        begun = self.game.reset(seed=seed)
        seen, self.infos = (None, self.game.infos) if self.by_turns else begun
        self.view["rewards"][:] = 0
        self.view["ends"][:] = 0
        self.alive = list(self.game.agents)
        self.show(self.alive, seen)
        return self.view, {}

    def step(self, action):
        if action["moves"][0]:
            self.move(dict(zip(self.seats, action["seats"])))
        return self.view, 0.0, False, False, {}

    def move(self, actions):
        """Steps the game by those who are to act."""
        game, before = self.game, self.alive
        self.steps += 1
        if self.by_turns:
            game.step(actions[game.agent_selection])
            seen, rewards, self.infos = None, game.rewards, game.infos
            ends = game.terminations, game.truncations
        else:
            given = {it: actions[it] for it in game.agents}
            seen, rewards, *ends, self.infos = game.step(given)
        self.note(before, rewards, *ends)
        # Whoever is out is shown while it is still there, if it is.
        there = game.agents if self.by_turns else seen
        self.show([it for it in before if it in there and it not in self.alive], seen)
        if self.by_turns:
            while self.alive and game.agent_selection not in self.alive:
                game.step(None)
        self.show(self.alive, seen)

    def note(self, before, rewards, terminated, truncated):
        """Keeps what everybody got, and who is out by now."""
        count, view, is_late = len(self.seats), self.view, self.steps == self.limit
        view["ends"][:] = 0
        self.alive = []
        for i, seat in enumerate(self.seats):
            reward = rewards.get(seat, 0) if seat in before else 0
            view["rewards"][i] = np.nan if finite(reward) is None else reward
            if np.isnan(view["rewards"][i]):
                raise EnvDataError(
                    "the reward of '%s' is %r: expected a finite number" % (seat, reward)
                )
            ended = flag("terminations", terminated.get(seat, False))
            cut = flag("truncations", truncated.get(seat, False))
            is_gone = seat in before and seat not in self.game.agents
            if seat in before and (ended or cut or is_gone or is_late):
                view["ends"][i] = ended or (is_gone and not cut)
                view["ends"][count + i] = cut or (is_late and not ended)
            elif seat in self.game.agents and not (ended or cut or is_late):
                self.alive.append(seat)

    def show(self, seats, seen):
        """Writes what some seats see, who is to act and what is allowed."""
        view, turn = self.view, self.by_turns and self.game.agent_selection
        for i, seat in enumerate(self.seats):
            acts = seat in self.alive and (not self.by_turns or seat == turn)
            view["acts"][i] = acts
            if seat not in seats:
                continue
            whole = self.game.observe(seat) if self.by_turns else seen[seat]
            view["seen"][i] = self.part(i, whole)
            if i in self.masks:
                info = whole if self.parts[i] else self.infos.get(seat)
                self.masks[i].write(0, info, not acts)

    def render(self):
        return self.game.render()

    def close(self):
        self.game.close()
