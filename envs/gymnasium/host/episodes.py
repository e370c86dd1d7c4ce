"""Records of the running episodes, which allow to play them again."""

import numpy as np

# Bytes of actions that are kept.
LOG_BYTES = 1 << 26


class Episodes:
    """What it takes to play the running episode of each copy again."""

    def __init__(self, leaves, copies):
        self.leaves = leaves
        self.copies = copies
        self.starts = [None] * copies
        self.returns = [0.0] * copies
        # Actions before those of the log, of episodes that were restored.
        self.earlier = [b""] * copies
        self.begins = [0] * copies
        self.log = []
        self.forgotten = 0
        self.size = copies * sum(leaf.row_bytes for leaf in leaves)
        self.most = max(LOG_BYTES // self.size, 2)

    def begin(self, copy, start, earlier=b""):
        self.starts[copy] = start
        self.returns[copy] = 0.0
        self.earlier[copy] = earlier
        self.begins[copy] = self.forgotten + len(self.log)

    def length(self, copy):
        """The steps of a copy's episode so far."""
        row = self.size // self.copies
        earlier = len(self.earlier[copy]) // row
        return earlier + self.forgotten + len(self.log) - self.begins[copy]

    def add(self, actions):
        """Keeps the actions of a step of all copies, as long as they are needed."""
        if len(self.log) & 1023 == 1023 or len(self.log) >= self.most:
            # Of an episode that is forgotten in part nothing more is needed.
            kept = [it for it in self.begins if it >= self.forgotten]
            end = self.forgotten + len(self.log)
            needless = min(kept, default=end) - self.forgotten
            if len(self.log) - needless >= self.most:
                needless = self.most // 2
            del self.log[:needless]
            self.forgotten += needless
        self.log.append(actions)

    def actions(self, copy):
        """The actions of a copy's episode as bytes; none if they are forgotten."""
        skipped = self.begins[copy] - self.forgotten
        if skipped < 0:
            return None
        log = self.log[skipped:]
        steps = np.frombuffer(b"".join(log), "u1").reshape((len(log), self.size))
        columns, at = [], 0
        for leaf in self.leaves:
            size = leaf.row_bytes
            columns.append(steps[:, at + copy * size : at + (copy + 1) * size])
            at += self.copies * size
        return self.earlier[copy] + np.concatenate(columns, axis=1).tobytes()


def random_state(env):
    """The state of an environment's random stream, where it has the usual one."""
    random = getattr(env.unwrapped, "np_random", None)
    if not isinstance(random, np.random.Generator):
        return None
    return {"random": random.bit_generator.state}


def plain(value):
    """A value for JSON: the states of some generators hold arrays."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError("a random stream holds a %s" % type(value).__name__)
