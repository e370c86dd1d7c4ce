"""Environment steps per second of A2C with jitted acting and jitted updating.

CartPole is batched NumPy on the host. What crosses into a jitted call is few
arrays, for each costs time: the parameters are one vector and a rollout is one
array, with rows for the state (4), the action, the reward and whether the
episode goes on.
"""
import sys
import time
from functools import partial

sys.dont_write_bytecode = True

from jax_whole_a2c import (  # noqa: E402
    ACTIONS,
    ENVS,
    GAMMA,
    MAX_STEPS,
    START,
    STEPS,
    choose,
    jax,
    layers_of,
    np,
    optimizer,
    task,
    update,
    values,
)

ACTION, REWARD, GOING_ON, ROWS = 4, 5, 6, 7
LIMITS = np.array([[2.4], [np.pi / 15]], np.float32)
# As many rollouts' random numbers are drawn at once, which costs less.
DRAWN = 500


class CartPole:
    """Copies that step together; whoever steps them restarts what ended."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.ages = np.zeros(ENVS, np.int32)
        self.change = np.empty((4, ENVS), np.float32)

    def step(self, state, actions, after):
        """Writes `after [4, envs]`; returns what fell and what fell or is cut."""
        spin, change = state[3], self.change
        sin, cos = np.sin(state[2]), np.cos(state[2])
        push = actions * (20 / 1.1) - 10 / 1.1 + (0.05 / 1.1) * spin * spin * sin
        turn = (9.8 * sin - cos * push) / (2 / 3 - (0.05 / 1.1) * cos * cos)
        change[0::2] = state[1::2]
        change[1] = push - (0.05 / 1.1) * turn * cos
        change[3] = turn
        change *= 0.02
        np.add(state, change, after)
        self.ages += 1
        fallen = (np.abs(after[0::2]) > LIMITS).any(0)
        return fallen, fallen | (self.ages >= MAX_STEPS)

    def restart(self, state, done):
        self.ages[done] = 0
        shape = (4, np.count_nonzero(done))
        state[:, done] = self.random.uniform(-0.05, 0.05, shape)


@jax.jit
def draw(key):
    return jax.random.gumbel(key, (DRAWN, STEPS, ENVS, ACTIONS))


@jax.jit
def act(params, noise, state):
    return choose(layers_of(params), state.T, noise)


@jax.jit
def value(params, state):
    return values(layers_of(params), state.T)


@partial(jax.jit, donate_argnums=(0, 1))
def learn(params, optimized, rollout):
    observations = rollout[:, :4].swapaxes(1, 2)
    return update(
        params,
        optimized,
        observations[:-1],
        rollout[:-1, ACTION].astype(int),
        rollout[:-1, REWARD],
        rollout[:-1, GOING_ON] == 0,
        observations[-1],
    )


def end(env, rewards, after, ends, params):
    """Adds the values of what a limit cuts to rewards, and restarts what ended."""
    done, cut = ends
    if cut.any():
        rewards += GAMMA * cut * np.asarray(value(params, after))
    env.restart(after, done)


def measure(train, task):
    """Prints the steps per second of `train`, which takes steps and counts ends."""
    train(task["warmup"])
    rates = []
    taken = task["steps"] // (ENVS * STEPS) * ENVS * STEPS
    for _ in range(task["repeats"]):
        started = time.perf_counter()
        ended = train(taken)
        rates.append(taken / (time.perf_counter() - started))
        print(f"{taken} steps, {taken / max(ended, 1):.0f} to an episode")
    print(np.median(rates))


def main():
    noises = jax.random.key(task.get("seed", 0) + 1)
    params, optimized = START, optimizer.init(START)
    env = CartPole(task.get("seed", 0))
    rollout = np.zeros((STEPS + 1, ROWS, ENVS), np.float32)
    states, actions, rewards = rollout[:, :4], rollout[:, ACTION], rollout[:, REWARD]
    env.restart(states[-1], np.ones(ENVS, bool))
    updates = 0

    def train(steps):
        nonlocal params, optimized, noise, updates
        ended = 0
        for _ in range(steps // (ENVS * STEPS)):
            if updates % DRAWN == 0:
                noise = np.asarray(draw(jax.random.fold_in(noises, updates)))
            states[0] = states[-1]
            rewards.fill(1)
            for t, row in enumerate(noise[updates % DRAWN]):
                before, after = states[t], states[t + 1]
                actions[t] = act(params, row, before)
                fallen, done = env.step(before, actions[t], after)
                rollout[t, GOING_ON] = ~done
                if done.any():
                    end(env, rewards[t], after, (done, done & ~fallen), params)
                    ended += np.count_nonzero(done)
            params, optimized = learn(params, optimized, rollout)
            updates += 1
        return ended

    noise = None
    value(params, states[-1])
    measure(train, {"warmup": 8000, "steps": 48_000, "repeats": 5} | task)


if __name__ == "__main__":
    main()
