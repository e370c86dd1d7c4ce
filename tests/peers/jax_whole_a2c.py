"""Environment steps per second of A2C wholly in JAX, in the style of purejaxrl.

CartPole, acting and updating are one jitted program; `jax_host_a2c.py` takes
the network and the update from here.
"""
import json
import os
import sys
import time

task = json.loads(sys.argv[1])
threads = task.get("threads", 1)
os.environ["XLA_FLAGS"] = (
    f"--xla_cpu_multi_thread_eigen={str(threads > 1).lower()} "
    f"intra_op_parallelism_threads={threads}"
)
os.environ["OMP_NUM_THREADS"] = os.environ["NPROC"] = str(threads)
os.environ["JAX_PLATFORMS"] = task.get("platform", "cpu")

import jax  # noqa: E402 -- the lines above must come first
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402
from jax.flatten_util import ravel_pytree  # noqa: E402

# A program runs in the caller's thread; handing it to another one costs more.
jax.config.update("jax_cpu_enable_async_dispatch", False)

ENVS, STEPS = task.get("numEnvs", 16), task.get("numSteps", 5)
GAMMA, MAX_STEPS, ACTIONS = 0.99, 500, 2

optimizer = optax.chain(
    optax.clip_by_global_norm(0.5),
    # TensorFlow 1's: the mean square starts at 1, epsilon is inside the root.
    optax.rmsprop(
        task.get("learningRate", 2e-3),
        decay=0.99,
        eps=1e-5,
        initial_scale=1.0,
        eps_in_sqrt=True,
    ),
)


def init(key):
    """The layers of both networks."""
    def layers(key, scale, outputs):
        sizes = [(4, 64, 2**0.5), (64, 64, 2**0.5), (64, outputs, scale)]
        return [
            (jax.nn.initializers.orthogonal(gain)(k, (a, b)), jnp.zeros(b))
            for k, (a, b, gain) in zip(jax.random.split(key, 3), sizes)
        ]

    policy, value = jax.random.split(key)
    return {"policy": layers(policy, 0.01, ACTIONS), "value": layers(value, 1.0, 1)}


# All parameters are one vector, which saves the optimizer's many small loops.
START, layers_of = ravel_pytree(init(jax.random.key(task.get("seed", 0))))


def mlp(layers, x):
    for weight, bias in layers[:-1]:
        x = jnp.tanh(x @ weight + bias)
    weight, bias = layers[-1]
    return x @ weight + bias


def values(layers, observations):
    return mlp(layers["value"], observations)[..., 0]


def choose(layers, observations, noise):
    """Samples an action each, by Gumbel noise `[envs, actions]`."""
    return jnp.argmax(mlp(layers["policy"], observations) + noise, -1)


def loss(params, observations, actions, returns):
    layers = layers_of(params)
    log_probs = jax.nn.log_softmax(mlp(layers["policy"], observations))
    errors = returns - values(layers, observations)
    chosen = jnp.take_along_axis(log_probs, actions[:, None], 1)[:, 0]
    policy_loss = -(chosen * jax.lax.stop_gradient(errors)).mean()
    entropy = -(jnp.exp(log_probs) * log_probs).sum(-1).mean()
    return policy_loss - 0.01 * entropy + 0.5 * (errors**2).mean()


def update(params, state, observations, actions, rewards, dones, last):
    """One step from a rollout `[steps, envs]` and the observations after it."""
    following, returns = values(layers_of(params), last), []
    for t in reversed(range(STEPS)):
        following = rewards[t] + GAMMA * following * ~dones[t]
        returns.insert(0, following)
    gradients = jax.grad(loss)(
        params,
        observations.reshape(-1, 4),
        actions.reshape(-1),
        jnp.concatenate(returns),
    )
    steps, state = optimizer.update(gradients, state)
    return optax.apply_updates(params, steps), state


def env_step(env, ages, actions, starts):
    """Steps CartPole, columns of `env [4, envs]`; `starts` replace what ended."""
    position, velocity, angle, spin = env
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    push = (jnp.where(actions == 1, 10.0, -10.0) + 0.05 * spin**2 * sin) / 1.1
    turn = (9.8 * sin - cos * push) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
    speedup = push - 0.05 * turn * cos / 1.1
    final = env + 0.02 * jnp.stack([velocity, speedup, spin, turn])
    terminated = (jnp.abs(final[0]) > 2.4) | (jnp.abs(final[2]) > np.pi / 15)
    ages = ages + 1
    truncated = (ages >= MAX_STEPS) & ~terminated
    done = terminated | truncated
    env, ages = jnp.where(done, starts, final), jnp.where(done, 0, ages)
    return env, ages, final, done, truncated


def iterate(carry, random):
    """A rollout and an update; returns how many episodes ended."""
    params, state, env, ages = carry
    layers = layers_of(params)
    noise, starts, _ = random

    def step(carry, random):
        env, ages = carry
        noise, starts = random
        actions = choose(layers, env.T, noise)
        stepped, ages, final, done, truncated = env_step(env, ages, actions, starts)
        return (stepped, ages), (env.T, actions, final.T, done, truncated)

    (env, ages), rollout = jax.lax.scan(step, (env, ages), (noise, starts))
    observations, actions, finals, dones, truncated = rollout
    # Time limits are seldom reached: mostly there is nothing to evaluate.
    rewards = 1 + jax.lax.cond(
        truncated.any(),
        lambda: GAMMA * values(layers, finals) * truncated,
        lambda: jnp.zeros((STEPS, ENVS)),
    )
    params, state = update(
        params, state, observations, actions, rewards, dones, env.T
    )
    return (params, state, env, ages), dones.sum()


def main(iterate, optimizer):
    """Prints the steps per second of rollouts and updates."""
    updates = max(1, task.get("steps", 48000) // (ENVS * STEPS))

    def train(carry, key):
        # Drawn at once, random numbers cost less.
        noises, starts, learning = jax.random.split(key, 3)
        noise = jax.random.gumbel(noises, (updates, STEPS, ENVS, ACTIONS))
        shape = (updates, STEPS, 4, ENVS)
        reset = jax.random.uniform(starts, shape, minval=-0.05, maxval=0.05)
        keys = jax.random.split(learning, updates)
        carry, ended = jax.lax.scan(iterate, carry, (noise, reset, keys))
        return carry, ended.sum()

    env, *keys = jax.random.split(
        jax.random.key(task.get("seed", 0) + 1), 2 + task.get("repeats", 5)
    )
    start = jax.random.uniform(env, (4, ENVS), minval=-0.05, maxval=0.05)
    carry = (START, optimizer.init(START), start, jnp.zeros(ENVS, jnp.int32))
    train = jax.jit(train, donate_argnums=0).lower(carry, keys[0]).compile()
    taken, rates = updates * STEPS * ENVS, []
    for key in keys:
        started = time.perf_counter()
        carry, ended = jax.block_until_ready(train(carry, key))
        rates.append(taken / (time.perf_counter() - started))
        print(f"{taken} steps, {taken / max(int(ended), 1):.0f} to an episode")
    print(np.median(rates[1:]))


if __name__ == "__main__":
    main(iterate, optimizer)
