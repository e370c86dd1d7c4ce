"""Environment steps per second of sbx's SAC or TD3 (JAX), one thread."""
import os
import sys

sys.dont_write_bytecode = True
os.environ["XLA_FLAGS"] = (
    "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)
os.environ["OMP_NUM_THREADS"] = os.environ["NPROC"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402 -- the lines above must come first
import torch  # noqa: E402
from sac_speed import main  # noqa: E402
import sbx  # noqa: E402

if __name__ == "__main__":
    # A program runs in the caller's thread; handing it to another one costs more.
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    torch.set_num_threads(1)
    main(sbx)
