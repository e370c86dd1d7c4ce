import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { VecStep } from "@bellman/types";
import {
  checkObservations,
  checkStep,
  type ObservedStep,
} from "./check_step.ts";
import { CheckpointStore } from "./checkpoint_store.ts";
import { evaluate } from "./evaluate.ts";
import { ToyAlgorithm, ToyEnv } from "./testdata/toy.ts";
import { train } from "./train.ts";

const place = { numEnvs: 2, step: 12 };

function right(): ObservedStep {
  return {
    observations: new Float32Array(6),
    rewards: Float64Array.of(1, -2),
    terminated: Uint8Array.of(0, 0),
    truncated: Uint8Array.of(0, 1),
    // Rows of episodes that go on may hold anything.
    finalObservations: Float32Array.of(NaN, 0, 0, 1, 2, 3),
  };
}

Deno.test("finite steps of any space are taken", () => {
  checkStep(right(), place);
  const images = new Uint8Array(8), indices = Int32Array.of(1, 2);
  const nested = { image: images, parts: [indices, new Float64Array(2)] };
  const step = { ...right(), observations: nested, finalObservations: nested };
  checkStep(step, place);
  checkStep({ ...right(), rewards: Float64Array.of(3e38, -3e38) }, place);
});

const WRONG: [parts: Record<string, unknown>, says: string][] = [
  [
    { rewards: Float64Array.of(0, NaN) },
    "the reward of copy 1 at step 12: it is NaN",
  ],
  [
    { rewards: Float64Array.of(-Infinity, 0) },
    "the reward of copy 0 at step 12",
  ],
  [
    { rewards: Float64Array.of(0, 1e308) },
    "the reward of copy 1 at step 12: it is 1e+308, expected a number that 32 bits can hold",
  ],
  [
    { rewards: [0, "1"] },
    "the rewards at step 12: expected a typed array, got a list",
  ],
  [{ rewards: new Float64Array(3) }, "expected 2 numbers, got 3"],
  [
    { terminated: [true, false] },
    "the terminated at step 12: expected a typed array",
  ],
  [{ truncated: new Uint8Array(1) }, "expected 2 numbers, got 1"],
  [
    { observations: Float32Array.of(0, 0, 0, 0, NaN, 0) },
    "the observation[1] of copy 1 at step 12: it is NaN, expected a finite number",
  ],
  [
    { observations: Float64Array.of(0, 0, -1e300, 0, 0, 0) },
    "the observation[2] of copy 0 at step 12: it is -1e+300",
  ],
  [
    { observations: { speed: [Float32Array.of(0, Infinity)] } },
    "the observation[speed][0][0] of copy 1 at step 12: it is Infinity",
  ],
  [{ observations: new Float32Array(5) }, "of each of 2 copies, got 5"],
  [{ observations: Promise.resolve() }, "got a promise"],
  [{ observations: undefined }, "got undefined"],
  [
    { finalObservations: Float32Array.of(0, 0, 0, 0, 0, Infinity) },
    "the final observation[2] of copy 1 at step 12: it is Infinity",
  ],
];

for (const [parts, says] of WRONG) {
  Deno.test(`a step is refused: ${says}`, () => {
    const step = { ...right(), ...parts } as ObservedStep;
    const error = assertThrows(() => checkStep(step, place), Error, says);
    assertEquals((error as Error).message.startsWith("Cannot use the "), true);
  });
}

Deno.test("first observations are refused as later ones are", () => {
  assertThrows(
    () => checkObservations(Float32Array.of(1, NaN), { numEnvs: 1, step: 0 }),
    RangeError,
    "the observation[1] of copy 0 at step 0",
  );
});

/** Walks of which a step returns what is not finite. */
class WrongToyEnv extends ToyEnv {
  #at: number;
  #parts: Partial<VecStep>;
  #steps = 0;

  constructor(at: number, parts: Partial<VecStep>) {
    super(2);
    this.#at = at;
    this.#parts = parts;
  }

  override reset(options?: { seed?: number }): Float32Array {
    const first = super.reset(options) as Float32Array;
    return this.#at === 0 ? this.#parts.observations as Float32Array : first;
  }

  override step(actions: Int32Array): VecStep {
    const step = super.step(actions);
    return ++this.#steps === this.#at ? { ...step, ...this.#parts } : step;
  }
}

const NOT_FINITE: [at: number, parts: Partial<VecStep>, says: string][] = [
  [0, { observations: Float32Array.of(0, NaN) }, "copy 1 at step 0"],
  [7, { observations: Float32Array.of(0, NaN) }, "copy 1 at step 14"],
  [7, { rewards: Float64Array.of(NaN, 0) }, "the reward of copy 0 at step 14"],
];

for (const [at, parts, says] of NOT_FINITE) {
  const [part] = Object.keys(parts);
  Deno.test(`${part} that are not finite in step ${at} reach no algorithm and no checkpoint`, async () => {
    const dir = await Deno.makeTempDir();
    const store = new CheckpointStore(dir);
    const algorithm = new ToyAlgorithm(2);
    const observed: number[] = [];
    const observe = algorithm.observe.bind(algorithm);
    algorithm.observe = (step) => {
      observed.push(...step.rewards, ...step.observations as Float32Array);
      observe(step);
    };
    await assertRejects(
      () =>
        train(algorithm, new WrongToyEnv(at, parts), {
          totalTimesteps: 40,
          checkpoints: { store, everyTimesteps: 2 },
        }),
      RangeError,
      says,
    );
    assertEquals(observed.every(Number.isFinite), true);
    const steps = store.list().checkpoints.map(({ step }) => step);
    assertEquals(steps, at === 0 ? [] : [8, 10, 12]);
    await Deno.remove(dir, { recursive: true });
  });

  Deno.test(`an evaluation with ${part} that are not finite in step ${at} has no result`, async () => {
    const actor = { act: () => new Int32Array(2) };
    await assertRejects(
      () => evaluate(actor, new WrongToyEnv(at, parts)),
      RangeError,
      says,
    );
  });
}
