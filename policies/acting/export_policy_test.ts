import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { paramsToArrays, RandomStream } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import {
  envActionTensor,
  exportPolicy,
  type ExportPolicyOptions,
} from "./export_policy.ts";
import { envActions } from "./policy_actor.ts";
import { actorCritic } from "../models/actor_critic.ts";

await tf.setBackend("cpu");

const actionSpace = { type: "discrete", n: 2 } as const;
const box = {
  type: "box",
  shape: [3],
  low: -1,
  high: 1,
  dtype: "float32",
} as const;
const model = actorCritic({
  observationSpace: box,
  actionSpace,
  network: "mlp",
  networkOptions: { hiddenSizes: [4] },
});
const params = paramsToArrays(model.init(new RandomStream(1)));

const write = (options: Partial<ExportPolicyOptions> = {}) =>
  exportPolicy(model, { params, actionSpace, ...options });
const text = (file: Uint8Array) => new TextDecoder("latin1").decode(file);

Deno.test("a file names its input and output and holds the metadata", () => {
  const file = text(write({ metadata: { environment: "Line-v0" } }));
  for (const name of ["observation", "action", "environment", "Line-v0"]) {
    assertStringIncludes(file, name);
  }
});

Deno.test("the value's network is not in the file", () => {
  const doubled = Object.fromEntries(
    Object.entries(params).map(([path, it]) => [
      path,
      path.startsWith("vf/") ? { ...it, data: it.data.map((x) => 2 * x) } : it,
    ]),
  );
  assertEquals(write({ params: doubled }), write());
});

Deno.test("probabilities are an output where they are asked for, of discrete actions alone", () => {
  assertEquals(text(write()).includes("probabilities"), false);
  assertStringIncludes(text(write({ probabilities: true })), "probabilities");
  assertThrows(
    () => write({ probabilities: true, actionSpace: box }),
    TypeError,
    "Cannot export probabilities of box actions: expected discrete actions",
  );
});

Deno.test("noise is an input of a policy that samples", () => {
  assertEquals(text(write()).includes("independent numbers"), false);
  assertStringIncludes(
    text(write({ deterministic: false })),
    "2 independent numbers from 0 to below 1",
  );
});

Deno.test("masks are an input where actions are masked", () => {
  assertEquals(text(write()).includes("action_masks"), false);
  const file = text(write({ masked: true }));
  assertStringIncludes(file, "action_masks");
  assertStringIncludes(file, "2 numbers: 1 where a choice");
  assertThrows(
    () =>
      exportPolicy(
        actorCritic({
          observationSpace: box,
          actionSpace: box,
          network: "mlp",
        }),
        { params, actionSpace: box, masked: true },
      ),
    TypeError,
    "Cannot mask box actions",
  );
});

Deno.test("tensors are freed", () => {
  write();
  const before = tf.memory().numTensors;
  write({ scaling: { mean: [0, 0, 0], variance: [1, 1, 1] } });
  assertEquals(tf.memory().numTensors, before);
});

Deno.test("sizes that do not fit are refused", () => {
  for (const batchSize of [0, 1.5, NaN]) {
    assertThrows(() => write({ batchSize }), RangeError, `${batchSize}`);
  }
  assertThrows(
    () => write({ scaling: { mean: [0], variance: [1] } }),
    RangeError,
    "observations of 3 numbers by 1 means",
  );
});

Deno.test("the batch is open, unless its length is given", () => {
  const openBatch = text(write()), fixed = text(write({ batchSize: 5 }));
  assertStringIncludes(openBatch, "batch");
  assertEquals(fixed.includes("batch"), false);
});

Deno.test("metadata tell what observations are divided by, whatever their shape", () => {
  const cases: [number[], number, string][] = [
    [[128], 255, "within the file: x / 255"],
    [[7, 7, 3], 255, "within the file: x / 255"],
    [[7, 7, 3], 10, "none"],
  ];
  for (const [shape, high, scaling] of cases) {
    const model = actorCritic({
      observationSpace: { type: "box", shape, low: 0, high, dtype: "uint8" },
      actionSpace,
      network: "mlp",
    });
    const params = paramsToArrays(model.init(new RandomStream(1)));
    // Key and value as fields 1 and 2, each after its length.
    assertStringIncludes(
      text(exportPolicy(model, { params, actionSpace })),
      `scaling\x12${String.fromCharCode(scaling.length)}${scaling}`,
    );
  }
});

Deno.test("files and agents take the same actions, whatever the bounds", () => {
  const edges = [
    ...[-2, 0, 0.1, 1, 1e-30, 1e30, 2e38, -2e38, (2 - 2 ** -23) * 2 ** 127],
    ...[2 ** 31 - 1, -(2 ** 31), 1e300, -1e300, Infinity, -Infinity, 255],
  ];
  const number = fc.oneof(
    fc.constantFrom(...edges),
    fc.double({ noNaN: true }),
  );
  const dtypes = ["float32", "float64", "int32"] as const;
  fc.assert(
    fc.property(
      ...[number, number, fc.constantFrom(...dtypes), fc.boolean()] as const,
      fc.double({ min: -1, max: 1, noNaN: true }).map(Math.fround),
      (one, other, dtype, squashed, sampled) => {
        const inside = dtype === "int32"
          ? [one, other].map((it) =>
            Math.round(Math.max(-(2 ** 31), Math.min(it, 2 ** 31 - 1)))
          )
          : [one, other];
        const [low, high] = [Math.min(...inside), Math.max(...inside)];
        const box = { type: "box", shape: [1], low, high, dtype } as const;
        const [agent] = envActions(box, { squashed })([sampled]);
        const [file] = tf.tidy(() =>
          envActionTensor(tf.tensor([[sampled]]), box, { squashed }).dataSync()
        );
        // Rounding to float32, once for each step.
        const size = squashed
          ? Math.max(Math.abs(low), Math.abs(high), 1e-37)
          : Math.max(Math.abs(agent), 1e-37);
        const most = Math.min(size, 3.5e38) * 2 ** -21 +
          Number(dtype === "int32");
        assert(Math.abs(agent - file) <= most, `${agent} ${file}`);
        // So is its legality.
        const isLegal = agent >= low && agent <= high;
        const isOutside = dtype !== "float32" && high - low > 1e-6 * size &&
          isLegal && (file < low || file > high);
        assert(!isOutside, `${file}`);
      },
    ),
    { numRuns: 2000 },
  );
});

Deno.test("what float32 cannot hold is refused", () => {
  const near = (dtype: "float32" | "float64" | "int32", mean: number) => () =>
    write({
      scaling: {
        mean: [mean, 0, 5],
        // The last one never changes.
        variance: [90_000, 1, 0],
        dtype,
      },
    });
  near("float32", 1.7e9)();
  near("float64", 1000)();
  near("int32", 1e7)();
  for (const dtype of ["float64", "int32"] as const) {
    assertThrows(near(dtype, 1.7e9), RangeError, "cannot hold them");
  }
  assertThrows(
    () => write({ scaling: { mean: [0, 0, 0], variance: [1, 1, 1e76] } }),
    RangeError,
    "cannot hold them",
  );
  const actionSpace = { ...box, low: 1.7e9, high: 1.7e9 + 100 };
  for (const dtype of ["float64", "int32"] as const) {
    assertThrows(
      () => write({ actionSpace: { ...actionSpace, dtype } }),
      RangeError,
      "cannot tell them apart",
    );
  }
});
