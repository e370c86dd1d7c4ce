"""Updates per processor second of BC, TD3+BC and IQL in PyTorch, in CORL's form.

One eager Adam step of each network after the other, batches drawn from tensors
of all steps; CORL itself needs packages that are not made any more.
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
torch.manual_seed(0)
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
        self.actor = torch.optim.Adam([*self.mean.parameters(), self.log_std], 3e-4)
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
        step(self.actor, -(weights * policy.log_prob(actions).sum(1)).mean())


def main():
    rows = [torch.randn(STEPS, OBSERVATION), torch.randn(STEPS, ACTION).tanh()]
    rows += [torch.randn(STEPS), torch.randn(STEPS, OBSERVATION), torch.zeros(STEPS)]
    learner = {"bc": BC, "td3+bc": TD3BC, "iql": IQL}[task["algorithm"]]()
    for i in range(-100, task["updates"]):
        if i == 0:
            started = time.process_time()
        chosen = torch.randint(STEPS, (BATCH,))
        learner.update(*(it[chosen] for it in rows))
    print(task["updates"] / (time.process_time() - started))


if __name__ == "__main__":
    main()
