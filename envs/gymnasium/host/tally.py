"""Sums of the running episodes over entries of `info`."""

import json
import math

from .errors import EnvDataError
from .infos import finite


def number_in(info, name):
    """An entry of an `info` as a finite number."""
    value = finite(info[name])
    if value is None:
        raise EnvDataError("info.%s is %r: expected a finite number" % (name, info[name]))
    return value


class Tally:
    """Sum and last number of each entry over the steps that told it, for each copy."""

    def __init__(self, names, copies, optional=()):
        self.names = names
        # Those whose lack is not told, or was.
        self.noticed = set(optional)
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
            self.notice(copy, told)
            told["infoStatistics"] = {
                name: {"sum": sum, "mean": sum / count, "last": last}
                for name, sum, last, count in zip(
                    self.names, self.sums[copy], self.last[copy], self.counts[copy]
                )
                if count > 0
            }
        self.ended.append(told)
        self.begin(copy)

    def notice(self, copy, told):
        """Tells of entries that no step of an episode told, once for each."""
        counts = zip(self.names, self.counts[copy])
        untold = [name for name, count in counts if count == 0 and name not in self.noticed]
        if not untold:
            return
        self.noticed.update(untold)
        names = ", ".join(map(str, self.info)) if isinstance(self.info, dict) else ""
        told["notice"] = (
            "No step of an episode had info.%s, which is left out of its record: the"
            " info had %s" % (", info.".join(untold), names or "no entries")
        )

    def take(self):
        """The episodes that ended, as JSON; no bytes if there are none."""
        ended, self.ended = self.ended, []
        # A reward that is not finite is refused elsewhere.
        if not all(math.isfinite(it["return"]) for it in ended):
            return b""
        return json.dumps(ended).encode() if ended else b""
