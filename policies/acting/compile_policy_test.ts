import { paramTypes, RandomStream, selectBackend } from "@bellman/compute";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { compilePolicy } from "./compile_policy.ts";
import { actorCritic } from "../models/actor_critic.ts";
import type { NetworkName } from "../networks/create_network.ts";

await selectBackend("cpu");

const spaces = {
  observationSpace: {
    type: "box",
    shape: [3],
    low: -1,
    high: 1,
    dtype: "float32",
  },
  actionSpace: { type: "discrete", n: 5 },
} as const;

function resultsOf(network: NetworkName, engine: "onnx" | "eager") {
  const policy = actorCritic({
    ...spaces,
    network,
    networkOptions: { lstmSize: 4, hiddenSizes: [8] },
  });
  const params = policy.init(new RandomStream(2));
  const run = compilePolicy(policy, (output, { params, noise }) => ({
    actions: policy.sample(params, output, { noise }),
    values: output.value,
    state: output.state,
  }), {
    name: "acting",
    numEnvs: 2,
    sampled: true,
    engine,
    params: paramTypes(params),
  });
  const state = new Float32Array(2 * policy.stateSize).fill(0.3);
  return structuredClone(run({
    params,
    observations: Float32Array.of(0.1, 0.2, 0.3, -0.1, -0.2, -0.3),
    noise: Float32Array.from({ length: 10 }, (_, i) => (i * 7 % 10) / 10),
    memory: { state, starts: Float32Array.of(0, 1) },
  }));
}

for (const network of ["mlp", "lstm"] as const) {
  Deno.test(`compiled and eager policies give the same, ${network}`, () => {
    const [onnx, eager] = [
      resultsOf(network, "onnx"),
      resultsOf(network, "eager"),
    ];
    assertEquals(onnx.actions, eager.actions);
    onnx.values!.forEach((it, i) =>
      assertAlmostEquals(it, eager.values![i], 1e-5)
    );
    assertEquals(onnx.state === undefined, network === "mlp");
    onnx.state?.forEach((it, i) =>
      assertAlmostEquals(it, eager.state![i], 1e-5)
    );
  });
}

Deno.test("a state is forgotten where an episode starts", () => {
  const { state } = resultsOf("lstm", "onnx");
  const [kept, fresh] = [state!.slice(0, 8), state!.slice(8)];
  assert(kept.some((it, i) => Math.abs(it - fresh[i]) > 0.05));
});
