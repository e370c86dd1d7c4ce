"""The answer to a reset or a step, as raw arrays."""

import struct

import numpy as np
from gymnasium.spaces import MultiBinary

from .pipes import MARK
from .spaces import Leaf, flatten, parts_of


def padded(size):
    return (size + 7) // 8 * 8


class Answer:
    """What all copies see, and the rest of a step, in one buffer for all steps."""

    def __init__(self, space, leaves, copies, choices=0):
        self.space = space
        seen = leaves
        if choices > 0:
            # Masks of actions lie behind what is seen.
            leaves = [*leaves, Leaf(MultiBinary(choices), None, "u1")]
        # Four bytes in front let all arrays begin at multiples of eight; mark,
        # length and the kind of the answer follow.
        sizes = [padded(copies * leaf.row_bytes) for leaf in leaves]
        first, rewards = 24, 24 + sum(sizes)
        flags = rewards + 8 * copies
        self.fixed = self.end = flags + padded(2 * copies)
        # What a single environment tells beside, as JSON.
        self.info = b""
        row = sum(leaf.row_bytes for leaf in leaves)
        self.buffer = bytearray(self.fixed + copies * row)
        self.buffer[4:12] = MARK
        self.observations = memoryview(self.buffer)[first:rewards]
        self.rows, at = [], first
        for leaf, size in zip(leaves, sizes):
            array = np.frombuffer(self.buffer, leaf.dtype, copies * leaf.size, at)
            array = array.reshape((copies, *leaf.shape))
            self.rows.append([array[copy, ...] for copy in range(copies)])
            at += size
        self.writers = [it.writer(rows) for it, rows in zip(seen, self.rows)]
        self.masks = self.rows[-1] if choices > 0 else []
        for row in self.masks:
            row[...] = 1
        # What writes what a copy sees now: `observe(copy, observation)`.
        single = parts_of(space) is None
        self.observe = self.writers[0] if single else self._observe_parts
        self.rewards, self.pack = rewards, struct.Struct("<%dd" % copies).pack_into
        self.flags, self.copies = flags, copies
        self.no_flags = bytes(2 * copies)

    def _observe_parts(self, copy, observation):
        values = []
        flatten(self.space, observation, values)
        for write, value in zip(self.writers, values):
            write(copy, value)

    def begin(self):
        """Begins the answer to a step: nothing has ended yet."""
        self.end = self.fixed
        self.buffer[self.flags : self.flags + 2 * self.copies] = self.no_flags

    def flag(self, copy, terminated, truncated):
        """Says how the episode of a copy ended."""
        self.buffer[self.flags + copy] = bool(terminated)
        self.buffer[self.flags + self.copies + copy] = bool(truncated)

    def reward(self, rewards):
        """Writes the rewards of all copies."""
        self.pack(self.buffer, self.rewards, *rewards)

    def seen(self, copy):
        """What a copy sees now, as bytes."""
        return b"".join(rows[copy].tobytes() for rows in self.rows)

    def keep_final(self, copy):
        """Adds what a copy sees now to the final observations."""
        data = self.seen(copy)
        self.buffer[self.end : self.end + len(data)] = data
        self.end += len(data)

    def send(self, pipes):
        """Sends it, and forgets the final observations and the info."""
        struct.pack_into("<I", self.buffer, 12, self.end - 16 + len(self.info))
        data = memoryview(self.buffer)[4 : self.end]
        pipes.write(b"".join((data, self.info)) if self.info else data)
        self.end, self.info = self.fixed, b""
