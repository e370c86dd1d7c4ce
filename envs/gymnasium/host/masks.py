"""Masks of actions: of the method that sb3-contrib asks, or of the `info`."""

import inspect
import sys

import numpy as np

from .errors import EnvDataError, Refused

METHOD, ENTRY = "action_masks", "action_mask"


def choices_of(description):
    """How many choices each part of an action has; nothing where it has none."""
    kind = description["type"]
    if kind == "discrete":
        return [description["n"]]
    if kind == "multiDiscrete":
        return description["nvec"]
    return [2] * description["n"] if kind == "multiBinary" else None


def method_of(env, name=METHOD):
    """The method of an environment or of a wrapper, if one has it."""
    try:
        method = env.get_wrapper_attr(name)
    except AttributeError:
        return None
    return method if callable(method) else None


def mentions(env):
    """Whether the code of an environment or of a wrapper has that entry at all: only
    then it is worth a reset to find out if its `info` has it."""
    while True:
        for kind in type(env).__mro__:
            try:
                if ENTRY in inspect.getsource(sys.modules[kind.__module__]):
                    return True
            except (KeyError, OSError, SyntaxError, TypeError, ValueError):
                pass  # Native code, or none that can be read.
        if env is getattr(env, "unwrapped", env):
            return False
        env = env.env


def tells(env):
    """Whether an environment tells masks in its `info`, of a reset or from the first
    step on, as one of each shows."""
    try:
        if env.reset(seed=0)[1].get(ENTRY) is not None:
            return True
        env.action_space.seed(0)
        return env.step(env.action_space.sample())[4].get(ENTRY) is not None
    except Exception:
        return False  # The first real reset says so.


def find(envs, wanted, action, name):
    """The choices that are masked and the methods to ask, none if the `info` tells
    masks; nothing of environments that do not mask."""
    if wanted is False:
        return None
    choices, methods = choices_of(action), [method_of(env) for env in envs]
    if methods[0] is None:
        methods = None
        env = envs[0]
        if not wanted and (choices is None or not mentions(env)):
            return None
        if not tells(env):
            if not wanted:
                return None
            raise Refused(
                "TypeError",
                "Cannot use action masks of '%s': it has no method %s, and the info of"
                " its reset and its first step no %s" % (name, METHOD, ENTRY),
            )
    if choices is None:
        raise Refused(
            "TypeError",
            "Cannot mask the actions of '%s', which are a %s: expected Discrete,"
            " MultiDiscrete or MultiBinary ones, or useActionMasks false"
            % (name, action["type"]),
        )
    return choices, methods


def flat(masks):
    """Masks as one array; those of several parts may be a tuple of arrays."""
    try:
        array = np.asarray(masks).reshape(-1)
        if array.dtype.kind in "biuf":
            return array
    except ValueError:
        pass  # Parts of different lengths.
    try:
        return np.concatenate([np.asarray(it).reshape(-1) for it in masks])
    except (TypeError, ValueError):
        return np.asarray(None).reshape(-1)


class Masks:
    """Masks of all copies, checked and written into their rows."""

    def __init__(self, choices, methods, rows, episodes):
        self.choices = choices
        self.methods = methods
        self.rows = rows
        self.starts = np.cumsum([0, *choices[:-1]])
        self.size = sum(choices)
        self.episodes = episodes

    def write(self, copy, info, terminated=False):
        """Writes what the newest observation of a copy allows."""
        if self.methods is not None:
            masks = flat(self.methods[copy]())
        else:
            masks = info.get(ENTRY) if isinstance(info, dict) else None
            if masks is None and self.episodes.length(copy) == 0:
                masks = np.ones(self.size)  # Some tell them from the first step on.
            masks = flat(masks)
        if masks.dtype.kind not in "biuf" or len(masks) != self.size:
            got = "%d numbers" % len(masks) if masks.dtype.kind in "biuf" else "none"
            self.refuse(copy, "has %s: expected %d" % (got, self.size))
        is_one = masks == 1
        if not (is_one | (masks == 0)).all():
            odd = masks[~(is_one | (masks == 0))][0]
            self.refuse(copy, "holds %s: expected 0 and 1" % odd)
        row = self.rows[copy]
        row[...] = is_one
        allowed = np.logical_or.reduceat(row, self.starts)
        if not allowed.all():
            # No action follows an end state: games often allow none there.
            if terminated:
                row[...] = 1
                return
            part = int(np.flatnonzero(~allowed)[0])
            which = " of part %d" % part if len(self.choices) > 1 else ""
            self.refuse(
                copy,
                "allows none of the %d choices%s: expected at least one"
                % (self.choices[part], which),
            )

    def refuse(self, copy, why):
        step = self.episodes.length(copy)
        when = "step %d" % step if step > 0 else "the start"
        raise EnvDataError("the action mask at %s of its episode %s" % (when, why))
