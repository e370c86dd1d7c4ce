import { assertEquals, assertThrows } from "@std/assert";
import { cloneBatch } from "../spaces/batch.ts";
import { deriveSeed, SeededRandom } from "../random.ts";
import { make, makeVec } from "../registry/registry.ts";
import type { StateTree, VecEnv } from "@bellman/types";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { isMujocoInstalled, MujocoVecEnv } from "./mod.ts";

const ignore = !isMujocoInstalled();

/** All that a number of random steps come to. */
function course(env: VecEnv, seed: number, steps: number): unknown[] {
  const random = new SeededRandom(seed);
  const size = env.actionSpace.type === "box" ? env.actionSpace.shape[0] : 1;
  return Array.from({ length: steps }, () => {
    const actions = Float32Array.from(
      { length: size * env.numEnvs },
      () => random.uniform(-1, 1),
    );
    const step = env.step(actions);
    const ended = step.terminated.map((it, i) => it | step.truncated[i]);
    const size_ = (step.observations as Float64Array).length / env.numEnvs;
    const last = (step.finalObservations as Float64Array).filter((_, i) =>
      ended[Math.floor(i / size_)] === 1
    );
    return [
      cloneBatch(step.observations),
      step.rewards.slice(),
      step.terminated.slice(),
      step.truncated.slice(),
      last,
    ];
  });
}

for (const id of ["Hopper-v5", "Ant-v5", "Humanoid-v5", "Reacher-v5"]) {
  Deno.test({
    name: `${id} together has the numbers of single ones, bit for bit`,
    ignore,
    fn() {
      const maxEpisodeSteps = 25;
      const together = new MujocoVecEnv(id.slice(0, -3) as "Hopper", {
        numEnvs: 3,
        maxEpisodeSteps,
      });
      const single = new SyncVecEnv(
        Array.from({ length: 3 }, () => () => make(id, { maxEpisodeSteps })),
      );
      assertEquals(together.reset({ seed: 9 }), single.reset({ seed: 9 }));
      assertEquals(course(together, 1, 60), course(single, 1, 60));
      together.close();
      single.close();
    },
  });
}

Deno.test({
  name: "copies of a larger group are hosted with seeds of their own",
  ignore,
  fn() {
    const all = makeVec("Hopper-v5", { numEnvs: 3 });
    const some = makeVec("Hopper-v5", { numEnvs: 2 });
    const first = all.reset({ seed: 4 }) as Float64Array;
    const seeds = [1, 2].map((copy) => deriveSeed(4, copy));
    assertEquals(some.reset({ seed: seeds }), first.slice(first.length / 3));
    assertThrows(() => some.reset({ seed: [1] }), RangeError);
    all.close();
    some.close();
  },
});

Deno.test({
  name: "a group goes on exactly from a snapshot",
  ignore,
  fn() {
    const make = () =>
      new MujocoVecEnv("Ant", { numEnvs: 2, maxEpisodeSteps: 30 });
    const env = make(), other = make();
    env.reset({ seed: 2 });
    course(env, 1, 20);
    const snapshot = env.save();
    const expected = course(env, 2, 40);
    other.load(snapshot);
    assertEquals(course(other, 2, 40), expected);
    const three = new MujocoVecEnv("Ant", { numEnvs: 3 });
    assertThrows(
      () => three.load(snapshot),
      RangeError,
      "Cannot restore 3 copies from a snapshot of 2",
    );
    for (const it of [env, other, three]) it.close();
  },
});

Deno.test({
  name: "a group refuses snapshots of others before it loads anything",
  ignore,
  fn() {
    const env = new MujocoVecEnv("Hopper", { numEnvs: 2 });
    env.reset({ seed: 0 });
    const snapshot = env.save() as Record<string, StateTree>;
    const [first, second] = snapshot.simulations as Record<string, StateTree>[];
    const short = { ...second, physics: new Float64Array(3) };
    const [stream] = snapshot.randoms as StateTree[];
    course(env, 1, 5);
    const before = env.save();
    const refused: [StateTree, message: string][] = [
      [{ ...snapshot, task: "Ant" }, 'with task "Ant": expected Hopper'],
      [{ ...snapshot, frameSkip: 1 }, "with frameSkip 1: expected 4"],
      [{ ...snapshot, simulations: [first, short] }, "physics of 3 numbers"],
      [{ ...snapshot, simulations: 2 }, "simulations 2: expected a list"],
      [
        { ...snapshot, steps: new Int32Array(5) },
        "steps of 5 numbers (Int32Array): expected 2 numbers (Int32Array)",
      ],
      [
        { ...snapshot, observations: new Float64Array(3) },
        "observations of 3 numbers",
      ],
      [{ ...snapshot, randoms: null }, "randoms null: expected a list"],
      [{ ...snapshot, randoms: [stream, 1] }, "'generator'"],
    ];
    for (const [it, message] of refused) {
      assertThrows(() => env.load(it), TypeError, message);
      assertEquals(env.save(), before);
    }
    assertThrows(
      () => env.load({ ...snapshot, randoms: [stream] }),
      RangeError,
      "Cannot restore 2 copies from a snapshot of 1",
    );
    assertEquals(env.save(), before);
    env.close();
  },
});

Deno.test({
  name: "a group refuses what it cannot do and stays as it was",
  ignore,
  fn() {
    for (const numEnvs of [0, 1.5]) {
      assertThrows(
        () => new MujocoVecEnv("Hopper", { numEnvs }),
        RangeError,
        `Cannot make ${numEnvs} copies of Hopper`,
      );
    }
    assertThrows(
      () => new MujocoVecEnv("Hopper", { numEnvs: 1, maxEpisodeSteps: 0 }),
      RangeError,
      "Cannot limit episodes to 0 steps",
    );
    const env = new MujocoVecEnv("Hopper", { numEnvs: 2 });
    const actions = new Float32Array(6);
    assertThrows(() => env.step(actions), Error, "call reset first");
    const first = env.reset({ seed: 0 }).slice();
    assertThrows(
      () => env.step(actions.subarray(1)),
      RangeError,
      "Cannot step 2 copies with 5 numbers of actions: expected 6",
    );
    actions[5] = Infinity;
    assertThrows(() => env.step(actions), RangeError, "Cannot take action");
    assertThrows(
      () => env.step(new Float64Array(6)),
      RangeError,
      "Cannot take action",
    );
    assertEquals(env.observations(), first);
    env.close();
    env.close();
    assertThrows(() => env.step(actions), Error, "as it is closed");
  },
});

Deno.test({
  name: "workers have the same numbers, all at once",
  ignore,
  async fn() {
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
  },
});
