"""Microseconds of torchrl's buffer, and its memory for each transition.

Its prioritized one is left out: the compiled part of torchrl 0.14 needs a newer
torch than the other peers run with, that of 0.13 an older one.
"""
import json
import sys

sys.dont_write_bytecode = True

import torch  # noqa: E402 -- the line above must come first
from buffer_speed import (  # noqa: E402
    BATCH,
    CAPACITY,
    CHUNK,
    ENVS,
    FRAME_BATCH,
    FRAMES,
    microseconds,
    resident_bytes,
    stacks,
    steps,
    transitions,
)
from tensordict import TensorDict  # noqa: E402
from torchrl.data import LazyTensorStorage, ReplayBuffer  # noqa: E402


def dictionary(rows):
    """Transitions, one or many, in the form that torchrl's environments give."""
    held = {it: torch.as_tensor(value) for it, value in rows.items()}
    after = {it: held[it] for it in ("rew", "terminated", "truncated")}
    after["obs"] = held["next_obs"]
    size = held["rew"].shape
    return TensorDict(
        {"obs": held["obs"], "act": held["act"], "next": TensorDict(after, size)},
        size,
    )


def uniform():
    before = resident_bytes()
    buffer = ReplayBuffer(storage=LazyTensorStorage(CAPACITY), batch_size=BATCH)
    for _ in range(CAPACITY // CHUNK):
        buffer.extend(dictionary(transitions(CHUNK)))
    size = (resident_bytes() - before) / CAPACITY
    one = [dictionary(it) for it in steps(1000)]
    many = [dictionary(it) for it in steps(100, ENVS)]
    return {
        "add_us": microseconds(buffer.add, one),
        "add16_us": microseconds(buffer.extend, many),
        "sample_us": microseconds(lambda _: buffer.sample()),
        "bytes": size,
    }


def frames():
    seen = stacks(256)
    rows = [
        dictionary(
            {
                "obs": seen[i],
                "next_obs": seen[i + 1],
                "act": 1,
                "rew": 0.5,
                "terminated": False,
                "truncated": False,
            }
        )
        for i in range(256)
    ]
    before = resident_bytes()
    buffer = ReplayBuffer(storage=LazyTensorStorage(FRAMES), batch_size=FRAME_BATCH)
    for i in range(FRAMES):
        buffer.add(rows[i % len(rows)])
    size = (resident_bytes() - before) / FRAMES
    return {
        "add_us": microseconds(buffer.add, rows),
        "sample_us": microseconds(lambda _: buffer.sample(), calls=200),
        "bytes": size,
    }


def main():
    torch.set_num_threads(1)
    print(json.dumps({it.__name__: it() for it in (frames, uniform)}))


if __name__ == "__main__":
    main()
