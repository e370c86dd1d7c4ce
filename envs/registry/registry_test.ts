import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertThrows,
} from "@std/assert";
import { DynamicsVecEnv } from "../classic_control/dynamics.ts";
import { envSpec, make, makeVec, register, registeredIds } from "../mod.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { ChainEnv } from "../toy/environments.ts";
import { RecordEpisodeStatistics } from "../wrappers/record_episode_statistics.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

register({
  id: "TestChain-v2",
  maxEpisodeSteps: 3,
  make: (kwargs) => new ChainEnv(kwargs),
});

function stepsOfEpisode(env: ReturnType<typeof make>): number {
  env.reset({ seed: 0 });
  for (let steps = 1;; steps++) {
    const { terminated, truncated } = env.step(0);
    if (terminated || truncated) return steps;
  }
}

Deno.test("an environment comes with its registered time limit", () => {
  assertEquals(stepsOfEpisode(make("TestChain-v2")), 3);
  assertEquals(make("TestChain-v2").spec, {
    id: "TestChain-v2",
    maxEpisodeSteps: 3,
    rewardThreshold: undefined,
  });
});

Deno.test("the limit can be changed and taken away, options passed on", () => {
  assertEquals(stepsOfEpisode(make("TestChain-v2", { maxEpisodeSteps: 2 })), 2);
  const kwargs = { length: 7 };
  const free = make("TestChain-v2", { maxEpisodeSteps: Infinity, kwargs });
  assertEquals(stepsOfEpisode(free), 7);
});

Deno.test("many copies: batched where there is a form, single where not", () => {
  const unrecorded = { numEnvs: 2, recordEpisodes: false };
  assertInstanceOf(makeVec("CartPole-v1", unrecorded), DynamicsVecEnv);
  assertInstanceOf(makeVec("TestChain-v2", unrecorded), SyncVecEnv);
  const recorded = makeVec("TestChain-v2", { numEnvs: 2 });
  assertInstanceOf(recorded, RecordEpisodeStatistics);
});

Deno.test("a name that there is not is answered with the nearest", () => {
  const cases = [
    ["CartPol-v1", "CartPole-v1"],
    ["cartpole-v1", "CartPole-v1"],
    ["TestChain", "TestChain-v2"],
    ["TestChian-v2", "TestChain-v2"],
  ];
  for (const [given, nearest] of cases) {
    const message =
      `Unknown environment '${given}': did you mean '${nearest}'?`;
    for (const use of [make, envSpec]) {
      assertEquals(assertThrows(() => use(given), RangeError).message, message);
    }
  }
});

Deno.test("a name without its version is answered with those there are", () => {
  const registry = new Map();
  for (const version of [10, 9]) {
    const id = `Maze-v${version}`;
    register({ id, make: () => new ChainEnv() }, { registry });
  }
  for (const given of ["Maze", "Maze-v", "Maze-v7", "maze", "MAZE-v7"]) {
    assertEquals(
      assertThrows(() => make(given, { registry }), RangeError).message,
      `Unknown environment '${given}': did you mean 'Maze-v10'? There are Maze-v9, Maze-v10`,
    );
  }
});

Deno.test("a name without its group is answered with the newest version", () => {
  const registry = new Map();
  for (const id of ["Group/Maze-v5", "Maze-v0", "Maze-v4", "Group/Amaze-v6"]) {
    register({ id, make: () => new ChainEnv() }, { registry });
  }
  for (const given of ["Maze", "maze-v5", "Maze-v7"]) {
    assertEquals(
      assertThrows(() => make(given, { registry }), RangeError).message,
      `Unknown environment '${given}': did you mean 'Group/Maze-v5'? There are Maze-v0, Maze-v4, Group/Maze-v5`,
    );
  }
  register({ id: "Maze-v5", make: () => new ChainEnv() }, { registry });
  assertThrows(() => make("Maze", { registry }), RangeError, "mean 'Maze-v5'?");
});

Deno.test("of versions that are as near, the newest is meant", () => {
  const error = assertThrows(() => make("CartPol"), RangeError);
  assertEquals(
    error.message,
    "Unknown environment 'CartPol': did you mean 'CartPole-v1'?",
  );
});

Deno.test("the batched form can be without a limit, too", () => {
  const env = makeVec("MountainCar-v0", {
    numEnvs: 1,
    maxEpisodeSteps: Infinity,
    recordEpisodes: false,
  });
  assertEquals(env.spec?.maxEpisodeSteps, undefined);
  env.reset({ seed: 0 });
  for (let i = 0; i < 250; i++) {
    assertEquals([...env.step(Int32Array.of(1)).truncated], [0]);
  }
});

Deno.test("a registry of one's own holds nothing else", () => {
  const registry = new Map();
  assertRefused({
    "RangeError: Unknown environment 'CartPole-v1': none is registered": () =>
      make("CartPole-v1", { registry }),
  });
  const make2 = () => new ChainEnv();
  register({ id: "Own-v0", maxEpisodeSteps: 4, make: make2 }, { registry });
  assertEquals(registeredIds({ registry }), ["Own-v0"]);
  assertEquals(envSpec("Own-v0", { registry }).maxEpisodeSteps, 4);
  assertEquals(makeVec("Own-v0", { numEnvs: 2, registry }).numEnvs, 2);
  assertThrows(() => make("Own-v0"), RangeError, "Unknown environment");
});

Deno.test("names need a version and are taken once", () => {
  const env = () => new ChainEnv();
  assertRefused({
    "SyntaxError: expected a name and a version": () =>
      register({ id: "Chain", make: env }),
    "RangeError: there is an environment of that name": () =>
      register({ id: "TestChain-v2", make: env }),
  });
  assert(registeredIds().includes("TestChain-v2"));
});

Deno.test("what make, makeVec and register do not know is refused", () => {
  const make2 = () => new ChainEnv();
  const as = (options: object) => options as never;
  assertRefused({
    "TypeError: Unknown option 'kwarg' of Chain-v0: did you mean 'kwargs'?":
      () => make("Chain-v0", as({ kwarg: { length: 3 } })),
    "TypeError: Unknown option 'numEnvs' of Chain-v0: expected one of max":
      () => make("Chain-v0", as({ numEnvs: 3 })),
    "TypeError: Unknown option 'numEnv' of Chain-v0: did you mean 'numEnvs'?":
      () => makeVec("Chain-v0", as({ numEnv: 3 })),
    "TypeError: Cannot take 3 as the options of Chain-v0: expected an object":
      () => makeVec("Chain-v0", as(Object(3).valueOf())),
    'TypeError: Cannot make Chain-v0 with maxEpisodeSteps "9": expected a number':
      () => make("Chain-v0", as({ maxEpisodeSteps: "9" })),
    "TypeError: Unknown option 'maxSteps' of a registration: expected one of id, ":
      () => register(as({ id: "Own-v1", maxSteps: 9, make: make2 })),
    "TypeError: Cannot register 'Own-v1' without make: expected a function":
      () => register(as({ id: "Own-v1" })),
    "TypeError: Cannot make a registration with make ": () =>
      register(as({ id: "Own-v1", make: new ChainEnv() })),
  });
  assert(!registeredIds().includes("Own-v1"));
});

Deno.test("what reset does not know is refused", () => {
  const as = (options: unknown) => options as never;
  const envs: [string, { reset(options: object): unknown }][] = [
    ["chain", make("Chain-v0")],
    ["pole", make("CartPole-v1")],
    ["poles", makeVec("CartPole-v1", { numEnvs: 2 })],
    ["chains", makeVec("Chain-v0", { numEnvs: 2 })],
  ];
  for (const [name, env] of envs) {
    assertThrows(
      () => env.reset({ sede: 1 }),
      TypeError,
      "Unknown option 'sede' of reset: did you mean 'seed'?",
      name,
    );
    assertThrows(
      () => env.reset(as(42)),
      TypeError,
      "Cannot reset an environment with 42: expected options, such as { seed: 0 }",
      name,
    );
    env.reset({ seed: 1 });
  }
});
