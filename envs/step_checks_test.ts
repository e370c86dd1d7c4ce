import type { VecStep } from "@bellman/types";
import { assertEquals, assertThrows } from "@std/assert";
import { multiDiscrete } from "./spaces/constructors.ts";
import { checkObservations, checkStep } from "./step_checks.ts";

const place = { numEnvs: 2, step: 12 };

function right(): VecStep {
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

const WRONG: Record<string, Record<string, unknown>> = {
  "the reward of copy 1 at step 12: it is NaN": {
    rewards: Float64Array.of(0, NaN),
  },
  "the reward of copy 0 at step 12": { rewards: Float64Array.of(-Infinity, 0) },
  "the reward of copy 1 at step 12: it is 1e+308, expected a number that 32 bits can hold":
    { rewards: Float64Array.of(0, 1e308) },
  "the rewards at step 12: expected a typed array, got a list": {
    rewards: [0, "1"],
  },
  "expected 2 numbers, got 3": { rewards: new Float64Array(3) },
  "the terminated at step 12: expected a typed array": {
    terminated: [true, false],
  },
  "expected 2 numbers, got 1": { truncated: new Uint8Array(1) },
  "the observation[1] of copy 1 at step 12: it is NaN, expected a finite number":
    { observations: Float32Array.of(0, 0, 0, 0, NaN, 0) },
  "the observation[2] of copy 0 at step 12: it is -1e+300": {
    observations: Float64Array.of(0, 0, -1e300, 0, 0, 0),
  },
  "the observation[speed][0][0] of copy 1 at step 12: it is Infinity": {
    observations: { speed: [Float32Array.of(0, Infinity)] },
  },
  "of each copy, of which there are 2, got 5": {
    observations: new Float32Array(5),
  },
  "got a promise": { observations: Promise.resolve() },
  "got undefined": { observations: undefined },
  "the final observation[2] of copy 1 at step 12: it is Infinity": {
    finalObservations: Float32Array.of(0, 0, 0, 0, 0, Infinity),
  },
};

for (const [says, parts] of Object.entries(WRONG)) {
  Deno.test(`a step is refused: ${says}`, () => {
    const step = { ...right(), ...parts } as VecStep;
    const error = assertThrows(() => checkStep(step, place), Error, says);
    assertEquals((error as Error).message.startsWith("Cannot use the "), true);
  });
}

const actionSpace = multiDiscrete([2, 3]);
const ALL = new Uint8Array(10).fill(1);

Deno.test("masks that allow something are taken", () => {
  const masks = { actionMasks: ALL, finalActionMasks: ALL };
  checkStep({ ...right(), ...masks }, place);
  checkStep({ ...right(), ...masks }, { ...place, actionSpace });
  // Rows of episodes that go on may hold anything.
  const finalActionMasks = ALL.slice().fill(0, 0, 5);
  checkStep({ ...right(), actionMasks: ALL, finalActionMasks }, place);
});

const MASKS: Record<string, Partial<VecStep>> = {
  "part 1 of the action mask of copy 1 at step 12: it is 0 for all 3 choices, expected 1 for at least one":
    { actionMasks: ALL.slice().fill(0, 7) },
  "part 0 of the action mask of copy 1 at step 12": {
    finalActionMasks: ALL.slice().fill(0, 5, 7),
  },
  "actionMasks[4] of copy 0 at step 12: it is 3, expected 0 or 1": {
    actionMasks: ALL.slice().fill(3, 4, 5),
  },
  "expected a Uint8Array of 10, got 8": { actionMasks: ALL.slice(2) },
  "expected a Uint8Array of 10, got undefined": { finalActionMasks: undefined },
  "expected a Uint8Array of 10, got object": { actionMasks: [1, 1] as never },
};

for (const [says, parts] of Object.entries(MASKS)) {
  Deno.test(`masks are refused: ${says}`, () => {
    const masks = { actionMasks: ALL, finalActionMasks: ALL, ...parts };
    const step = { ...right(), ...masks };
    assertThrows(() => checkStep(step, { ...place, actionSpace }), Error, says);
  });
}

Deno.test("without its parts a mask is to allow something at all", () => {
  const actionMasks = ALL.slice().fill(0, 5);
  const step = { ...right(), actionMasks, finalActionMasks: ALL };
  assertThrows(() => checkStep(step, place), RangeError, "0 for all 5 choices");
  const odd = { ...step, actionMasks: new Uint8Array(5) };
  assertThrows(
    () => checkStep(odd, place),
    TypeError,
    "rows of 2 copies, got 5",
  );
});

Deno.test("first observations are refused as later ones are", () => {
  assertThrows(
    () => checkObservations(Float32Array.of(1, NaN), { numEnvs: 1, step: 0 }),
    RangeError,
    "the observation[1] of copy 0 at step 0",
  );
});

Deno.test("ends are 0 or 1, and final observations as long as the others", () => {
  const cases: Record<string, Partial<VecStep>> = {
    "Cannot use terminated of copy 1 at step 12: it is 255, expected 0 or 1": {
      terminated: Uint8Array.of(0, 255),
    },
    "Cannot use the final observations at step 12: expected": {
      finalObservations: new Float32Array(2),
      truncated: Uint8Array.of(0, 1),
    },
    "as of the others, got undefined": {
      finalObservations: undefined,
      truncated: Uint8Array.of(0, 1),
    },
  };
  for (const [says, parts] of Object.entries(cases)) {
    const step = { ...right(), ...parts } as VecStep;
    assertThrows(() => checkStep(step, place), RangeError, says);
  }
});
