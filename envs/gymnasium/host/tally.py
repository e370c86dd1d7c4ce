"""Sums of the running episodes over entries of `info`."""

import json
import math

import numpy as np

from .errors import EnvDataError

NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


def number_in(info, name):
    """An entry of an `info` as a finite number."""
    value = info.get(name) if isinstance(info, dict) else None
    if isinstance(value, NUMBERS) and math.isfinite(value):
        return float(value)
    if isinstance(info, dict) and name in info:
        raise EnvDataError("info.%s is %r: expected a finite number" % (name, value))
    names = ", ".join(map(str, info)) if isinstance(info, dict) else ""
    has = "the info has %s" % names if names else "the info has no entries"
    raise EnvDataError(
        "info.%s is missing: expected a finite number in a step of the episode; %s"
        % (name, has)
    )


class Tally:
    """Sum and last number of each entry over the steps that told it, for each copy."""

    def __init__(self, names, copies, optional=()):
        self.names = names
        # Those that need not be told.
        self.optional = optional
        self.sums = [[0.0] * len(names) for _ in range(copies)]
        self.last = [[0.0] * len(names) for _ in range(copies)]
        self.counts = [[0] * len(names) for _ in range(copies)]
        self.lengths = [0] * copies
        # Episodes that could not be played again: their return before.
        self.unknown = {}
        self.info = None
        self.ended = []

    def begin(self, copy):
        self.sums[copy] = [0.0] * len(self.names)
        self.counts[copy] = [0] * len(self.names)
        self.lengths[copy] = 0
        self.unknown.pop(copy, None)

    def add(self, copy, info):
        for i, name in enumerate(self.names):
            if isinstance(info, dict) and name in info:
                last = self.last[copy][i] = number_in(info, name)
                self.sums[copy][i] += last
                self.counts[copy][i] += 1
        self.lengths[copy] += 1
        self.info = info

    def forget(self, copy, length, total):
        """Keeps of an episode that is lost what is known of it."""
        self.lengths[copy] = length
        self.unknown[copy] = total

    def end(self, copy, total, terminated):
        """Tells an episode; the sums of one that was lost are not known."""
        length = self.lengths[copy]
        told = {"env": copy, "length": length, "terminated": terminated}
        if copy in self.unknown:
            told["length"] = length + 1
            told["return"] = self.unknown[copy] + total
        else:
            told["return"] = total
            for name, count in zip(self.names, self.counts[copy]):
                if count == 0 and name not in self.optional:
                    number_in(self.info, name)  # says that it is missing
            told["infoStatistics"] = {
                name: {"sum": sum, "mean": sum / count, "last": last}
                for name, sum, last, count in zip(
                    self.names, self.sums[copy], self.last[copy], self.counts[copy]
                )
                if count > 0
            }
        self.ended.append(told)
        self.begin(copy)

    def take(self):
        """The episodes that ended, as JSON; no bytes if there are none."""
        ended, self.ended = self.ended, []
        # A reward that is not finite is refused elsewhere.
        if not all(math.isfinite(it["return"]) for it in ended):
            return b""
        return json.dumps(ended).encode() if ended else b""
