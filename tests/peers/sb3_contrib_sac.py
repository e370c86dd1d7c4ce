"""Environment steps per second of sb3-contrib's TQC or CrossQ, one thread."""
import sys

sys.dont_write_bytecode = True

import torch  # noqa: E402 -- the line above must come first
from sac_speed import main  # noqa: E402
import sb3_contrib  # noqa: E402

if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sb3_contrib)
