"""Microseconds of stable-baselines3's buffer, and its memory for each transition.

It has no prioritized one. Frames are in the form that takes half the memory.
"""
import json
import sys

sys.dont_write_bytecode = True

import numpy as np  # noqa: E402 -- the line above must come first
import torch  # noqa: E402
from buffer_speed import (  # noqa: E402
    ACTION,
    BATCH,
    CAPACITY,
    ENVS,
    FRAME,
    FRAME_BATCH,
    FRAMES,
    OBSERVATION,
    STACK,
    microseconds,
    random,
    resident_bytes,
    stacks,
    steps,
)
from gymnasium.spaces import Box, Discrete  # noqa: E402
from stable_baselines3.common.buffers import ReplayBuffer  # noqa: E402


def vector_steps(count, envs):
    """Steps as arguments of `add`: arrays, and the infos of each environment."""
    return [
        (
            it["obs"],
            it["next_obs"],
            it["act"],
            it["rew"],
            it["terminated"] | it["truncated"],
            [{"TimeLimit.truncated": False} for _ in range(envs)],
        )
        for it in steps(count, envs)
    ]


def filled(envs):
    """A full buffer of transitions, and the bytes that each of them takes."""
    before = resident_bytes()
    buffer = ReplayBuffer(
        CAPACITY,
        Box(-1, 1, (OBSERVATION,), np.float32),
        Box(-1, 1, (ACTION,), np.float32),
        device="cpu",
        n_envs=envs,
    )
    # One at a time, as it must be done, takes most of a minute.
    for it in (buffer.observations, buffer.next_observations, buffer.actions):
        random.random(out=it, dtype=np.float32)
    buffer.rewards[:] = 0.5
    buffer.dones[:] = buffer.timeouts[:] = 0
    buffer.full = True
    return buffer, (resident_bytes() - before) / CAPACITY


def adding(buffer):
    def add(step):
        buffer.add(*step)

    return add


def uniform():
    buffer, size = filled(1)
    figures = {
        "add_us": microseconds(adding(buffer), vector_steps(1000, 1)),
        "sample_us": microseconds(lambda _: buffer.sample(BATCH)),
        "bytes": size,
    }
    del buffer
    buffer, _ = filled(ENVS)
    add16 = microseconds(adding(buffer), vector_steps(100, ENVS))
    return figures | {"add16_us": add16}


def frames():
    seen = [it[np.newaxis] for it in stacks(256)]
    rest = np.array([1]), np.array([0.5]), np.array([False]), [{}]
    rows = [(seen[i], seen[i + 1], *rest) for i in range(256)]
    before = resident_bytes()
    buffer = ReplayBuffer(
        FRAMES,
        Box(0, 255, (*FRAME, STACK), np.uint8),
        Discrete(4),
        device="cpu",
        optimize_memory_usage=True,
        handle_timeout_termination=False,
    )
    for i in range(FRAMES):
        buffer.add(*rows[i % len(rows)])
    size = (resident_bytes() - before) / FRAMES
    return {
        "add_us": microseconds(adding(buffer), rows),
        "sample_us": microseconds(lambda _: buffer.sample(FRAME_BATCH), calls=200),
        "bytes": size,
    }


def main():
    torch.set_num_threads(1)
    print(json.dumps({it.__name__: it() for it in (frames, uniform)}))


if __name__ == "__main__":
    main()
