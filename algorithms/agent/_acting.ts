import type { RandomStream, TensorData } from "@bellman/compute";
import {
  compilePolicy,
  drawNoise,
  type ObservationArray,
  type ObservationInputArray,
} from "@bellman/policies";
import type { StateTree, VecStep } from "@bellman/types";
import type {
  AgentParts,
  AgentRuntime,
  Decision,
  Experience,
  Exploration,
  Moment,
} from "./definition.ts";

type Acted = Readonly<Record<string, TensorData | undefined>>;

/** Results of the policy where it did not act. */
const NOTHING: Acted = {};

/** Acting of an agent: its noise, its recurrent state and its exploration. */
export class Acting {
  readonly #parts: AgentParts;
  readonly #runtime: AgentRuntime;
  readonly #experience: Experience;
  readonly #exploration: Exploration;
  readonly #random: RandomStream;
  readonly #noise: Float32Array;
  readonly #state: Float32Array;
  /** 1 where an episode starts. */
  readonly #starts: Float32Array;
  /** The observations that are acted on. */
  readonly #seen: ObservationInputArray;
  readonly #view: (kept: ObservationInputArray) => ObservationInputArray;
  #inputs: ObservationInputArray;
  #acted = NOTHING;
  #run: ReturnType<typeof compilePolicy> | undefined;

  constructor(
    parts: AgentParts,
    { runtime, experience, moment, random }: {
      runtime: AgentRuntime;
      experience: Experience;
      moment: Moment;
      random: RandomStream;
    },
  ) {
    const { numEnvs, observations } = runtime;
    const { noise, stateSize } = parts.policy;
    this.#parts = parts;
    this.#runtime = runtime;
    this.#experience = experience;
    this.#exploration = { moment, random, sample: () => this.#sample() };
    this.#random = random;
    this.#noise = new Float32Array(numEnvs * noise.size);
    this.#state = new Float32Array(numEnvs * stateSize);
    this.#starts = new Float32Array(numEnvs).fill(1);
    this.#seen = this.#inputs = observations.buffer(numEnvs);
    this.#view = observations.view(numEnvs);
  }

  /** Decides in all environments. */
  act(given: ObservationArray): Decision {
    const { observations } = this.#runtime;
    observations.encoder.copy(given, this.#seen);
    observations.see(given);
    this.#inputs = this.#view(this.#seen);
    this.#acted = NOTHING;
    const actions = this.#parts.explore?.(this.#exploration) ??
      this.#sample();
    return {
      observations: this.#seen,
      inputs: this.#inputs,
      actions,
      recorded: this.#acted,
      state: this.#state,
      starts: this.#starts,
      nextState: this.#acted.state as Float32Array | undefined,
    };
  }

  #sample(): TensorData {
    this.#renewNoise();
    this.#run ??= this.#compile();
    this.#acted = this.#run({
      params: this.#runtime.params(),
      observations: this.#inputs,
      noise: this.#noise,
      memory: { state: this.#state, starts: this.#starts },
    });
    return this.#acted.actions!;
  }

  #compile(): ReturnType<typeof compilePolicy> {
    const { policy, compilation, numEnvs } = this.#runtime;
    return compilePolicy(policy, (output, given) => ({
      ...this.#experience.record?.(output, given),
      actions: policy.sample(given.params, output, { noise: given.noise }),
      state: output.state,
    }), { ...compilation, name: "acting", numEnvs, sampled: true });
  }

  /** Draws new noise; state-dependent noise stays for some steps. */
  #renewNoise(): void {
    const { policy, stateDependentNoise } = this.#parts;
    if (policy.usesStateDependentExploration && stateDependentNoise) {
      const step = this.#exploration.moment.steps / this.#runtime.numEnvs;
      const isFirst = this.#noise.every((it) => it === 0);
      if (!isFirst && !stateDependentNoise.renews(step)) return;
    }
    drawNoise(policy, this.#random, this.#noise);
  }

  /** Moves on to the state after a decision. */
  observe({ nextState }: Decision, { terminated, truncated }: VecStep): void {
    if (nextState !== undefined) this.#state.set(nextState);
    for (let i = 0; i < this.#starts.length; i++) {
      this.#starts[i] = terminated[i] | truncated[i];
    }
  }

  save(): StateTree {
    return {
      random: this.#random.save() as unknown as StateTree,
      noise: this.#noise.slice(),
      state: this.#state.slice(),
      starts: this.#starts.slice(),
    };
  }

  load(state: StateTree): void {
    const saved = state as Record<string, StateTree>;
    this.#random.load(saved.random);
    this.#noise.set(saved.noise as Float32Array);
    this.#state.set(saved.state as Float32Array);
    this.#starts.set(saved.starts as Float32Array);
  }
}
