import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { type Checkpoint, CheckpointStore } from "../checkpoint_store.ts";
import type { ToyCalls, ToySettings } from "../testdata/toy_worker.ts";
import {
  type CheckpointBytes,
  trainInWorker,
  type TrainInWorkerOptions,
  type WorkerTraining,
} from "./mod.ts";

const TOY = new URL("../testdata/toy_worker.ts", import.meta.url);

/** Trains the toy, and closes the worker after use. */
async function withToy(
  use: (training: WorkerTraining<ToyCalls>) => Promise<void>,
  options: Omit<TrainInWorkerOptions, "settings"> & { settings?: ToySettings },
): Promise<void> {
  const training = trainInWorker<ToyCalls>(TOY, { settings: {}, ...options });
  // Tests that expect an error ask for it themselves.
  training.result.catch(() => {});
  try {
    await use(training);
  } finally {
    training.close();
  }
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test("a training in a worker has progress, evaluations, a result and a policy", async () => {
  const steps: number[] = [], evaluated: number[] = [];
  await withToy(async (training) => {
    const { step, stopReason, episodes } = await training.result;
    assertEquals([step, stopReason], [4000, "completed"]);
    assert(episodes > 100);
    const [metadata] = JSON.parse(textOf(await training.policy()));
    assertEquals(metadata, { environment: "toy" });
    assertEquals(await training.call("sum", 2, 3), 5);
  }, {
    totalTimesteps: 4000,
    progressIntervalMs: 0,
    onProgress({ step, totalTimesteps }) {
      steps.push(step);
      assertEquals(totalTimesteps, 4000);
    },
    onEvaluation({ step, meanReturn }) {
      evaluated.push(step);
      assert(Number.isFinite(meanReturn));
    },
  });
  assertEquals(evaluated, [1000, 2000, 3000, 4000]);
  // Each step, and the end.
  assertEquals(steps.slice(0, 2), [4, 8]);
  assertEquals(steps.slice(-2), [4000, 4000]);
});

Deno.test("pauses, a longer run and an early end change nothing that is learned", async () => {
  const total = 20_000;
  let expected = "";
  let expectedState: unknown;
  await withToy(async (training) => {
    await training.result;
    expected = textOf(await training.policy());
    expectedState = load(await training.checkpoint()).state;
  }, { totalTimesteps: total });

  const reached = Promise.withResolvers<void>();
  let last = 0;
  await withToy(async (training) => {
    await reached.promise;
    await training.pause();
    const paused = last;
    const { step } = await training.checkpoint();
    assert(step < total && step >= paused, `${step}`);
    // Neither a second pause nor a checkpoint goes on.
    await training.pause();
    assertEquals((await training.checkpoint()).step, step);
    await training.resume();
    assert((await training.checkpoint()).step > step);
    assertEquals(await training.call("warnings"), []);
    // Called one after the other, without waiting.
    training.pause();
    training.resume();
    await training.stop();
    const early = await training.result;
    assertEquals(early.stopReason, "interrupted");
    assert(early.step < total, `${early.step}`);
    const { step: end, stopReason } = await training.trainOn(total);
    assertEquals([end, stopReason], [total, "completed"]);
    assertEquals(textOf(await training.policy()), expected);
    assertEquals(load(await training.checkpoint()).state, expectedState);
    assertEquals((await training.trainOn(total + 100)).step, total + 100);
    assertEquals(await training.call("warnings"), []);
  }, {
    totalTimesteps: total,
    progressIntervalMs: 0,
    onProgress({ step }) {
      last = step;
      if (step >= 2000) reached.resolve();
    },
  });
});

/** Reads a checkpoint's bytes as the file of a run folder. */
function load({ step, bytes }: CheckpointBytes): Checkpoint {
  const dir = Deno.makeTempDirSync();
  try {
    const name = `step_${String(step).padStart(9, "0")}.safetensors`;
    Deno.writeFileSync(`${dir}/${name}`, bytes);
    return new CheckpointStore(dir).load();
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
}

Deno.test("a checkpoint is a file as those of run folders", async () => {
  await withToy(async (training) => {
    await training.result;
    const checkpoint = await training.checkpoint();
    const { step, state } = load(checkpoint);
    assertEquals([step, checkpoint.step], [400, 400]);
    assertEquals(Object.keys(state as object).sort(), [
      ...["algorithm", "callbacks", "env", "loop"],
    ]);
  }, { totalTimesteps: 400 });
});

Deno.test("a run that a callback ended goes on", async () => {
  await withToy(async (training) => {
    const { step, stopReason } = await training.result;
    assertEquals([step, stopReason], [100, "far enough"]);
    const { step: end, stopReason: why } = await training.trainOn(300);
    assertEquals([end, why], [300, "completed"]);
  }, { totalTimesteps: 200, settings: { stopAt: 100 } });
});

Deno.test("errors of the worker keep their kind and line", async () => {
  const line = "Cannot use so many";
  await withToy(async (training) => {
    await assertRejects(() => training.result, RangeError, line);
    await assertRejects(() => training.policy(), Error, "has begun");
  }, { totalTimesteps: 100, settings: { refuse: line } });
  await withToy(async (training) => {
    const why = "Cannot learn from that";
    await assertRejects(() => training.result, TypeError, why);
  }, { totalTimesteps: 100, settings: { failAt: 3 } });
  await withToy(async (training) => {
    await training.result;
    const why = "the agent has no exportPolicy";
    await assertRejects(() => training.policy(), TypeError, why);
    await assertRejects(
      () => training.call("sun" as "sum", 1, 2),
      TypeError,
      "Cannot call 'sun' of the worker: expected sum or warnings or unsendable or die",
    );
    await assertRejects(() => training.call("unsendable"), Error, "clone");
  }, { totalTimesteps: 100, settings: { exports: false } });
  await withToy(async (training) => {
    await assertRejects(
      () => training.trainOn(200),
      Error,
      "Cannot train on before the run has ended",
    );
  }, { totalTimesteps: 1e9 });
});

Deno.test("a worker that does not load, ends or is closed rejects what waits", async () => {
  const missing = trainInWorker(new URL("./none.ts", import.meta.url), {
    totalTimesteps: 1,
  });
  const { message } = await assertRejects(() => missing.result, Error);
  assertStringIncludes(message, "Cannot train in none.ts: Module not found");
  await assertRejects(() => missing.policy(), Error, message);
  await withToy(async (training) => {
    // Its answer may be lost, too.
    training.call("die").catch(() => {});
    const { message } = await assertRejects(() => training.result, Error);
    assertEquals(message, "Cannot train in toy_worker.ts: Error: It died");
  }, { totalTimesteps: 1e9, progressIntervalMs: 1 });
  await withToy(async (training) => {
    training.close();
    const why = "The training in toy_worker.ts was closed";
    await assertRejects(() => training.result, Error, why);
    await assertRejects(() => training.pause(), Error, why);
  }, { totalTimesteps: 1e9 });
});

Deno.test("settings that cannot be sent are refused", async () => {
  await withToy(async (training) => {
    await assertRejects(() => training.result, Error, "clone");
  }, {
    totalTimesteps: 1,
    settings: { refuse: (() => {}) as unknown as string },
  });
});

Deno.test("an unknown option is refused before a worker starts", () => {
  const options = { totalTimestep: 1 } as unknown as TrainInWorkerOptions;
  assertThrows(
    () => trainInWorker("no such worker", options),
    TypeError,
    "Unknown option 'totalTimestep' of trainInWorker: did you mean 'totalTimesteps'?",
  );
});

Deno.test("options and workers of other kinds are refused before a worker starts", () => {
  const refused = (worker: unknown, options: object, line: string) => {
    const all = { totalTimesteps: 1, ...options } as TrainInWorkerOptions;
    assertThrows(() => trainInWorker(worker as URL, all), Error, line);
  };
  const made = "Cannot make a training in a worker with";
  refused(TOY, { onProgress: 3 }, `${made} onProgress 3: expected a function`);
  refused(
    TOY,
    { progressIntervalMs: NaN },
    `${made} progressIntervalMs NaN: expected a number of at least 0`,
  );
  const expected = "expected the URL of a module, or a worker";
  refused(null, {}, `Cannot train in null: ${expected}`);
  refused(5, {}, `Cannot train in 5: ${expected}`);
});

Deno.test("a training that is closed early leaves no rejection behind", async () => {
  const training = trainInWorker(TOY, { totalTimesteps: 1e9, settings: {} });
  await training.pause();
  training.close();
  // A rejection that nothing handles would fail the test here.
  await new Promise((resolve) => setTimeout(resolve, 20));
});

Deno.test("a worker that was ready before is used, by one training", async () => {
  const worker = new Worker(TOY, { type: "module" });
  await new Promise((resolve) =>
    worker.addEventListener("message", resolve, { once: true })
  );
  const options = { totalTimesteps: 8, settings: {} };
  const training = trainInWorker(worker, options);
  assertThrows(
    () => trainInWorker(worker, options),
    TypeError,
    "Cannot train in a worker that has a training: expected a new one",
  );
  assertEquals((await training.result).step, 8);
  training.close();
});

Deno.test("a worker that was started by hand is used", async () => {
  const worker = new Worker(TOY, { type: "module" });
  const training = trainInWorker(worker, { totalTimesteps: 8, settings: {} });
  assertEquals((await training.result).step, 8);
  training.close();
});
