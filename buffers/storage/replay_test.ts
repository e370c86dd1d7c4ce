import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ReplayBufferOptions } from "../replay/options.ts";
import { ReplayBuffer } from "../replay/replay_buffer.ts";
import { testRandom } from "../testdata/random.ts";
import { withFolder } from "../../tests/testdata/with_folder.ts";
import { FileStorage, type FileStorageOptions } from "./file_storage.ts";

const tiny: FileStorageOptions = { cacheBytes: 300, blockBytes: 200 };

const fields = {
  observation: { shape: [3], dtype: "uint8" },
  action: { shape: [2], dtype: "float64" },
  reward: { shape: [], dtype: "float32" },
  terminated: { shape: [], dtype: "uint8" },
  truncated: { shape: [], dtype: "uint8" },
} as const;

interface Setup {
  readonly numEnvs: number;
  readonly frames: number;
  readonly steps: number;
  readonly seed: number;
  readonly operations: readonly ("add" | "addMany" | "sample" | "reopen")[];
}

const setups: fc.Arbitrary<Setup> = fc.record({
  numEnvs: fc.integer({ min: 1, max: 3 }),
  frames: fc.integer({ min: 1, max: 3 }),
  steps: fc.integer({ min: 1, max: 3 }),
  seed: fc.nat(),
  operations: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constant("add" as const) },
      { weight: 2, arbitrary: fc.constant("addMany" as const) },
      { weight: 4, arbitrary: fc.constant("sample" as const) },
      { weight: 1, arbitrary: fc.constant("reopen" as const) },
    ),
    { maxLength: 60, size: "max" },
  ),
});

function optionsOf(
  { numEnvs, frames, steps }: Setup,
): ReplayBufferOptions {
  const capacity = 12 * numEnvs;
  return {
    capacity,
    numEnvs,
    fields,
    episodes: {
      next: { nextObservation: "observation" },
      stack: { observation: frames },
      nStep: { steps, gamma: 0.5 },
    },
  };
}

/** So many steps of all environments, whose observations follow each other. */
function makeSteps(seed: number, numEnvs: number) {
  const random = testRandom(seed);
  const observe = () =>
    Uint8Array.from({ length: 3 * numEnvs }, () => random.integer(256));
  let observation = observe();
  return (count: number) => {
    const steps = Array.from({ length: count }, () => {
      const nextObservation = observe();
      const before = observation;
      observation = nextObservation;
      const flags = (limit: number) =>
        Uint8Array.from(
          { length: numEnvs },
          () => random.uniform() < limit ? 1 : 0,
        );
      return {
        observation: before,
        nextObservation,
        action: Array.from({ length: 2 * numEnvs }, () => random.uniform()),
        reward: Array.from({ length: numEnvs }, () => random.uniform()),
        terminated: flags(0.15),
        truncated: flags(0.1),
      };
    });
    const join = (name: keyof typeof steps[0]) =>
      steps.flatMap((step) => [...step[name]]);
    return {
      observation: join("observation"),
      nextObservation: join("nextObservation"),
      action: join("action"),
      reward: join("reward"),
      terminated: join("terminated"),
      truncated: join("truncated"),
    };
  };
}

Deno.test("a buffer in a file gives what one in memory gives, before and after it was opened again", () =>
  withFolder((folder) => {
    let run = 0;
    fc.assert(
      fc.property(setups, (setup) => {
        const path = `${folder}/${run++}.rows`;
        const options = optionsOf(setup);
        const memory = new ReplayBuffer(options);
        let storage = FileStorage.open(path, tiny);
        let file = new ReplayBuffer({ ...options, storage });
        const next = makeSteps(setup.seed, setup.numEnvs);
        for (const [i, operation] of setup.operations.entries()) {
          if (operation === "add") {
            const step = next(1);
            for (const buffer of [memory, file]) buffer.add(step);
          } else if (operation === "addMany") {
            const steps = next(20);
            for (const buffer of [memory, file]) {
              buffer.addBatch(steps, 20 * setup.numEnvs);
            }
          } else if (operation === "sample") {
            assertEquals(file.length, memory.length);
            if (memory.length === 0) continue;
            const [a, b] = [memory, file].map((buffer) =>
              buffer.sample(testRandom(i), { size: 10 })
            );
            assertEquals(a, b);
          } else {
            const state = structuredClone(file.save());
            file.close();
            storage = FileStorage.open(path, tiny);
            file = new ReplayBuffer({ ...options, storage });
            file.load(state);
          }
        }
        file.close();
      }),
      { numRuns: 40 },
    );
  }));
