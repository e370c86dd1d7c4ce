import type {
  EpisodeStatistics,
  StateTree,
  VecEnv,
  VecStep,
} from "@bellman/types";

/** Throws for a single environment. */
export function checkVecEnv(env: VecEnv, action: string): void {
  if (env.numEnvs !== undefined) return;
  throw new TypeError(
    `Cannot ${action} a single environment: expected makeVec(id, { numEnvs: 1 }), or new SyncVecEnv([() => env])`,
  );
}

/** Environments in training, and those inside their wrappers. */
const inTraining = new WeakSet<VecEnv>();

/**
 * Marks an environment as in training.
 *
 * @returns A function that removes the mark.
 */
export function markTraining(env: VecEnv | undefined): () => void {
  const layers = layersOf(env).filter((it) => !inTraining.has(it));
  layers.forEach((it) => inTraining.add(it));
  return () => layers.forEach((it) => inTraining.delete(it));
}

/** Throws if an environment is in training: a reset would end its episodes. */
export function checkFree(env: VecEnv): void {
  if (!layersOf(env).some((it) => inTraining.has(it))) return;
  throw new TypeError(
    "Cannot evaluate in the environment that is trained in, as it would be reset: expected another one",
  );
}

/** Lists an environment and those that it wraps. */
export function layersOf(env: VecEnv | undefined): VecEnv[] {
  const { env: inside } = (env ?? {}) as { env?: VecEnv };
  return env === undefined ? [] : [env, ...layersOf(inside)];
}

/** Step without rows, of an agent that steps its own environments. */
export const NO_ROWS: VecStep = {
  observations: new Float32Array(0),
  rewards: new Float64Array(0),
  terminated: new Uint8Array(0),
  truncated: new Uint8Array(0),
  finalObservations: new Float32Array(0),
};

/**
 * Finds the episodes that ended in a step: those that the environment recorded (before
 * reward scaling), else from summed rewards.
 */
export class EpisodeTracker {
  #returns: Float64Array;
  #lengths: Float64Array;

  constructor(numEnvs: number) {
    this.#returns = new Float64Array(numEnvs);
    this.#lengths = new Float64Array(numEnvs);
  }

  /** Adds a step; returns the episodes that ended in it, by environment. */
  observe(step: VecStep): readonly EpisodeStatistics[] {
    if (step.episodes !== undefined) return step.episodes;
    const ended: EpisodeStatistics[] = [];
    for (let i = 0; i < this.#returns.length; i++) {
      this.#returns[i] += step.rewards[i];
      this.#lengths[i]++;
      if (step.terminated[i] || step.truncated[i]) {
        ended.push({
          env: i,
          return: this.#returns[i],
          length: this.#lengths[i],
          terminated: step.terminated[i] !== 0,
        });
        this.#returns[i] = this.#lengths[i] = 0;
      }
    }
    return ended;
  }

  save(): StateTree {
    return { returns: this.#returns.slice(), lengths: this.#lengths.slice() };
  }

  load(state: StateTree): void {
    const { returns, lengths } = state as Record<string, Float64Array>;
    if (returns.length !== this.#returns.length) {
      throw new RangeError(
        `Cannot continue: the checkpoint holds ${returns.length} environments, expected ${this.#returns.length}`,
      );
    }
    this.#returns.set(returns);
    this.#lengths.set(lengths);
  }
}

/** Means over the last episodes, NaN if there is none. */
export class EpisodeWindow {
  #size: number;
  #returns: number[] = [];
  #lengths: number[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  push(episode: EpisodeStatistics): void {
    this.#returns.push(episode.return);
    this.#lengths.push(episode.length);
    if (this.#returns.length > this.#size) {
      this.#returns.shift();
      this.#lengths.shift();
    }
  }

  get meanReturn(): number {
    return mean(this.#returns);
  }

  get meanLength(): number {
    return mean(this.#lengths);
  }

  save(): StateTree {
    return {
      returns: Float64Array.from(this.#returns),
      lengths: Float64Array.from(this.#lengths),
    };
  }

  load(state: StateTree): void {
    const { returns, lengths } = state as Record<string, Float64Array>;
    this.#returns = [...returns.slice(-this.#size)];
    this.#lengths = [...lengths.slice(-this.#size)];
  }
}

/** Computes a mean; NaN if there are no values. */
export function mean(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}
