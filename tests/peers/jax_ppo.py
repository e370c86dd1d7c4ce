"""PPO's update in JAX, in the style of purejaxrl.

The networks and the environment are those of `jax_whole_a2c.py`.
"""
import jax_whole_a2c as base
import optax
from jax_whole_a2c import ENVS, GAMMA, START, STEPS, jax, jnp, layers_of, task

LAMBDA, CLIP = 0.95, 0.2
EPOCHS, MINIBATCHES = task.get("epochs", 4), task.get("minibatches", 4)
ROWS = ENVS * STEPS

optimizer = optax.chain(
    optax.clip_by_global_norm(0.5),
    optax.adam(task.get("learningRate", 3e-4), eps=1e-5),
)


def log_prob(logits, actions):
    return jnp.take_along_axis(
        jax.nn.log_softmax(logits), actions[..., None], -1
    )[..., 0]


def act(layers, observations, noise):
    """Actions, the logarithms of their probabilities, and values."""
    logits = base.mlp(layers["policy"], observations)
    actions = jnp.argmax(logits + noise, -1)
    return actions, log_prob(logits, actions), base.values(layers, observations)


def loss(params, observations, actions, old, advantages, returns):
    layers = layers_of(params)
    log_probs = jax.nn.log_softmax(base.mlp(layers["policy"], observations))
    chosen = jnp.take_along_axis(log_probs, actions[:, None], 1)[:, 0]
    ratio = jnp.exp(chosen - old)
    scale = advantages.std(ddof=1) + 1e-8
    advantages = (advantages - advantages.mean()) / scale
    clipped = jnp.clip(ratio, 1 - CLIP, 1 + CLIP)
    policy_loss = -jnp.minimum(ratio * advantages, clipped * advantages).mean()
    value_loss = ((base.values(layers, observations) - returns) ** 2).mean()
    entropy = -(jnp.exp(log_probs) * log_probs).sum(-1).mean()
    return policy_loss - 0.01 * entropy + 0.5 * value_loss


def update(params, state, key, rollout, last):
    """All epochs of a rollout `[steps, envs]`; `last` values what comes after."""
    observations, actions, old, values, rewards, dones = rollout

    def advantage(carry, row):
        following, ahead = carry
        value, reward, done = row
        delta = reward + GAMMA * following * ~done - value
        ahead = delta + GAMMA * LAMBDA * ahead * ~done
        return (value, ahead), ahead

    _, advantages = jax.lax.scan(
        advantage,
        (last, jnp.zeros_like(last)),
        (values, rewards, dones),
        reverse=True,
    )
    batch = jax.tree.map(
        lambda x: x.reshape(ROWS, *x.shape[2:]),
        (observations, actions, old, advantages, advantages + values),
    )

    def epoch(carry, key):
        order = jax.random.permutation(key, ROWS).reshape(MINIBATCHES, -1)

        def step(carry, rows):
            params, state = carry
            gradients = jax.grad(loss)(params, *(x[rows] for x in batch))
            steps, state = optimizer.update(gradients, state)
            return (optax.apply_updates(params, steps), state), None

        return jax.lax.scan(step, carry, order)

    keys = jax.random.split(key, EPOCHS)
    (params, state), _ = jax.lax.scan(epoch, (params, state), keys)
    return params, state


__all__ = ["START", "act", "optimizer", "update"]
