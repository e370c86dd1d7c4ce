"""Steps a second of all copies of Pong in EnvPool, by threads."""
import json
import sys

sys.dont_write_bytecode = True

import envpool  # noqa: E402 -- the line above must come first
from atari_speed import speed, task  # noqa: E402


def speed_of(threads):
    env = envpool.make(
        "Pong-v5",
        env_type="gymnasium",
        num_envs=task["numEnvs"],
        num_threads=threads,
        seed=task["seed"],
        frame_skip=4,
        stack_num=4,
        noop_max=30,
        episodic_life=True,
        reward_clip=True,
        use_fire_reset=True,
        repeat_action_probability=0.0,
    )
    env.reset()
    return speed(env)


print(json.dumps({"one": speed_of(1), "two": speed_of(2)}))
