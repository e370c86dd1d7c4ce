import {
  compile,
  type Engine,
  type Params,
  RandomStream,
  type ResidentState,
  type TensorType,
} from "@bellman/compute";
import { restoreArrays } from "@bellman/files";
import type * as tf from "@tensorflow/tfjs";
import type { ActionMasking } from "../distributions/distribution.ts";
import type { Policy, PolicyOutput } from "../models/policy.ts";
import {
  mapParts,
  type ObservationBatch,
  observationBuffer,
  type ObservationInputArrays,
} from "../networks/observations.ts";
import type {
  BatchOf,
  BoxSpace,
  PolicyOptions,
  Space,
  StateTree,
  ValueOf,
} from "@bellman/types";
import { ARRAYS, boundsOf } from "../networks/_layers.ts";

/** Inputs of a compiled policy. */
export interface PolicyInputs {
  /** Parameters: arrays, or the resident state of a compiled step. */
  readonly params: ResidentState<Params>;
  /** Observations `[numEnvs, ...]`, in the policy's input type. */
  readonly observations: ObservationInputArrays;
  /** Noise `[numEnvs, noise.size]`, if actions are sampled. */
  readonly noise?: Float32Array;
  /** Recurrent state, if the policy is recurrent. */
  readonly memory?: PolicyMemory;
  /** Action masks, 1 where a choice is allowed `[numEnvs, masking.size]`, if there are some. */
  readonly actionMasks?: Uint8Array;
}

/** Recurrent state between two steps. */
export interface PolicyMemory {
  /** Recurrent state before the step `[numEnvs, stateSize]`. */
  readonly state: Float32Array;
  /** `[numEnvs]`, 1 where an episode starts at the step. */
  readonly starts: Float32Array;
}

/** Compilation settings of a policy. */
export interface PolicyCompilation {
  /** Shapes and types of the parameters, by path. */
  readonly params: Readonly<Record<string, TensorType>>;
  /**
   * Engine: ONNX Runtime on a compiled graph, or TensorFlow.js.
   *
   * @default "auto"
   */
  readonly engine?: Engine;
  /**
   * Number of ONNX Runtime's threads.
   *
   * @default "auto"
   */
  readonly threads?: number | "auto";
}

/** Options of {@link compilePolicy}. */
export interface CompilePolicyOptions extends PolicyCompilation {
  /** Name in error messages. */
  readonly name: string;
  /** Number of environments. */
  readonly numEnvs: number;
  /**
   * True if the results need noise.
   *
   * @default false
   */
  readonly sampled?: boolean;
  /**
   * True if the results need action masks.
   *
   * @default false
   */
  readonly masked?: boolean;
}

/** Inputs of the `results` function of {@link compilePolicy}. */
export interface PolicyResultInputs {
  /** The parameters. */
  readonly params: Params;
  /** Noise `[numEnvs, noise.size]`, if `sampled` is true. */
  readonly noise: tf.Tensor2D;
}

/**
 * Compiles a policy into one function of arrays: encoding of observations, network, and
 * the results computed from its output.
 *
 * @param policy The policy.
 * @param results Computes the wanted results by name; undefined ones are left out.
 * @param options Number of environments, parameters, engine.
 * @returns A function from inputs to arrays, which its next call overwrites.
 *
 * @example
 * ```ts
 * import { paramTypes, RandomStream, selectBackend } from "@bellman/compute";
 * import { compilePolicy, stochasticPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const policy = stochasticPolicy({
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 * });
 * const params = policy.init(new RandomStream(0));
 * const likeliest = compilePolicy(
 *   policy,
 *   (output) => ({ actions: policy.mode(output) }),
 *   { name: "acting", numEnvs: 3, params: paramTypes(params) },
 * );
 * const { actions } = likeliest({
 *   params,
 *   observations: Int32Array.of(0, 1, 2),
 * });
 * assertEquals(actions.length, 3);
 * ```
 */
export function compilePolicy<
  O extends PolicyOutput,
  K extends string,
>(
  policy: CompilablePolicy<O>,
  results: (
    output: O,
    inputs: PolicyResultInputs,
  ) => Readonly<Record<K, tf.Tensor | undefined>>,
  options: CompilePolicyOptions,
): (inputs: PolicyInputs) => Readonly<Record<K, Float32Array | Int32Array>> {
  const { name, numEnvs, params, engine, threads, sampled, masked } = options;
  const { observationInput, stateSize, noise } = policy;
  const float32 = (...shape: number[]): TensorType => ({
    shape: [numEnvs, ...shape],
    dtype: "float32",
  });
  const recurrent = stateSize > 0;
  const compiled = compile((values) => {
    const inputs = values as unknown as Readonly<Record<string, tf.Tensor>>;
    const params = values.params as Params;
    const encoded = policy.encode(inputs.observations);
    const output = policy.apply(params, encoded, {
      state: inputs.state as tf.Tensor2D,
      masks: inputs.starts as tf.Tensor1D,
      actionMasks: inputs.actionMasks,
    });
    return results(output, { params, noise: inputs.noise as tf.Tensor2D });
  }, {
    name,
    engine,
    threads,
    inputs: {
      params,
      observations: mapParts(observationInput, ({ shape, dtype }) => ({
        shape: [numEnvs, ...shape],
        dtype,
      })),
      ...(sampled && { noise: float32(noise.size) }),
      ...(recurrent && { state: float32(stateSize), starts: float32() }),
      ...(masked && {
        actionMasks: {
          shape: [numEnvs, choicesOf(policy)],
          dtype: "uint8" as const,
        },
      }),
    },
  });
  const run = (inputs: unknown) => compiled.run(inputs as never) as never;
  return recurrent
    ? ({ params, observations, noise, memory, actionMasks }) =>
      run({ params, observations, noise, ...memory, actionMasks })
    : run;
}

/**
 * Returns the size of one environment's action mask.
 *
 * @param policy The policy.
 * @returns Number of choices, over all parts of an action.
 * @throws {TypeError} If the actions cannot be masked, as those of a box.
 *
 * @example
 * ```ts
 * import { choicesOf, stochasticPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const policy = stochasticPolicy({
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "multiDiscrete", nvec: [2, 3] },
 * });
 * assertEquals(choicesOf(policy), 5);
 * ```
 */
export function choicesOf(
  { distribution }: Pick<Policy, "distribution">,
): number {
  if (distribution.masking !== undefined) return distribution.masking.size;
  throw new TypeError(
    "Cannot mask box actions: expected an environment without action masks, or discrete, multiDiscrete or multiBinary actions",
  );
}

/** Expected form of action masks. */
export interface ExpectedMasks {
  /** Number of environments. */
  readonly numEnvs: number;
  /**
   * Masking of the actions.
   *
   * @default actions are not masked
   */
  readonly masking?: Pick<ActionMasking, "size" | "parts">;
}

/**
 * Throws unless masks are present exactly where actions are masked, and each allows at
 * least one choice of each part.
 *
 * @param masks The masks, if any.
 * @param expected Number of environments, and masking of the actions.
 * @throws {TypeError} If masks are missing, not expected or of a wrong length.
 * @throws {RangeError} If an element is neither 0 nor 1, or no choice is allowed.
 *
 * @example
 * ```ts
 * import { checkActionMasks } from "@bellman/policies";
 * import { assertThrows } from "@std/assert";
 *
 * const expected = { numEnvs: 1, masking: { size: 2, parts: [2] } };
 * checkActionMasks(undefined, { numEnvs: 1 });
 * checkActionMasks(Uint8Array.of(1, 0), expected);
 * assertThrows(() => checkActionMasks(undefined, expected), TypeError, "without action masks");
 * assertThrows(() => checkActionMasks(new Uint8Array(2), expected), RangeError, "allow none");
 * ```
 */
export function checkActionMasks(
  masks: Uint8Array | undefined,
  { numEnvs, masking = { size: 0, parts: [] } }: ExpectedMasks,
): void {
  const size = numEnvs * masking.size, { parts } = masking;
  if (masks === undefined && size === 0) return;
  if (masks === undefined) {
    throw new TypeError(
      `Cannot choose actions without action masks: expected ${size} numbers, 1 where a choice is allowed, as the environments have them`,
    );
  }
  if (masks.length !== size) {
    const wanted = size > 0
      ? `${size}`
      : "none, as the agent was made for environments without masks";
    throw new TypeError(
      `Cannot choose actions by action masks of ${masks.length} numbers: expected ${wanted}`,
    );
  }
  for (let env = 0, at = 0; env < numEnvs; env++) {
    for (let part = 0; part < parts.length; part++) {
      let allowed = 0;
      for (const end = at + parts[part]; at < end; at++) {
        if (masks[at] === 1) allowed++;
        else if (masks[at] !== 0) refuseMask(masks[at], at);
      }
      if (allowed === 0) {
        throw new RangeError(
          `Cannot choose the action of environment ${env}: the action masks allow none of ${
            parts[part]
          } choices, expected 1 for at least one`,
        );
      }
    }
  }
}

function refuseMask(value: number, at: number): never {
  throw new RangeError(
    `Cannot choose actions: actionMasks[${at}] is ${value}, expected 0 or 1`,
  );
}

/**
 * Members of a policy that {@link compilePolicy} needs.
 *
 * @typeParam O Output of the policy.
 */
export type CompilablePolicy<O extends PolicyOutput = PolicyOutput> = Pick<
  Policy<O>,
  | "observationInput"
  | "stateSize"
  | "noise"
  | "distribution"
  | "encode"
  | "apply"
>;

/** Typed arrays of actions, as environments take them. */
export type ActionArray = Float32Array | Float64Array | Int32Array | Uint8Array;

/**
 * Typed array of actions of a space.
 *
 * @typeParam S The space: any but dict and tuple.
 */
export type ActionsIn<S> = Extract<BatchOf<ValueOf<S>>, ActionArray>;

/** Options of {@link envActions}. */
export interface EnvActionsOptions {
  /**
   * True if box actions are in [-1, 1], to be rescaled to the bounds of their space;
   * otherwise they are only clipped to them.
   *
   * @default false
   */
  readonly squashed?: boolean;
}

/**
 * Makes a function that converts sampled actions to the environment's actions: its
 * array type, within its bounds. The samples stay unchanged, since updates need their
 * log-probabilities.
 *
 * @param space Action space: any but dict and tuple.
 * @param options Range of the box actions.
 * @returns The function, from `[numEnvs, ...]` to a new array of the same size.
 *
 * @example
 * ```ts
 * import { envActions } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const box = { type: "box", shape: [1], low: -2, high: 2, dtype: "float32" } as const;
 * assertEquals(envActions(box)([3, -1]), Float32Array.of(2, -1));
 * assertEquals(envActions(box, { squashed: true })([1, -0.5]), Float32Array.of(2, -1));
 * ```
 */
export function envActions<const S extends Space>(
  space: S,
  options: EnvActionsOptions = {},
): (sampled: ArrayLike<number>) => ActionsIn<S> {
  return arrayMaker(space, options) as never;
}

function arrayMaker(
  space: Space,
  options: EnvActionsOptions,
): (sampled: ArrayLike<number>) => ActionArray {
  switch (space.type) {
    case "multiBinary":
      return (sampled) => new Uint8Array(sampled);
    case "box":
      return bounder(space, options.squashed ?? false);
    default:
      return (sampled) => new Int32Array(sampled);
  }
}

function bounder(
  space: BoxSpace,
  squashed: boolean,
): (sampled: ArrayLike<number>) => ActionArray {
  const ArrayType = ARRAYS[space.dtype];
  const [low, high] = boundsOf(space), size = low.length;
  const whole = space.dtype === "int32" || space.dtype === "uint8";
  return (sampled) => {
    const actions = new ArrayType(sampled.length);
    for (let i = 0; i < actions.length; i++) {
      const least = low[i % size], most = high[i % size];
      const wanted = squashed
        ? least + (sampled[i] + 1) / 2 * (most - least)
        : sampled[i];
      const inside = Math.min(Math.max(wanted, least), most);
      actions[i] = whole ? Math.round(inside) : inside;
    }
    return actions;
  };
}

/**
 * Actor on arrays whose calls return at once, not promises.
 *
 * @typeParam A Actions of all environments, such as `Int32Array`.
 */
export interface Actor<A extends ActionArray = ActionArray> {
  /** Number of environments that it acts in. */
  readonly numEnvs: number;
  /** Chooses one allowed action for each row of the observations `[numEnvs, ...]`. */
  act(observations: ObservationBatch, actionMasks?: Uint8Array): A;
  /** Records a step: resets the recurrent states of episodes that ended. */
  observe(step: { terminated: Uint8Array; truncated: Uint8Array }): void;
  /** Resets all recurrent states, as the environments are reset. */
  endEpisodes(): void;
}

/**
 * Options of {@link PolicyActor}.
 *
 * @typeParam S Action space.
 */
export interface PolicyActorOptions<S extends Space = Space>
  extends PolicyOptions {
  /** Number of environments that the actor acts for. */
  readonly numEnvs: number;
  /** Action space. */
  readonly actionSpace: S;
  /** Returns the latest parameters. */
  readonly params: () => ResidentState<Params>;
  /** Compilation settings. */
  readonly compilation: PolicyCompilation;
  /**
   * Random stream of the actions.
   *
   * @default a stream of `seed` for evaluations
   */
  readonly random?: RandomStream;
  /**
   * Returns true if state-dependent noise (gSDE) is resampled at a step, counted from
   * 0; not called at the first one.
   *
   * @default () => false
   */
  readonly renewsNoise?: (step: number) => boolean;
  /**
   * True if actions are masked: each call then needs masks.
   *
   * @default false
   */
  readonly masked?: boolean;
  /**
   * Computes additional results of the policy, such as log-probabilities, by name;
   * undefined ones are left out.
   */
  record?(
    output: PolicyOutput,
    inputs: PolicyResultInputs,
  ): Readonly<Record<string, tf.Tensor | undefined>>;
}

/**
 * Actor for a policy whose parameters are kept elsewhere, as by an agent, with its own
 * random stream and recurrent state.
 *
 * @typeParam S Action space.
 *
 * @example
 * ```ts
 * import { paramTypes, RandomStream, selectBackend } from "@bellman/compute";
 * import { PolicyActor, stochasticPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const actionSpace = { type: "discrete", n: 2 } as const;
 * const policy = stochasticPolicy({
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace,
 * });
 * const params = policy.init(new RandomStream(0));
 * const actor = new PolicyActor(policy, {
 *   numEnvs: 3,
 *   actionSpace,
 *   params: () => params,
 *   compilation: { params: paramTypes(params) },
 *   deterministic: true,
 * });
 * assertEquals(actor.act([0, 1, 2]).length, 3);
 * ```
 */
export class PolicyActor<const S extends Space = Space>
  implements Actor<ActionsIn<S>>, PolicyMemory {
  /** Number of environments that it acts in. */
  readonly numEnvs: number;
  /** Recurrent states `[numEnvs, stateSize]`. */
  readonly state: Float32Array;
  /** 1 where an episode starts `[numEnvs]`. */
  readonly starts: Float32Array;
  readonly #policy: Policy;
  readonly #options: PolicyActorOptions;
  readonly #toEnv: (sampled: ArrayLike<number>) => ActionsIn<S>;
  readonly #observations: ObservationInputArrays;
  readonly #random: RandomStream;
  readonly #noise: Float32Array;
  /** Expected action masks. */
  readonly #expected: ExpectedMasks;
  #run: ReturnType<typeof compilePolicy> | undefined;
  #steps = 0;

  /**
   * Creates an actor; the first call of {@link act} compiles the policy.
   *
   * @param policy The policy.
   * @param options Number of environments, parameters, deterministic or not.
   * @throws {RangeError} If the number of environments is not a whole number above 0.
   * @throws {TypeError} If `masked` is true and the policy's actions cannot be masked.
   */
  constructor(policy: Policy, options: PolicyActorOptions<S>) {
    const { numEnvs, actionSpace, seed = 0, random, masked } = options;
    if (!Number.isInteger(numEnvs) || numEnvs < 1) {
      throw new RangeError(
        `Cannot act in ${numEnvs} environments: expected a whole number of at least 1`,
      );
    }
    this.numEnvs = numEnvs;
    this.#policy = policy;
    this.#options = options;
    this.#toEnv = envActions(actionSpace, {
      squashed: policy.squashesActions,
    });
    this.#observations = observationBuffer(policy, numEnvs);
    this.#random = random ?? new RandomStream(seed).split("evaluation");
    this.#noise = new Float32Array(numEnvs * policy.noise.size);
    if (masked) choicesOf(policy); // Throws if the actions cannot be masked.
    const { masking } = policy.distribution;
    this.#expected = { numEnvs, masking: masked ? masking : undefined };
    this.starts = new Float32Array(numEnvs).fill(1);
    this.state = new Float32Array(numEnvs * policy.stateSize);
  }

  /**
   * Chooses an action in each environment.
   *
   * @param observations Observations `[numEnvs, ...]`; copied.
   * @param actionMasks 1 where a choice is allowed, if actions are masked.
   * @returns Actions `[numEnvs, ...]` as the environment takes them.
   * @throws {TypeError} If masks are missing, not expected or of a wrong length.
   */
  act(observations: unknown, actionMasks?: Uint8Array): ActionsIn<S> {
    const { actions, state } = this.ask(
      this.#policy.observationArray(
        observations as ObservationBatch,
        this.#observations,
      ),
      actionMasks,
    );
    if (state !== undefined) this.state.set(state);
    this.starts.fill(0);
    return this.#toEnv(actions);
  }

  /**
   * Runs the policy on observations without changing the recurrent states.
   *
   * @param observations Observations in the policy's input type.
   * @param actionMasks 1 where a choice is allowed, if actions are masked.
   * @returns Sampled actions, the next recurrent states if there are some, and the
   * recorded results; overwritten by the next call.
   * @throws {TypeError} If masks are missing, not expected or of a wrong length.
   */
  ask(
    observations: ObservationInputArrays,
    actionMasks?: Uint8Array,
  ): Readonly<Record<string, Float32Array | Int32Array>> {
    const { deterministic, params } = this.#options;
    checkActionMasks(actionMasks, this.#expected);
    if (!deterministic) this.#renewNoise();
    this.#steps++;
    this.#run ??= this.#compile();
    return this.#run({
      params: params(),
      observations,
      memory: this,
      noise: this.#noise,
      actionMasks,
    });
  }

  #compile(): ReturnType<typeof compilePolicy> {
    const policy = this.#policy, options = this.#options;
    const { deterministic = false, numEnvs, compilation, masked } = options;
    return compilePolicy(policy, (output, inputs) => ({
      ...options.record?.(output, inputs),
      actions: deterministic
        ? policy.mode(output)
        : policy.sample(inputs.params, output, { noise: inputs.noise }),
      state: output.state,
    }), {
      ...compilation,
      name: "acting",
      numEnvs,
      sampled: !deterministic,
      masked,
    });
  }

  #renewNoise(): void {
    const { renewsNoise = () => false } = this.#options;
    if (this.#policy.usesStateDependentExploration) {
      const isFirst = this.#noise.every((it) => it === 0);
      if (!isFirst && !renewsNoise(this.#steps)) return;
    }
    drawNoise(this.#policy, this.#random, this.#noise);
  }

  /**
   * Resets the recurrent states of episodes that ended.
   *
   * @param step Episode ends `[numEnvs]`.
   */
  observe(step: { terminated: Uint8Array; truncated: Uint8Array }): void {
    for (let i = 0; i < this.starts.length; i++) {
      this.starts[i] = step.terminated[i] | step.truncated[i];
    }
  }

  /** Resets all recurrent states, as the environments are reset. */
  endEpisodes(): void {
    this.starts.fill(1);
  }

  /** Saves the random stream, the state-dependent noise and the recurrent states. */
  save(): StateTree {
    return {
      random: this.#random.save() as unknown as StateTree,
      noise: this.#noise.slice(),
      state: this.state.slice(),
      starts: this.starts.slice(),
    };
  }

  /**
   * Restores a saved state.
   *
   * @param state Result of {@link save}.
   * @throws {RangeError} If it is of another number of environments.
   * @throws {TypeError} If it has no random stream.
   */
  load(state: StateTree): void {
    const { state: own, starts } = this;
    restoreArrays({ noise: this.#noise, state: own, starts }, state);
    this.#random.load((state as Record<string, StateTree>).random);
  }
}

/**
 * Fills an array with noise for a policy's samples.
 *
 * @param policy The policy.
 * @param random Random stream.
 * @param noise The array.
 *
 * @example
 * ```ts
 * import { RandomStream } from "@bellman/compute";
 * import { drawNoise, stochasticPolicy } from "@bellman/policies";
 * import { assert } from "@std/assert";
 *
 * const policy = stochasticPolicy({
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 * });
 * const noise = new Float32Array(policy.noise.size);
 * drawNoise(policy, new RandomStream(0), noise);
 * assert(noise.every((it) => it >= 0 && it < 1));
 * ```
 */
export function drawNoise(
  policy: Pick<Policy, "noise">,
  random: RandomStream,
  noise: Float32Array,
): void {
  if (policy.noise.kind === "uniform") random.fillUniform(noise);
  else random.fillNormal(noise);
}
