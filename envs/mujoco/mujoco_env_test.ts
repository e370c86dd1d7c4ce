import { assert, assertEquals, assertThrows } from "@std/assert";
import { checkEnv } from "../check_env.ts";
import { SeededRandom } from "../random.ts";
import { sample } from "../spaces/values.ts";
import type { StateTree } from "@bellman/types";
import { TASKS } from "./tasks/tasks.ts";
import {
  AntEnv,
  HopperEnv,
  InvertedPendulumEnv,
  isMujocoInstalled,
  type MujocoEnv,
  type MujocoTaskName,
  ReacherEnv,
} from "./mod.ts";
import { makeTask } from "./testdata/make_task.ts";

const ignore = !isMujocoInstalled();
const names = Object.keys(TASKS) as MujocoTaskName[];

/** What a number of random steps come to, as text. */
function course(env: MujocoEnv, seed: number, steps: number): string[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: steps }, () => {
    const action = sample(env.actionSpace, random) as Float32Array;
    const { observation, reward, terminated, info } = env.step(action);
    const begun = terminated ? env.reset() : [];
    return `${observation} ${reward} ${terminated} ${begun} ${
      Object.values(info!)
    }`;
  });
}

for (const name of names) {
  Deno.test({
    name: `${name} keeps an environment's promises`,
    ignore,
    fn() {
      const env = makeTask(name, { width: 40, height: 30 });
      checkEnv(env, { steps: 60 });
      env.close();
    },
  });

  Deno.test({
    name: `${name} goes on exactly from a snapshot, in another one too`,
    ignore,
    fn() {
      const env = makeTask(name, {}), other = makeTask(name, {});
      env.reset({ seed: 5 });
      course(env, 1, 40);
      const snapshot = env.save();
      const expected = course(env, 2, 40);
      other.load(snapshot);
      assertEquals(course(other, 2, 40), expected);
      env.load(snapshot);
      assertEquals(course(env, 2, 40), expected);
      env.close();
      other.close();
    },
  });
}

Deno.test({
  name: "a snapshot of another environment is refused and changes nothing",
  ignore,
  fn() {
    const env = new HopperEnv(), other = new HopperEnv({ frameSkip: 2 });
    env.reset({ seed: 0 });
    other.reset({ seed: 1 });
    const snapshot = env.save() as Record<string, StateTree>;
    const { length } = snapshot.physics as Float64Array;
    const refused: [StateTree, message: string][] = [
      [other.save(), "with frameSkip 2: expected 4"],
      [{ ...snapshot, task: "Walker2d" }, 'task "Walker2d": expected Hopper'],
      [{ ...snapshot, mujocoVersion: "3.3.0" }, 'mujocoVersion "3.3.0": exp'],
      // Native code would read beyond its end.
      [
        { ...snapshot, physics: new Float32Array(length) },
        `with physics of ${length} numbers (Float32Array): expected ${length} numbers (Float64Array)`,
      ],
      [
        { ...snapshot, physics: new Float64Array(3) },
        `physics of 3 numbers (Float64Array): expected ${length} numbers`,
      ],
      [
        { ...snapshot, physics: Array(length).fill(0) },
        `physics of ${length} numbers (Array): expected ${length} numbers`,
      ],
      [{ ...snapshot, physics: {} }, "physics a record: expected"],
      [{ ...snapshot, place: null }, "place null: expected 2 numbers"],
      [
        { ...snapshot, status: "closed" },
        'Cannot restore Hopper from a snapshot with status "closed": expected new, running, ended',
      ],
      [{ ...snapshot, status: "bogus" }, 'status "bogus"'],
      [{ ...snapshot, random: 3 }, "'generator'"],
    ];
    other.close();
    env.step(new Float32Array(3));
    const before = env.save();
    for (const [it, message] of refused) {
      assertThrows(() => env.load(it), TypeError, message);
      assertEquals(env.save(), before);
    }
    env.close();
  },
});

Deno.test({
  name: "sizes of pictures that are undefined are as left out",
  ignore,
  fn() {
    const env = new HopperEnv({ width: 40, height: 30 });
    const { width, height } = env.render({ width: undefined, height: 20 });
    assertEquals([width, height], [40, 20]);
    env.close();
  },
});

Deno.test({
  name: "both engines go on exactly from their snapshots",
  ignore,
  async fn() {
    await import("./wasm.ts");
    const env = new AntEnv({ engine: "wasm" });
    assertEquals(env.engine, "wasm");
    env.reset({ seed: 5 });
    course(env, 1, 20);
    const snapshot = env.save();
    const expected = course(env, 2, 20);
    // Others make the engine's memory grow, which ends views of it.
    const others = Array.from(
      { length: 8 },
      () => new AntEnv({ engine: "wasm" }),
    );
    env.load(snapshot);
    assertEquals(course(env, 2, 20), expected);
    for (const it of [env, ...others]) it.close();
  },
});

Deno.test({
  name: "an episode begins from given positions and velocities",
  ignore,
  fn() {
    const env = new ReacherEnv();
    const { length } = env.qpos;
    const qpos = Float64Array.from({ length }, (_, i) => 0.1 * i);
    const qvel = Float64Array.from({ length }, (_, i) => -0.1 * i);
    const seen = env.setState(qpos, qvel);
    assertEquals([env.qpos, env.qvel], [qpos, qvel]);
    assertEquals(seen[0], Math.cos(qpos[0]));
    assertThrows(
      () => env.setState([1], qvel),
      RangeError,
      "Cannot set the state of Reacher to 1 positions and 4 velocities: expected 4 and 4 finite numbers",
    );
    assertThrows(() => env.setState([NaN, 0, 0, 0], qvel), RangeError);
    assertEquals(env.qpos, qpos);
    env.close();
  },
});

Deno.test({
  name: "first states are noise of the model's around its start",
  ignore,
  fn() {
    const env = new HopperEnv({ resetNoiseScale: 0.01 });
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
  },
});

Deno.test({
  name: "steps and actions that cannot be are refused",
  ignore,
  fn() {
    const env = new InvertedPendulumEnv();
    const push = Float32Array.of(3);
    assertThrows(() => env.step(push), Error, "as its episode has not begun");
    env.reset({ seed: 0 });
    for (
      const action of [
        new Float32Array(2),
        Float32Array.of(NaN),
        new Float64Array(1) as unknown as Float32Array,
      ]
    ) {
      assertThrows(() => env.step(action), RangeError, "Cannot take action [");
    }
    while (!env.step(push).terminated);
    assertThrows(() => env.step(push), Error, "as its episode ended");
    env.close();
    env.close();
    for (
      const use of [
        () => env.step(push),
        () => env.reset(),
        () => env.qpos,
        () => env.save(),
        () => env.render(),
      ]
    ) {
      assertThrows(use, Error, "as it is closed");
    }
  },
});

Deno.test({
  name: "an unstable simulation leaves no log file",
  ignore,
  async fn() {
    const before = Deno.cwd(), folder = await Deno.makeTempDir();
    Deno.chdir(folder);
    try {
      const env = new HopperEnv({ terminateWhenUnhealthy: false });
      env.reset({ seed: 0 });
      env.setState(env.qpos, env.qvel.fill(1e12));
      env.step(new Float32Array(3));
      env.close();
      assertEquals([...Deno.readDirSync(folder)], []);
    } finally {
      Deno.chdir(before);
      await Deno.remove(folder, { recursive: true });
    }
  },
});
