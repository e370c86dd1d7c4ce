"""Records what Gymnasium's MuJoCo environments do.

    python record_trajectories.py FOLDER [STEPS]

Writes NAME.json and NAME.bin for each environment into FOLDER: for a course of
STEPS steps (1000) with the usual options, and one of a tenth of that with others.
An episode that ends is followed by another. NAME.json says how the course was
made and where its numbers lie in NAME.bin (64-bit, little-endian): the first
positions and velocities of each episode, the rewards, the sums of each
observation's numbers, and each OBSERVED-th observation. Actions come from a
generator that the reader repeats.
"""
import json
import pathlib
import sys
import types

import numpy as np

# Gymnasium imports it to save videos, which nobody does here.
sys.modules.setdefault("imageio", types.ModuleType("imageio"))
import gymnasium as gym  # noqa: E402
import mujoco  # noqa: E402

OTHERS = {
    "HalfCheetah": dict(
        frame_skip=3, forward_reward_weight=0.5, ctrl_cost_weight=0.3,
        reset_noise_scale=0.2, exclude_current_positions_from_observation=False),
    "Hopper": dict(
        frame_skip=2, forward_reward_weight=2.0, ctrl_cost_weight=0.01,
        healthy_reward=0.7, healthy_state_range=(-3.0, 3.0),
        healthy_z_range=(0.6, 1.4), healthy_angle_range=(-0.4, 0.3),
        reset_noise_scale=0.05, exclude_current_positions_from_observation=False),
    "Walker2d": dict(
        frame_skip=5, forward_reward_weight=2.0, ctrl_cost_weight=0.01,
        healthy_reward=0.7, terminate_when_unhealthy=False,
        healthy_z_range=(1.0, 1.5), healthy_angle_range=(-0.3, 0.4),
        reset_noise_scale=0.05, exclude_current_positions_from_observation=False),
    "Ant": dict(
        frame_skip=4, forward_reward_weight=0.3, ctrl_cost_weight=0.2,
        contact_cost_weight=0.1, healthy_reward=0.4, main_body="aux_1",
        healthy_z_range=(0.3, 0.76), contact_force_range=(-0.5, 2.0),
        reset_noise_scale=0.05, exclude_current_positions_from_observation=False),
    "Humanoid": dict(
        frame_skip=3, forward_reward_weight=0.5, ctrl_cost_weight=0.7,
        contact_cost_weight=1e-4, contact_cost_range=(0.01, 0.9),
        healthy_reward=1.5, healthy_z_range=(1.2, 1.5), reset_noise_scale=0.05,
        exclude_current_positions_from_observation=False,
        include_cinert_in_observation=False, include_cvel_in_observation=False),
    "HumanoidStandup": dict(
        frame_skip=3, ctrl_cost_weight=0.7, impact_cost_weight=1e-4,
        impact_cost_range=(0.01, 0.9), reset_noise_scale=0.05,
        exclude_current_positions_from_observation=False,
        include_qfrc_actuator_in_observation=False,
        include_cfrc_ext_in_observation=False),
    "Swimmer": dict(
        frame_skip=2, forward_reward_weight=0.5, ctrl_cost_weight=0.1,
        reset_noise_scale=0.3, exclude_current_positions_from_observation=False),
    "Reacher": dict(
        frame_skip=4, reward_dist_weight=2.0, reward_control_weight=0.3),
    "Pusher": dict(
        frame_skip=3, reward_near_weight=2.0, reward_dist_weight=0.3,
        reward_control_weight=0.7),
    "InvertedPendulum": dict(frame_skip=3, reset_noise_scale=0.1),
    "InvertedDoublePendulum": dict(
        frame_skip=2, healthy_reward=3.0, reset_noise_scale=0.2),
}


def actions(space, seed):
    """Uniform actions of a generator that is easy to repeat."""
    state = seed
    while True:
        row = []
        for low, high in zip(space.low.astype(float), space.high.astype(float)):
            state = (state * 1664525 + 1013904223) % 2**32
            row.append(low + (high - low) * (state / 2**32))
        yield np.array(row, np.float32)


def plain(value):
    return value.tolist() if isinstance(value, np.ndarray) else float(value)


class Numbers:
    """Numbers that are put one behind the other."""

    def __init__(self):
        self.parts, self.length = [], 0

    def add(self, values):
        part = np.asarray(values, np.float64).ravel()
        place = [self.length, len(part)]
        self.parts.append(part)
        self.length += len(part)
        return place


def course(name, options, steps, observed, numbers):
    env = gym.make(f"{name}-v5", **options).unwrapped
    choose = actions(env.action_space, seed=7)
    starts, rewards, sums, observations, ends, infos = [], [], [], [], [], []
    env.reset(seed=3)
    first = 0
    for step in range(steps):
        if first == step:
            starts += [*env.data.qpos, *env.data.qvel]
        seen, reward, terminated, _, info = env.step(next(choose))
        rewards.append(float(reward))
        sums.append(float(np.sum(seen)))
        if (step + 1) % observed == 0:
            observations += [*seen]
            infos.append({key: plain(value) for key, value in info.items()})
        if terminated:
            ends.append(step)
            env.reset()
            first = step + 1
    return {
        "options": options, "steps": steps, "observed": observed,
        "observationSize": len(seen), "ends": ends, "infos": infos,
        "starts": numbers.add(starts), "rewards": numbers.add(rewards),
        "sums": numbers.add(sums), "observations": numbers.add(observations),
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    folder.mkdir(parents=True, exist_ok=True)
    for name, others in OTHERS.items():
        numbers = Numbers()
        courses = [
            course(name, {}, steps, max(5, steps // 20), numbers),
            course(name, others, max(10, steps // 10), max(2, steps // 50), numbers),
        ]
        told = {"gymnasium": gym.__version__, "mujoco": mujoco.__version__,
                "courses": courses}
        text = json.dumps(told, indent=2) + "\n"
        (folder / f"{name}.json").write_text(text)
        data = np.concatenate(numbers.parts).astype("<f8")
        (folder / f"{name}.bin").write_bytes(data.tobytes())


if __name__ == "__main__":
    main()
