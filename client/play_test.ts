import { RandomStream, selectBackend } from "@bellman/compute";
import { make } from "@bellman/envs";
import { exportPolicy, stochasticPolicy } from "@bellman/policies";
import type { Space } from "@bellman/types";
import { paramsToArrays } from "@bellman/compute";
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { Player, type PlayerObservation } from "./play.ts";

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

/** Exports an untrained policy. */
async function exported(
  observationSpace: Space,
  actionSpace: Space,
  { samples = false, masked = false } = {},
): Promise<Uint8Array> {
  await selectBackend("cpu");
  const policy = stochasticPolicy({ observationSpace, actionSpace });
  const params = paramsToArrays(policy.init(new RandomStream(1)));
  return exportPolicy(policy, {
    ...{ params, actionSpace, masked },
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

Deno.test("a damaged file throws nothing but a line", () => {
  fc.assert(
    fc.property(
      fc.nat(CART_POLE.length - 1),
      fc.integer({ min: 0, max: 255 }),
      fc.boolean(),
      (at, byte, isCut) => {
        const file = isCut ? CART_POLE.slice(0, at) : CART_POLE.with(at, byte);
        try {
          new Player(file);
        } catch (error) {
          assert(error instanceof SyntaxError, String(error));
          assert(/^Cannot play the policy: .+$/.test(error.message));
        }
      },
    ),
    { numRuns: 500 },
  );
});
