import { assertAlmostEquals, assertEquals } from "@std/assert";
import reference from "../../tests/reference/env_dynamics.json" with {
  type: "json",
};
import { make } from "../registry/registry.ts";
import { TimeLimit } from "../wrappers/time_limit.ts";
import { DynamicsEnv } from "./dynamics.ts";
import { DYNAMICS } from "./testdata/dynamics.ts";
import "./register.ts";

function toAction(value: number | number[]): number | Float32Array {
  return typeof value === "number" ? value : Float32Array.from(value);
}

function assertClose(actual: ArrayLike<number>, wanted: number[], at: string) {
  assertEquals(actual.length, wanted.length);
  const tolerance = at.startsWith("Acrobot") ? 1e-5 : 1e-6;
  wanted.forEach((it, i) => assertAlmostEquals(actual[i], it, tolerance, at));
}

for (const { name, inputs, expected } of reference.cases) {
  const dynamics = DYNAMICS[inputs.env];
  Deno.test(`${name} moves as in Gymnasium`, () => {
    const env = new DynamicsEnv(dynamics);
    env.setState(inputs.initial_state);
    inputs.actions.forEach((action, t) => {
      const result = env.step(toAction(action));
      const at = `${name}, step ${t}`;
      assertClose(env.state, expected.states[t], at);
      assertClose(
        result.observation as Float32Array,
        expected.observations[t],
        at,
      );
      assertAlmostEquals(result.reward, expected.rewards[t], 1e-6, at);
      assertEquals(result.terminated, expected.terminated[t], at);
      assertEquals(result.truncated, false);
    });
  });

  Deno.test(`${name} has Gymnasium's time limit`, () => {
    assertEquals(
      make(inputs.env).spec?.maxEpisodeSteps,
      inputs.registered_max_episode_steps,
    );
  });
}

for (const { inputs, expected } of reference.time_limit) {
  Deno.test(`${inputs.env} is truncated as in Gymnasium`, () => {
    const inner = new DynamicsEnv(DYNAMICS[inputs.env]);
    const env = new TimeLimit(inner, inputs.max_episode_steps);
    env.reset({ seed: 0 });
    inner.setState(inputs.initial_state);
    const flags = inputs.actions.map((action) => {
      const { terminated, truncated } = env.step(toAction(action));
      return [terminated, truncated];
    });
    assertEquals(flags, expected.terminated_truncated);
  });
}
