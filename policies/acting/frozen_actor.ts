import type { ArrayWithShape } from "@bellman/compute";
import { copyArrays, loadAtomically, restoreArrays } from "@bellman/files";
import type { ObservationScaling, Space, StateTree } from "@bellman/types";
import type { Policy } from "../models/policy.ts";
import {
  type ObservationBatch,
  observationBuffer,
  type ObservationInputArrays,
  partOf,
} from "../networks/observations.ts";
import {
  type ActionsIn,
  type Actor,
  PolicyActor,
  type PolicyActorOptions,
} from "./policy_actor.ts";

/**
 * Options of {@link FrozenActor}.
 *
 * @typeParam S Action space.
 */
export interface FrozenActorOptions<S extends Space = Space>
  extends Omit<PolicyActorOptions<S>, "params"> {
  /** Parameters by path; copied. */
  readonly params: Readonly<Record<string, ArrayWithShape>>;
  /**
   * Scaling that raw observations get; its numbers are copied.
   *
   * @default none
   */
  readonly scaling?: ObservationScaling;
}

/**
 * Actor with its own copy of a policy's parameters and of its observation scaling, such
 * as an opponent in self-play. It takes raw observations.
 *
 * @typeParam S Action space.
 *
 * @example
 * ```ts
 * import { paramsToArrays, paramTypes, RandomStream, selectBackend } from "@bellman/compute";
 * import { FrozenActor, stochasticPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const actionSpace = { type: "discrete", n: 2 } as const;
 * const policy = stochasticPolicy({
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace,
 * });
 * const params = policy.init(new RandomStream(0));
 * const actor = new FrozenActor(policy, {
 *   numEnvs: 3,
 *   actionSpace,
 *   params: paramsToArrays(params),
 *   compilation: { params: paramTypes(params) },
 * });
 * const state = actor.save();
 * const actions = actor.act([0, 1, 2]);
 * actor.load(state);
 * assertEquals(actor.act([0, 1, 2]), actions);
 * ```
 */
export class FrozenActor<const S extends Space = Space>
  implements Actor<ActionsIn<S>> {
  /** Number of environments that it acts in. */
  readonly numEnvs: number;
  readonly #actor: PolicyActor<S>;
  /** Copies of parameters, and of the numbers of the scaling. */
  readonly #own: Record<string, Float32Array | Int32Array | Float64Array>;
  /** Returns scaled observations, where there is a scaling. */
  readonly #scaled: (given: ObservationBatch) => ObservationBatch;

  /**
   * Copies parameters and scaling.
   *
   * @param policy The policy.
   * @param options Number of environments, parameters, scaling.
   * @throws {RangeError} As {@link PolicyActor} does.
   * @throws {TypeError} As {@link PolicyActor} does.
   */
  constructor(policy: Policy, options: FrozenActorOptions<S>) {
    const { params, scaling, ...others } = options;
    const held = Object.fromEntries(
      Object.entries(params).map(([path, { data }]) => [path, data.slice()]),
    );
    this.numEnvs = options.numEnvs;
    this.#actor = new PolicyActor(policy, { ...others, params: () => held });
    this.#own = { ...held };
    this.#scaled = (given) => given;
    if (scaling === undefined) return;
    const buffer = observationBuffer(policy, options.numEnvs);
    const mean = Float64Array.from(scaling.mean);
    const variance = Float64Array.from(scaling.variance);
    Object.assign(this.#own, {
      "scaling/mean": mean,
      "scaling/variance": variance,
    });
    this.#scaled = (given) => {
      const seen = policy.observationArray(given, buffer);
      scaleInputs(seen, { ...scaling, mean, variance }, options.numEnvs);
      return seen;
    };
  }

  /**
   * Chooses an action in each environment.
   *
   * @param observations Raw observations `[numEnvs, ...]`; copied.
   * @param actionMasks 1 where a choice is allowed, if actions are masked.
   * @returns Actions `[numEnvs, ...]` as the environment takes them.
   * @throws {TypeError} If masks are missing, not expected or of a wrong length.
   */
  act(observations: ObservationBatch, actionMasks?: Uint8Array): ActionsIn<S> {
    return this.#actor.act(this.#scaled(observations), actionMasks);
  }

  /**
   * Resets the recurrent states of episodes that ended.
   *
   * @param step Episode ends `[numEnvs]`.
   */
  observe(step: { terminated: Uint8Array; truncated: Uint8Array }): void {
    this.#actor.observe(step);
  }

  /** Resets all recurrent states, as the environments are reset. */
  endEpisodes(): void {
    this.#actor.endEpisodes();
  }

  /** Saves parameters, scaling, random stream and recurrent states. */
  save(): StateTree {
    return { own: copyArrays(this.#own), acting: this.#actor.save() };
  }

  /**
   * Restores a state of an actor of the same policy and number of environments, or
   * throws and changes nothing.
   *
   * @param state Result of {@link save}; copied.
   * @throws {RangeError} If it is of a policy of other sizes or of another number of
   * environments.
   * @throws {TypeError} If it is something else.
   */
  load(state: StateTree): void {
    loadAtomically(state as Record<string, StateTree>, {
      save: () => this.save() as Record<string, StateTree>,
      load: ({ own, acting }) => {
        restoreArrays(this.#own, own);
        this.#actor.load(acting);
      },
    });
  }
}

/** Scales observations in place, part by part. */
function scaleInputs(
  inputs: ObservationInputArrays,
  { mean, variance, parts, epsilon = 1e-8, clip = 10 }: ObservationScaling,
  rows: number,
): void {
  let from = 0;
  for (const name of parts ?? [undefined]) {
    const array = partOf(inputs, name) as Float32Array;
    const size = array.length / rows;
    for (let i = 0; i < array.length; i++) {
      const at = from + i % size;
      const scaled = (array[i] - mean[at]) / Math.sqrt(variance[at] + epsilon);
      array[i] = Math.min(Math.max(scaled, -clip), clip);
    }
    from += size;
  }
}
