/** An environment whose observations and actions are nested. */
import type {
  Env,
  RgbImage,
  Space,
  SpaceValue,
  StateTree,
  StepResult,
  VecEnv,
} from "@bellman/types";
import { SeededRandom } from "../../random.ts";
import { snapshotRecord } from "../../snapshot.ts";
import {
  box,
  dict,
  discrete,
  multiBinary,
  multiDiscrete,
  tuple,
} from "../../spaces/constructors.ts";
import { SyncVecEnv } from "../../sync_vec_env.ts";
import type { EnvSlice } from "../group_hosts.ts";

type Action = { push: Float32Array; keys: readonly [number, Int32Array] };

/** Sums up what it is told and shows it in every kind of space. */
class NestedEnv implements Env {
  readonly observationSpace: Space = tuple([
    box({ low: 0, high: 255, shape: [2, 3], dtype: "uint8" }),
    dict({
      sum: box({ shape: [2] }),
      last: discrete(3),
      lamps: multiBinary(5),
      exact: box({ shape: [1], dtype: "float64" }),
    }),
  ]);
  readonly actionSpace: Space = dict({
    push: box({ low: -1, high: 1, shape: [2] }),
    keys: tuple([discrete(3), multiDiscrete([2, 4])]),
  });
  #random = new SeededRandom(0);
  #state = new Float64Array(4);

  #observation(): SpaceValue {
    const [x, y, last, steps] = this.#state;
    return [
      Uint8Array.from({ length: 6 }, (_, i) => Math.abs(x + i * y) % 256),
      {
        sum: Float32Array.of(x, y),
        last,
        lamps: Uint8Array.from({ length: 5 }, (_, i) => steps === i ? 1 : 0),
        exact: Float64Array.of(x / 3),
      },
    ];
  }

  reset({ seed }: { seed?: number } = {}): SpaceValue {
    if (seed !== undefined) this.#random = new SeededRandom(seed);
    this.#state.set([this.#random.normal(), this.#random.normal(), 0, 0]);
    return this.#observation();
  }

  step(action: SpaceValue): StepResult {
    const { push, keys: [key, [left, right]] } = action as unknown as Action;
    const state = this.#state;
    state[0] += push[0] + left;
    state[1] += push[1] - right;
    state[2] = key;
    state[3]++;
    return {
      observation: this.#observation(),
      reward: state[0] * state[1],
      terminated: key === 2 && left === 1,
      truncated: state[3] === 5,
    };
  }

  save(): StateTree {
    return { random: this.#random.save(), state: this.#state.slice() };
  }

  load(snapshot: StateTree): void {
    const { random, state } = snapshotRecord(snapshot, ["random", "state"]);
    this.#random.load(random);
    this.#state.set(state as Float64Array);
  }

  render(): RgbImage {
    return { width: 1, height: 1, data: new Uint8Array(3) };
  }

  close(): void {}
}

export default function makeNested({ numEnvs }: EnvSlice): VecEnv {
  return new SyncVecEnv(
    Array.from({ length: numEnvs }, () => () => new NestedEnv()),
  );
}
