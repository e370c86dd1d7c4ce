"""Environment steps per second of PPO wholly in JAX, in the style of purejaxrl.

CartPole, acting and updating are one jitted program.
"""
import sys

sys.dont_write_bytecode = True

from jax_whole_a2c import (  # noqa: E402 -- the line above must come first
    ENVS,
    GAMMA,
    STEPS,
    env_step,
    jax,
    jnp,
    layers_of,
    main,
    values,
)
import jax_ppo  # noqa: E402


def iterate(carry, random):
    """A rollout and an update; returns how many episodes ended."""
    params, state, env, ages = carry
    layers = layers_of(params)
    noise, starts, key = random

    def step(carry, random):
        env, ages = carry
        noise, starts = random
        actions, log_probs, valued = jax_ppo.act(layers, env.T, noise)
        stepped, ages, final, done, truncated = env_step(env, ages, actions, starts)
        return (stepped, ages), (
            (env.T, actions, log_probs, valued, done),
            (final.T, truncated),
        )

    (env, ages), (rollout, (finals, truncated)) = jax.lax.scan(
        step, (env, ages), (noise, starts)
    )
    *acted, dones = rollout
    # Time limits are seldom reached: mostly there is nothing to evaluate.
    rewards = 1 + jax.lax.cond(
        truncated.any(),
        lambda: GAMMA * values(layers, finals) * truncated,
        lambda: jnp.zeros((STEPS, ENVS)),
    )
    last = values(layers, env.T)
    params, state = jax_ppo.update(
        params, state, key, (*acted, rewards, dones), last
    )
    return (params, state, env, ages), dones.sum()


if __name__ == "__main__":
    main(iterate, jax_ppo.optimizer)
