import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import { createOptimizer } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { SharedParameters } from "./parameter_server.ts";

await tf.setBackend("cpu");

const RMSPROP = { decay: 0.9, rmspropEpsilon: 0.01, workers: 2 };

Deno.test("shared RMSProp takes the steps of the optimizer on tensors", () => {
  const shared = SharedParameters.from(Float32Array.of(1, -2, 0.5), {
    ...RMSPROP,
    optimizer: "shared_rmsprop",
  });
  const server = shared.connect(0);
  const optimizer = createOptimizer("rmsprop_tf1", {
    decay: 0.9,
    epsilon: 0.01,
  });
  let params: tf.Tensor = tf.tensor1d([1, -2, 0.5]);
  let state = { "rms/w": tf.zeros([3]) as tf.Tensor };
  for (const gradient of [[1, 2, -3], [0.1, 0, 5], [-4, 0.2, 1e-3]]) {
    server.push(Float32Array.from(gradient), 0.1);
    const step = optimizer.apply({ w: params }, { w: tf.tensor1d(gradient) }, {
      state,
      learningRate: tf.scalar(0.1),
    });
    params = step.params.w;
    state = step.state as typeof state;
  }
  const wanted = params.dataSync();
  shared.memory.params.forEach((it, i) =>
    assertAlmostEquals(it, wanted[i], 1e-6)
  );
});

Deno.test("statistics are of all workers, or of each", () => {
  for (
    const optimizer of ["shared_rmsprop", "rmsprop", "momentum_sgd"] as const
  ) {
    const shared = SharedParameters.from(new Float32Array(2), {
      ...RMSPROP,
      optimizer,
    });
    shared.connect(1).push(Float32Array.of(1, 0), 0.1);
    const { slots } = shared.memory;
    const isShared = optimizer === "shared_rmsprop";
    const own = [0.1, 0], wanted = isShared ? own : [0, 0, ...own];
    assertEquals(slots, Float32Array.from(wanted));
  }
});

Deno.test("momentum SGD is m = a m + (1 - a) d", () => {
  const shared = SharedParameters.from(Float32Array.of(1), {
    ...RMSPROP,
    decay: 0.5,
    optimizer: "momentum_sgd",
  });
  const server = shared.connect(0);
  server.push(Float32Array.of(2), 0.5);
  assertEquals(shared.memory.params[0], 0.5);
  server.push(Float32Array.of(0), 0.5);
  assertEquals(shared.memory.params[0], 0.25);
});

Deno.test("what has not changed is not pulled again", () => {
  const shared = SharedParameters.from(Float32Array.of(1), {
    ...RMSPROP,
    optimizer: "shared_rmsprop",
    targetInterval: 2,
  });
  const [server, other] = [shared.connect(0), shared.connect(1)];
  const params = new Float32Array(1), target = new Float32Array(1);
  assert(server.pull(params, "params") && server.pull(target, "target"));
  assert(!server.pull(params, "params") && !server.pull(target, "target"));
  other.push(Float32Array.of(1), 0.1);
  assert(server.pull(params, "params") && !server.pull(target, "target"));
  for (const copies of [false, true, false, true]) {
    other.step();
    other.syncTarget();
    assertEquals(server.pull(target, "target"), copies);
  }
  assertEquals([server.steps, target[0]], [4, params[0]]);
  // What was pulled before is of another time.
  shared.load(shared.save());
  assert(server.pull(params, "params") && server.pull(target, "target"));
});

Deno.test("everything is restored, and other sizes are refused", () => {
  const options = {
    ...RMSPROP,
    optimizer: "rmsprop" as const,
    targetInterval: 1,
  };
  const shared = SharedParameters.from(Float32Array.of(1, 2), options);
  const server = shared.connect(1);
  server.step();
  server.push(Float32Array.of(1, 1), 0.1);
  server.syncTarget();
  const state = shared.save();
  const other = SharedParameters.from(new Float32Array(2), options);
  other.load(state);
  assertEquals(other.save(), state);
  assertThrows(
    () => SharedParameters.from(new Float32Array(3), options).load(state),
    RangeError,
    "Cannot restore arrays of 4, 2, 2, 4, 18 numbers: expected 4, 3, 3, 6, 18",
  );
});

Deno.test("steps are claimed up to the next stop", () => {
  const shared = SharedParameters.from(new Float32Array(1), {
    ...RMSPROP,
    optimizer: "rmsprop",
  });
  const [server, other] = [shared.connect(0), shared.connect(1)];
  const claims = () => [server, other, server].map((it) => it.claim());
  assertEquals(claims(), [false, false, false]);
  shared.allow(2);
  assertEquals(claims(), [true, true, false]);
  server.step();
  // The other was given up, and its claim with it.
  shared.allow(1);
  assertEquals(claims(), [true, false, false]);
});

Deno.test("statistics are means of the workers that have reported", () => {
  const shared = SharedParameters.from(new Float32Array(1), {
    ...RMSPROP,
    optimizer: "rmsprop",
  });
  assertEquals(shared.statistics, undefined);
  shared.connect(1).report([4, NaN]);
  assertEquals(shared.statistics, [4, NaN]);
  shared.connect(0).report([2, 1]);
  assertEquals(shared.statistics, [3, NaN]);
  assertEquals([0, 0, 1].map((it) => shared.start(it)), [0, 1, 0]);
});
