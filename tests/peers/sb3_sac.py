"""Environment steps per second of stable-baselines3's SAC or TD3, one thread."""
import sys

sys.dont_write_bytecode = True

import torch  # noqa: E402 -- the line above must come first
from sac_speed import main  # noqa: E402
import stable_baselines3  # noqa: E402

if __name__ == "__main__":
    torch.set_num_threads(1)
    main(stable_baselines3)
