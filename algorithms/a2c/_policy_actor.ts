import {
  type Params,
  RandomStream,
  type ResidentState,
} from "@bellman/compute";
import type {
  ActorCritic,
  ObservationArray,
  ObservationInputArray,
} from "@bellman/policies";
import {
  Acting,
  type ActingOptions,
  drawNoise,
  observationBuffer,
} from "./_acting.ts";
import type { ActionArray } from "./_env_actions.ts";

/**
 * How {@link A2C.policy} makes an actor.
 *
 * @example
 * ```ts
 * import { A2C, type PolicyOptions } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 *
 * const agent = new A2C({
 *   observationSpace: { type: "discrete", n: 3 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 2,
 * });
 * const options: PolicyOptions = { deterministic: true, numEnvs: 1 };
 * assertEquals(agent.policy(options).act(Int32Array.of(2)).length, 1);
 * agent.close();
 * ```
 */
export interface PolicyOptions {
  /**
   * Take the likeliest action instead of sampling one.
   *
   * @default false
   */
  readonly deterministic?: boolean;
  /**
   * Copies of the environment that the actor acts for.
   *
   * @default that of the agent
   */
  readonly numEnvs?: number;
  /**
   * Seed of the actor's own random stream.
   *
   * @default 0
   */
  readonly seed?: number;
}

/**
 * A policy as evaluation sees it.
 *
 * @example
 * ```ts
 * import { A2C, type Actor } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 *
 * const agent = new A2C({
 *   observationSpace: { type: "discrete", n: 3 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 2,
 * });
 * const actor: Actor = agent.policy({ deterministic: true });
 * const observations = Int32Array.of(0, 1);
 * assertEquals(actor.act(observations), actor.act(observations));
 * agent.close();
 * ```
 */
export interface Actor {
  /** Actions for observations `[numEnvs, ...]`, one for each row. */
  act(observations: unknown): ActionArray;
  /** Told of each step, so that recurrent states start anew after an end. */
  observe(step: { terminated: Uint8Array; truncated: Uint8Array }): void;
}

/** What a {@link PolicyActor} is made from. */
export interface PolicyActorOptions extends Required<PolicyOptions> {
  readonly sdeSampleFrequency: number;
  /** The newest parameters. */
  readonly params: () => ResidentState<Params>;
  /** How acting is compiled. */
  readonly compilation: Omit<ActingOptions, "numEnvs">;
  readonly toEnv: (sampled: ArrayLike<number>) => ActionArray;
}

/** Acts by a model whose parameters someone else holds. */
export class PolicyActor implements Actor {
  readonly #model: ActorCritic;
  readonly #options: PolicyActorOptions;
  readonly #acting: Acting;
  readonly #observations: ObservationInputArray;
  readonly #random: RandomStream;
  readonly #noise: Float32Array;
  readonly #starts: Float32Array;
  readonly #state: Float32Array;
  #steps = 0;

  constructor(model: ActorCritic, options: PolicyActorOptions) {
    const { numEnvs, seed } = options;
    if (!Number.isInteger(numEnvs) || numEnvs < 1) {
      throw new RangeError(
        `Cannot act in ${numEnvs} environments: expected a whole number of at least 1`,
      );
    }
    this.#model = model;
    this.#options = options;
    this.#acting = new Acting(model, { ...options.compilation, numEnvs });
    this.#observations = observationBuffer(model, numEnvs);
    this.#random = new RandomStream(seed).split("evaluation");
    this.#noise = new Float32Array(numEnvs * model.noise.size);
    this.#starts = new Float32Array(numEnvs).fill(1);
    this.#state = new Float32Array(numEnvs * model.stateSize);
  }

  act(observations: unknown): ActionArray {
    const { deterministic, params, toEnv } = this.#options;
    if (!deterministic) this.#renewNoise();
    const inputs = {
      params: params(),
      observations: this.#model.observationArray(
        observations as ObservationArray,
        this.#observations,
      ),
      memory: { state: this.#state, starts: this.#starts },
      noise: this.#noise,
    };
    const { actions, state } = deterministic
      ? this.#acting.mode(inputs)
      : this.#acting.explore(inputs);
    if (state !== undefined) this.#state.set(state);
    this.#starts.fill(0);
    this.#steps++;
    return toEnv(actions);
  }

  #renewNoise(): void {
    const { sdeSampleFrequency } = this.#options;
    if (this.#model.usesStateDependentExploration) {
      const every = sdeSampleFrequency === -1 ? Infinity : sdeSampleFrequency;
      if (this.#steps % every !== 0) return;
    }
    drawNoise(this.#model, this.#random, this.#noise);
  }

  observe(step: { terminated: Uint8Array; truncated: Uint8Array }): void {
    for (let i = 0; i < this.#starts.length; i++) {
      this.#starts[i] = step.terminated[i] | step.truncated[i];
    }
  }
}
