"""Milliseconds of an A2C update of the Nature CNN in PyTorch, and of acting.

An update takes 80 frames, acting 16. Eager runs with either memory format and
the better one counts; torch.compile is reported beside them where it works.
With a platform, an update is a CUDA graph where that is a GPU, and its batch is
sent at each.
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
ACTIONS, BATCH, ENVS = 6, task.get("rows", 80), 16
LEARNING_RATE, DECAY, EPSILON, MAX_NORM = 7e-4, 0.99, 1e-5, 0.5


class Nature(nn.Module):
    """Policy and value on one trunk; takes frames `[batch, 84, 84, 4]` uint8."""

    def __init__(self, memory_format):
        super().__init__()
        self.memory_format = memory_format
        self.trunk = nn.Sequential(
            nn.Conv2d(4, 32, 8, 4),
            nn.ReLU(),
            nn.Conv2d(32, 64, 4, 2),
            nn.ReLU(),
            nn.Conv2d(64, 64, 3, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(64 * 7 * 7, 512),
            nn.ReLU(),
        )
        self.policy, self.value = nn.Linear(512, ACTIONS), nn.Linear(512, 1)
        self.to(memory_format=memory_format)

    def forward(self, frames):
        x = frames.permute(0, 3, 1, 2).to(
            torch.float32, memory_format=self.memory_format
        )
        x = self.trunk(x.mul_(1 / 255))
        return self.policy(x), self.value(x).squeeze(-1)


def loss_of(model, frames, actions, returns):
    logits, values = model(frames)
    log_probs = logits.log_softmax(-1)
    advantages = returns - values.detach()
    chosen = log_probs.gather(1, actions[:, None]).squeeze(1)
    entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
    policy_loss = -(advantages * chosen).mean()
    return policy_loss - 0.01 * entropy + 0.5 * mse_loss(values, returns)


class RMSPropTF1:
    """TensorFlow 1's: mean squares start at 1, epsilon is inside the root."""

    def __init__(self, params):
        self.params = params
        self.squares = [torch.ones_like(it) for it in params]

    @torch.no_grad()
    def step(self, gradients):
        norm = torch.nn.utils.get_total_norm(gradients, foreach=True)
        torch._foreach_mul_(gradients, (MAX_NORM / norm).clamp(max=1))
        torch._foreach_mul_(self.squares, DECAY)
        torch._foreach_addcmul_(self.squares, gradients, gradients, 1 - DECAY)
        roots = torch._foreach_add(self.squares, EPSILON)
        torch._foreach_sqrt_(roots)
        torch._foreach_addcdiv_(self.params, gradients, roots, -LEARNING_RATE)


def milliseconds(function, repeats):
    for _ in range(5):
        function()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        times.append((time.perf_counter() - started) * 1000)
    return median(times)


def measure(memory_format, repeats, compiled=False):
    """Milliseconds of an update and of a forward pass."""
    model = Nature(memory_format)
    params = list(model.parameters())
    optimizer = RMSPropTF1(params)
    loss = torch.compile(loss_of) if compiled else loss_of
    step = torch.compile(optimizer.step) if compiled else optimizer.step
    forward = torch.compile(model) if compiled else model
    frames = torch.randint(256, (BATCH, 84, 84, 4), dtype=torch.uint8)
    actions, returns = torch.randint(ACTIONS, (BATCH,)), torch.randn(BATCH)

    def update(*batch):
        step(list(torch.autograd.grad(loss(model, *batch), params)))

    batch = frames, actions, returns
    if "platform" in task:
        return torch_graphs.update_ms(update, batch, repeats), 0

    @torch.inference_mode()
    def act():
        forward(frames[:ENVS])

    return (
        milliseconds(lambda: update(*batch), repeats),
        milliseconds(act, 4 * repeats),
    )


def main():
    repeats = task.get("repeats", 30)
    formats = torch.contiguous_format, torch.channels_last
    updates, forwards = zip(*(measure(it, repeats) for it in formats))
    result = {"update_ms": min(updates), "forward_ms": min(forwards)}
    if "platform" in task:
        return print(json.dumps({"update_ms": min(updates)}))
    if not task.get("compile", True):
        return print(json.dumps(result))
    try:
        updates, forwards = zip(*(measure(it, repeats, True) for it in formats))
    except Exception as error:  # no compiler here
        print(f"torch.compile does not work: {error}", file=sys.stderr)
    else:
        result["compiled_update_ms"] = min(updates)
        result["compiled_forward_ms"] = min(forwards)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
