import { assertEquals, assertStringIncludes } from "@std/assert";
import { parsePlan } from "./plan.ts";
import { atariScale } from "./atari_scale.ts";
import { environmentsOf, type ScaledPlan, scalesOf } from "./scales.ts";

function planOf(text: string): ScaledPlan {
  const whole = `variants: { a2c: {} }\n${text}`;
  const plan = parsePlan(whole, "plan.yaml", "plan");
  return { environments: environmentsOf(plan), scores: plan.scores };
}

Deno.test("scores run from random actions to the reward threshold by default", async () => {
  const plan = planOf("environments: [CartPole-v1, Acrobot-v1, Pendulum-v1]");
  const random = new Map([
    ["CartPole-v1", 22.5],
    ["Pendulum-v1", -1200],
  ]);
  const { known, leftOut } = await scalesOf(plan, random);
  assertEquals([...known], [[
    "CartPole-v1",
    {
      low: 22.5,
      high: 475,
      origin: "low: random actions, 100 episodes; high: the reward threshold",
    },
  ]]);
  assertEquals([...leftOut], [
    ["Acrobot-v1", "the return of random actions is not known"],
    [
      "Pendulum-v1",
      "it has no reward threshold, and the plan gives no high",
    ],
  ]);
});

Deno.test("the plan's scales are taken, each end for itself", async () => {
  const plan = planOf(
    "environments: [CartPole-v1, Pendulum-v1]\nscores: { CartPole-v1: { low: 10 }, Pendulum-v1: { high: -150 } }",
  );
  const random = new Map([["CartPole-v1", 22], ["Pendulum-v1", -1200]]);
  const { known } = await scalesOf(plan, random);
  assertEquals(
    [...known.values()].map(({ low, high }) => [low, high]),
    [[10, 475], [-1200, -150]],
  );
  assertEquals(
    known.get("Pendulum-v1")!.origin,
    "low: random actions, 100 episodes; high: the plan",
  );
});

Deno.test("an environment that random actions solve is left out", async () => {
  const plan = planOf(
    "environments: [CartPole-v1]\nscores: { CartPole-v1: { high: 20 } }",
  );
  const { leftOut } = await scalesOf(plan, new Map([["CartPole-v1", 22.54]]));
  assertEquals(
    leftOut.get("CartPole-v1"),
    "random actions reach 22.5, no less than 20",
  );
});

Deno.test("scales of Atari go by the game, whatever its id", async () => {
  const pong = { low: -20.7, high: 14.6 };
  for (
    const id of [
      "ALE/Pong-v5",
      "gym:ALE/Pong-v5",
      "PongNoFrameskip-v4",
      "PongDeterministic-v4",
      "Pong-v0",
      "ALE/Pong-ram-v5",
    ]
  ) assertEquals(atariScale(id), pong, id);
  assertEquals(atariScale("ALE/MontezumaRevenge-v5")?.high, 4753.3);
  assertEquals(atariScale("CartPole-v1"), undefined);
  assertEquals(atariScale("constructor"), undefined);
  const plan = planOf(
    "environments: [ALE/Pong-v5, CartPole-v1]\nscores: atari",
  );
  assertEquals(plan.scores, { "ALE/Pong-v5": pong });
  const { known } = await scalesOf(plan, new Map());
  const { origin, ...scale } = known.get("ALE/Pong-v5")!;
  assertEquals(scale, pong);
  assertStringIncludes(origin, "Mnih et al. 2015");
});
