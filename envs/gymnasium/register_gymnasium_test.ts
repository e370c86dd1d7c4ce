import { assert, assertEquals, assertThrows } from "@std/assert";
import type { Env } from "@bellman/types";
import { type EnvRegistry, make, makeVec } from "../registry/registry.ts";
import { registerGymnasium } from "./register_gymnasium.ts";
import { check, PYTHON, test } from "./testdata/python.ts";

test("a name needs no version where Gymnasium needs none", () => {
  const registry: EnvRegistry = new Map();
  const id = registerGymnasium("CartPole", { registry, python: PYTHON });
  const env = make(id, { registry });
  assertEquals(env.spec?.id, id);
  env.close();
});

test("a registered environment is made by name", () => {
  const registry: EnvRegistry = new Map();
  const options = { registry, python: PYTHON };
  const id = registerGymnasium("CartPole-v1", options);
  assertEquals(registerGymnasium("CartPole-v1", options), id);
  const env = make(id, { registry, maxEpisodeSteps: 2 });
  env.reset({ seed: 0 });
  env.step(0);
  assert(env.step(0).truncated);
  env.close();
  const kwargs = { sutton_barto_reward: true };
  const vec = makeVec(id, { registry, numEnvs: 2, maxEpisodeSteps: 3, kwargs });
  assertEquals(vec.spec, {
    id: "gym:CartPole-v1",
    maxEpisodeSteps: 3,
    rewardThreshold: 475,
    looseBounds: true,
  });
  vec.reset({ seed: 0 });
  const actions = Int32Array.of(0, 1);
  vec.step(actions);
  vec.step(actions);
  const { truncated, episodes } = vec.step(actions);
  assertEquals([...truncated], [1, 1]);
  assertEquals(episodes!.map((it) => [it.return, it.length]), [[0, 3], [0, 3]]);
  vec.close();
});

/** Steps until an episode ends, at most so many. */
function episodeLength(env: Env, most: number): number {
  env.reset({ seed: 0 });
  for (let t = 1; t <= most; t++) {
    const { terminated, truncated } = env.step(0);
    if (terminated || truncated) return t;
  }
  return Infinity;
}

test("a limit that is asked for takes the place of Gymnasium's own", () => {
  const registry: EnvRegistry = new Map();
  const id = registerGymnasium("FrozenLake-v1", {
    registry,
    python: PYTHON,
    kwargs: { is_slippery: false },
  });
  const cases = [[undefined, 100, 100], [120, 120, 120], [
    Infinity,
    Infinity,
    undefined,
  ]];
  for (const [maxEpisodeSteps, length, told] of cases) {
    const one = make(id, { registry, maxEpisodeSteps });
    assertEquals(episodeLength(one, 130), length);
    assertEquals(one.spec, {
      id,
      maxEpisodeSteps: told,
      rewardThreshold: 0.7,
      looseBounds: true,
    });
    one.close?.();
    const vec = makeVec(id, { registry, maxEpisodeSteps, numEnvs: 1 });
    assertEquals(vec.spec, one.spec);
    vec.reset({ seed: 0 });
    let t = 1;
    while (t <= 130 && !vec.step(Int32Array.of(0)).truncated[0]) t++;
    assertEquals(t > 130 ? Infinity : t, length);
    vec.close();
  }
  for (const maxEpisodeSteps of [0, 2.5]) {
    for (const numEnvs of [undefined, 2]) {
      const options = { registry, maxEpisodeSteps };
      assertThrows(
        () =>
          numEnvs ? makeVec(id, { ...options, numEnvs }) : make(id, options),
        RangeError,
        `Cannot limit episodes to ${maxEpisodeSteps} steps`,
      );
    }
  }
});

test("registered again, an environment is made with the newer options", () => {
  const registry: EnvRegistry = new Map();
  const options = { registry, python: PYTHON };
  const id = registerGymnasium("CartPole-v1", options);
  const kwargs = { max_episode_steps: 3 };
  registerGymnasium("CartPole-v1", { ...options, kwargs });
  const env = make(id, { registry });
  assertEquals(env.spec?.maxEpisodeSteps, 3);
  env.close();
});

test("no release of Gymnasium limits episodes that are to have no limit", () => {
  check("check_making.py");
});
