import type { StateTree } from "@bellman/types";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { checkEnv } from "../check_env.ts";
import { deriveSeed } from "../random.ts";
import { make, makeVec } from "../registry/registry.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { playEnv, playVec } from "../testdata/play.ts";
import { testSnapshot, testVecWrapper } from "../testdata/wrapper_contract.ts";
import {
  isMujocoInstalled,
  MujocoEnv,
  type MujocoTaskName,
  MujocoVecEnv,
} from "./mod.ts";
import { TASKS } from "./tasks/tasks.ts";
import { makeTask } from "./testdata/make_task.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";
import { testsWith } from "../../tests/testdata/tests_with.ts";

const test = testsWith("MuJoCo", isMujocoInstalled());
const ignore = !isMujocoInstalled(), tag = " [MuJoCo]";
const names = Object.keys(TASKS) as MujocoTaskName[];

for (const name of names) {
  test(`${name} keeps an environment's promises`, () => {
    const env = makeTask(name, { width: 40, height: 30 });
    checkEnv(env, { steps: 60 });
    env.close();
  });

  testSnapshot(name, () => makeTask(name, {}), { ignore, tag });
}

test("a snapshot of another environment is refused and changes nothing", () => {
  const env = new MujocoEnv("Hopper"),
    other = new MujocoEnv("Hopper", { frameSkip: 2 });
  env.reset({ seed: 0 });
  other.reset({ seed: 1 });
  const snapshot = env.save() as Record<string, StateTree>;
  const { length } = snapshot.physics as Float64Array;
  const change = (part: object) => ({ ...snapshot, ...part }) as StateTree;
  const wanted = `expected a Float64Array of ${length}`;
  const refused: Record<string, StateTree> = {
    "with frameSkip 2: expected 4": other.save(),
    'task "Walker2d": expected Hopper': change({ task: "Walker2d" }),
    'mujocoVersion "3.3.0": exp': change({ mujocoVersion: "3.3.0" }),
    // Native code would read beyond its end.
    [`with physics a Float32Array of ${length}: ${wanted}`]: change({
      physics: new Float32Array(length),
    }),
    [`physics a Float64Array of 3: ${wanted}`]: change({
      physics: new Float64Array(3),
    }),
    [`physics a list of ${length}: ${wanted}`]: change({
      physics: Array(length).fill(0),
    }),
    "physics a record of : expected": change({ physics: {} }),
    "place null: expected a Float64Array of 2": change({ place: null }),
    'Cannot restore Hopper from a snapshot with status "closed": expected new, running, ended':
      change({ status: "closed" }),
    'status "bogus"': change({ status: "bogus" }),
    "'generator'": change({ random: 3 }),
  };
  other.close();
  env.step(new Float32Array(3));
  const before = env.save();
  for (const [message, it] of Object.entries(refused)) {
    assertThrows(() => env.load(it), TypeError, message);
    assertEquals(env.save(), before);
  }
  env.close();
});

test("sizes of pictures that are undefined are as left out", () => {
  const env = new MujocoEnv("Hopper", { width: 40, height: 30 });
  const { width, height } = env.render({ width: undefined, height: 20 });
  assertEquals([width, height], [40, 20]);
  env.close();
});

test("both engines go on exactly from their snapshots", async () => {
  await import("./wasm.ts");
  const env = new MujocoEnv("Ant", { engine: "wasm" });
  assertEquals(env.engine, "wasm");
  env.reset({ seed: 5 });
  playEnv(env, 20, 1);
  const snapshot = env.save();
  const expected = playEnv(env, 20, 2);
  // Others make the engine's memory grow, which ends views of it.
  const others = Array.from(
    { length: 8 },
    () => new MujocoEnv("Ant", { engine: "wasm" }),
  );
  env.load(snapshot);
  assertEquals(playEnv(env, 20, 2), expected);
  for (const it of [env, ...others]) it.close();
});

test("an episode begins from given positions and velocities", () => {
  const env = new MujocoEnv("Reacher");
  const { length } = env.qpos;
  const qpos = Float64Array.from({ length }, (_, i) => 0.1 * i);
  const qvel = Float64Array.from({ length }, (_, i) => -0.1 * i);
  const seen = env.setState(qpos, qvel);
  assertEquals([env.qpos, env.qvel], [qpos, qvel]);
  assertEquals(seen[0], Math.cos(qpos[0]));
  assertRefused({
    "RangeError: Cannot set the state of Reacher to 1 positions and 4 velocities: expected 4 and 4 finite numbers":
      () => env.setState([1], qvel),
  });
  assertThrows(() => env.setState([NaN, 0, 0, 0], qvel), RangeError);
  assertEquals(env.qpos, qpos);
  env.close();
});

test("first states are noise of the model's around its start", () => {
  const env = new MujocoEnv("Hopper", { resetNoiseScale: 0.01 });
  const values: number[] = [];
  for (let seed = 0; seed < 300; seed++) {
    env.reset({ seed });
    const { qpos } = env;
    qpos[1] -= 1.25;
    values.push(...qpos, ...env.qvel);
  }
  assert(values.every((it) => Math.abs(it) <= 0.01 + 1e-15));
  const mean = values.reduce((sum, it) => sum + it, 0) / values.length;
  const square = values.reduce((sum, it) => sum + it * it, 0) / values.length;
  assert(Math.abs(mean) < 5e-4);
  // A uniform number's variance is a third of its range squared.
  assert(Math.abs(square / (0.01 ** 2 / 3) - 1) < 0.05);
  env.close();
});

test("steps and actions that cannot be are refused", () => {
  const env = new MujocoEnv("InvertedPendulum");
  const push = Float32Array.of(3);
  assertThrows(() => env.step(push), Error, "as its episode has not begun");
  env.reset({ seed: 0 });
  const cases = [
    new Float32Array(2),
    Float32Array.of(NaN),
    new Float64Array(1) as unknown as Float32Array,
  ];
  for (const action of cases) {
    assertThrows(() => env.step(action), RangeError, "Cannot take action [");
  }
  while (!env.step(push).terminated);
  assertThrows(() => env.step(push), Error, "as its episode ended");
  env.close();
  env.close();
  const uses = [
    () => env.step(push),
    () => env.reset(),
    () => env.qpos,
    () => env.save(),
    () => env.render(),
  ];
  for (const use of uses) {
    assertThrows(use, Error, "as it is closed");
  }
});

test("an unstable simulation leaves no log file", async () => {
  const before = Deno.cwd(), folder = await Deno.makeTempDir();
  Deno.chdir(folder);
  try {
    const env = new MujocoEnv("Hopper", { terminateWhenUnhealthy: false });
    env.reset({ seed: 0 });
    env.setState(env.qpos, env.qvel.fill(1e12));
    env.step(new Float32Array(3));
    env.close();
    assertEquals([...Deno.readDirSync(folder)], []);
  } finally {
    Deno.chdir(before);
    await Deno.remove(folder, { recursive: true });
  }
});

for (const id of ["Hopper-v5", "Ant-v5", "Humanoid-v5", "Reacher-v5"]) {
  test(`${id} together has the numbers of single ones, bit for bit`, () => {
    const maxEpisodeSteps = 25;
    const together = new MujocoVecEnv(id.slice(0, -3) as "Hopper", {
      numEnvs: 3,
      maxEpisodeSteps,
    });
    const single = new SyncVecEnv(
      Array.from({ length: 3 }, () => () => make(id, { maxEpisodeSteps })),
    );
    assertEquals(together.reset({ seed: 9 }), single.reset({ seed: 9 }));
    // Actions may lie beyond their space.
    const beyond = new Float32Array(3 * together.actionSpace.shape[0]).fill(
      1.5,
    );
    const here = together.step(beyond), there = single.step(beyond);
    assertEquals(here.observations, there.observations);
    assertEquals(here.rewards, there.rewards);
    assertEquals(playVec(together, 60, 1), playVec(single, 60, 1));
    together.close();
    single.close();
  });
}

test("copies of a larger group are hosted with seeds of their own", () => {
  const all = makeVec("Hopper-v5", { numEnvs: 3 });
  const some = makeVec("Hopper-v5", { numEnvs: 2 });
  const first = all.reset({ seed: 4 }) as Float64Array;
  const seeds = [1, 2].map((copy) => deriveSeed(4, copy));
  assertEquals(some.reset({ seed: seeds }), first.slice(first.length / 3));
  assertThrows(() => some.reset({ seed: [1] }), RangeError);
  all.close();
  some.close();
});

testVecWrapper(
  "MujocoVecEnv",
  () => new MujocoVecEnv("Ant", { numEnvs: 2, maxEpisodeSteps: 30 }),
  { ignore, tag },
);

test("a group refuses snapshots of others before it loads anything", () => {
  const env = new MujocoVecEnv("Hopper", { numEnvs: 2 });
  const three = new MujocoVecEnv("Hopper", { numEnvs: 3 });
  env.reset({ seed: 0 });
  const snapshot = env.save() as Record<string, StateTree>;
  const [first, second] = snapshot.simulations as Record<string, StateTree>[];
  const short = { ...second, physics: new Float64Array(3) };
  const [stream] = snapshot.randoms as StateTree[];
  playVec(env, 5, 1);
  const before = env.save();
  const refused: Record<string, StateTree> = {
    'with task "Ant": expected Hopper': { ...snapshot, task: "Ant" },
    "with frameSkip 1: expected 4": { ...snapshot, frameSkip: 1 },
    "physics a Float64Array of 3": { ...snapshot, simulations: [first, short] },
    "simulations 2: expected a list": { ...snapshot, simulations: 2 },
    "steps a Float64Array of 2: expected an Int32Array of 2": {
      ...snapshot,
      steps: new Float64Array(2),
    },
    "observations a Float64Array of 3": {
      ...snapshot,
      observations: new Float64Array(3),
    },
    "randoms null: expected a list": { ...snapshot, randoms: null },
    "'generator'": { ...snapshot, randoms: [stream, 1] },
  };
  for (const [message, it] of Object.entries(refused)) {
    assertThrows(() => env.load(it), TypeError, message);
    assertEquals(env.save(), before);
  }
  assertRefused({
    "RangeError: Cannot restore 2 copies from a snapshot of 1": () =>
      env.load({ ...snapshot, randoms: [stream] }),
    "RangeError: Cannot restore 3 copies from a snapshot of 2": () =>
      three.load(snapshot),
  });
  assertEquals(env.save(), before);
  env.close();
  three.close();
});

test("a group refuses what it cannot do and stays as it was", () => {
  for (const numEnvs of [0, 1.5]) {
    assertRefused({
      [`RangeError: Cannot make ${numEnvs} copies of Hopper`]: () =>
        new MujocoVecEnv("Hopper", { numEnvs }),
    });
  }
  assertRefused({
    "RangeError: Cannot limit episodes to 0 steps": () =>
      new MujocoVecEnv("Hopper", { numEnvs: 1, maxEpisodeSteps: 0 }),
  });
  const env = new MujocoVecEnv("Hopper", { numEnvs: 2 });
  const actions = new Float32Array(6);
  assertThrows(() => env.step(actions), Error, "call reset first");
  const first = env.reset({ seed: 0 }).slice();
  assertRefused({
    "RangeError: Cannot step 2 copies with 5 numbers of actions: expected 6":
      () => env.step(actions.subarray(1)),
  });
  actions[5] = Infinity;
  assertThrows(() => env.step(actions), RangeError, "Cannot take action");
  assertRefused({
    "RangeError: Cannot take action": () =>
      env.step(new Float64Array(6) as never),
  });
  assertEquals(env.observations(), first);
  env.close();
  env.close();
  assertThrows(() => env.step(actions), Error, "as it is closed");
});

test("workers have the same numbers, all at once", async () => {
  const here = new MujocoVecEnv("Ant", { numEnvs: 2 });
  here.reset({ seed: 1 });
  let expected = 0;
  for (let i = 0; i < 20; i++) {
    const { observations } = here.step(new Float32Array(16).fill(0.3));
    expected = (observations as Float64Array).reduce((a, b) => a + b);
  }
  here.close();
  const url = new URL("./testdata/step_in_worker.ts", import.meta.url);
  const workers = Array.from(
    { length: 4 },
    () => new Worker(url, { type: "module" }),
  );
  const sums = await Promise.all(
    workers.map((worker) =>
      new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
      })
    ),
  );
  for (const worker of workers) worker.terminate();
  assertEquals(sums, [expected, expected, expected, expected]);
});
