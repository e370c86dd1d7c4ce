/**
 * Steps on the nodes of a cluster against processes of this machine, on the same work
 * and in turns: `deno task bench:cluster [ADDRESS] [REPEATS]`, with the Python of
 * BELLMAN_RAY_PYTHON. `tests/cluster/cluster.sh` makes a cluster here; the bench runs
 * on its node 0.
 */
import process from "node:process";
import { allocateBatch, sample, SeededRandom, writeRow } from "@bellman/envs";
import { GymnasiumVecEnv } from "@bellman/envs/gymnasium";
import { type GymnasiumSource, RayVecEnv } from "@bellman/envs/ray";
import { type GroupSource, SubprocessVecEnv } from "@bellman/envs/workers";
import type { VecEnv } from "@bellman/types";

const [cluster = "local", repeats = "5"] = Deno.args;
const sleepy = import.meta.resolve("./testdata/sleepy_env.ts");

interface Case {
  name: string;
  source: GroupSource | GymnasiumSource;
  processes: number;
  envs: number;
  steps: number;
}

const SLEEP = { module: sleepy, options: { ms: 5, size: [4] } };
const FRAMES = { module: sleepy, options: { ms: 1 } };
const CASES: readonly Case[] = [
  {
    name: "CartPole",
    source: "CartPole-v1",
    processes: 2,
    envs: 16,
    steps: 4000,
  },
  { name: "5 ms", source: SLEEP, processes: 2, envs: 1, steps: 200 },
  { name: "5 ms", source: SLEEP, processes: 4, envs: 1, steps: 200 },
  { name: "frames", source: FRAMES, processes: 2, envs: 16, steps: 60 },
  { name: "frames", source: FRAMES, processes: 4, envs: 16, steps: 60 },
  { name: "5 ms", source: SLEEP, processes: 16, envs: 1, steps: 200 },
  {
    name: "gym:CartPole",
    source: { gymnasium: "CartPole-v1" },
    processes: 2,
    envs: 4,
    steps: 2000,
  },
  {
    name: "HalfCheetah",
    source: "HalfCheetah-v5",
    processes: 2,
    envs: 16,
    steps: 400,
  },
];

/** Milliseconds a step, of the learner's processors too, and a sum of what was seen. */
interface Times {
  ms: number;
  cpuMs: number;
  startMs: number;
  sum: number;
}

function time(open: () => VecEnv, steps: number): Times {
  const began = performance.now();
  const env = open();
  env.reset({ seed: 7 });
  const startMs = performance.now() - began;
  const random = new SeededRandom(1);
  const actions = allocateBatch(env.actionSpace, env.numEnvs);
  for (let row = 0; row < env.numEnvs; row++) {
    const action = sample(env.actionSpace, random);
    writeRow(env.actionSpace, action, { batch: actions, row });
  }
  for (let i = 0; i < steps / 5; i++) env.step(actions);
  const from = performance.now(), cpu = process.cpuUsage();
  let sum = 0;
  for (let i = 0; i < steps; i++) sum += env.step(actions).rewards[0];
  const ms = (performance.now() - from) / steps;
  const { user, system } = process.cpuUsage(cpu);
  env.close();
  return { ms, cpuMs: (user + system) / 1000 / steps, startMs, sum };
}

/** Makes environments in processes of this machine. */
function openHere(
  source: Case["source"],
  options: { numEnvs: number; processes: number },
): VecEnv {
  return typeof source === "object" && "gymnasium" in source
    ? new GymnasiumVecEnv(source.gymnasium, options)
    : new SubprocessVecEnv(source, options);
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}

for (const { name, source, processes, envs, steps } of CASES) {
  const options = { numEnvs: processes * envs, processes };
  const here: Times[] = [], there: Times[] = [];
  for (let i = 0; i < Number(repeats); i++) {
    here.push(time(() => openHere(source, options), steps));
    there.push(
      time(() => new RayVecEnv(source, { ...options, cluster }), steps),
    );
  }
  const of = (key: keyof Times, all: Times[]) =>
    median(all.map((it) => it[key])).toFixed(3);
  const ratio = median(here.map(({ ms }, i) => ms / there[i].ms));
  const sums = new Set([...here, ...there].map(({ sum }) => sum));
  console.log(
    `${`${name} ${processes}x${envs}`.padEnd(18)} processes ${
      of("ms", here)
    } ms a step, cluster ${of("ms", there)}, ratio ${
      ratio.toFixed(2)
    }; processor of the learner ${of("cpuMs", here)} and ${
      of("cpuMs", there)
    } ms; start ${of("startMs", there)} ms; ${
      sums.size === 1 ? "equal sums" : `SUMS DIFFER: ${[...sums]}`
    }`,
  );
}
Deno.exit();
