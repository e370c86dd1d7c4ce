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
    raise EnvDataError("info.%s is missing: expected a finite number; %s" % (name, has))


class Tally:
    """Sum and last number of each entry, for each copy."""

    def __init__(self, names, copies):
        self.names = names
        self.sums = [[0.0] * len(names) for _ in range(copies)]
        self.last = [[0.0] * len(names) for _ in range(copies)]
        self.lengths = [0] * copies
        # Episodes that could not be played again: their return before.
        self.unknown = {}
        self.ended = []

    def begin(self, copy):
        self.sums[copy] = [0.0] * len(self.names)
        self.lengths[copy] = 0
        self.unknown.pop(copy, None)

    def add(self, copy, info):
        last = self.last[copy] = [number_in(info, it) for it in self.names]
        self.sums[copy] = [a + b for a, b in zip(self.sums[copy], last)]
        self.lengths[copy] += 1

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
            told["infoStatistics"] = {
                name: {"sum": sum, "mean": sum / length, "last": last}
                for name, sum, last in zip(
                    self.names, self.sums[copy], self.last[copy]
                )
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
