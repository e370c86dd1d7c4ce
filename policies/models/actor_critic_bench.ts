import { selectBackend } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { actorCritic } from "./actor_critic.ts";
import { seededRandom } from "../testdata/random.ts";

for (const backend of ["wasm", "cpu"] as const) {
  await selectBackend(backend);
  const model = actorCritic({
    observationSpace: {
      type: "box",
      shape: [4],
      low: -1,
      high: 1,
      dtype: "float32",
    },
    actionSpace: { type: "discrete", n: 2 },
    network: "mlp",
    valueNetwork: "separate",
  });
  const params = model.init(seededRandom(1));
  const x = tf.zeros([16, 4]);
  const rollout = tf.zeros([80, 4]);
  const actions = tf.zeros([80], "int32");
  const noise = tf.fill([16, 2], 0.5) as tf.Tensor2D;
  const paths = Object.keys(params);

  /** Loss of A2C, with advantages of 1. */
  const loss = (...tensors: tf.Tensor[]): tf.Scalar => {
    const inputs = Object.fromEntries(paths.map((p, i) => [p, tensors[i]]));
    const { policy, value } = model.apply(inputs, rollout);
    const { distribution } = model;
    const score = tf.mean(distribution.logProb(policy, actions));
    const bonus = tf.mean(distribution.entropy(policy));
    return tf.sub(tf.mean(tf.square(value)), tf.add(score, bonus));
  };

  const use = (name: string, body: () => void) =>
    Deno.bench(`${name}, separate 64-64 tanh (${backend})`, async (b) => {
      await tf.setBackend(backend);
      b.start();
      tf.tidy(body);
      b.end();
    });
  use("forward of 16 rows", () => {
    model.apply(params, x);
  });
  use("forward and actions of 16 rows", () => {
    model.sample(params, model.apply(params, x), { noise });
  });
  use("gradient of 80 rows", () => {
    tf.valueAndGrads(loss)(Object.values(params));
  });
}
