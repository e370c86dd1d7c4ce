"""The task of the buffers' programs: rows, timing and memory."""
import ctypes
import gc
import json
import os
import sys
import time
from statistics import median

import numpy as np

CAPACITY, OBSERVATION, ACTION, ENVS, BATCH = 1_000_000, 17, 6, 16, 256
FRAMES, FRAME, STACK, FRAME_BATCH = 20_000, (84, 84), 4, 32
CHUNK = 10_000
task = {"runs": 15, **json.loads(sys.argv[1])}
random = np.random.default_rng(task.get("seed", 0))


def transitions(count):
    """As many transitions, by name; their rows are float32 and bytes."""
    shapes = {
        "obs": (count, OBSERVATION),
        "act": (count, ACTION),
        "rew": (count,),
        "next_obs": (count, OBSERVATION),
    }
    rows = {it: random.random(shape, np.float32) for it, shape in shapes.items()}
    flags = {it: np.zeros(count, np.uint8) for it in ("terminated", "truncated")}
    return rows | flags


def steps(count, envs=None):
    """Transitions one at a time, or those of some environments at a time."""
    rows = transitions(count * (envs or 1))
    if envs:
        rows = {it: v.reshape(count, envs, *v.shape[1:]) for it, v in rows.items()}
    return [{it: v[i] for it, v in rows.items()} for i in range(count)]


def stacks(count):
    """Stacks of frames that slide along a recording that repeats."""
    recording = random.integers(0, 256, (count + STACK, *FRAME), np.uint8)
    sliding = np.lib.stride_tricks.sliding_window_view(recording, STACK, axis=0)
    return [np.ascontiguousarray(it) for it in sliding]


def microseconds(call, rows=(None,), calls=1000):
    """Of a call with a row each time: the median of some runs' means."""
    times = []
    taken = [rows[i % len(rows)] for i in range(calls)]
    for run in range(-2, task["runs"]):
        started = time.perf_counter()
        for row in taken:
            call(row)
        if run >= 0:
            times.append((time.perf_counter() - started) / calls)
    return median(times) * 1e6


def resident_bytes():
    """Memory of this process that is in use; 0 where Linux does not say it."""
    if not os.path.exists("/proc/self/status"):
        return 0
    # What is free is given back first, for it would be used again unseen.
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/status") as file:
        line = next(it for it in file if it.startswith("VmRSS"))
    return int(line.split()[1]) * 1024
