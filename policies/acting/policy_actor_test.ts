import { paramTypes, RandomStream, selectBackend } from "@bellman/compute";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import {
  compilePolicy,
  envActions,
  PolicyActor,
  type PolicyActorOptions,
} from "./policy_actor.ts";
import { actorCritic } from "../models/actor_critic.ts";
import type { NetworkName } from "../networks/create_network.ts";
import fc from "fast-check";
import type { BoxSpace, Space } from "@bellman/types";
import type { Policy } from "../models/policy.ts";
import { stochasticPolicy } from "../models/stochastic_policy.ts";

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

const box: BoxSpace = {
  type: "box",
  shape: [2],
  low: [-1, 0],
  high: [1, 10],
  dtype: "float64",
};

Deno.test("each number of a box action has its own bounds", () => {
  assertEquals(envActions(box)([5, -5, 0.5, 7]), Float64Array.of(1, 0, 0.5, 7));
});

Deno.test("squashed actions are stretched to the bounds and never beyond", () => {
  const toEnv = envActions(box, { squashed: true });
  assertEquals(
    toEnv([-1, -1, 1, 1, 0, 0]),
    Float64Array.of(-1, 0, 1, 10, 0, 5),
  );
  fc.assert(fc.property(fc.float({ min: -1, max: 1, noNaN: true }), (x) => {
    const [first, second] = toEnv([x, x]);
    assert(first >= -1 && first <= 1 && second >= 0 && second <= 10);
  }));
});

Deno.test("whole numbers are rounded", () => {
  const whole: BoxSpace = { ...box, dtype: "int32" };
  assertEquals(envActions(whole)([0.6, 2.4]), Int32Array.of(1, 2));
});

Deno.test("discrete actions are as they are sampled", () => {
  const toEnv = envActions({ type: "discrete", n: 3, start: -1 });
  assertEquals(toEnv([-1, 0, 1]), Int32Array.of(-1, 0, 1));
  assertEquals(
    envActions({ type: "multiBinary", shape: [2] } as never)([1, 0]),
    Uint8Array.of(1, 0),
  );
});

await selectBackend("cpu");

const observationSpace = { type: "discrete", n: 4 } as const;
const DISCRETE: Space = { type: "discrete", n: 3 };
const BOX: Space = {
  type: "box",
  shape: [2],
  low: [0, -3],
  high: [1, 3],
  dtype: "float64",
};

function actorOf(
  policy: Policy,
  options:
    & Pick<PolicyActorOptions, "actionSpace" | "numEnvs">
    & Partial<PolicyActorOptions>,
): PolicyActor {
  const params = policy.init(new RandomStream(1));
  return new PolicyActor(policy, {
    params: () => params,
    compilation: { params: paramTypes(params), engine: "eager" },
    ...options,
  });
}

Deno.test("squashed actions come in the bounds and the type of their space", () => {
  const policy = stochasticPolicy({ observationSpace, actionSpace: BOX });
  const actor = actorOf(policy, { actionSpace: BOX, numEnvs: 3 });
  for (let i = 0; i < 20; i++) {
    const actions = actor.act([0, 1, 2]);
    assert(actions instanceof Float64Array);
    actions.forEach((it, k) =>
      assert(k % 2 === 0 ? it >= 0 && it <= 1 : Math.abs(it) <= 3)
    );
  }
});

Deno.test("equal seeds act alike, and the mode has no use for them", () => {
  const policy = stochasticPolicy({ observationSpace, actionSpace: BOX });
  const acts = (options: Partial<PolicyActorOptions>) => {
    const actor = actorOf(policy, { actionSpace: BOX, numEnvs: 2, ...options });
    return [actor.act([0, 3]), actor.act([1, 2])];
  };
  assertEquals(acts({ seed: 5 }), acts({ seed: 5 }));
  assert(acts({ seed: 5 })[0][0] !== acts({ seed: 6 })[0][0]);
  const likeliest = { deterministic: true };
  assertEquals(acts({ ...likeliest, seed: 5 }), acts(likeliest));
});

Deno.test("state-dependent noise is kept for as many steps as are wanted", () => {
  const policy = stochasticPolicy({
    observationSpace,
    actionSpace: BOX,
    useSde: true,
    sdeInitialLogStd: 0,
  });
  const actor = actorOf(policy, {
    actionSpace: BOX,
    numEnvs: 1,
    renewsNoise: (step) => step % 2 === 0,
  });
  const [a, b, c] = [0, 0, 0].map((seen) => actor.act([seen]));
  assertEquals(a, b);
  assert(a[0] !== c[0]);
});

Deno.test("a recurrent policy forgets at the end of an episode", () => {
  const policy = actorCritic({
    observationSpace,
    actionSpace: BOX,
    network: "lstm",
    networkOptions: { lstmSize: 8 },
  });
  const actor = actorOf(policy, {
    actionSpace: BOX,
    numEnvs: 2,
    deterministic: true,
  });
  const first = actor.act([0, 1]);
  actor.observe({
    terminated: Uint8Array.of(1, 0),
    truncated: Uint8Array.of(0, 0),
  });
  const second = actor.act([0, 1]);
  assertEquals(second.slice(0, 2), first.slice(0, 2));
  assert(second.slice(2).some((it, i) => it !== first[2 + i]));
  actor.endEpisodes();
  assertEquals(actor.act([0, 1]), first);
});

Deno.test("it acts in a whole number of copies", () => {
  const policy = stochasticPolicy({ observationSpace, actionSpace: DISCRETE });
  for (const numEnvs of [0, 1.5, -1]) {
    assertThrows(
      () => actorOf(policy, { actionSpace: DISCRETE, numEnvs }),
      RangeError,
      `${numEnvs} environments`,
    );
  }
});

const MASKED_ACTIONS: Record<string, [Space, masks: number[], only: number[]]> =
  {
    discrete: [
      { type: "discrete", n: 3, start: 4 },
      [0, 1, 0, 0, 0, 1],
      [5, 6],
    ],
    multiDiscrete: [
      { type: "multiDiscrete", nvec: [2, 3] },
      [0, 1, 0, 0, 1, 1, 0, 0, 1, 0],
      [1, 2, 0, 1],
    ],
    multiBinary: [
      { type: "multiBinary", n: 2 },
      [0, 1, 1, 0, 1, 0, 0, 1],
      [1, 0, 0, 1],
    ],
  };

for (
  const [type, [actionSpace, masks, only]] of Object.entries(MASKED_ACTIONS)
) {
  for (const network of ["mlp", "lstm"] as const) {
    for (const engine of ["eager", "onnx"] as const) {
      for (const deterministic of [false, true]) {
        const form = deterministic ? "the mode" : "samples";
        Deno.test(`masks leave one action: ${form}, ${type}, ${network}, ${engine}`, () => {
          const policy = actorCritic({
            observationSpace,
            actionSpace,
            network,
            networkOptions: { lstmSize: 4, hiddenSizes: [8] },
          });
          const params = policy.init(new RandomStream(1));
          const actor = actorOf(policy, {
            actionSpace,
            numEnvs: 2,
            masked: true,
            deterministic,
            compilation: { params: paramTypes(params), engine },
          });
          for (let i = 0; i < 5; i++) {
            const actions = actor.act([0, 3], Uint8Array.from(masks));
            assertEquals([...actions], only);
          }
        });
      }
    }
  }
}

Deno.test("masks are needed where actions are masked, and there alone", () => {
  const policy = stochasticPolicy({ observationSpace, actionSpace: DISCRETE });
  const options = { actionSpace: DISCRETE, numEnvs: 2 };
  const masked = actorOf(policy, { ...options, masked: true });
  const says = (act: () => unknown, text: string) => {
    const { message } = assertThrows(act, TypeError, text);
    assertEquals(message.includes("\n"), false);
  };
  says(
    () => masked.act([0, 1]),
    "without action masks: expected 6 numbers, 1 where a choice is allowed",
  );
  says(
    () => masked.act([0, 1], new Uint8Array(5)),
    "by action masks of 5 numbers: expected 6",
  );
  says(
    () => actorOf(policy, options).act([0, 1], new Uint8Array(6).fill(1)),
    "by action masks of 6 numbers: expected none, as the agent was made for environments without masks",
  );
  says(
    () =>
      actorOf(stochasticPolicy({ observationSpace, actionSpace: BOX }), {
        actionSpace: BOX,
        numEnvs: 2,
        masked: true,
      }),
    "Cannot mask box actions",
  );
});
