"""Environment steps per second of PPO with jitted acting and jitted updating.

CartPole is batched NumPy on the host. What crosses into a jitted call is few
arrays, for each costs time: the parameters are one vector and a rollout is one
array, with rows for the state (4), the action, the logarithm of its
probability, the value, the reward and whether the episode goes on.
"""
import sys
from functools import partial

sys.dont_write_bytecode = True

from jax_host_a2c import CartPole, end, measure, value  # noqa: E402
from jax_whole_a2c import (  # noqa: E402
    ACTIONS,
    ENVS,
    START,
    STEPS,
    jax,
    jnp,
    layers_of,
    np,
    task,
    values,
)
import jax_ppo  # noqa: E402

ACTION, REWARD, GOING_ON, ROWS = 4, 7, 8, 9


@jax.jit
def draw(key):
    return jax.random.gumbel(key, (STEPS, ENVS, ACTIONS))


@jax.jit
def act(params, noise, state):
    return jnp.stack(jax_ppo.act(layers_of(params), state.T, noise))


@partial(jax.jit, donate_argnums=(0, 1))
def learn(params, optimized, key, rollout):
    observations = rollout[:, :4].swapaxes(1, 2)
    taken = rollout[:-1]
    return jax_ppo.update(
        params,
        optimized,
        key,
        (
            observations[:-1],
            taken[:, ACTION].astype(int),
            taken[:, ACTION + 1],
            taken[:, ACTION + 2],
            taken[:, REWARD],
            taken[:, GOING_ON] == 0,
        ),
        values(layers_of(params), observations[-1]),
    )


def main():
    keys = jax.random.key(task.get("seed", 0) + 1)
    params, optimized = START, jax_ppo.optimizer.init(START)
    env = CartPole(task.get("seed", 0))
    rollout = np.zeros((STEPS + 1, ROWS, ENVS), np.float32)
    states, rewards = rollout[:, :4], rollout[:, REWARD]
    env.restart(states[-1], np.ones(ENVS, bool))
    updates = 0

    def train(steps):
        nonlocal params, optimized, updates
        ended = 0
        for _ in range(steps // (ENVS * STEPS)):
            noises, order = jax.random.split(jax.random.fold_in(keys, updates))
            states[0] = states[-1]
            rewards.fill(1)
            for t, row in enumerate(np.asarray(draw(noises))):
                before, after = states[t], states[t + 1]
                rollout[t, ACTION:REWARD] = act(params, row, before)
                fallen, done = env.step(before, rollout[t, ACTION], after)
                rollout[t, GOING_ON] = ~done
                if done.any():
                    end(env, rewards[t], after, (done, done & ~fallen), params)
                    ended += np.count_nonzero(done)
            params, optimized = learn(params, optimized, order, rollout)
            updates += 1
        return ended

    value(params, states[-1])
    measure(train, {"warmup": 16_384, "steps": 65_536, "repeats": 3} | task)


if __name__ == "__main__":
    main()
