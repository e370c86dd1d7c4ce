"""Environment steps per second of A2C in PyTorch, CartPole on the device too.

On a GPU a rollout with its update is one CUDA graph. The work is that of
`jax_whole_a2c.py`.
"""
import json
import sys
import time
from statistics import median

import torch
import torch_graphs
from torch import nn
from torch.nn.functional import mse_loss

task = json.loads(sys.argv[1])
torch.set_num_threads(task.get("threads", 1))
torch.manual_seed(task.get("seed", 0))
torch_graphs.use(task.get("platform", "cpu"))
ENVS, STEPS = task.get("numEnvs", 16), task.get("numSteps", 5)
GAMMA, MAX_STEPS, ACTIONS = 0.99, 500, 2
LEARNING_RATE, DECAY, EPSILON, MAX_NORM = 2e-3, 0.99, 1e-5, 0.5


def mlp(outputs, gain):
    sizes = [(4, 64, 2**0.5), (64, 64, 2**0.5), (64, outputs, gain)]
    layers = []
    for inputs, size, gain in sizes:
        layer = nn.Linear(inputs, size)
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


policy, value = mlp(ACTIONS, 0.01), mlp(1, 1.0)
params = [*policy.parameters(), *value.parameters()]
# TensorFlow 1's RMSProp: the mean square starts at 1, epsilon is in the root.
squares = [torch.ones_like(it) for it in params]


def starts():
    return torch.rand(4, ENVS) * 0.1 - 0.05


env, ages = starts(), torch.zeros(ENVS, dtype=torch.int32)
ended = torch.zeros((), dtype=torch.int64)


def env_step(env, ages, actions):
    """Steps CartPole, columns of `env [4, envs]`; what ended starts anew."""
    position, velocity, angle, spin = env
    cos, sin = angle.cos(), angle.sin()
    push = (torch.where(actions == 1, 10.0, -10.0) + 0.05 * spin**2 * sin) / 1.1
    turn = (9.8 * sin - cos * push) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
    speedup = push - 0.05 * turn * cos / 1.1
    final = env + 0.02 * torch.stack([velocity, speedup, spin, turn])
    terminated = (final[0].abs() > 2.4) | (final[2].abs() > torch.pi / 15)
    ages = ages + 1
    truncated = (ages >= MAX_STEPS) & ~terminated
    done = terminated | truncated
    following = torch.where(done, starts(), final)
    return following, torch.where(done, 0, ages), final, done, truncated


@torch.no_grad()
def rollout():
    """Steps of all copies: observations, actions and returns of each."""
    now, age, steps = env, ages, []
    for _ in range(STEPS):
        noise = -torch.empty(ENVS, ACTIONS).exponential_().log()
        actions = (policy(now.T) + noise).argmax(-1)
        following, age, final, done, truncated = env_step(now, age, actions)
        # A time limit is no end: the last observation is valued.
        rewards = 1 + GAMMA * value(final.T).squeeze(-1) * truncated
        steps.append((now.T, actions, rewards, done))
        now = following
    after, returns = value(now.T).squeeze(-1), []
    for _, _, rewards, done in reversed(steps):
        after = rewards + GAMMA * after * ~done
        returns.insert(0, after)
    env.copy_(now)
    ages.copy_(age)
    ended.add_(sum(done.sum() for *_, done in steps))
    observations, actions, *_ = zip(*steps)
    return torch.cat(observations), torch.cat(actions), torch.cat(returns)


def iterate():
    """A rollout and an update."""
    observations, actions, returns = rollout()
    log_probs = policy(observations).log_softmax(-1)
    values = value(observations).squeeze(-1)
    chosen = log_probs.gather(1, actions[:, None]).squeeze(1)
    policy_loss = -(chosen * (returns - values.detach())).mean()
    entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
    loss = policy_loss - 0.01 * entropy + 0.5 * mse_loss(values, returns)
    gradients = list(torch.autograd.grad(loss, params))
    with torch.no_grad():
        norm = torch.nn.utils.get_total_norm(gradients, foreach=True)
        torch._foreach_mul_(gradients, (MAX_NORM / norm).clamp(max=1))
        torch._foreach_mul_(squares, DECAY)
        torch._foreach_addcmul_(squares, gradients, gradients, 1 - DECAY)
        roots = torch._foreach_add(squares, EPSILON)
        torch._foreach_sqrt_(roots)
        torch._foreach_addcdiv_(params, gradients, roots, -LEARNING_RATE)


def main():
    updates = max(1, task.get("steps", 48000) // (ENVS * STEPS))
    run, rates = torch_graphs.graph_of(iterate), []
    for _ in range(task.get("repeats", 5) + 1):
        ended.zero_()
        started = time.perf_counter()
        for _ in range(updates):
            run()
        torch_graphs.wait()
        taken = updates * ENVS * STEPS
        rates.append(taken / (time.perf_counter() - started))
        print(f"{taken} steps, {taken / max(int(ended), 1):.0f} to an episode")
    print(median(rates[1:]))


if __name__ == "__main__":
    main()
