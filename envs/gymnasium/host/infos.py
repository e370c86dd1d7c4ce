"""What a step tells beside its numbers, as JSON."""

import json
import math
from collections.abc import Mapping

import numpy as np

# Stands for what JSON has no counterpart of.
LEFT_OUT = object()


def as_json(info):
    """The entries of an `info` that JSON can hold; no bytes if there are none."""
    if not info:
        return b""
    try:
        told = json_value(info)
    except RecursionError:
        return b""
    return json.dumps(told).encode() if isinstance(told, dict) and told else b""


def json_value(value):
    """A value in the types of JSON; a number that is not finite becomes null."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        told = {str(key): json_value(inner) for key, inner in value.items()}
        return {key: it for key, it in told.items() if it is not LEFT_OUT}
    if isinstance(value, (list, tuple)):
        told = [json_value(inner) for inner in value]
        # What is left out keeps its place, so that the others keep theirs.
        return [None if it is LEFT_OUT else it for it in told]
    return LEFT_OUT
