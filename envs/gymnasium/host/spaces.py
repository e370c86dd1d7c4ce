"""Spaces: how they are described to the other side, and how their values travel."""

import math

import gymnasium as gym
import numpy as np

from .errors import EnvDataError, Refused, first_line
from .infos import number_of


class Leaf:
    """A space without parts: its description and how its values travel."""

    def __init__(self, space, description, dtype, start=None, limits=None):
        self.space = space
        self.description = description
        self.dtype = np.dtype(dtype)
        self.shape = space.shape
        self.start = start
        # Least and greatest number; bounds of boxes are often loose.
        self.limits = limits
        self.size = int(np.prod(self.shape, dtype=int))
        self.row_bytes = self.dtype.itemsize * self.size
        # Numbers that the other type may not be able to hold are compared.
        self.checks_done = may_lose(self.dtype, space.dtype)

    def writer(self, rows):
        """What writes the observation of a copy into its row."""
        shape, start, array = self.shape, self.start, np.ndarray
        given, held = self.space.dtype, self.dtype
        checks = may_lose(given, held)
        limits = self.limits

        def write(copy, value):
            nonlocal given, checks
            if type(value) is not array:
                value = array_of(value)
            if value.shape != shape:
                raise EnvDataError(
                    "an observation has the shape %s: expected %s"
                    % (value.shape, shape)
                )
            if start is not None:
                value = numbers_of(value) - start
            if value.dtype is not given:
                # Not of the type before, at first that of the space.
                value = numbers_of(value)
                given = value.dtype
                checks = may_lose(given, held)
            try:
                rows[copy][...] = value
            except FloatingPointError:
                # As the environment has NumPy raise what it does not otherwise.
                with np.errstate(all="ignore"):
                    rows[copy][...] = value
            if checks:
                compare("an observation", rows[copy], value, EnvDataError)
            if limits is not None:
                check_limits(rows[copy], limits)

        return write

    def rows(self, data, at, copies):
        """The values of all copies, in memory of their own."""
        flat = np.frombuffer(data, self.dtype, copies * self.size, at)
        values = flat.astype(self.space.dtype)
        if self.checks_done:
            compare("an action", values, flat)
        values = values.reshape((copies, *self.shape))
        if self.start is not None:
            values += self.start.astype(values.dtype)
        return values

    def read(self, data, at, copies):
        """The actions of all copies, one by one."""
        values = self.rows(data, at, copies)
        if self.shape == () and isinstance(self.space, gym.spaces.Box):
            return [values[copy, ...] for copy in range(copies)]
        return list(values)


def array_of(value):
    """An observation as an array."""
    try:
        return np.asarray(value)
    except Exception as error:
        raise EnvDataError("an observation is no array: %s" % first_line(error)) from error


def numbers_of(array):
    """An array as one of numbers: objects, such as Decimals, become plain ones."""
    if array.dtype.kind in "biuf":
        return array
    if array.dtype.kind != "O":
        raise EnvDataError("an observation holds %s: expected real numbers" % array.dtype)
    numbers = [number_of(it) for it in array.flat]
    if None in numbers:
        odd = array.flat[numbers.index(None)]
        raise EnvDataError("an observation holds %r: expected numbers" % (odd,))
    return np.array(numbers).reshape(array.shape)


def may_lose(given, held):
    """Whether a type cannot hold all numbers of another one, but for rounding."""
    whole = held.kind in "iub"
    return not np.can_cast(given, held, "safe" if whole else "same_kind")


def compare(what, held, given, kind=OverflowError):
    """Throws where a smaller type could not hold what it was given."""
    odd = held != given
    if odd.any():
        raise kind(
            "%s holds %s: expected numbers that %s can hold"
            % (what, given[odd].flat[0], held.dtype.name)
        )


def check_limits(held, limits):
    """Throws where a number that counts or names something is none of those."""
    low, high = limits
    odd = (held < low) | (held > high)
    if odd.any():
        at = int(np.flatnonzero(odd)[0])
        raise EnvDataError(
            "an observation holds %s: expected a whole number from %s to %s"
            % (held.flat[at], low, np.broadcast_to(high, held.shape).flat[at])
        )


def bound(values):
    """A bound of a box for JSON: one number where all are the same."""
    flat = values.reshape(-1)
    is_one = (flat == flat[0]).all()
    known = (flat[:1] if is_one else flat).tolist()
    known = [it if math.isfinite(it) else str(it) for it in known]
    return known[0] if is_one else known


BOX_DTYPES = {
    "bool": "uint8",
    "uint8": "uint8",
    "float16": "float32",
    "float32": "float32",
    "float64": "float64",
}


def box_leaf(space):
    """A box; whole numbers of any type travel as int32, where they fit."""
    name, low, high = space.dtype.name, space.low, space.high
    target = BOX_DTYPES.get(name, "int32" if space.dtype.kind in "iu" else None)
    if target is None or 0 in space.shape:
        raise Refused("TypeError", "it holds %s numbers of shape %s" % (name, space.shape))
    if target == "int32":
        can = np.iinfo(space.dtype)
        least, most = max(can.min, -(2**31)), min(can.max, 2**31 - 1)
        low, high = np.clip(low, least, most), np.clip(high, least, most)
    elif name == "bool":
        low, high = np.uint8(low), np.uint8(high)
    description = {
        "type": "box",
        "shape": space.shape,
        "low": bound(low),
        "high": bound(high),
        "dtype": target,
    }
    return Leaf(space, description, np.dtype(target).newbyteorder("<"))


def leaf_of(space):
    """A space without parts as a leaf."""
    kinds = gym.spaces
    if not isinstance(space, gym.Space):
        raise Refused("TypeError", "it is none of gymnasium.spaces")
    if isinstance(space, kinds.Box):
        return box_leaf(space)
    if isinstance(space, kinds.Discrete):
        start = int(getattr(space, "start", 0))
        if start + int(space.n) > 2**31 or start < -(2**31):
            raise Refused("TypeError", "its numbers have more than 32 bits")
        description = {"type": "discrete", "n": int(space.n)}
        if start != 0:
            description["start"] = start
        limits = (start, start + int(space.n) - 1)
        return Leaf(space, description, "<i4", limits=limits)
    if isinstance(space, kinds.MultiDiscrete):
        nvec = np.asarray(space.nvec)
        start = np.asarray(getattr(space, "start", 0))
        if nvec.max(initial=0) > 2**31:
            raise Refused("TypeError", "its numbers have more than 32 bits")
        description = {"type": "multiDiscrete", "nvec": nvec.reshape(-1).tolist()}
        start = start if start.any() else None
        return Leaf(space, description, "<i4", start, limits=(0, nvec - 1))
    if isinstance(space, kinds.MultiBinary):
        size = int(np.prod(space.shape, dtype=int))
        return Leaf(space, {"type": "multiBinary", "n": size}, "u1", limits=(0, 1))
    raise Refused("TypeError", "its values have no fixed size")


def place(name):
    """Sorts names as the other side's records do: array indices come first."""
    text = str(name)
    is_index = text.isdecimal() and str(int(text)) == text and int(text) < 2**32 - 1
    return (0, int(text), "") if is_index else (1, 0, text)


def parts_of(space):
    """The parts of a dict or a tuple in the order in which they travel."""
    if isinstance(space, gym.spaces.Dict):
        return [(name, space.spaces[name]) for name in sorted(space.spaces, key=place)]
    if isinstance(space, gym.spaces.Tuple):
        return list(enumerate(space.spaces))
    return None


def leaves_of(space):
    """The leaves of a space in order, and its description."""
    parts = parts_of(space)
    if parts is None:
        leaf = leaf_of(space)
        return [leaf], leaf.description
    inner = [leaves_of(part) for _, part in parts]
    leaves = [leaf for group, _ in inner for leaf in group]
    described = [it for _, it in inner]
    if isinstance(space, gym.spaces.Tuple):
        return leaves, {"type": "tuple", "spaces": described}
    names = [str(name) for name, _ in parts]
    return leaves, {"type": "dict", "spaces": dict(zip(names, described))}


def map_space(space, what, name):
    """The leaves and the description of a space, or why it has none."""
    try:
        leaves, description = leaves_of(space)
        if sum(leaf.size for leaf in leaves) == 0:
            raise Refused("TypeError", "it holds no values")
        return leaves, description
    except Refused as refused:
        text = " ".join(str(space).split())
        text = text if len(text) <= 80 else text[:77] + "..."
        raise Refused(
            refused.kind,
            "Cannot use the %s space %s of '%s', as %s: change it in the environment,"
            " or by a wrapper of Python's in the option 'wrappers'"
            " (--set wrappers=[module:Class])"
            % (what, text, name, refused),
        ) from refused


def flatten(space, value, into):
    """Adds the values of the leaves of a value to a list, in order."""
    parts = parts_of(space)
    if parts is None:
        into.append(value)
        return
    for name, part in parts:
        try:
            inner = value[name]
        except (LookupError, TypeError) as error:
            raise EnvDataError("an observation has no part %r" % (name,)) from error
        flatten(part, inner, into)


def nest(space, values):
    """The value whose leaves have the given values; undoes `flatten`."""
    parts = parts_of(space)
    if parts is None:
        return next(values)
    inner = {name: nest(part, values) for name, part in parts}
    if isinstance(space, gym.spaces.Tuple):
        return tuple(inner.values())
    return {name: inner[name] for name in space.spaces}


class Actions:
    """Reads the actions of some copies from the bytes of a message."""

    def __init__(self, space, leaves, copies):
        self.space = space
        self.leaves = leaves
        self.copies = copies
        self.single = parts_of(space) is None
        self.size = copies * sum(leaf.row_bytes for leaf in leaves)

    def read(self, data):
        """One action for each copy."""
        if len(data) != self.size:
            raise ValueError(
                "the actions have %d bytes: expected %d" % (len(data), self.size)
            )
        columns, at = [], 0
        for leaf in self.leaves:
            columns.append(leaf.read(data, at, self.copies))
            at += self.copies * leaf.row_bytes
        if self.single:
            return columns[0]
        return [nest(self.space, iter(row)) for row in zip(*columns)]
