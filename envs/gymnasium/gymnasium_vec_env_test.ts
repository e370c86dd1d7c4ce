import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  assertNoneLeft,
  isProcess,
} from "../workers/processes/testdata/processes.ts";
import { CART_POLE } from "../classic_control/cart_pole.ts";
import { DynamicsEnv } from "../classic_control/dynamics.ts";
import { deriveSeed, SeededRandom } from "../random.ts";
import { sample, spacesEqual } from "../spaces/values.ts";
import type { Batch, BoxArray, SpaceValue, VecStep } from "@bellman/types";
import {
  allocateBatch,
  cloneBatch,
  readRow,
  writeRow,
} from "../spaces/batch.ts";
import type { HostFailure } from "../workers/host_failure.ts";
import type { GymnasiumVecEnv } from "./gymnasium_vec_env.ts";
import { canMake, check, open, PYTHON, test } from "./testdata/python.ts";

const COUNTER = "odd_envs:odd/Counter-v1";

/** Actions for every copy. */
function sampleActions(env: GymnasiumVecEnv, random: SeededRandom): Batch {
  const actions = allocateBatch(env.actionSpace, env.numEnvs);
  for (let row = 0; row < env.numEnvs; row++) {
    const action = sample(env.actionSpace, random);
    writeRow(env.actionSpace, action, { batch: actions, row });
  }
  return actions;
}

/** A value as nested lists, as JSON has it. */
function plain(value: SpaceValue): unknown {
  if (typeof value === "number") return value;
  if (ArrayBuffer.isView(value)) return [...value as BoxArray];
  return Object.values(value).map(plain);
}

function rowOf(env: GymnasiumVecEnv, batch: Batch, row: number): unknown {
  return plain(readRow(env.observationSpace, { batch, row }));
}

/** The steps of each copy, as `record.py` writes them. */
function play(
  env: GymnasiumVecEnv,
  batches: readonly Batch[],
): { first: unknown; steps: unknown[] }[] {
  const first = env.reset({ seed: 5 });
  const copies = [...Array(env.numEnvs).keys()].map((row) => ({
    first: rowOf(env, first, row),
    steps: [] as unknown[],
  }));
  for (const actions of batches) {
    const step = env.step(actions);
    copies.forEach(({ steps }, row) => {
      const ended = step.terminated[row] + step.truncated[row] > 0;
      steps.push([
        rowOf(env, step.observations, row),
        step.rewards[row],
        step.terminated[row],
        step.truncated[row],
        ended ? rowOf(env, step.finalObservations, row) : null,
      ]);
    });
  }
  return copies;
}

async function record(tasks: unknown): Promise<unknown[]> {
  const child = new Deno.Command(PYTHON, {
    args: [new URL("./testdata/record.py", import.meta.url).pathname],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify(tasks)));
  await writer.close();
  return JSON.parse(new TextDecoder().decode((await child.output()).stdout));
}

test("environments give the numbers that they give in Python", async () => {
  const ids = [
    "CartPole-v1",
    "MountainCar-v0",
    "MountainCarContinuous-v0",
    "Pendulum-v1",
    "Acrobot-v1",
    "Blackjack-v1",
    "FrozenLake-v1",
    "CliffWalking-v1",
    "Taxi-v4",
  ];
  const tasks: unknown[] = [];
  const played = ids.flatMap((id) => {
    const env = open(id, { numEnvs: 2 }), random = new SeededRandom(3);
    const batches = Array.from(
      { length: 250 },
      () => sampleActions(env, random),
    );
    for (const row of [0, 1]) {
      const actionOf = (batch: Batch): unknown =>
        plain(readRow(env.actionSpace, { batch, row }));
      const seed = deriveSeed(5, row) % 2 ** 32;
      tasks.push({ id, seed, actions: batches.map(actionOf) });
    }
    const copies = play(env, batches);
    env.close();
    return copies;
  });
  const recorded = await record(tasks);
  played.forEach((copy, i) => {
    assertEquals(copy, recorded[i], `copy ${i % 2} of ${ids[i >> 1]}`);
  });
});

test("the bridged cart-pole moves as this package's own", () => {
  const env = open("CartPole-v1", { numEnvs: 1 });
  const own = new DynamicsEnv(CART_POLE);
  assert(spacesEqual(env.observationSpace, own.observationSpace));
  assert(spacesEqual(env.actionSpace, own.actionSpace));
  assertEquals([env.spec?.maxEpisodeSteps, env.spec?.rewardThreshold], [
    500,
    475,
  ]);
  let seen = [...env.reset({ seed: 1 }) as Float32Array];
  for (let t = 0; t < 100; t++) {
    own.setState(seen);
    const step = env.step(Int32Array.of(t & 1));
    const { observation, reward, terminated } = own.step(t & 1);
    assertEquals([step.rewards[0], step.terminated[0] !== 0], [
      reward,
      terminated,
    ]);
    const next = terminated ? step.finalObservations : step.observations;
    observation.forEach((it, i) => {
      assert(Math.abs(it - (next as Float32Array)[i]) < 1e-6);
    });
    seen = [...step.observations as Float32Array];
  }
  env.close();
});

test("a copy gets the lowest 32 bits of its seed, a replaced one too", () => {
  const env = open("odd_envs:odd/Legacy-v1");
  const seeds = [0, 1, 2].map((copy) => deriveSeed(6, copy) % 2 ** 32);
  assertEquals(env.reset({ seed: 6 }), Float64Array.from(seeds));
  Deno.kill(env.pids()[0], "SIGKILL");
  const { observations, truncated } = env.step(new Int32Array(3));
  assertEquals([...truncated], [1, 1, 1]);
  (observations as Float64Array).forEach((seed, copy) => {
    assert(seed > 0 && seed < 2 ** 32 && seed !== seeds[copy]);
  });
  env.close();
});

test("copies in two processes have the numbers of one", () => {
  const one = open("FrozenLake-v1"),
    two = open("FrozenLake-v1", { processes: 2 });
  assertEquals(two.pids().length, 2);
  const random = new SeededRandom(1);
  const batches = Array.from({ length: 60 }, () => sampleActions(one, random));
  assertEquals(play(one, batches), play(two, batches));
  one.close();
  two.close();
});

/** Rewards and ends of a step. */
function told({ rewards, terminated, truncated }: VecStep): number[][] {
  return [[...rewards], [...terminated], [...truncated]];
}

test("time limits and wrappers are Gymnasium's", () => {
  const env = open("odd_envs:odd/Counter-v0", {
    numEnvs: 2,
    wrappers: [{ name: "odd_envs:Twice", kwargs: { times: 3 } }, {
      name: "odd_envs:Twice",
    }],
  });
  assertEquals(env.spec, {
    id: "gym:odd_envs:odd/Counter-v0",
    maxEpisodeSteps: 4,
    rewardThreshold: 4.5,
    looseBounds: true,
  });
  env.reset({ seed: 0 });
  for (let t = 0; t < 3; t++) env.step(new Int32Array(2));
  const step = env.step(new Int32Array(2));
  assertEquals(told(step), [[6, 6], [0, 0], [1, 1]]);
  assertEquals([...step.finalObservations as Float32Array], [4, 4]);
  assertEquals([...step.observations as Float32Array], [0, 0]);
  env.close();
});

/** Steps twice, and then lets copy 1 misbehave. */
function misbehave(env: GymnasiumVecEnv): VecStep {
  env.reset({ seed: 0 });
  env.step(new Int32Array(3));
  env.step(new Int32Array(3));
  return env.step(Int32Array.of(0, 1, 0));
}

for (const odd of ["print", "read"]) {
  test(`an environment may ${odd} without harm`, () => {
    const env = open(COUNTER, { kwargs: { odd } });
    const step = misbehave(env);
    assertEquals([...step.observations as Float32Array], [3, 3, 3]);
    env.close();
  });
}

test("a number of another type arrives if the space's own can hold it", () => {
  const env = open(COUNTER, { kwargs: { odd: "fit" } });
  const step = misbehave(env);
  assertEquals([...step.observations as Uint8Array], [3, 200, 3]);
  env.close();
});

const cases = [
  [
    "nan",
    "observation[0] of gym:COUNTER, copy 1: it is NaN, expected a finite number",
  ],
  ["uncounted", "the reward of gym:COUNTER, copy 1: it is NaN"],
  ["infinite", "the reward of gym:COUNTER, copy 1: it is -Infinity"],
  ["shape", "an observation has the shape (2,): expected (1,)"],
  [
    "int64",
    "an observation holds 34359738368: expected numbers that int32 can hold",
  ],
  [
    "long",
    "an observation holds 34359738368: expected numbers that int32 can hold",
  ],
  ["cut", "an observation holds 0.7: expected numbers that uint8 can hold"],
  ["wrap", "an observation holds 300: expected numbers that uint8 can hold"],
  ["many", "an observation holds 6: expected a whole number from 0 to 5"],
  ["one", "an observation holds -3: expected a whole number from -2 to 5"],
  ["none", "the reward is None: expected a number"],
  ["text", "the reward is '1': expected a number"],
  ["said", "'terminated' is 'yes': expected True or False"],
  ["old", "step must return (observation, reward, terminated"],
];
for (const [odd, message] of cases) {
  test(`an environment that does '${odd}' ends the run: no host is replaced`, () => {
    const env = open(COUNTER, {
      kwargs: { odd },
      // Python starts slowly: one case for the others' processes is enough.
      processes: odd === "nan" ? 3 : 1,
      onRestart: () => assert(false, "restarted"),
    });
    const error = assertThrows(() => misbehave(env), TypeError);
    const { message: text } = error;
    assert(text.includes(message.replace("COUNTER", COUNTER)), text);
    assert(text.includes("copy 1"), text);
    assert(!text.includes("\n"), text);
    assertThrows(() => env.step(new Int32Array(3)), TypeError, text);
    env.close();
  });
}

for (
  const [odd, reason, message] of [
    ["raise", "error", "it threw ValueError: the first line"],
    ["exit", "exit", "ended with code 7: its last line is 'about to exit'"],
    ["hang", "timeout", "it gave no answer within 300 ms"],
  ]
) {
  test(`a host whose environment does '${odd}' is replaced`, () => {
    const failures: HostFailure[] = [];
    const env = open(COUNTER, {
      kwargs: { odd },
      stepTimeoutMs: odd === "hang" ? 300 : undefined,
      onRestart: ({ error }) => failures.push(error),
    });
    const [before] = env.pids();
    const step = misbehave(env);
    assertEquals(told(step), [[0, 0, 0], [0, 0, 0], [1, 1, 1]]);
    assertEquals([...step.finalObservations as Float32Array], [2, 2, 2]);
    assertEquals([...step.observations as Float32Array], [0, 0, 0]);
    assertEquals(failures.map((it) => it.reason as string), [reason]);
    assert(failures[0].what.includes(message), failures[0].what);
    if (odd === "raise") assert(failures[0].stack!.includes("odd_envs.py"));
    assert(!isProcess(before));
    const next = env.step(new Int32Array(3));
    assertEquals(told(next), [[1, 1, 1], [0, 0, 0], [0, 0, 0]]);
    env.close();
  });
}

test("a process that fails too often is an error", () => {
  const env = open(COUNTER, { kwargs: { odd: "raise" }, restarts: 1 });
  misbehave(env);
  const error = assertThrows(() => misbehave(env), Error, "ValueError");
  assert(!error.message.includes("\n"));
  env.close();
});

/** What comes of the next steps, as text. */
function future(env: GymnasiumVecEnv, steps: number): string {
  const random = new SeededRandom(8);
  return JSON.stringify(Array.from({ length: steps }, () => {
    const step = env.step(sampleActions(env, random));
    return [
      [0, 1, 2].map((row) => rowOf(env, step.observations, row)),
      told(step),
    ];
  }));
}

/** Whether an environment goes on exactly where it was, in another process too. */
function checkExact(id: string): void {
  const env = open(id), random = new SeededRandom(2);
  env.reset({ seed: 9 });
  for (let t = 0; t < 130; t++) env.step(sampleActions(env, random));
  const seen = cloneBatch(env.observations());
  const snapshot = env.save();
  const expected = future(env, 120);
  env.load(snapshot);
  assert(future(env, 120) === expected);
  const other = open(id);
  other.load(snapshot);
  assertEquals(cloneBatch(other.observations()), seen);
  // What was restored can be saved and restored in turn.
  const again = other.save();
  assert(future(other, 120) === expected);
  other.load(again);
  assert(future(other, 120) === expected);
  env.close();
  other.close();
}

for (
  const id of ["CartPole-v1", "FrozenLake-v1", "Blackjack-v1", "Pendulum-v1"]
) {
  test(`${id} goes on exactly from a snapshot`, () => checkExact(id));
}

Deno.test("LunarLander-v3 goes on exactly from a snapshot [Box2D]", {
  ignore: !canMake("LunarLander-v3"),
}, () => checkExact("LunarLander-v3"));

test("an episode that cannot be played again is truncated, once", () => {
  const env = open(COUNTER, { kwargs: { odd: "random" } });
  const step = misbehave(env);
  const seen = [...step.observations as Float32Array];
  const snapshot = env.save();
  env.load(snapshot);
  assertEquals([...env.observations() as Float32Array], seen);
  // It stays so if it is saved again before the next step.
  env.load(env.save());
  const lost = env.step(Int32Array.of(0, 1, 0));
  assertEquals(told(lost), [[1, 0, 1], [0, 0, 0], [0, 1, 0]]);
  assertEquals((lost.finalObservations as Float32Array)[1], seen[1]);
  assertEquals([...lost.observations as Float32Array], [4, 0, 4]);
  const next = env.step(new Int32Array(3));
  assertEquals(told(next), [[1, 1, 1], [1, 0, 1], [0, 0, 0]]);
  assertEquals([...next.observations as Float32Array], [0, 1, 0]);
  const exact = env.save();
  const expected = future(env, 1);
  env.load(exact);
  assertEquals(future(env, 1), expected);
  env.close();
});

test("actions are kept as long as they are needed, within bounds", () => {
  check("check_episodes.py");
});

test("a snapshot of another environment is refused", () => {
  const one = open("CartPole-v1"), other = open("FrozenLake-v1");
  one.reset({ seed: 0 });
  const error = assertThrows(() => other.load(one.save()), RangeError);
  assert(
    error.message.startsWith("Cannot restore 3 copies of 'FrozenLake-v1'"),
  );
  one.close();
  other.close();
});

test("closing leaves neither process nor descriptor nor file", async () => {
  const folder = Deno.makeTempDirSync(), usual = Deno.env.get("TMPDIR");
  Deno.env.set("TMPDIR", folder);
  const round = (): number => {
    const env = open("CartPole-v1", { numEnvs: 1 });
    env.reset({ seed: 0 });
    const [pid] = env.pids();
    env.close();
    return pid;
  };
  round();
  const rounds = (): void => {
    const pids = [round(), round(), round()];
    assertEquals(pids.map(isProcess), [false, false, false]);
  };
  if (Deno.build.os === "linux") await assertNoneLeft(rounds);
  else rounds();
  assertThrows(() => open("NoSuch-v0"), RangeError);
  assertEquals([...Deno.readDirSync(folder)], []);
  if (usual === undefined) Deno.env.delete("TMPDIR");
  else Deno.env.set("TMPDIR", usual);
  Deno.removeSync(folder);
});
