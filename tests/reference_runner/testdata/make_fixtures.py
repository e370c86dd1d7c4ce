"""Makes tests/reference/*_more.json: further cases in the form of the fixtures
there. Networks with layer normalization are in float64 with PyTorch's gradients,
screens by OpenCV 5.0 on x86-64. Needs torch, numpy and opencv-python.

    python tests/reference_runner/testdata/make_fixtures.py
"""

import json
import math
import os

import cv2
import numpy as np
import torch

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../reference")
torch.set_default_dtype(torch.float64)


def digits(value):
    """Nested lists of numbers with 12 significant digits."""
    if isinstance(value, torch.Tensor):
        value = value.detach().numpy()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list):
        return [digits(it) for it in value]
    return value if isinstance(value, (int, bool)) else float(f"{value:.12g}")


# baselines/a2c/utils.py (lnlstm) and baselines/a2c/a2c.py


def layer_norm(x, gain, bias):
    mean = x.mean(1, keepdim=True)
    variance = ((x - mean) ** 2).mean(1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + 1e-5) * gain + bias


def recurrent(p, x, masks, state, kind):
    """x [nenv, T, nin], masks [nenv, T], state [nenv, 2 nh]; gives [nenv, T, nh]."""
    nh = state.shape[1] // 2
    c, h = state[:, :nh], state[:, nh:]
    outputs = []
    get = lambda name: p[f"pi/{kind}/{name}"]
    for t in range(x.shape[1]):
        keep = 1 - masks[:, t : t + 1]
        c, h = c * keep, h * keep
        from_x, from_h = x[:, t] @ get("wx"), h @ get("wh")
        if kind == "lnlstm":
            from_x = layer_norm(from_x, get("gx"), get("bx"))
            from_h = layer_norm(from_h, get("gh"), get("bh"))
        i, f, o, u = torch.split(from_x + from_h + get("b"), nh, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(u)
        shown = layer_norm(c, get("gc"), get("bc")) if kind == "lnlstm" else c
        h = torch.sigmoid(o) * torch.tanh(shown)
        outputs.append(h)
    return torch.stack(outputs, 1)


def shapes(kind, no, nh, na):
    cell = {"wx": (no, 4 * nh), "wh": (nh, 4 * nh), "b": (4 * nh,)}
    if kind == "lnlstm":
        cell |= {"gx": (4 * nh,), "bx": (4 * nh,), "gh": (4 * nh,), "bh": (4 * nh,)}
        cell |= {"gc": (nh,), "bc": (nh,)}
    heads = {"pi/w": (nh, na), "pi/b": (na,), "vf/w": (nh, 1), "vf/b": (1,)}
    return {f"pi/{kind}/{name}": it for name, it in cell.items()} | heads


SCHEDULES = {
    "constant": lambda p: 1.0,
    "linear": lambda p: 1 - p,
    "middle_drop": lambda p: 1 - p if 1 - p >= 0.75 else 0.075,
}


def update_case(name, kind, random, hparams, no, nh, na):
    h = {
        "nenvs": 2,
        "nsteps": 4,
        "ent_coef": 0.01,
        "vf_coef": 0.5,
        "max_grad_norm": 0.5,
        "lr": 0.001,
        "alpha": 0.99,
        "epsilon": 1e-5,
        "total_timesteps": 64,
        "lrschedule": "linear",
    } | hparams
    samples = h["nenvs"] * h["nsteps"]
    exact = lambda *shape: np.round(random.normal(0, 0.7, shape) * 256) / 256
    params = {it: torch.tensor(exact(*s)) for it, s in shapes(kind, no, nh, na).items()}
    rms = {it: torch.ones_like(v) for it, v in params.items()}
    given = {it: digits(v) for it, v in params.items()}
    batches, after = [], []
    for k in range(3):
        n = k * samples + samples - 1
        rate = h["lr"] * SCHEDULES[h["lrschedule"]](n / h["total_timesteps"])
        obs, states = exact(samples, no), exact(h["nenvs"], 2 * nh)
        returns, values = exact(samples), exact(samples)
        actions = random.integers(0, na, samples)
        masks = (random.random(samples) < 0.3).astype(float)
        batches.append(
            {
                "obs": obs.tolist(),
                "actions": actions.tolist(),
                "returns": returns.tolist(),
                "values": values.tolist(),
                "masks": masks.tolist(),
                "states": states.tolist(),
                "lr": rate,
                "scheduler_n": n,
            }
        )
        p = {it: v.clone().requires_grad_() for it, v in params.items()}
        fold = lambda it: torch.tensor(it).reshape(h["nenvs"], h["nsteps"], *it.shape[1:])
        latent = recurrent(p, fold(obs), fold(masks), torch.tensor(states), kind)
        latent = latent.reshape(samples, nh)
        logits = latent @ p["pi/w"] + p["pi/b"]
        vf = (latent @ p["vf/w"] + p["vf/b"])[:, 0]
        logs = torch.log_softmax(logits, 1)
        neglogp = -logs[torch.arange(samples), torch.tensor(actions)]
        advantages = torch.tensor(returns - values)
        policy_loss = (advantages * neglogp).mean()
        value_loss = ((vf - torch.tensor(returns)) ** 2).mean()
        entropy = -(logs.exp() * logs).sum(1).mean()
        loss = policy_loss - h["ent_coef"] * entropy + h["vf_coef"] * value_loss
        grads = dict(zip(p, torch.autograd.grad(loss, list(p.values()))))
        norm = math.sqrt(sum(float((g**2).sum()) for g in grads.values()))
        limit = h["max_grad_norm"] or math.inf
        clip = limit / max(norm, limit) if limit < math.inf else 1.0
        for it, g in grads.items():
            g = g * clip
            rms[it] = h["alpha"] * rms[it] + (1 - h["alpha"]) * g**2
            params[it] = params[it] - rate * g / torch.sqrt(rms[it] + h["epsilon"])
        scalars = {
            "policy_loss": policy_loss.item(),
            "value_loss": value_loss.item(),
            "entropy": entropy.item(),
            "loss": loss.item(),
            "grad_norm": norm,
        }
        arrays = {
            "logits": logits,
            "vf": vf,
            "neglogp": neglogp,
            "advantages": advantages,
        }
        named = {"grads_before_clip": grads, "params": params, "rms": rms}
        after.append(
            {it: digits(v) for it, v in (scalars | arrays).items()}
            | {it: {k: digits(v) for k, v in d.items()} for it, d in named.items()}
            | {"clip_active": norm > limit}
        )
    arch = {"kind": kind, "no": no, "nh": nh, "na": na, "nlayers": None}
    inputs = {"arch": arch, "hparams": h, "params": given, "batches": batches}
    return {"name": name, "inputs": inputs, "expected": {"after": after}}


# atari_preproc

HEIGHT, WIDTH = 210, 160


def screen(inputs):
    kind = inputs["kind"]
    if kind == "max":
        return np.maximum(screen(inputs["a"]), screen(inputs["b"]))
    if kind == "lcg":
        x, values = inputs["seed"], []
        for _ in range(HEIGHT * WIDTH * 3):
            x = (1664525 * x + 1013904223) % 2**32
            values.append(x >> 24)
        return np.array(values, np.uint8).reshape(HEIGHT, WIDTH, 3)
    y, x, c = np.mgrid[:HEIGHT, :WIDTH, :3]
    blocks = (y // 13) * (x // 17) * 7
    values = inputs["p"] * y + inputs["q"] * x + 85 * c + blocks
    return (values % 256).astype(np.uint8)


def warp(picture):
    return cv2.resize(picture, (84, 84), interpolation=cv2.INTER_AREA)


def gray(inputs):
    if inputs["kind"] == "max":
        return np.maximum(gray(inputs["a"]), gray(inputs["b"]))
    return cv2.cvtColor(screen(inputs), cv2.COLOR_RGB2GRAY)


def screen_case(inputs):
    rgb = screen(inputs)
    grays = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
    small, colors = warp(grays), warp(rgb)
    expected = {
        "first_pixels_rgb": rgb.reshape(-1)[:12].tolist(),
        "rgb_sum": int(rgb.sum()),
        "gray_first_row": grays[0, :16].tolist(),
        "gray_sum": int(grays.sum()),
        "warp84": small.tolist(),
        "warp84_sum": int(small.sum()),
        "warp84_rgb_sum": int(colors.sum()),
        "warp84_rgb_row0": colors[0, :8].tolist(),
    }
    if inputs["kind"] == "max":
        expected["warp84_gymnasium_order"] = warp(gray(inputs)).tolist()
    name = "max_of_two" if inputs["kind"] == "max" else inputs["kind"]
    return {"name": name, "inputs": inputs, "expected": expected}


def write(name, cases):
    with open(f"{FOLDER}/{name}_more.json", "w") as file:
        json.dump({"file": name, "cases": cases}, file, separators=(",", ":"))
        file.write("\n")


def main():
    random = np.random.default_rng(5)
    unclipped = {"max_grad_norm": None, "nenvs": 3, "nsteps": 3}
    write(
        "a2c_update",
        [
            update_case("lnlstm", "lnlstm", random, {}, 3, 4, 3),
            update_case(
                "lnlstm_unclipped",
                "lnlstm",
                random,
                unclipped | {"lrschedule": "middle_drop", "total_timesteps": 36},
                2,
                5,
                2,
            ),
            update_case("lstm_constant", "lstm", random, {"lrschedule": "constant"}, 2, 3, 4),
        ],
    )
    lcg = lambda seed: {"kind": "lcg", "seed": seed}
    struct = lambda p, q: {"kind": "struct", "p": p, "q": q}
    both = lambda a, b: {"kind": "max", "a": a, "b": b}
    inputs = [lcg(7), struct(1, 128), struct(64, 64), both(lcg(1), struct(5, 11))]
    write("atari_preproc", [screen_case(it) for it in inputs])


if __name__ == "__main__":
    main()
