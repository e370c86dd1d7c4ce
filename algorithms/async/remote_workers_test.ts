/** Workers in processes that a driver without Ray starts: the whole way but for Ray. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import type { StateTree } from "@bellman/types";
import { scripted } from "../../envs/workers/ray/testdata/scripted.ts";
import { AsyncTraining, type AsyncTrainingOptions } from "./async_training.ts";
import type { AsyncConfig } from "./config.ts";

await selectBackend("cpu");

const SMALL: Partial<AsyncConfig> = {
  hiddenSizes: [8],
  learningRate: 0.01,
  rmspropEpsilon: 0.1,
  stepsPerStop: 50,
};
const spaces = makeVec("CartPole-v1", { numEnvs: 1 });

function start(
  name: string,
  options: Partial<AsyncTrainingOptions> = {},
): Promise<AsyncTraining> {
  return AsyncTraining.start(name, {
    source: "CartPole-v1",
    spaces,
    workers: 2,
    seed: 4,
    totalTimesteps: 1000,
    ...options,
    config: { ...SMALL, ...options.config },
  });
}

/** State after some stops. */
function stop(training: AsyncTraining, stops: number): StateTree {
  for (let i = 0; i < stops; i++) training.advance(50);
  return training.save();
}

const FIXED = { workerOrder: "fixed" } as const;
const CASES: Record<string, Partial<AsyncConfig>> = {
  a3c: { optimizer: "rmsprop" },
  "async-sarsa": { targetInterval: 7, updateInterval: 3 },
};

for (const [name, own] of Object.entries(CASES)) {
  Deno.test(`${name} with workers elsewhere and here has the bits of threads, and resumes`, async () => {
    const config = { ...FIXED, ...own };
    const near = await start(name, { config });
    const far = await start(name, {
      workers: 1,
      config: { ...config, localWorkers: 1 },
      cluster: scripted(),
    });
    const middle = stop(near, 3);
    assertEquals(stop(far, 3), middle);
    const end = stop(near, 4);
    // It has gone further, and goes back.
    assertEquals(stop(far, 4), end);
    far.load(middle);
    assertEquals([stop(far, 4), far.steps], [end, 350]);
    near.close();
    far.close();
  });
}

Deno.test("workers that are killed within a step are replaced: no step is lost, and none counted twice", async () => {
  const notices: string[] = [];
  const training = await start("a3c", {
    source: {
      module: import.meta.resolve("./testdata/fragile_env.ts"),
      options: { chance: 0.01, failures: ["kill"], from: 1 },
    },
    config: { localWorkers: 1, maxSteps: 5 },
    cluster: scripted(),
    restarts: 100,
    onNotice: (line) => notices.push(line),
  });
  let rates = 0;
  while (notices.length < 2) {
    const before = training.steps;
    training.advance(50);
    assertEquals(training.steps, before + 50);
    if (training.workerRates.every((it) => it > 0)) rates++;
  }
  const { shared, workers } = training.save() as Record<string, StateTree>;
  const { params, counts } = shared as Record<string, Float32Array>;
  assert(params.every(Number.isFinite));
  assertEquals((workers as unknown[]).length, 3);
  // Steps, copies, starts: as many as were said to be lost, and those that began.
  const starts = [...counts].slice(2).reduce((sum, it) => sum + it);
  assertEquals([counts[0], starts], [training.steps, 3 + notices.length]);
  assert(rates > 0);
  for (const line of notices) {
    assert(
      /^Restarting worker [12], restart \d+ of at most 100 within 600 s: its process was ended by SIGKILL$/
        .test(line),
      line,
    );
  }
  training.close();
});

Deno.test("a training without a cluster has no threads beside it", async () => {
  await assertRejects(
    () => start("a3c", { config: { localWorkers: 1 } }),
    TypeError,
    "Cannot run A3C with localWorkers = 1 without a cluster: expected 0, as all workers are threads here",
  );
  await assertRejects(
    () => start("a3c", { cluster: scripted({ refusal: "Cannot reach it" }) }),
    TypeError,
    "Cannot reach it",
  );
});
