"""Environment steps per second of stable-baselines3's SAC, one thread."""
import sys

sys.dont_write_bytecode = True

import torch  # noqa: E402 -- the line above must come first
from sac_speed import main  # noqa: E402
from stable_baselines3 import SAC  # noqa: E402

if __name__ == "__main__":
    torch.set_num_threads(1)
    main(SAC)
