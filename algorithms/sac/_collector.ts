import type { Params, RandomStream, ResidentState } from "@bellman/compute";
import {
  compilePolicy,
  drawNoise,
  type ObservationArray,
  type ObservationInputArray,
  type PolicyCompilation,
  type PolicyInputs,
  type StochasticPolicy,
} from "@bellman/policies";
import type { StateTree } from "@bellman/types";
import type { SacConfig } from "./config.ts";
import type { Observations } from "./_observations.ts";
import type { Replay } from "./_replay.ts";
import type { RewardScale, SacStep } from "./sac_options.ts";

/** What a {@link Collector} works with. */
export interface CollectorOptions {
  readonly numEnvs: number;
  /** The least discrete action. */
  readonly firstAction: number;
  readonly config: SacConfig;
  readonly random: RandomStream;
  readonly replay: Replay;
  readonly observations: Observations;
  /** Scale of rewards, which sees them here. */
  readonly rewards?: RewardScale;
  /** How acting is compiled. */
  readonly compilation: PolicyCompilation;
  /** The newest parameters of the policy. */
  readonly params: () => ResidentState<Params>;
}

/** Acts in all copies and fills the replay buffer. */
export class Collector {
  readonly #policy: StochasticPolicy;
  readonly #options: CollectorOptions;
  readonly #noise: Float32Array;
  /** The observations that are acted on, and those after the step, as kept. */
  readonly #seen: ObservationInputArray;
  readonly #next: ObservationInputArray;
  readonly #view: ReturnType<Observations["view"]>;
  readonly #actions: Float32Array | Int32Array;
  readonly #rewards: Float32Array;
  readonly #none: Uint8Array;
  #sample:
    | ((inputs: PolicyInputs) => { actions: Float32Array | Int32Array })
    | undefined;
  #steps = 0;

  constructor(policy: StochasticPolicy, options: CollectorOptions) {
    const { numEnvs } = options;
    const { actionShape, actionDtype } = policy.distribution;
    const size = actionShape.reduce((product, it) => product * it, numEnvs);
    this.#policy = policy;
    this.#options = options;
    this.#noise = new Float32Array(numEnvs * policy.noise.size);
    this.#seen = options.observations.buffer(numEnvs);
    this.#next = options.observations.buffer(numEnvs);
    this.#view = options.observations.view(numEnvs);
    this.#actions = actionDtype === "int32"
      ? new Int32Array(size)
      : new Float32Array(size);
    this.#rewards = new Float32Array(numEnvs);
    this.#none = new Uint8Array(numEnvs);
  }

  /** Steps of all copies so far. */
  get steps(): number {
    return this.#steps;
  }

  /** Chooses an action in each copy, as the policy would sample it. */
  act(given: ObservationArray): Float32Array | Int32Array {
    const { config, numEnvs, observations } = this.#options;
    observations.encoder.copy(given, this.#seen);
    observations.see(given);
    const explores = this.#steps * numEnvs < config.learningStarts;
    if (explores && config.initialExploration === "uniform") {
      this.#drawActions();
    } else this.#actions.set(this.#sampled());
    return this.#actions;
  }

  /** Every action as likely: numbers of [-1, 1], or one of the discrete. */
  #drawActions(): void {
    const { random, firstAction } = this.#options;
    const actions = this.#actions;
    if (actions instanceof Float32Array) {
      random.fillUniform(actions);
      for (let i = 0; i < actions.length; i++) actions[i] = 2 * actions[i] - 1;
      return;
    }
    const count = this.#policy.distribution.parameterSize;
    for (let i = 0; i < actions.length; i++) {
      actions[i] = firstAction + random.integer(count);
    }
  }

  #sampled(): Float32Array | Int32Array {
    const { params, compilation, numEnvs } = this.#options;
    const policy = this.#policy;
    this.#sample ??= compilePolicy(policy, (output, { params, noise }) => ({
      actions: policy.sample(params, output, { noise }),
    }), { ...compilation, name: "acting", numEnvs, sampled: true });
    this.#renewNoise();
    return this.#sample({
      params: params(),
      observations: this.#view(this.#seen),
      noise: this.#noise,
    }).actions;
  }

  /** New noise; state-dependent noise stays for some steps. */
  #renewNoise(): void {
    if (this.#policy.usesStateDependentExploration) {
      const { sdeSampleFrequency, trainFrequency } = this.#options.config;
      const every = sdeSampleFrequency === -1
        ? trainFrequency
        : sdeSampleFrequency;
      const isFirst = this.#noise.every((it) => it === 0);
      if (!isFirst && this.#steps % every !== 0) return;
    }
    drawNoise(this.#policy, this.#options.random, this.#noise);
  }

  /** Takes in what followed the last actions. */
  observe(step: SacStep): void {
    const { config, replay, observations: { encoder } } = this.#options;
    const { terminated, truncated } = step;
    encoder.copy(afterStep(step, encoder.size), this.#next);
    this.#rewards.set(step.rewards);
    this.#options.rewards?.see(step.rewards, step);
    replay.add({
      observation: this.#seen,
      action: this.#actions,
      reward: this.#rewards,
      terminated: config.bootstrapTruncated
        ? terminated
        : eitherOf(terminated, truncated),
      truncated: config.bootstrapTruncated ? truncated : this.#none,
      nextObservation: this.#next,
    });
    this.#steps++;
  }

  /** Everything needed to continue, but parameters and transitions. */
  save(): Record<string, StateTree> {
    return {
      random: this.#options.random.save() as unknown as StateTree,
      noise: this.#noise.slice(),
      steps: this.#steps,
    };
  }

  /** Continues from what {@link save} gave. */
  load(saved: Readonly<Record<string, StateTree>>): void {
    this.#options.random.load(saved.random);
    this.#noise.set(saved.noise as Float32Array);
    this.#steps = saved.steps as number;
  }
}

/** 1 where either flag is. */
function eitherOf(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((it, i) => it | b[i]);
}

/** The true observations after a step: the last ones of episodes that ended. */
function afterStep(step: SacStep, size: number): ObservationArray {
  const { terminated, truncated } = step;
  const observations = step.observations as Float32Array;
  let merged: Float32Array | undefined;
  for (let i = 0; i < terminated.length; i++) {
    if (!(terminated[i] || truncated[i])) continue;
    merged ??= observations.slice();
    const final = step.finalObservations as Float32Array;
    merged.set(final.subarray(i * size, (i + 1) * size), i * size);
  }
  return merged ?? observations;
}
