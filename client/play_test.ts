import { RandomStream, selectBackend } from "@bellman/compute";
import { make } from "@bellman/envs";
import {
  exportPolicy,
  type Policy,
  qPolicy,
  stochasticPolicy,
} from "@bellman/policies";
import type { Space } from "@bellman/types";
import { paramsToArrays } from "@bellman/compute";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import {
  Player,
  type PlayerObservation,
  type PlayerOptions,
  type Tensor,
} from "./play.ts";

const ZOO = new URL("../zoo/", import.meta.url);
const read = (agent: string) =>
  Deno.readFileSync(new URL(`${agent}/policy.onnx`, ZOO));
const CART_POLE = read("a2c/CartPole-v1");

const box = (...shape: number[]): Space => ({
  type: "box",
  shape,
  low: -1,
  high: 1,
  dtype: "float32",
});

/** A writer of protobuf's messages, of the fields that files of policies have. */
const field = (number: number, value: number | string | number[]): number[] => {
  if (typeof value === "number") return [number << 3, value];
  const bytes = [
    ...typeof value === "string" ? new TextEncoder().encode(value) : value,
  ];
  return [number << 3 | 2, bytes.length, ...bytes];
};

/** A file of one operation on an observation of two numbers. */
function fileOf(
  op: string,
  attributes: Record<string, number> = {},
  { type = 1, from = "observation" } = {},
): Uint8Array {
  const port = (name: string) => [
    ...field(1, name),
    ...field(
      2,
      field(1, [
        ...field(1, type),
        ...field(2, [...field(1, field(2, "rows")), ...field(1, field(1, 2))]),
      ]),
    ),
  ];
  const settings = Object.entries(attributes).flatMap(([name, value]) =>
    field(5, [...field(1, name), ...field(3, value)])
  );
  return Uint8Array.from(field(7, [
    ...field(1, [
      ...field(1, from),
      ...field(2, "action"),
      ...field(4, op),
      ...settings,
    ]),
    ...field(11, port("observation")),
    ...field(12, port("action")),
  ]));
}

/** Exports an untrained policy. */
async function exported(
  observationSpace: Space,
  actionSpace: Space,
  {
    samples = false,
    masked = false,
    probabilities = false,
    policyOf = stochasticPolicy,
  }: {
    samples?: boolean;
    masked?: boolean;
    probabilities?: boolean;
    policyOf?(spaces: { observationSpace: Space; actionSpace: Space }): Policy;
  } = {},
): Promise<Uint8Array> {
  await selectBackend("cpu");
  const policy = policyOf({ observationSpace, actionSpace });
  const params = paramsToArrays(policy.init(new RandomStream(1)));
  return exportPolicy(policy, {
    ...{ params, actionSpace, masked, probabilities },
    deterministic: !samples,
  });
}

Deno.test("an agent of the zoo balances the pole", () => {
  const player = new Player<number>(CART_POLE);
  const env = make("CartPole-v1");
  let observation = env.reset({ seed: 5 }) as PlayerObservation, score = 0;
  for (let isOver = false; !isOver; score++) {
    const step = env.step(player.act(observation));
    observation = step.observation as PlayerObservation;
    isOver = step.terminated || step.truncated;
  }
  assertEquals(score, 500);
  assertEquals(player.metadata.environment, "CartPole-v1");
});

Deno.test("a recurrent policy remembers until an episode begins", () => {
  const player = new Player<number>(read("acer/PositionOnlyCartPole-v1"));
  const course = () =>
    Array.from({ length: 20 }, (_, i) => player.act([i / 40, -i / 60]));
  const first = course(), second = course();
  player.begin();
  assertEquals(course(), first);
  assert(String(second) !== String(first));
});

Deno.test("parts of an observation are given by name", async () => {
  const space: Space = {
    type: "dict",
    spaces: { joints: box(2), goal: box(1) },
  };
  const file = await exported(space, { type: "discrete", n: 3 });
  const player = new Player<number>(file);
  const action = player.act({ joints: [0.1, 0.2], goal: [1] });
  assert([0, 1, 2].includes(action));
  assertThrows(
    () => player.act({ joints: [0.1, 0.2] }),
    TypeError,
    "Cannot act without observation.goal",
  );
});

Deno.test("sampled actions come from the numbers that are given", async () => {
  const file = await exported(box(2), { type: "discrete", n: 4 }, {
    samples: true,
  });
  const courseOf = (seed: number) => {
    const stream = new RandomStream(seed);
    const player = new Player<number>(file, {
      random: () => stream.uniform(),
    });
    return Array.from({ length: 50 }, () => player.act([0.5, -0.5]));
  };
  assertEquals(courseOf(1), courseOf(1));
  assertEquals(new Set(courseOf(1)).size, 4);
});

Deno.test("masks allow actions", async () => {
  const file = await exported(box(2), { type: "discrete", n: 4 }, {
    masked: true,
  });
  const player = new Player<number>(file);
  for (let only = 0; only < 4; only++) {
    const masks = [0, 1, 2, 3].map((it) => +(it === only));
    assertEquals(player.act([0.5, -0.5], masks), only);
  }
  assertThrows(
    () => player.act([0.5, -0.5]),
    TypeError,
    "Cannot act without action masks",
  );
});

Deno.test("probabilities are those of sampled actions, none for what is forbidden", async () => {
  const actionSpace: Space = { type: "discrete", n: 4, start: 3 };
  const settings = { samples: true, masked: true, probabilities: true };
  const file = await exported(box(2), actionSpace, settings);
  const stream = new RandomStream(1), counts = [0, 0, 0, 0], games = 20_000;
  const player = new Player<number>(file, { random: () => stream.uniform() });
  assertEquals(player.probabilities, undefined);
  for (let i = 0; i < games; i++) {
    counts[player.act([2, -1], [1, 0, 1, 1]) - 3]++;
  }
  const found = player.probabilities!;
  assertEquals([found.length, found[1]], [4, 0]);
  counts.forEach((it, i) => assertAlmostEquals(it / games, found[i], 0.015));
  const plain = new Player(await exported(box(2), actionSpace));
  plain.act([2, -1]);
  assertEquals(plain.probabilities, undefined);
});

Deno.test("a Q-function takes its best action for sure", async () => {
  const actionSpace: Space = { type: "discrete", n: 4, start: 3 };
  const settings = { masked: true, probabilities: true, policyOf: qPolicy };
  const player = new Player<number>(
    await exported(box(2), actionSpace, settings),
  );
  for (const masks of [[1, 1, 1, 1], [1, 0, 0, 1], [0, 0, 1, 0]]) {
    const action = player.act([2, -1], masks);
    const sure = [3, 4, 5, 6].map((it) => +(it === action));
    assertEquals(player.probabilities, Float32Array.from(sure));
  }
});

Deno.test("box actions are arrays within their bounds", async () => {
  const file = await exported(box(3), {
    ...{ type: "box", shape: [2], dtype: "float32" },
    ...{ low: [-0.1, 0], high: [0.1, 5] },
  });
  const action = new Player<Float32Array>(file).act([9, -9, 9]);
  assert(action instanceof Float32Array);
  assertEquals(action.length, 2);
  assert(Math.abs(action[0]) <= Math.fround(0.1) && action[1] >= 0);
});

Deno.test("wrong observations are one line", () => {
  const player = new Player(CART_POLE);
  assertThrows(
    () => player.act([1, 2, 3]),
    RangeError,
    "Cannot act on 3 numbers of observation: expected 4",
  );
  assertThrows(
    () => player.run({}),
    TypeError,
    "Cannot run without observation",
  );
  const data = new Float32Array(6);
  assertThrows(
    () => player.run({ observation: { shape: [2, 3], data } }),
    RangeError,
    "Cannot run with 6 numbers of observation as [2,3]: expected [rows, 4]",
  );
});

Deno.test("a file that is no policy is one line", () => {
  const text = (it: string) => new TextEncoder().encode(it);
  const refused = (file: Uint8Array, line: string) =>
    assertThrows(() => new Player(file), SyntaxError, line);
  refused(new Uint8Array(), "Cannot play the policy: it has no graph");
  refused(text("<!DOCTYPE html>"), "Cannot play the policy: ");
  const unknown = CART_POLE.slice();
  unknown.forEach((_, i) => {
    const isGemm = String(unknown.subarray(i, i + 4)) === String(text("Gemm"));
    if (isGemm) unknown.set(text("Glue"), i);
  });
  refused(
    unknown,
    "Cannot play the policy: it has the operation Glue, which is none of policies",
  );
});

Deno.test("files that are made otherwise act as they say, or not at all", () => {
  const act = (...args: Parameters<typeof fileOf>) =>
    new Player(fileOf(...args)).act([3, 300]);
  const refused = (line: string, ...args: Parameters<typeof fileOf>) =>
    assertThrows(
      () => act(...args),
      SyntaxError,
      `Cannot play the policy: ${line}`,
    );
  assertEquals(act("Neg"), Float32Array.of(-3, -300));
  // Whole numbers of 64 bits.
  assertEquals(act("Neg", {}, { type: 7 }), Int32Array.of(-3, -300));
  refused("it takes type 11", "Neg", {}, { type: 11 });
  refused("it makes no 'hidden'", "Neg", {}, { from: "hidden" });
  const none = "which none of policies has";
  refused(`it has the operation Elu with alpha 2, ${none}`, "Elu", {
    alpha: 2,
  });
  refused(`it has the operation Cast with to 11, ${none}`, "Cast", { to: 11 });
  refused(`it has the operation ReduceSum with axes 1, ${none}`, "ReduceSum", {
    axes: 1,
  });
  assertEquals(act("Elu", { alpha: 1 }), Float32Array.of(3, 300));
});

Deno.test("a long file of damaged numbers is refused at once", () => {
  const start = performance.now();
  assertThrows(
    () => new Player(new Uint8Array(200_000).fill(255)),
    SyntaxError,
    "Cannot play the policy: it ends in the middle",
  );
  assert(performance.now() - start < 500);
});

Deno.test("what is no file, option or observation is one line", () => {
  const refused = (run: () => unknown, line: string) =>
    assertThrows(run, TypeError, line);
  const bytes =
    "Cannot play the policy: expected the bytes of a file, a Uint8Array";
  refused(() => new Player(CART_POLE.buffer as unknown as Uint8Array), bytes);
  refused(() => new Player("policy.onnx" as unknown as Uint8Array), bytes);
  refused(
    () => new Player(CART_POLE, { randon: Math.random } as PlayerOptions),
    "Unknown option 'randon' of a player: did you mean 'random'?",
  );
  const random = "expected { random }, a function";
  for (const options of [null, 3, { random: 3 }]) {
    refused(() => new Player(CART_POLE, options as PlayerOptions), random);
  }
  const player = new Player(CART_POLE);
  for (
    const [it, type] of [[null, "object"], [{ x: 1 }, "object"], [
      "abcd",
      "string",
    ]]
  ) {
    refused(
      () => player.act(it as unknown as PlayerObservation),
      `Cannot act on observation of type ${type}: expected 4 numbers`,
    );
  }
  refused(
    () => player.run({ observation: [0, 0, 0, 0] as unknown as Tensor }),
    "Cannot run with observation: expected { shape, data }",
  );
});

Deno.test("a damaged file throws nothing but a line", () => {
  fc.assert(
    fc.property(
      fc.nat(CART_POLE.length - 1),
      fc.integer({ min: 0, max: 255 }),
      fc.boolean(),
      (at, byte, isCut) => {
        const file = isCut ? CART_POLE.slice(0, at) : CART_POLE.with(at, byte);
        try {
          // What could be read acts, too.
          new Player(file).act([0.1, 0.2, 0.3, 0.4]);
        } catch (error) {
          assert(error instanceof SyntaxError, String(error));
          assert(/^Cannot play the policy: .+$/.test(error.message));
        }
      },
    ),
    { numRuns: 500 },
  );
});
