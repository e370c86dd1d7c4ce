"""Steps a second of A3C on CartPole-v1 in PyTorch: as many processes as workers,
one environment each, Hogwild updates of shared parameters, windows of five steps.
"""
import json
import sys
import time

import gymnasium as gym
import torch
import torch.multiprocessing as mp
from torch import nn
from torch.distributions import Categorical

task = json.loads(sys.argv[1])
GAMMA, STEPS, LEARNING_RATE, DECAY, EPSILON = 0.99, 5, 7e-4, 0.99, 0.1


class Model(nn.Module):
    """Policy and value on one trunk of two layers of 64."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh()
        )
        self.policy, self.value = nn.Linear(64, 2), nn.Linear(64, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.policy(h), self.value(h).squeeze(-1)


def work(rank, shared, squares, count):
    """Acts and learns until all workers have taken their steps."""
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    model, env = Model(), gym.make("CartPole-v1")
    observation, _ = env.reset(seed=rank)
    steps = 0
    while steps < count:
        model.load_state_dict(shared.state_dict())
        log_probs, values, entropies, rewards = [], [], [], []
        terminated = truncated = False
        for _ in range(STEPS):
            logits, value = model(torch.from_numpy(observation))
            distribution = Categorical(logits=logits)
            action = distribution.sample()
            observation, reward, terminated, truncated, _ = env.step(action.item())
            log_probs.append(distribution.log_prob(action))
            entropies.append(distribution.entropy())
            values.append(value)
            rewards.append(reward)
            steps += 1
            if terminated or truncated:
                break
        with torch.no_grad():
            last = model(torch.from_numpy(observation))[1].item()
        returns, value = [], 0.0 if terminated else last
        for reward in reversed(rewards):
            value = reward + GAMMA * value
            returns.insert(0, value)
        advantages = torch.tensor(returns) - torch.stack(values)
        loss = (
            -(torch.stack(log_probs) * advantages.detach()).sum()
            + 0.5 * advantages.square().sum()
            - 0.01 * torch.stack(entropies).sum()
        )
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for param, square, gradient in zip(
                shared.parameters(), squares, gradients
            ):
                square.mul_(DECAY).addcmul_(gradient, gradient, value=1 - DECAY)
                param.addcdiv_(
                    gradient, (square + EPSILON).sqrt(), value=-LEARNING_RATE
                )
        if terminated or truncated:
            observation, _ = env.reset()


def run(workers, steps):
    """Seconds of so many steps, processes started before the clock is not."""
    shared = Model().share_memory()
    squares = [torch.zeros_like(it).share_memory_() for it in shared.parameters()]
    start = time.perf_counter()
    processes = [
        mp.Process(target=work, args=(rank, shared, squares, steps // workers))
        for rank in range(workers)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return time.perf_counter() - start


if __name__ == "__main__":
    few, many = task["warmup"], task["steps"]
    # Of two lengths the difference: starting processes does not count.
    short = run(task["workers"], few)
    print((many - few) / (run(task["workers"], many) - short))
