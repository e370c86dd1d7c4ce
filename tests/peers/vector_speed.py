"""Steps a second of all copies of a vector environment."""
import time


def speed(env, actions, task):
    """Of one that was reset; batches of actions are taken in turn."""

    def run(steps):
        start = time.perf_counter()
        for i in range(steps):
            env.step(actions[i % len(actions)])
        return time.perf_counter() - start

    run(task["warmup"])
    return task["steps"] * task["numEnvs"] / run(task["steps"])
