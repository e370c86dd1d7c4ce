import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  activationFunction,
  activationNames,
  dense,
  denseLayer,
} from "./_layers.ts";
import { type ActivationName, parameter } from "./network.ts";
import { assertClose } from "../testdata/assertions.ts";
import { testOnBackends, values } from "../testdata/backends.ts";

const tensor = tf.scalar(1);

Deno.test("a missing parameter is named beside those that are there", () => {
  assertThrows(
    () => parameter({ "a/b": tensor }, "a/c"),
    RangeError,
    "Cannot find the parameter 'a/c' among a/b",
  );
});

testOnBackends("dense is the product and the bias", () => {
  const y = dense(
    tf.tensor2d([[1, 2], [-1, 0.5]]),
    tf.tensor2d([[3, 0, 1], [-1, 4, 2]]),
    tf.tensor1d([0.5, -0.5, 10]),
  );
  assertClose(y, [1.5, 7.5, 15, -3, 1.5, 10]);
});

testOnBackends("the gradient of dense is that of its formula", () => {
  const x = tf.tensor2d([[1, 2], [-1, 0.5]]);
  const dy = tf.tensor2d([[1, -2, 3], [0.5, 0, -1]]);
  const params = {
    "layer/kernel": tf.tensor2d([[3, 0, 1], [-1, 4, 2]]),
    "layer/bias": tf.tensor1d([0.5, -0.5, 10]),
  };
  const [dx, dKernel, dBias] = tf.grads((x, kernel, bias) =>
    tf.sum(tf.mul(
      dy,
      denseLayer(
        { "layer/kernel": kernel, "layer/bias": bias },
        "layer",
        x as tf.Tensor2D,
      ),
    ))
  )([x, params["layer/kernel"], params["layer/bias"]]);
  assertClose(dx, [6, -3, 0.5, -2.5]);
  assertClose(dKernel, [0.5, -2, 4, 2.25, -4, 5.5]);
  assertClose(dBias, [1.5, -2, 2]);
  assertClose(values(tf.sum(dBias)), [1.5]);
});

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
