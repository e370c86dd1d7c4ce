/** Cost of a step of environments elsewhere, and the gain of two threads. */
import { makeVec } from "../../mod.ts";
import type { VecEnv } from "@bellman/types";
import { SubprocessVecEnv } from "../processes/subprocess_vec_env.ts";
import { splitEnvs } from "../group_hosts.ts";
import { AsyncVecEnv } from "../async_vec_env.ts";
import makeBusy from "../testdata/busy_env.ts";
import { WorkerHosts } from "./_worker_hosts.ts";
import { WorkerVecEnv } from "./worker_vec_env.ts";

const STEPS = 100;

function bench(
  env: VecEnv,
  { name, group, baseline }: {
    name: string;
    group: string;
    baseline?: boolean;
  },
): void {
  env.reset({ seed: 0 });
  const actions = new Int32Array(env.numEnvs);
  for (let i = 0; i < 2 * STEPS; i++) env.step(actions);
  Deno.bench(name, { group, baseline }, () => {
    for (let i = 0; i < STEPS; i++) env.step(actions);
  });
}

const light = { numEnvs: 16 }, id = "CartPole-v1";
let group = "100 steps of 16 CartPoles: what the way there costs";
bench(new WorkerVecEnv(id, { ...light, workers: 1, callerShare: true }), {
  name: "one worker and this thread",
  group,
  baseline: true,
});
bench(makeVec(id, { ...light, recordEpisodes: false }), {
  name: "this thread",
  group,
});
bench(new WorkerVecEnv(id, { ...light, workers: 1 }), {
  name: "one worker",
  group,
});
bench(new WorkerVecEnv(id, { ...light, workers: 2 }), {
  name: "two workers",
  group,
});
bench(new SubprocessVecEnv(id, { ...light, processes: 1 }), {
  name: "one process",
  group,
});
bench(new SubprocessVecEnv(id, { ...light, processes: 2 }), {
  name: "two processes",
  group,
});

const heavy = { numEnvs: 8 };
const module = import.meta.resolve("../testdata/busy_env.ts");
group = "100 steps of 8 environments of 0.1 ms each";
const groups = splitEnvs(heavy.numEnvs, 2);
const makeLocal = () => makeBusy(groups[1]);
bench(
  new AsyncVecEnv(
    new WorkerHosts({ data: { source: { module } }, groups, makeLocal }),
  ),
  { name: "one worker and this thread", group, baseline: true },
);
bench(makeBusy({ ...heavy, first: 0 }), {
  name: "this thread",
  group,
});
bench(new WorkerVecEnv({ module }, { ...heavy, workers: 2 }), {
  name: "two workers",
  group,
});
bench(new SubprocessVecEnv({ module }, { ...heavy, processes: 2 }), {
  name: "two processes",
  group,
});
