#!/usr/bin/env bash
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
# Trains on the nodes of a job of Slurm: sbatch docs/examples/cluster/slurm.sh, in a checkout
# on a disk that all nodes have, with Deno as `deno` and Ray as `ray` in PATH. The first
# node is the head and the learner. A job that is sent again resumes its run.
set -euo pipefail

port=$((20000 + SLURM_JOB_ID % 10000))
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
address=$(srun --nodes=1 --ntasks=1 --nodelist="$head" hostname -I | awk '{print $1}')

# Other users of these machines reach their ports: who has no token is refused. The file
# is this user's alone, and no argument of a program has it.
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH="$PWD/runs/slurm-$SLURM_JOB_ID.token"
mkdir -p runs
(umask 077 && openssl rand -hex 32 > "$RAY_AUTH_TOKEN_PATH")
trap 'rm -f "$RAY_AUTH_TOKEN_PATH"' EXIT

run=runs/slurm
if [ -d "$run" ]; then
  train=(--resume "$run")
else
  train=(a2c --env HalfCheetah-v5 --workers 16 --out "$run")
fi
srun ray symmetric-run --address "$address:$port" --min-nodes "$SLURM_NNODES" \
  --num-cpus "$SLURM_CPUS_PER_TASK" -- \
  deno task train:cluster "${train[@]}" --cluster "$address:$port" --cluster-code here
