"""What a step tells beside its numbers, as JSON."""

import json
import math
import numbers
from collections.abc import Mapping
from decimal import Decimal

import numpy as np


def number_of(value):
    """A number of any kind, alone in an array too, as a plain one; nothing of what is
    none: a text is none, though it can be read as one."""
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    try:
        return None if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def finite(value):
    """The same of finite numbers alone."""
    value = number_of(value)
    return value if value is not None and math.isfinite(value) else None


# Stands for what JSON has no counterpart of.
LEFT_OUT = object()


def as_json(info):
    """The entries of an `info` that JSON can hold; no bytes if there are none."""
    try:
        told = json_value(info)
    except RecursionError:
        return b""
    return json.dumps(told).encode() if isinstance(told, dict) and told else b""


def json_value(value):
    """A value in the types of JSON; a number that is not finite becomes null."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (numbers.Real, Decimal)):
        number = finite(value)
        return value if number is not None and isinstance(value, int) else number
    if isinstance(value, Mapping):
        told = {str(key): json_value(inner) for key, inner in value.items()}
        return {key: it for key, it in told.items() if it is not LEFT_OUT}
    if isinstance(value, (list, tuple)):
        told = [json_value(inner) for inner in value]
        # What is left out keeps its place, so that the others keep theirs.
        return [None if it is LEFT_OUT else it for it in told]
    return LEFT_OUT
