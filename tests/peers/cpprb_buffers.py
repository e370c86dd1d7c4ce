"""Microseconds of cpprb's buffers, and their memory for each transition.

`uniform` and `prioritized` hold next observations of their own, which is
faster; `shared` and `frames` share them with the observations. What shares
them takes the steps of one environment only. Stacks are drawn as views whose
memory goes frame by frame; the others interleave the frames, which
`contiguous_us` includes.
"""
import json
import sys

sys.dont_write_bytecode = True

import numpy as np  # noqa: E402 -- the line above must come first
from buffer_speed import (  # noqa: E402
    ACTION,
    BATCH,
    CAPACITY,
    CHUNK,
    ENVS,
    FRAME,
    FRAME_BATCH,
    FRAMES,
    OBSERVATION,
    STACK,
    microseconds,
    resident_bytes,
    random,
    stacks,
    steps,
    transitions,
)
from cpprb import PrioritizedReplayBuffer, ReplayBuffer  # noqa: E402

BYTE = {"dtype": np.uint8}
SHARED = {
    "obs": {"shape": OBSERVATION},
    "act": {"shape": ACTION},
    "rew": {},
    "terminated": BYTE,
    "truncated": BYTE,
}
FIELDS = SHARED | {"next_obs": {"shape": OBSERVATION}}
SCREENS = {
    "obs": {"shape": (*FRAME, STACK), **BYTE},
    "act": {"dtype": np.int32},
    "rew": {},
    "terminated": BYTE,
    "truncated": BYTE,
}


def filled(make):
    """A full buffer of transitions, and the bytes that each of them takes."""
    before = resident_bytes()
    buffer = make()
    for _ in range(CAPACITY // CHUNK):
        buffer.add(**transitions(CHUNK))
    return buffer, (resident_bytes() - before) / CAPACITY


def adding(buffer):
    def add(row):
        buffer.add(**row)

    return add


def uniform():
    buffer, size = filled(lambda: ReplayBuffer(CAPACITY, FIELDS))
    return {
        "add_us": microseconds(adding(buffer), steps(1000)),
        "add16_us": microseconds(adding(buffer), steps(100, ENVS)),
        "sample_us": microseconds(lambda _: buffer.sample(BATCH)),
        "bytes": size,
    }


def shared():
    buffer, size = filled(lambda: ReplayBuffer(CAPACITY, SHARED, next_of="obs"))
    return {
        "add_us": microseconds(adding(buffer), steps(1000)),
        "sample_us": microseconds(lambda _: buffer.sample(BATCH)),
        "bytes": size,
    }


def prioritized():
    buffer, size = filled(lambda: PrioritizedReplayBuffer(CAPACITY, FIELDS))
    for first in range(0, CAPACITY, CHUNK):
        slots = np.arange(first, first + CHUNK)
        buffer.update_priorities(slots, random.random(CHUNK, np.float32))
    slots = [random.integers(0, CAPACITY, BATCH) for _ in range(100)]
    errors = random.random(BATCH, np.float32)

    def learn(_):
        batch = buffer.sample(BATCH, 0.4)
        buffer.update_priorities(batch["indexes"], errors)

    return {
        "add_us": microseconds(adding(buffer), steps(1000)),
        "add16_us": microseconds(adding(buffer), steps(100, ENVS)),
        "sample_us": microseconds(lambda _: buffer.sample(BATCH, 0.4)),
        "update_us": microseconds(
            lambda it: buffer.update_priorities(it, errors), slots
        ),
        "learn_us": microseconds(learn),
        "bytes": size,
    }


def frames():
    seen = stacks(256)
    rows = [
        {
            "obs": seen[i],
            "next_obs": seen[i + 1],
            "act": i % 4,
            "rew": 0.5,
            "terminated": 0,
            "truncated": 0,
        }
        for i in range(256)
    ]
    before = resident_bytes()
    buffer = ReplayBuffer(FRAMES, SCREENS, next_of="obs", stack_compress="obs")
    for i in range(FRAMES):
        buffer.add(**rows[i % len(rows)])
    size = (resident_bytes() - before) / FRAMES

    def interleaved(_):
        batch = buffer.sample(FRAME_BATCH)
        return [np.ascontiguousarray(batch[it]) for it in ("obs", "next_obs")]

    return {
        "add_us": microseconds(adding(buffer), rows),
        "sample_us": microseconds(lambda _: buffer.sample(FRAME_BATCH), calls=200),
        "contiguous_us": microseconds(interleaved, calls=50),
        "bytes": size,
    }


def main():
    kinds = frames, uniform, shared, prioritized
    print(json.dumps({it.__name__: it() for it in kinds}))


if __name__ == "__main__":
    main()
