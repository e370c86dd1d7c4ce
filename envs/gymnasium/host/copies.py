"""Copies of one environment, stepped one after the other."""

import json
import struct
import traceback

import numpy as np

from .answer import Answer
from .episodes import Episodes, plain, random_state
from .errors import EnvDataError, Refused
from .goals import NAMES, goal_functions
from .infos import as_json, finite, number_of
from .making import make
from .masks import Masks, find
from .spaces import Actions, map_space
from .tally import Tally


def begun(given):
    """What is seen first and the info, as `reset` returned them."""
    if isinstance(given, tuple) and len(given) == 2:
        return given
    raise EnvDataError(
        "reset returned %s: expected a tuple of two, (observation, info)"
        % described(given)
    )


def described(given):
    """What something is, in short."""
    if isinstance(given, tuple):
        return "a tuple of %d" % len(given)
    return "an object of type '%s'" % type(given).__name__


def number(reward):
    """A reward as a number."""
    value = number_of(reward)
    if value is None:
        raise EnvDataError("the reward is %r: expected a number" % (reward,))
    return value


def flag(name, value):
    """Whether an episode ended: NumPy's truth values and 0 and 1 are some as well."""
    array = np.asarray(value)
    if array.shape == () and array.dtype.kind in "biu" and array in (0, 1):
        return bool(array)
    raise EnvDataError("'%s' is %r: expected True or False" % (name, value))


def is_no_step(error):
    """Whether what a step returned could not be unpacked, here or in a wrapper."""
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    place = last.tb_frame.f_globals.get("__name__", "")
    is_ours = place == __name__ or place.startswith("gymnasium.wrappers.")
    return is_ours and "unpack" in str(error)


def frame_rate(env):
    """Pictures a second, if the environment knows."""
    metadata = getattr(env, "metadata", None)
    rate = finite(metadata.get("render_fps")) if isinstance(metadata, dict) else None
    return rate if rate is not None and rate > 0 else None


def rgb(picture):
    """A picture as uint8 [height, width, 3], of one that is gray, has opacity, or whose
    numbers are of another type: fractions go from 0 to 1."""
    shape = (*picture.shape, 1) if picture.ndim == 2 else picture.shape
    kind = picture.dtype.kind
    if len(shape) != 3 or shape[2] not in (1, 3, 4) or kind not in "biuf":
        raise ValueError(
            "the picture is a %s array of shape %s: expected numbers [height, width],"
            " or [height, width, 1, 3 or 4]" % (picture.dtype, picture.shape)
        )
    picture = picture.reshape(shape)[..., :3]
    if picture.dtype != np.uint8:
        picture = np.nan_to_num(picture.astype(float))
        most = 255 if kind in "iu" or picture.max(initial=0) > 1 else 1
        picture = (picture * (255 / most)).clip(0, 255).round().astype(np.uint8)
    return np.broadcast_to(picture, (*shape[:2], 3))


def space_of(env, what):
    """A space of an environment; nothing where it has none."""
    return getattr(env, what + "_space", None)


# Stands for the seed of a copy that goes on with its episode.
UNTOUCHED = 2**64 - 1


class Copies:
    """The environments, stepped one after the other."""

    def __init__(self, settings):
        self.name, self.scheme = settings["id"], settings["scheme"]
        self.first = settings["first"]
        self.resets = settings["resets"]
        self.envs = []
        try:
            self.open(settings)
        except BaseException:
            self.close()
            raise

    def open(self, settings):
        """Makes the environments, and what their spaces ask for."""
        count = settings["numEnvs"]
        for _ in range(count):
            make(settings, self.envs)
        self.steps = [env.step for env in self.envs]
        env = self.envs[0]
        seen, self.seen = map_space(space_of(env, "observation"), "observation", self.name)
        leaves, self.done = map_space(space_of(env, "action"), "action", self.name)
        masked = find(self.envs, settings.get("useActionMasks"), self.done, self.name)
        choices = sum(masked[0]) if masked else 0
        self.answer = Answer(env.observation_space, seen, count, choices)
        self.goals = goal_functions(env)
        self.actions = Actions(env.action_space, leaves, count)
        self.episodes = Episodes(leaves, count)
        self.masks = Masks(*masked, self.answer.masks, self.episodes) if masked else None
        names = settings.get("infoStatistics") or []
        tells = self.resets and self.goals and "is_success" not in names
        more = ["is_success"] if tells else []
        self.tally = Tally([*names, *more], count, more) if names or more else None
        # Copies whose episode could not be played again, with what the next one
        # begins with, where that has begun.
        self.lost = {}

    def describe(self):
        """What the other side has to know."""
        env = self.envs[0]
        spec = env.spec
        return {
            "observationSpace": self.seen,
            "actionSpace": self.done,
            "maxEpisodeSteps": finite(getattr(spec, "max_episode_steps", None)),
            "rewardThreshold": finite(getattr(spec, "reward_threshold", None)),
            "framesPerSecond": frame_rate(env),
            "masksActions": self.masks is not None,
            "goalFunctions": list(self.goals),
            "recordsInfo": self.tally is not None,
            "seats": getattr(env, "seats", None),
        }

    def begin(self, copy, seed=None):
        """Starts an episode of a copy; without a seed its stream goes on."""
        env = self.envs[copy]
        start = random_state(env) if seed is None else {"seed": seed}
        self.episodes.begin(copy, start)
        return begun(env.reset() if seed is None else env.reset(seed=seed))

    def show(self, copy, seen, info):
        """Writes what a copy sees now, and the actions that this allows."""
        self.answer.observe(copy, seen)
        if self.masks:
            self.masks.write(copy, info)

    def refuse(self, copy, error):
        """Names the copy whose data cannot be used."""
        raise EnvDataError(
            "Cannot use the data of %s:%s, copy %d: %s"
            % (self.scheme, self.name, self.first + copy, error)
        ) from error

    def reset(self, seeds):
        for copy in range(len(self.envs)):
            seed = None if seeds is None else seeds[copy]
            if seed == UNTOUCHED:
                continue
            self.lost.pop(copy, None)
            if self.tally:
                self.tally.begin(copy)
            try:
                self.show(copy, *self.begin(copy, seed))
            except EnvDataError as error:
                self.refuse(copy, error)

    def step(self, data):
        actions = self.actions.read(data)
        self.episodes.add(data)
        answer, returns, lost = self.answer, self.episodes.returns, self.lost
        observe, masks, rewards = answer.observe, self.masks, []
        answer.begin()
        copy = 0
        try:
            for copy, step in enumerate(self.steps):
                if lost and copy in lost:
                    reward, terminated = 0.0, False
                    truncated = self.scheme == "gym" or bool(actions[copy]["moves"][0])
                else:
                    try:
                        seen, reward, terminated, truncated, info = step(actions[copy])
                    except (TypeError, ValueError) as error:
                        if is_no_step(error):
                            raise EnvDataError(
                                "step must return (observation, reward, terminated,"
                                " truncated, info): %s" % error
                            ) from error
                        raise
                    observe(copy, seen)
                    if type(reward) is not float:
                        reward = number(reward)
                    if type(terminated) is not bool:
                        terminated = flag("terminated", terminated)
                    if type(truncated) is not bool:
                        truncated = flag("truncated", truncated)
                    if masks is not None:
                        masks.write(copy, info, terminated)
                    if self.tally:
                        self.tally.add(copy, info)
                    if not self.resets:
                        answer.info = as_json(info)
                rewards.append(reward)
                returns[copy] += reward
                if terminated or truncated:
                    answer.flag(copy, terminated, truncated)
                    if self.tally:
                        self.tally.end(copy, returns[copy], terminated)
                    self.end(copy)
        except EnvDataError as error:
            self.refuse(copy, error)
        answer.reward(rewards)
        if self.tally:
            answer.info = self.tally.take()

    def end(self, copy):
        """Ends an episode: what is seen now was seen last."""
        fresh = self.lost.pop(copy, None)
        if not self.resets:
            return
        self.answer.keep_final(copy)
        if fresh is None:
            fresh = self.begin(copy)
        else:
            self.episodes.begin(copy, self.episodes.starts[copy])
        self.show(copy, *fresh)

    def snapshot(self):
        """Bookkeeping, actions and observations, each as bytes."""
        told, logs = [], []
        for copy in range(len(self.envs)):
            log = None if copy in self.lost else self.episodes.actions(copy)
            told.append(
                {
                    "start": self.episodes.starts[copy],
                    "bytes": None if log is None else len(log),
                    "return": repr(self.episodes.returns[copy]),
                }
            )
            logs.append(log or b"")
        header = json.dumps(told, default=plain).encode()
        return header, b"".join(logs), bytes(self.answer.observations)

    def restore(self, header, log, observations):
        """Plays the episodes of a snapshot again, as far as that is possible."""
        told = json.loads(header)
        expected = len(self.answer.observations)
        if len(told) != len(self.envs) or len(observations) != expected:
            raise Refused(
                "RangeError",
                "Cannot restore %d copies of '%s' from a snapshot of %d: its spaces"
                " or its copies are other ones" % (len(self.envs), self.name, len(told)),
            )
        self.answer.observations[:] = observations
        self.lost.clear()
        at = 0
        for copy, it in enumerate(told):
            size = it["bytes"] or 0
            if not self.replay(copy, it, log[at : at + size]):
                self.lost[copy] = self.begin(copy) if self.resets else None
                if self.tally:
                    self.forget(copy, it, size)
            at += size
        self.answer.observations[:] = observations

    def forget(self, copy, told, size):
        """Counts the steps of an episode that could not be played again."""
        row = sum(leaf.row_bytes for leaf in self.actions.leaves)
        self.tally.forget(copy, size // row, float(told["return"]))

    def replay(self, copy, told, log):
        """Whether an episode came out as it was before."""
        if told["start"] is None or told["bytes"] is None:
            return False
        before = self.answer.seen(copy)
        env, reader = self.envs[copy], Actions(
            self.envs[copy].action_space, self.actions.leaves, 1
        )
        total, ended = 0.0, False
        try:
            seen, info = self.start(env, told["start"])
            terminated = False
            if self.tally:
                self.tally.begin(copy)
            for at in range(0, len(log), reader.size):
                action = reader.read(log[at : at + reader.size])[0]
                seen, reward, terminated, truncated, info = env.step(action)
                total += float(reward)
                if self.tally:
                    self.tally.add(copy, info)
                ended = terminated or truncated
                if ended and (self.resets or at + reader.size < len(log)):
                    return False
            self.episodes.begin(copy, told["start"], log)
            self.answer.observe(copy, seen)
            if self.masks:
                self.masks.write(copy, info, terminated)
        except Exception:
            traceback.print_exc()
            return False
        if self.answer.seen(copy) != before or repr(total) != told["return"]:
            return False
        self.episodes.returns[copy] = total
        return True

    def start(self, env, start):
        """Begins an episode as it began before; what is seen then."""
        if "seed" in start:
            return begun(env.reset(seed=start["seed"]))
        env.unwrapped.np_random.bit_generator.state = start["random"]
        return begun(env.reset())

    def judge(self, data):
        """The results of a function of goals, for rows of those, as bytes."""
        return self.goals[NAMES[data[0]]](data[1:])

    def render(self, copy):
        """A picture as width, height and bytes."""
        env = self.envs[copy]
        if env.render_mode != "rgb_array":
            raise Refused(
                "TypeError",
                "Cannot render '%s' in its render mode %s: expected 'rgb_array'"
                % (self.name, env.render_mode),
            )
        picture = rgb(np.asarray(env.render()))
        height, width, _ = picture.shape
        return struct.pack("<II", width, height), picture.tobytes()

    def close(self):
        for env in self.envs:
            try:
                env.close()
            except BaseException:
                traceback.print_exc()  # The others are closed all the same.
