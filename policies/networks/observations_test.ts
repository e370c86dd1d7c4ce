import {
  assertAlmostEquals,
  assertEquals,
  assertNotStrictEquals,
} from "@std/assert";
import type { BoxSpace, Space } from "@bellman/types";
import fc from "fast-check";
import { mapParts, observationEncoder, partOf } from "./observations.ts";
import { assertClose } from "../testdata/assertions.ts";
import { testOnBackends, values } from "../testdata/backends.ts";
import { IMAGE } from "../testdata/spaces.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

const BOX: BoxSpace = {
  type: "box",
  shape: [2],
  low: -9,
  high: 9,
  dtype: "float32",
};

testOnBackends("numbers of any type become float32", () => {
  const cases = [
    ["float32", Float32Array],
    ["float64", Float64Array],
    ["int32", Int32Array],
  ] as const;
  for (const [dtype, make] of cases) {
    const encoder = observationEncoder({ ...BOX, dtype });
    const encoded = encoder.observationTensor(make.from([1, -2, 3, 4]), 2);
    assertEquals(encoded.shape, [2, 2]);
    assertEquals(encoded.dtype, "float32");
    assertEquals(values(encoded), [1, -2, 3, 4]);
  }
});

testOnBackends("a tensor does not change with the array it came from", () => {
  const batch = new Float32Array([1, 2]);
  const encoded = observationEncoder(BOX).observationTensor(batch, 1);
  batch.fill(7);
  assertEquals(values(encoded), [1, 2]);
});

testOnBackends("bytes up to 255 are scaled to 1, others are not", () => {
  const image = { ...BOX, shape: [1, 2, 1], low: 0, dtype: "uint8" } as const;
  const bytes = new Uint8Array([0, 255, 51, 102]);
  for (const high of [255, [255, 255]]) {
    const encoded = observationEncoder({ ...image, high }).observationTensor(
      bytes,
      2,
    );
    assertEquals(encoded.shape, [2, 1, 2, 1]);
    assertClose(encoded, [0, 1, 0.2, 0.4], 1e-7);
  }
  const encoded = observationEncoder({ ...image, high: 200 }).observationTensor(
    bytes,
    2,
  );
  assertEquals(values(encoded), [0, 255, 51, 102]);
});

testOnBackends("discrete observations are one-hot from their start on", () => {
  const encoder = observationEncoder({ type: "discrete", n: 3, start: -1 });
  assertEquals(encoder.observationShape, [3]);
  assertEquals(encoder.observationSize, 1);
  const encoded = encoder.observationTensor(new Int32Array([1, -1]), 2);
  assertEquals(values(encoded), [0, 0, 1, 1, 0, 0]);
});

testOnBackends("multi-discrete observations are one-hot side by side", () => {
  const encoder = observationEncoder({ type: "multiDiscrete", nvec: [2, 3] });
  assertEquals(encoder.observationShape, [5]);
  assertEquals(encoder.observationSize, 2);
  const encoded = encoder.observationTensor(new Int32Array([1, 0, 0, 2]), 2);
  assertEquals(values(encoded), [0, 1, 1, 0, 0, 1, 0, 0, 0, 1]);
});

testOnBackends("multi-binary observations are numbers", () => {
  const encoder = observationEncoder({ type: "multiBinary", n: 3 });
  const encoded = encoder.observationTensor(new Uint8Array([1, 0, 1]), 1);
  assertEquals(values(encoded), [1, 0, 1]);
});

testOnBackends("the parts of a dict are encoded side by side", () => {
  const encoder = observationEncoder({
    type: "dict",
    spaces: {
      camera: { ...IMAGE, shape: [1, 2, 1] },
      goal: { type: "discrete", n: 2 },
      joints: { ...BOX, shape: [3], dtype: "float64" },
    },
  });
  assertEquals(encoder.observationShape, [2 + 2 + 3]);
  assertEquals(encoder.observationParts, {
    camera: [1, 2, 1],
    goal: [2],
    joints: [3],
  });
  assertEquals(encoder.observationInput, {
    camera: { shape: [1, 2, 1], dtype: "uint8" },
    goal: { shape: [1], dtype: "int32" },
    joints: { shape: [3], dtype: "float32" },
  });
  const given = {
    joints: Float64Array.of(1, 2, 3, 4, 5, 6),
    goal: Int32Array.of(1, 0),
    camera: Uint8Array.of(0, 255, 51, 0),
  };
  const kept = encoder.observationArray(given) as Record<string, unknown>;
  assertEquals(kept, { ...given, joints: Float32Array.from(given.joints) });
  assertNotStrictEquals(kept.goal, given.goal);
  const encoded = encoder.observationTensor(given, 2);
  assertEquals(encoded.shape, [2, 7]);
  assertAlmostEquals(values(encoded)[7], 0.2, 1e-6);
  assertEquals(values(encoded).slice(0, 7), [0, 1, 0, 1, 1, 2, 3]);
  assertRefused({
    "TypeError: Cannot encode observations without an array 'goal': expected one for each part":
      () => encoder.observationArray({ ...given, goal: undefined } as never),
    "RangeError: Cannot encode 3 numbers as observations: the batch must have 6":
      () =>
        encoder.observationTensor({ ...given, joints: new Float64Array(3) }, 2),
    "TypeError: Cannot use dict observations without parts: expected one or more":
      () => observationEncoder({ type: "dict", spaces: {} }),
  });
});

Deno.test("observations that do not fit are refused", () => {
  const discrete = observationEncoder({ type: "discrete", n: 3, start: 1 });
  for (const wrong of [0, 4]) {
    assertRefused({
      [`RangeError: Cannot encode the observation ${wrong}: the space has 1 to 3`]:
        () => discrete.observationTensor(new Int32Array([wrong]), 1),
    });
  }
  assertRefused({
    "RangeError: Cannot encode 3 numbers as observations: the batch must have 4":
      () => observationEncoder(BOX).observationTensor(new Float32Array(3), 2),
  });
  const tuple: Space = { type: "tuple", spaces: [BOX] };
  const dict: Space = { type: "dict", spaces: { a: BOX } };
  const cases: Record<string, Space> = {
    "tuple observations as inputs": tuple,
    "tuple observations within a dict": { type: "dict", spaces: { tuple } },
    "dict observations within a dict": { type: "dict", spaces: { dict } },
  };
  for (const [what, space] of Object.entries(cases)) {
    assertRefused({
      [
        `TypeError: Cannot use ${what}: wrap the ` +
        `environment in FlattenObservation, a single one in FlattenObservation`
      ]: () => observationEncoder(space),
    });
  }
});

Deno.test("numbers that are not finite in 32 bits reach no network", () => {
  for (const dtype of ["float32", "float64"] as const) {
    const encoder = observationEncoder({
      type: "box",
      shape: [2],
      low: -Infinity,
      high: Infinity,
      dtype,
    });
    encoder.observationArray([1, 3e38, -3e38, 0]);
    for (const value of [NaN, Infinity, -Infinity, 1e300]) {
      assertRefused({
        "RangeError: number 2 of the batch is": () =>
          encoder.observationArray([0, 1, value, 3]),
      });
    }
  }
});

const NAMES = fc.uniqueArray(fc.stringMatching(/^[a-z.]{1,6}$/), {
  minLength: 1,
});

Deno.test("each part is found by its name", () => {
  fc.assert(fc.property(NAMES, (names) => {
    const parts = Object.fromEntries(names.map((name, i) => [name, [i]]));
    const named = mapParts(parts, (one, name) => `${name} ${one}`);
    for (const name of names) {
      assertEquals(partOf(parts, name), parts[name]);
      assertEquals(partOf(named, name), `${name} ${parts[name]}`);
    }
  }));
});

Deno.test("what has no parts is one value", () => {
  const wholes = [Uint8Array.of(1), [1, 2], 3, { shape: [2], dtype: "int32" }];
  for (const whole of wholes) {
    assertEquals(mapParts(whole as never, (_, name) => name ?? "none"), "none");
  }
});
