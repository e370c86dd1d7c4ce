import { RandomStream } from "@bellman/compute";
import { assert, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { deterministicPolicy } from "./deterministic_policy.ts";

await tf.setBackend("cpu");

const BOX = { type: "box", low: -2, high: 2, dtype: "float32" } as const;
const OBSERVATION = { ...BOX, shape: [3] };

Deno.test("an action is a function of the observation, by tanh, of the space's shape", () => {
  const policy = deterministicPolicy({
    observationSpace: OBSERVATION,
    actionSpace: { ...BOX, shape: [2, 2] },
    networkOptions: { hiddenSizes: [] },
  });
  const params = policy.init(new RandomStream(1));
  const x = tf.tensor2d([[1, 2, 3], [0, 0, 0]]);
  const output = policy.apply(params, x);
  const raw = tf.add(
    tf.matMul(x, params["head/kernel"] as tf.Tensor2D),
    params["head/bias"],
  );
  const wanted = tf.reshape(tf.tanh(raw), [2, 2, 2]).arraySync();
  assertEquals(policy.mode(output).arraySync(), wanted);
  const noise = tf.zeros<tf.Rank.R2>([2, 0]);
  assertEquals(policy.sample(params, output, { noise }).arraySync(), wanted);
});

Deno.test("actions that tanh cannot reach are refused", () => {
  const make = (
    actionSpace: Parameters<typeof deterministicPolicy>[0]["actionSpace"],
  ) => deterministicPolicy({ observationSpace: OBSERVATION, actionSpace });
  assertThrows(
    () => make({ ...BOX, shape: [1], high: Infinity }),
    RangeError,
    "bounds must be finite",
  );
  assertThrows(
    () => make({ ...BOX, shape: [1], dtype: "int32" }),
    TypeError,
    "int32",
  );
  assert(make({ ...BOX, shape: [1] }).squashesActions);
});
