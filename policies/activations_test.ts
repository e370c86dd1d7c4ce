import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  activationFunction,
  type ActivationName,
  activationNames,
} from "./activations.ts";
import { assertClose } from "./testdata/assertions.ts";
import { testOnBackends } from "./testdata/backends.ts";

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const CLOSED_FORMS: Record<ActivationName, (x: number) => number> = {
  tanh: Math.tanh,
  relu: (x) => Math.max(0, x),
  elu: (x) => x > 0 ? x : Math.expm1(x),
  selu: (x) =>
    1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * Math.expm1(x)),
  leaky_relu: (x) => x > 0 ? x : 0.01 * x,
  sigmoid,
  softplus: (x) => Math.log1p(Math.exp(x)),
  silu: (x) => x * sigmoid(x),
  linear: (x) => x,
};

const INPUTS = [-5, -1, -0.25, 0, 0.5, 2, 6];

for (const name of activationNames) {
  testOnBackends(`${name} has its closed form`, () => {
    const outputs = activationFunction(name)(tf.tensor1d(INPUTS));
    assertClose(outputs, INPUTS.map(CLOSED_FORMS[name]), 1e-6);
  });
}

Deno.test("a function is taken as it is", () => {
  const own = (x: tf.Tensor) => x;
  assertEquals(activationFunction(own), own);
});

Deno.test("an unknown activation is refused with the known ones", () => {
  assertThrows(
    () => activationFunction("tan" as ActivationName),
    RangeError,
    "Cannot use the activation 'tan': choose one of tanh, relu",
  );
});
