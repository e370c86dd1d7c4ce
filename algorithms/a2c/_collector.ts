import type { Params, RandomStream, ResidentState } from "@bellman/compute";
import {
  type ActorCritic,
  drawNoise,
  type ObservationArray,
  observationBuffer,
  type ObservationInputArray,
  type PolicyInputs,
  type PolicyMemory,
} from "@bellman/policies";
import type { Acted, Acting } from "./_acting.ts";
import type { A2CStep } from "./a2c_options.ts";
import type { A2CConfig } from "./config.ts";
import { Rollout } from "./_rollout.ts";
import type { StateTree } from "@bellman/types";

/** What a {@link Collector} works with. */
export interface CollectorOptions {
  readonly numEnvs: number;
  readonly config: A2CConfig;
  readonly random: RandomStream;
  readonly acting: Acting;
  /** The newest parameters. */
  readonly params: () => ResidentState<Params>;
}

/** Acts in all copies and collects the rollout that is learned from. */
export class Collector {
  /** The steps since the last update. */
  readonly rollout: Rollout;
  readonly #model: ActorCritic;
  readonly #options: CollectorOptions;
  /**
   * Whether values are estimated at the end of a rollout: a network that is
   * not the policy's is then asked once instead of at each step. The
   * parameters are the same, and so are the values.
   */
  readonly #valuesLater: boolean;
  readonly #noise: Float32Array;
  /** The observations that are acted on. */
  readonly #seen: ObservationInputArray;
  /** Observations whose values are asked for. */
  readonly #valued: ObservationInputArray;
  readonly #state: Float32Array;
  readonly #starts: Float32Array;

  constructor(model: ActorCritic, options: CollectorOptions) {
    const { numEnvs, config } = options;
    this.#model = model;
    this.#options = options;
    this.rollout = new Rollout(model, { numEnvs, config });
    this.#valuesLater = config.valueNetwork === "separate" &&
      model.stateSize === 0;
    this.#noise = new Float32Array(numEnvs * model.noise.size);
    this.#seen = observationBuffer(model, numEnvs);
    this.#valued = observationBuffer(model, numEnvs);
    this.#state = new Float32Array(numEnvs * model.stateSize);
    this.#starts = new Float32Array(numEnvs).fill(1);
  }

  /** Samples an action in each copy, as the model gives it. */
  act(observations: ObservationArray): Acted["actions"] {
    const { acting } = this.#options;
    this.#model.observationArray(observations, this.#seen);
    this.#renewNoise();
    const inputs = this.#inputs(this.#seen, this.#starts);
    const { actions, values, state } = this.#valuesLater
      ? acting.explore(inputs)
      : acting.sample(inputs);
    this.rollout.decide(inputs.memory, {
      observations: this.#seen,
      actions,
      values,
    });
    if (state !== undefined) this.#state.set(state);
    return actions;
  }

  #inputs(
    observations: ObservationInputArray,
    starts: Float32Array,
  ): PolicyInputs & { memory: PolicyMemory } {
    return {
      params: this.#options.params(),
      observations,
      memory: { state: this.#state, starts },
      noise: this.#noise,
    };
  }

  /** New noise; state-dependent noise stays for some steps. */
  #renewNoise(): void {
    if (this.#model.usesStateDependentExploration) {
      const every = this.#options.config.sdeSampleFrequency;
      const step = this.rollout.numSteps;
      if (every === -1 ? step !== 0 : step % every !== 0) return;
    }
    drawNoise(this.#model, this.#options.random, this.#noise);
  }

  /** Takes in what followed the last actions. */
  observe(step: A2CStep): void {
    const observations = step.observations as ObservationArray;
    this.rollout.add(step, this.#finalValues(step, observations));
    for (let i = 0; i < this.#starts.length; i++) {
      this.#starts[i] = step.terminated[i] | step.truncated[i];
    }
    if (!this.rollout.full) return;
    if (this.#valuesLater) this.#endWithAllValues(observations);
    else this.rollout.end(this.#valuesOf(observations, this.#starts));
  }

  #endWithAllValues(observations: ObservationArray): void {
    const { acting, params, config } = this.#options;
    const { values, lastValues } = acting.rolloutValues({
      params: params(),
      observations: this.rollout.observations,
      last: this.#model.observationArray(observations, this.#valued),
      numSteps: config.numSteps,
    });
    this.rollout.end(lastValues, values);
  }

  #valuesOf(observations: ObservationArray, starts: Float32Array) {
    this.#model.observationArray(observations, this.#valued);
    return this.#options.acting.values(this.#inputs(this.#valued, starts));
  }

  /** Values of the last observations of episodes that were cut short. */
  #finalValues(
    step: A2CStep,
    observations: ObservationArray,
  ): Float32Array | undefined {
    const { config, numEnvs } = this.#options;
    if (!config.bootstrapTruncated) return undefined;
    const cut: number[] = [];
    for (let i = 0; i < numEnvs; i++) {
      if (step.truncated[i] && !step.terminated[i]) cut.push(i);
    }
    if (cut.length === 0) return undefined;
    // The other rows of the final observations may hold anything.
    const size = this.#model.observationSize;
    const last = observations.slice() as Exclude<
      ObservationArray,
      readonly number[]
    >;
    const final = step.finalObservations as typeof last;
    for (const i of cut) {
      last.set(final.subarray(i * size, (i + 1) * size), i * size);
    }
    // The episode goes on as far as the value is concerned: state kept.
    return this.#valuesOf(last, new Float32Array(numEnvs));
  }

  /** Everything needed to continue, but the parameters. */
  save(): Record<string, StateTree> {
    return {
      random: this.#options.random.save() as unknown as StateTree,
      rollout: this.rollout.save(),
      state: this.#state.slice(),
      starts: this.#starts.slice(),
      noise: this.#noise.slice(),
    };
  }

  /** Continues from what {@link save} gave. */
  load(saved: Readonly<Record<string, StateTree>>): void {
    this.#options.random.load(saved.random as never);
    this.rollout.load(saved.rollout);
    this.#state.set(saved.state as Float32Array);
    this.#starts.set(saved.starts as Float32Array);
    this.#noise.set(saved.noise as Float32Array);
  }
}
