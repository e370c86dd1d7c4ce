"""Milliseconds of a SAC update in PyTorch: critics, actor, temperature, targets.

Eager runs with the twin critics apart and as one batched product, and with
either of Adam's fast forms; the best counts. torch.compile is reported beside
it where it works. With a platform, an update is a CUDA graph where that is a
GPU, and its batch is sent at each.
"""
import itertools
import json
import math
import sys
import time
from statistics import median

import torch
import torch_graphs
from torch.nn.functional import mse_loss, softplus

task = json.loads(sys.argv[1])
torch.set_num_threads(task.get("threads", 1))
torch.manual_seed(task.get("seed", 0))
torch_graphs.use(task.get("platform", "cpu"))
OBSERVATION, ACTION, HIDDEN, BATCH = 17, 6, 256, 256
GAMMA, POLYAK, LEARNING_RATE, TARGET_ENTROPY = 0.99, 0.005, 3e-4, -float(ACTION)
LAYOUTS = "apart", "batched"


def layers(inputs, outputs, copies=()):
    """Weights and biases of an MLP, or of `copies` of it in one."""
    sizes = [inputs, HIDDEN, HIDDEN, outputs]
    made = []
    for a, b in itertools.pairwise(sizes):
        bias = (*copies, 1, b) if copies else (b,)
        for shape in ((*copies, a, b), bias):
            bound = 1 / math.sqrt(a)
            made.append(torch.empty(shape).uniform_(-bound, bound).requires_grad_())
    return made


def mlp(params, x):
    for i in range(0, len(params), 2):
        linear = torch.baddbmm if x.dim() == 3 else torch.addmm
        x = linear(params[i + 1], x, params[i])
        if i + 2 < len(params):
            x = x.relu_()
    return x


class SAC:
    """The parameters and the update; `twins` says how the critics are laid."""

    def __init__(self, twins, adam):
        self.batched = twins == "batched"
        inputs = OBSERVATION + ACTION
        self.actor = layers(OBSERVATION, 2 * ACTION)
        self.critics = (
            layers(inputs, 1, (2,))
            if self.batched
            else layers(inputs, 1) + layers(inputs, 1)
        )
        self.targets = [it.detach().clone() for it in self.critics]
        self.log_alpha = torch.zeros((), requires_grad=True)
        self.optimizers = [
            # In a graph, the number of the step is a tensor.
            torch.optim.Adam(
                it, LEARNING_RATE, capturable=it[0].is_cuda, **{adam: True}
            )
            for it in (self.critics, self.actor, [self.log_alpha])
        ]

    def values(self, params, observations, actions):
        x = torch.cat([observations, actions], 1)
        if self.batched:
            return mlp(params, x.expand(2, -1, -1)).squeeze(-1).unbind()
        half = len(params) // 2
        return tuple(mlp(it, x).squeeze(-1) for it in (params[:half], params[half:]))

    def sample(self, observations):
        """Actions of the tanh-Gaussian policy and their log-probabilities."""
        mean, log_std = mlp(self.actor, observations).chunk(2, 1)
        log_std = log_std.clamp(-20, 2)
        noise = torch.randn_like(mean)
        raw = mean + log_std.exp() * noise
        # log(1 - tanh(x)^2) = 2 (log 2 - x - softplus(-2 x))
        log_prob = -0.5 * noise**2 - log_std + 2 * (raw + softplus(-2 * raw))
        shift = ACTION * (0.5 * math.log(2 * math.pi) + 2 * math.log(2))
        return raw.tanh(), log_prob.sum(1) - shift

    def wanted(self, rewards, going_on, following):
        actions, log_probs = self.sample(following)
        value = torch.minimum(*self.values(self.targets, following, actions))
        value = value - self.log_alpha.exp() * log_probs
        return rewards + GAMMA * going_on * value

    def critic_loss(self, observations, actions, wanted):
        first, second = self.values(self.critics, observations, actions)
        return mse_loss(first, wanted) + mse_loss(second, wanted)

    def actor_loss(self, observations):
        actions, log_probs = self.sample(observations)
        value = torch.minimum(*self.values(self.critics, observations, actions))
        loss = (self.log_alpha.detach().exp() * log_probs - value).mean()
        return loss, log_probs.detach().mean()

    def compile(self):
        # Not the optimizers: the fused Adam is one kernel already.
        for name in ("wanted", "critic_loss", "actor_loss"):
            setattr(self, name, torch.compile(getattr(self, name), dynamic=False))

    def update(self, observations, actions, rewards, going_on, following):
        critic, actor, temperature = self.optimizers
        with torch.no_grad():
            wanted = self.wanted(rewards, going_on, following)
        loss = self.critic_loss(observations, actions, wanted)
        self.descend(critic, loss, self.critics)
        # Of the actor's loss, none of the critics' weights' gradients are made.
        loss, log_prob = self.actor_loss(observations)
        self.descend(actor, loss, self.actor)
        loss = -self.log_alpha * (log_prob + TARGET_ENTROPY)
        self.descend(temperature, loss, [self.log_alpha])
        with torch.no_grad():
            torch._foreach_lerp_(self.targets, self.critics, POLYAK)

    def descend(self, optimizer, loss, params):
        for param, gradient in zip(params, torch.autograd.grad(loss, params)):
            param.grad = gradient
        optimizer.step()


def measure(twins, adam, repeats, compiled=False):
    sac = SAC(twins, adam)
    if compiled:
        sac.compile()
    batch = (
        torch.randn(BATCH, OBSERVATION),
        torch.rand(BATCH, ACTION) * 2 - 1,
        torch.randn(BATCH),
        torch.ones(BATCH),
        torch.randn(BATCH, OBSERVATION),
    )
    if "platform" in task:
        return torch_graphs.update_ms(sac.update, batch, repeats)
    for _ in range(20):
        sac.update(*batch)
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        sac.update(*batch)
        times.append((time.perf_counter() - started) * 1000)
    return median(times)


def main():
    repeats = task.get("repeats", 200)
    kinds = list(itertools.product(LAYOUTS, ("foreach", "fused")))
    result = {"update_ms": min(measure(*kind, repeats) for kind in kinds)}
    if not task.get("compile", True):
        return print(json.dumps(result))
    try:
        times = [measure(it, "fused", repeats, True) for it in LAYOUTS]
        result["compiled_update_ms"] = min(times)
    except Exception as error:  # no compiler here
        print(f"torch.compile does not work: {error}", file=sys.stderr)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
