/** A small environment and a small learner, with all their randomness saved, for tests. */
import { checkStep } from "@bellman/envs/checks";
import type {
  Actor,
  Batch,
  EpisodeStatistics,
  PolicyOptions,
  Space,
  StateTree,
  Statistics,
  Trainable,
  VecEnv,
  VecStep,
} from "@bellman/types";

/** A linear congruential generator: enough for tests. */
export class ToyRandom {
  state: number;
  constructor(seed: number) {
    this.state = (seed * 2654435761 + 12345) >>> 0;
  }
  uniform(): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return this.state / 2 ** 32;
  }
}

const goal = 4;
const maxSteps = 30;

/** Walks on a line: action 1 goes right, 0 left, sometimes the other way. The right end rewards, both ends terminate, 30 steps truncate. */
export class ToyEnv implements VecEnv {
  readonly observationSpace: Space = {
    type: "box",
    shape: [],
    low: -Infinity,
    high: Infinity,
    dtype: "float32",
  };
  readonly actionSpace: Space = { type: "discrete", n: 2 };
  readonly numEnvs: number;
  closed = false;
  #random = new ToyRandom(0);
  #positions: Float32Array;
  #steps: Int32Array;
  #returns: Float64Array;
  #records: boolean;

  constructor(numEnvs: number, records = true) {
    this.numEnvs = numEnvs;
    this.#records = records;
    this.#positions = new Float32Array(numEnvs);
    this.#steps = new Int32Array(numEnvs);
    this.#returns = new Float64Array(numEnvs);
  }

  reset(options: { seed?: number } = {}): Batch {
    if (options.seed !== undefined) this.#random = new ToyRandom(options.seed);
    for (let i = 0; i < this.numEnvs; i++) this.#restart(i);
    return this.#positions;
  }

  #restart(i: number): void {
    this.#positions[i] = Math.floor(this.#random.uniform() * 3) - 1;
    this.#steps[i] = this.#returns[i] = 0;
  }

  step(actions: Batch): VecStep {
    const n = this.numEnvs;
    const step = {
      observations: this.#positions,
      rewards: new Float64Array(n),
      terminated: new Uint8Array(n),
      truncated: new Uint8Array(n),
      finalObservations: new Float32Array(n),
    };
    const episodes: EpisodeStatistics[] = [];
    for (let i = 0; i < n; i++) {
      const slip = this.#random.uniform() < 0.1;
      const right = ((actions as Int32Array)[i] === 1) !== slip;
      const position = this.#positions[i] += right ? 1 : -1;
      this.#steps[i]++;
      step.rewards[i] = position >= goal ? 10 : right ? 0.1 : -0.1;
      this.#returns[i] += step.rewards[i];
      step.terminated[i] = +(Math.abs(position) >= goal);
      step.truncated[i] = +(!step.terminated[i] && this.#steps[i] >= maxSteps);
      step.finalObservations[i] = position;
      if (step.terminated[i] || step.truncated[i]) {
        episodes.push({
          env: i,
          return: this.#returns[i],
          length: this.#steps[i],
          terminated: step.terminated[i] === 1,
        });
        this.#restart(i);
      }
    }
    return this.#records ? { ...step, episodes } : step;
  }

  save(): StateTree {
    return {
      random: this.#random.state,
      positions: this.#positions.slice(),
      steps: this.#steps.slice(),
      returns: this.#returns.slice(),
    };
  }

  load(state: StateTree): void {
    const saved = state as Record<string, Float32Array> & { random: number };
    this.#random.state = saved.random;
    this.#positions.set(saved.positions);
    this.#steps.set(saved.steps);
    this.#returns.set(saved.returns);
  }

  observations(): Batch {
    return this.#positions;
  }

  close(): void {
    this.closed = true;
  }
}

const numCells = 2 * goal + 1;
const cellOf = (position: number) => Math.round(position) + goal;

/** Policy gradient on a table, updated every five steps. */
export class ToyAlgorithm implements Trainable {
  params = new Float32Array(numCells);
  #observed = 0;
  #numEnvs: number;
  #random: ToyRandom;
  #rollout: number[] = [];
  #before: number[] = [];
  #actions: Int32Array;
  #baseline = 0;

  constructor(numEnvs: number, seed = 1) {
    this.#numEnvs = numEnvs;
    this.#random = new ToyRandom(seed);
    this.#actions = new Int32Array(numEnvs);
  }

  act(observations: Batch): Batch {
    this.#before = [...observations as Float32Array];
    this.#actions = choose(this.params, this.#before, this.#random);
    return this.#actions;
  }

  observe(step: VecStep): void {
    const numEnvs = step.terminated.length;
    checkStep(step, { numEnvs, step: this.#observed += numEnvs });
    for (let i = 0; i < this.#numEnvs; i++) {
      this.#rollout.push(this.#before[i], this.#actions[i], step.rewards[i]);
    }
  }

  update(): Statistics | undefined {
    if (this.#rollout.length < 5 * 3 * this.#numEnvs) return undefined;
    let loss = 0;
    for (let i = 0; i < this.#rollout.length; i += 3) {
      const [position, action, reward] = this.#rollout.slice(i, i + 3);
      const cell = cellOf(position);
      const p = sigmoid(this.params[cell]);
      const advantage = reward - this.#baseline;
      this.#baseline += 0.01 * advantage;
      this.params[cell] += 0.3 * advantage * (action - p);
      loss += advantage ** 2;
    }
    this.#rollout = [];
    return { value_loss: loss, entropy: 0.5, explained_variance: NaN };
  }

  save(): StateTree {
    return {
      params: { table: { data: this.params.slice(), shape: [3, 3] } },
      random: this.#random.state,
      rollout: [...this.#rollout],
      baseline: this.#baseline,
    };
  }

  load(state: StateTree): void {
    const saved = state as {
      params: { table: { data: Float32Array } };
      random: number;
      rollout: number[];
      baseline: number;
    };
    this.params.set(saved.params.table.data);
    this.#random.state = saved.random;
    this.#rollout = [...saved.rollout];
    this.#baseline = saved.baseline;
  }

  policy(options: PolicyOptions = {}): Actor {
    const { deterministic = false, seed = 0 } = options;
    const params = this.params.slice();
    const random = new ToyRandom(seed);
    return {
      act: (observations) =>
        deterministic
          ? Int32Array.from(
            observations as Float32Array,
            (position) => +(params[cellOf(position)] > 0),
          )
          : choose(params, observations as Float32Array, random),
    };
  }
}

function choose(
  params: Float32Array,
  positions: ArrayLike<number>,
  random: ToyRandom,
): Int32Array {
  return Int32Array.from(
    positions,
    (position) => +(random.uniform() < sigmoid(params[cellOf(position)])),
  );
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** An algorithm that updates after each step with the given statistics. */
export function scripted(
  statistics: (update: number) => Statistics,
): Trainable & { params: Float32Array } {
  let update = 0;
  const algorithm = new ToyAlgorithm(4);
  algorithm.update = () => statistics(++update);
  return algorithm;
}
