import type { BoxArray, StateTree, VecStep } from "@bellman/types";
import { assertEquals, assertThrows } from "@std/assert";
import { ArrayVecEnv } from "./array_vec_env.ts";
import type { SeededRandom } from "./random.ts";
import { savedArray, snapshotRecord } from "./snapshot.ts";
import { box, discrete } from "./spaces/constructors.ts";

/** Sums of actions, which end above 3; they start below 1. */
class Sums extends ArrayVecEnv<Float32Array> {
  readonly sums: Float64Array;

  constructor(numEnvs: number, maxEpisodeSteps?: number) {
    super({
      name: "Sums",
      observationSpace: box({ low: 0, high: 10, shape: [1] }),
      actionSpace: discrete(3),
    }, { numEnvs, maxEpisodeSteps });
    this.sums = new Float64Array(numEnvs);
  }

  protected override beginRow(row: number, random: SeededRandom): void {
    this.sums[row] = random.uniform();
  }

  protected override observeRow(row: number, observations: Float32Array): void {
    observations[row] = this.sums[row];
  }

  protected override stepRows(actions: BoxArray, step: VecStep): void {
    for (let row = 0; row < this.numEnvs; row++) {
      this.sums[row] += actions[row];
      step.rewards[row] = actions[row];
      step.terminated[row] = this.sums[row] > 3 ? 1 : 0;
      this.observeRow(row, step.observations as Float32Array);
    }
  }

  protected override saveRows(): Record<string, StateTree> {
    return { sums: this.sums.slice() };
  }

  protected override readRows(snapshot: StateTree): () => void {
    const { sums } = snapshotRecord(snapshot, ["sums"]);
    const saved = savedArray("Sums", ["sums", sums], this.sums);
    return () => this.sums.set(saved);
  }
}

Deno.test("rows end by rule or by limit and start anew in the same step", () => {
  const env = new Sums(2, 2);
  env.reset({ seed: 0 });
  const first = env.step(Int32Array.of(2, 0));
  assertEquals([...first.terminated, ...first.truncated], [0, 0, 0, 0]);
  const step = env.step(Int32Array.of(2, 0));
  assertEquals([...step.terminated, ...step.truncated], [1, 0, 1, 1]);
  const last = step.finalObservations as Float32Array;
  const [sum, other] = step.observations as Float32Array;
  assertEquals([last[0] > 4, sum < 1, last[1] < 1, other !== last[1]], [
    true,
    true,
    true,
    true,
  ]);
});

Deno.test("a batch goes on exactly from a snapshot", () => {
  const env = new Sums(2, 5), other = new Sums(2, 5);
  const actions = Int32Array.of(1, 0);
  env.reset({ seed: 3 });
  env.step(actions);
  const snapshot = env.save();
  const course = (of: Sums) =>
    Array.from({ length: 20 }, () => structuredClone(of.step(actions)));
  const wanted = course(env);
  other.load(snapshot);
  assertEquals(
    other.observations(),
    (snapshot as { observations: BoxArray })
      .observations,
  );
  assertEquals(
    course(other).map(({ observations }) => observations),
    wanted.map(({ observations }) => observations),
  );
});

Deno.test("a snapshot that cannot be is refused and changes nothing", () => {
  const env = new Sums(2);
  env.reset({ seed: 1 });
  const saved = env.save() as Record<string, StateTree>;
  env.step(Int32Array.of(1, 1));
  const before = env.save();
  const refused: [StateTree, message: string][] = [
    [{ ...saved, sums: new Float64Array(3) }, "sums a Float64Array of 3"],
    [{ ...saved, steps: new Float64Array(2) }, "steps a Float64Array of 2"],
    [{ ...saved, observations: [0, 0] }, "observations a list of 2"],
    [{ ...saved, randoms: 1 }, "randoms 1: expected a list"],
    [{ ...saved, randoms: [1, 1] }, "'generator'"],
  ];
  for (const [it, message] of refused) {
    assertThrows(() => env.load(it), TypeError, message);
    assertEquals(env.save(), before);
  }
  assertThrows(
    () => env.load(new Sums(3).save()),
    RangeError,
    "Cannot restore 2 copies from a snapshot of 3",
  );
});
