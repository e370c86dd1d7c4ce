"""Steps a second of all copies of Pong in ale-py's AtariVectorEnv, by threads."""
import json
import sys

sys.dont_write_bytecode = True

import ale_py  # noqa: E402 -- the line above must come first
from ale_py.vector_env import AtariVectorEnv  # noqa: E402
from atari_speed import speed, task  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)


def speed_of(threads):
    env = AtariVectorEnv(
        "pong",
        task["numEnvs"],
        num_threads=threads,
        autoreset_mode=AutoresetMode.SAME_STEP,
        frameskip=4,
        stack_num=4,
        noop_max=30,
        episodic_life=True,
        reward_clipping=True,
        use_fire_reset=True,
        repeat_action_probability=0.0,
    )
    env.reset(seed=task["seed"])
    return speed(env)


print(json.dumps({"one": speed_of(1), "two": speed_of(2)}))
