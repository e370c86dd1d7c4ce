/** An environment that breaks on demand, and whose numbers show what it did. */
import process from "node:process";
import type {
  Env,
  RgbImage,
  Space,
  StateTree,
  StepResult,
  VecEnv,
} from "@bellman/types";
import { SeededRandom } from "../../random.ts";
import { snapshotRecord } from "../../snapshot.ts";
import { box, discrete } from "../../spaces/constructors.ts";
import { SyncVecEnv } from "../../sync_vec_env.ts";
import type { EnvSlice } from "../group_hosts.ts";

/** Actions: the first one goes on, the others break. */
export const GO = 0;
export const THROW = 1;
export const EXIT = 2;
export const PROCESS_EXIT = 3;
export const HANG = 4;
export const ABORT = 5;
export const ACTIONS = 6;

/** Steps of an episode that ends by itself. */
export const EPISODE_LENGTH = 9;
/** How long it stays silent when it hangs. */
export const HANG_MS = 4_000;

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Ends the process in native code. */
function abort(): void {
  const { symbols } = Deno.dlopen("libc.so.6", {
    abort: { parameters: [], result: "void" },
  });
  symbols.abort();
}

const BREAKS: Record<number, () => void> = {
  [THROW]: () => {
    throw new RangeError("the ball was lost");
  },
  [EXIT]: () => Deno.exit(7),
  [PROCESS_EXIT]: () => process.exit(8),
  [HANG]: () => sleep(HANG_MS),
  [ABORT]: abort,
};

/** What an observation of a {@linkcode FragileEnv} says. */
export interface Seen {
  copy: number;
  episode: number;
  steps: number;
}

/** Actions that an observation allows: always the first one. */
export function masksOf({ copy, episode, steps }: Seen): Uint8Array {
  const bits = copy + 7 * steps + Math.floor(1000 * episode);
  const masks = Uint8Array.from({ length: ACTIONS }, (_, i) => bits >> i & 1);
  return masks.fill(1, 0, 1);
}

/**
 * Observations are `[copy, episode, steps]`, where `episode` is a random number
 * of the copy's stream; the reward is the number of steps. An episode
 * terminates after {@linkcode EPISODE_LENGTH} steps.
 */
class FragileEnv implements Env {
  readonly observationSpace: Space = box({ shape: [3], dtype: "float64" });
  readonly actionSpace: Space = discrete(ACTIONS);
  #copy: number;
  #random = new SeededRandom(0);
  #episode = 0;
  #steps = 0;

  constructor(copy: number) {
    this.#copy = copy;
  }

  actionMasks(): Uint8Array {
    const [copy, episode, steps] = this.#observation();
    return masksOf({ copy, episode, steps });
  }

  #observation(): Float64Array {
    return Float64Array.of(this.#copy, this.#episode, this.#steps);
  }

  reset({ seed }: { seed?: number } = {}): Float64Array {
    if (seed !== undefined) this.#random = new SeededRandom(seed);
    this.#episode = this.#random.uniform();
    this.#steps = 0;
    return this.#observation();
  }

  step(action: number): StepResult<Float64Array> {
    BREAKS[action]?.();
    this.#steps++;
    return {
      observation: this.#observation(),
      reward: this.#steps,
      terminated: this.#steps === EPISODE_LENGTH,
      truncated: false,
    };
  }

  save(): StateTree {
    const random = this.#random.save();
    return { random, episode: this.#episode, steps: this.#steps };
  }

  load(snapshot: StateTree): void {
    const { random, episode, steps } = snapshotRecord(snapshot, [
      "random",
      "episode",
      "steps",
    ]);
    this.#random.load(random);
    this.#episode = episode as number;
    this.#steps = steps as number;
  }

  render(): RgbImage {
    return { width: 1, height: 1, data: new Uint8Array(3) };
  }

  close(): void {}
}

export default function makeFragile({ numEnvs, first }: EnvSlice): VecEnv {
  return new SyncVecEnv(
    Array.from({ length: numEnvs }, (_, i) => () => new FragileEnv(first + i)),
  );
}
