"""Steps per second of sb3-contrib's MaskablePPO on PettingZoo's ConnectFour.

Both seats are one learner, as in PettingZoo's guide to stable-baselines3: each
move is a step, and who moved gets the reward of its move. One thread.
"""
import json
import sys
import time

import gymnasium
import torch
from pettingzoo.classic import connect_four_v3
from sb3_contrib import MaskablePPO
from sb3_contrib.common.wrappers import ActionMasker

torch.set_num_threads(1)
TASK = {"warmup": 2048, "steps": 8192, "epochs": 10, "batch": 64, "seed": 0}


class BothSeats(gymnasium.Env):
    """Whoever is to move is the learner."""

    def __init__(self):
        self.game = connect_four_v3.env()
        self.game.reset()
        seat = self.game.possible_agents[0]
        self.action_space = self.game.action_space(seat)
        self.observation_space = self.game.observation_space(seat)["observation"]

    def reset(self, *, seed=None, options=None):
        self.game.reset(seed=seed)
        return self.seen()["observation"], {}

    def seen(self):
        return self.game.observe(self.game.agent_selection)

    def step(self, action):
        mover = self.game.agent_selection
        self.game.step(int(action))
        ends = self.game.terminations[mover], self.game.truncations[mover]
        return self.seen()["observation"], self.game.rewards[mover], *ends, {}

    def action_masks(self):
        return self.seen()["action_mask"].astype(bool)


def main():
    task = TASK | json.loads(sys.argv[1])
    env = ActionMasker(BothSeats(), lambda it: it.unwrapped.action_masks())
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_epochs=task["epochs"],
        batch_size=task["batch"],
        seed=task["seed"],
        device="cpu",
    )
    model.learn(task["warmup"])
    started = time.perf_counter()
    model.learn(task["steps"], reset_num_timesteps=False)
    print(task["steps"] / (time.perf_counter() - started))


if __name__ == "__main__":
    main()
