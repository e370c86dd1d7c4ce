/** A program that closes none of its environments. */
import { SubprocessVecEnv } from "../processes/subprocess_vec_env.ts";
import { WorkerVecEnv } from "../threads/worker_vec_env.ts";
import { HANG } from "./fragile_env.ts";

const FRAGILE = { module: import.meta.resolve("./fragile_env.ts") };
const [kind, end] = Deno.args;
const options = { numEnvs: 2, stepTimeoutMs: 1_000, onRestart: () => {} };
const env = kind === "workers"
  ? new WorkerVecEnv(FRAGILE, { ...options, workers: 2 })
  : new SubprocessVecEnv(FRAGILE, { ...options, processes: 2 });
env.reset({ seed: 0 });
// One of them hangs and was given up.
if (end === "hang") env.step(Int32Array.of(HANG, 0));
const pids = env instanceof SubprocessVecEnv ? env.pids() : [];
Deno.stdout.writeSync(new TextEncoder().encode(pids.join(" ")));
if (end === "exit") Deno.exit(3);
if (end === "throw") throw new Error("the program's own");
