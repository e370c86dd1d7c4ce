"""BC, TD3+BC and IQL in PyTorch, in CORL's form: updates per processor second, or
how well they learn from a folder of Minari.

One eager Adam step of each network after the other, batches drawn from tensors
of all steps; CORL itself needs packages that are not made any more. The task is
such as `{"algorithm": "iql", "updates": 600}`, or, to learn and be evaluated,
`{"algorithm": "iql", "updates": 6000, "data": "folder", "env": "Pendulum-v1",
"seed": 0, "episodes": 20}`. Actions are scaled to [-1, 1].
"""
import copy
import json
import sys
import time

import torch
from torch import nn
from torch.nn.functional import mse_loss

task = {"algorithm": "bc", "updates": 600} | json.loads(sys.argv[1])
torch.set_num_threads(1)
torch.manual_seed(task.get("seed", 0))
OBSERVATION, ACTION, HIDDEN, BATCH, STEPS = 17, 6, 256, 256, 20_000
GAMMA, TAU = 0.99, 0.005


def mlp(inputs, outputs, last=None):
    layers = [nn.Linear(inputs, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN)]
    layers += [nn.ReLU(), nn.Linear(HIDDEN, outputs)]
    return nn.Sequential(*layers, *([last] if last else []))


def adam(module):
    return torch.optim.Adam(module.parameters(), 3e-4)


class Twins(nn.Module):
    def __init__(self):
        super().__init__()
        self.both = nn.ModuleList(mlp(OBSERVATION + ACTION, 1) for _ in range(2))

    def forward(self, observations, actions):
        x = torch.cat([observations, actions], 1)
        return [q(x).squeeze(-1) for q in self.both]


def step(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def mix(target, source):
    for old, new in zip(target.parameters(), source.parameters()):
        old.data.copy_(TAU * new.data + (1 - TAU) * old.data)


class BC:
    def __init__(self):
        self.actor = mlp(OBSERVATION, ACTION, nn.Tanh())
        self.optimizer = adam(self.actor)

    def update(self, seen, actions, *_):
        step(self.optimizer, mse_loss(self.actor(seen), actions))


class TD3BC:
    def __init__(self):
        self.actor, self.critics = mlp(OBSERVATION, ACTION, nn.Tanh()), Twins()
        self.targets = copy.deepcopy(self.actor), copy.deepcopy(self.critics)
        self.optimizers = adam(self.actor), adam(self.critics)
        self.count = 0

    def update(self, seen, actions, rewards, following, ended):
        self.count += 1
        actor, critics = self.targets
        with torch.no_grad():
            noise = (torch.randn_like(actions) * 0.2).clamp(-0.5, 0.5)
            best = torch.minimum(
                *critics(following, (actor(following) + noise).clamp(-1, 1))
            )
            wanted = rewards + (1 - ended) * GAMMA * best
        q1, q2 = self.critics(seen, actions)
        step(self.optimizers[1], mse_loss(q1, wanted) + mse_loss(q2, wanted))
        if self.count % 2:
            return
        taken = self.actor(seen)
        q = self.critics.both[0](torch.cat([seen, taken], 1))
        scale = 2.5 / q.abs().mean().detach()
        step(self.optimizers[0], -scale * q.mean() + mse_loss(taken, actions))
        mix(self.targets[0], self.actor)
        mix(self.targets[1], self.critics)


class IQL:
    def __init__(self):
        self.mean = mlp(OBSERVATION, ACTION, nn.Tanh())
        self.log_std = nn.Parameter(torch.zeros(ACTION))
        self.critics, self.value = Twins(), mlp(OBSERVATION, 1)
        self.target = copy.deepcopy(self.critics)
        self.optimizer = torch.optim.Adam([*self.mean.parameters(), self.log_std], 3e-4)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
            self.optimizer, task["updates"]
        )
        self.others = adam(self.critics), adam(self.value)

    def update(self, seen, actions, rewards, following, ended):
        with torch.no_grad():
            best = torch.minimum(*self.target(seen, actions))
            after = self.value(following).squeeze(-1)
        ahead = best - self.value(seen).squeeze(-1)
        loss = ((0.7 - (ahead < 0).float()).abs() * ahead**2).mean()
        step(self.others[1], loss)
        wanted = rewards + (1 - ended) * GAMMA * after
        errors = [mse_loss(q, wanted) for q in self.critics(seen, actions)]
        step(self.others[0], sum(errors) / 2)
        mix(self.target, self.critics)
        weights = (3 * ahead.detach()).exp().clamp(max=100)
        deviation = self.log_std.clamp(-20, 2).exp()
        policy = torch.distributions.Normal(self.mean(seen), deviation)
        step(self.optimizer, -(weights * policy.log_prob(actions).sum(1)).mean())
        self.schedule.step()

    def actor(self, seen):
        return self.mean(seen)


LEARNERS = {"bc": BC, "td3+bc": TD3BC, "iql": IQL}


def update(learner, rows):
    chosen = torch.randint(len(rows[0]), (BATCH,))
    learner.update(*(it[chosen] for it in rows))


def measure():
    rows = [torch.randn(STEPS, OBSERVATION), torch.randn(STEPS, ACTION).tanh()]
    rows += [torch.randn(STEPS), torch.randn(STEPS, OBSERVATION), torch.zeros(STEPS)]
    learner = LEARNERS[task["algorithm"]]()
    for i in range(-100, task["updates"]):
        if i == 0:
            started = time.process_time()
        update(learner, rows)
    print(task["updates"] / (time.process_time() - started))


def read(folder, low, high):
    """Rows of all episodes, and mean and deviation of the observations."""
    import h5py
    import numpy as np

    parts, returns = [], []
    with h5py.File(f"{folder}/data/main_data.hdf5") as file:
        for episode in file.values():
            seen = episode["observations"][:]
            rewards = episode["rewards"][:]
            actions = 2 * (episode["actions"][:] - low) / (high - low) - 1
            ends = episode["terminations"][:]
            parts.append((seen[:-1], actions, rewards, seen[1:], ends))
            returns.append(rewards.sum())
    rows = [np.concatenate(it).astype(np.float32) for it in zip(*parts)]
    mean, deviation = rows[0].mean(0), rows[0].std(0) + 1e-3
    for i in (0, 3):
        rows[i] = (rows[i] - mean) / deviation
    if task["algorithm"] == "iql":
        rows[2] *= 1000 / (max(returns) - min(returns))
    return [torch.from_numpy(it) for it in rows], mean, deviation


def learn():
    import gymnasium

    global OBSERVATION, ACTION
    env = gymnasium.make(task["env"])
    low, high = env.action_space.low, env.action_space.high
    rows, mean, deviation = read(task["data"], low, high)
    OBSERVATION, ACTION = rows[0].shape[1], rows[1].shape[1]
    learner = LEARNERS[task["algorithm"]]()
    for _ in range(task["updates"]):
        update(learner, rows)
    total = 0
    for episode in range(task["episodes"]):
        seen, _ = env.reset(seed=10_000 + episode)
        ended = False
        while not ended:
            row = torch.tensor((seen - mean) / deviation, dtype=torch.float32)
            with torch.no_grad():
                action = learner.actor(row[None])[0].clamp(-1, 1).numpy()
            seen, reward, terminated, truncated, _ = env.step(
                low + (action + 1) / 2 * (high - low)
            )
            total += float(reward)
            ended = terminated or truncated
    print(total / task["episodes"])


def main():
    learn() if "data" in task else measure()


if __name__ == "__main__":
    main()
