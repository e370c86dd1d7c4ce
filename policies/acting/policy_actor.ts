import {
  compile,
  type Engine,
  type Params,
  RandomStream,
  type ResidentState,
  type TensorType,
} from "@bellman/compute";
import type * as tf from "@tensorflow/tfjs";
import type { ActionMasking } from "../distributions/distribution.ts";
import type { Policy, PolicyOutput } from "../models/policy.ts";
import {
  mapParts,
  type ObservationBatch,
  observationBuffer,
  type ObservationInputArrays,
} from "../networks/observations.ts";
import type { BoxSpace, PolicyOptions, Space, StateTree } from "@bellman/types";
import { ARRAYS, boundsOf } from "../networks/_layers.ts";

/** Inputs of a compiled policy. */
export interface PolicyInputs {
  /** Parameters: arrays, or the state of a compiled step. */
  readonly params: ResidentState<Params>;
  /** Observations `[numEnvs, ...]`, in arrays of the policy's input type. */
  readonly observations: ObservationInputArrays;
  /** Random numbers `[numEnvs, noise.size]`, where actions are sampled. */
  readonly noise?: Float32Array;
  /** Memory of recurrent policies. */
  readonly memory?: PolicyMemory;
  /** 1 where a choice is allowed `[numEnvs, masking.size]`, where they are masked. */
  readonly actionMasks?: Uint8Array;
}

/** Memory of a recurrent policy between two steps. */
export interface PolicyMemory {
  /** State before the step `[numEnvs, stateSize]`. */
  readonly state: Float32Array;
  /** `[numEnvs]`, 1 where an episode starts at the step. */
  readonly starts: Float32Array;
}

/** Compilation of a policy. */
export interface PolicyCompilation {
  /** Shapes and types of the parameters, by path. */
  readonly params: Readonly<Record<string, TensorType>>;
  /**
   * Engine that runs it: ONNX Runtime on a compiled graph, or TensorFlow.js.
   *
   * @default "auto"
   */
  readonly engine?: Engine;
  /**
   * Threads of ONNX Runtime.
   *
   * @default "auto"
   */
  readonly threads?: number | "auto";
}

/** Options of {@link compilePolicy}. */
export interface CompilePolicyOptions extends PolicyCompilation {
  /** Name in messages. */
  readonly name: string;
  /** Number of environments. */
  readonly numEnvs: number;
  /**
   * True where the results need noise.
   *
   * @default false
   */
  readonly sampled?: boolean;
  /**
   * True where the results need masks of the actions.
   *
   * @default false
   */
  readonly masked?: boolean;
}

/** Inputs that results are made of. */
export interface PolicyGiven {
  /** The parameters. */
  readonly params: Params;
  /** Noise `[numEnvs, noise.size]`, where `sampled` is true. */
  readonly noise: tf.Tensor2D;
}

/**
 * Compiles a policy as one function of arrays: encoding of observations, network,
 * and the results made of its output.
 *
 * @param policy The policy.
 * @param results Wanted parts of the policy's output, by name; those that
 * are undefined are left out.
 * @param options Number of environments, parameters, engine.
 * @returns A function from inputs to arrays, that its next call overwrites.
 *
 * @example
 * ```ts
 * import { paramsToArrays, RandomStream, selectBackend } from "@bellman/compute";
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
 *   { name: "acting", numEnvs: 3, params: params as never },
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
    given: PolicyGiven,
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
  const compiled = compile((given) => {
    const inputs = given as unknown as Readonly<Record<string, tf.Tensor>>;
    const params = given.params as Params;
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
 * Counts the numbers of the masks of a policy's actions, of one environment.
 *
 * @param policy The policy.
 * @returns Their number: of discrete actions one for each.
 * @throws {TypeError} If its actions cannot be masked, as those of a box.
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

/** Masks of the actions of some environments. */
export interface ExpectedMasks {
  /** Number of environments. */
  readonly numEnvs: number;
  /**
   * Masking of an action.
   *
   * @default actions are not masked
   */
  readonly masking?: Pick<ActionMasking, "size" | "parts">;
}

/**
 * Throws unless masks are there where actions are masked, and there alone, and each
 * allows a choice of each part.
 *
 * @param masks The masks, if any.
 * @param expected Number of environments, and masking of an action.
 * @throws {TypeError} If masks are missing, too many or too few.
 * @throws {RangeError} If one is neither 0 nor 1, or nothing is allowed.
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
 * The members of a policy that {@link compilePolicy} needs.
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

/** Arrays that environments take actions in. */
export type ActionArray = Float32Array | Float64Array | Int32Array | Uint8Array;

/** Options of {@link envActions}. */
export interface EnvActionsOptions {
  /**
   * True where box actions come in [-1, 1] and are stretched to the bounds of
   * their space; otherwise they come in its units and are clipped to them.
   *
   * @default false
   */
  readonly squashed?: boolean;
}

/**
 * Makes a function from actions as a policy samples them to those that the
 * environment takes: its type of array, within its bounds. What was sampled is
 * left as it is, since its probability is what the policy learns from.
 *
 * @param space Space of one action: any but dict and tuple.
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
export function envActions(
  space: Space,
  options: EnvActionsOptions = {},
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

/** Actor that acts at once, on arrays. */
export interface Actor {
  /** Number of environments that it acts in. */
  readonly numEnvs: number;
  /**
   * Chooses actions for observations `[numEnvs, ...]`, one for each row, of those that
   * are allowed.
   */
  act(observations: unknown, actionMasks?: Uint8Array): ActionArray;
  /** Observes each step, so that recurrent states are reset after an end. */
  observe(step: { terminated: Uint8Array; truncated: Uint8Array }): void;
  /** Empties the recurrent states, as all environments are reset. */
  endEpisodes(): void;
}

/** Options of {@link PolicyActor}. */
export interface PolicyActorOptions extends PolicyOptions {
  /** Number of environments that the actor acts for. */
  readonly numEnvs: number;
  /** Space of one action. */
  readonly actionSpace: Space;
  /** Returns the latest parameters. */
  readonly params: () => ResidentState<Params>;
  /** Compilation of acting. */
  readonly compilation: PolicyCompilation;
  /**
   * Random numbers of the actions.
   *
   * @default a stream of `seed` for evaluations
   */
  readonly random?: RandomStream;
  /**
   * True where state-dependent noise is drawn again at a step; called at each step
   * but the first, counted from 0.
   *
   * @default () => false
   */
  readonly renewsNoise?: (step: number) => boolean;
  /**
   * True where actions are masked: each call then takes masks.
   *
   * @default false
   */
  readonly masked?: boolean;
  /** Further results of the policy, by name; those that are undefined are left out. */
  record?(
    output: PolicyOutput,
    given: PolicyGiven,
  ): Readonly<Record<string, tf.Tensor | undefined>>;
}

/**
 * Acts by a policy whose parameters are held elsewhere, with its own random stream
 * and recurrent state.
 *
 * @example
 * ```ts
 * import { RandomStream, selectBackend } from "@bellman/compute";
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
 *   compilation: { params: params as never },
 *   deterministic: true,
 * });
 * assertEquals(actor.act([0, 1, 2]).length, 3);
 * ```
 */
export class PolicyActor implements Actor, PolicyMemory {
  /** Number of environments that it acts in. */
  readonly numEnvs: number;
  /** Recurrent states `[numEnvs, stateSize]`. */
  readonly state: Float32Array;
  /** 1 where an episode starts `[numEnvs]`. */
  readonly starts: Float32Array;
  readonly #policy: Policy;
  readonly #options: PolicyActorOptions;
  readonly #toEnv: (sampled: ArrayLike<number>) => ActionArray;
  readonly #observations: ObservationInputArrays;
  readonly #random: RandomStream;
  readonly #noise: Float32Array;
  /** Masks that it takes. */
  readonly #expected: ExpectedMasks;
  #run: ReturnType<typeof compilePolicy> | undefined;
  #steps = 0;

  /**
   * Creates an actor; the policy is compiled when it first acts.
   *
   * @param policy The policy.
   * @param options Number of environments, parameters, deterministic or not.
   * @throws {RangeError} If the number of environments is no whole number above 0.
   * @throws {TypeError} If the policy's actions cannot be masked, but are to be.
   */
  constructor(policy: Policy, options: PolicyActorOptions) {
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
    if (masked) choicesOf(policy); // Throws where there are none.
    const { masking } = policy.distribution;
    this.#expected = { numEnvs, masking: masked ? masking : undefined };
    this.starts = new Float32Array(numEnvs).fill(1);
    this.state = new Float32Array(numEnvs * policy.stateSize);
  }

  /**
   * Chooses an action in each environment.
   *
   * @param observations Observations `[numEnvs, ...]`; copied.
   * @param actionMasks 1 where a choice is allowed, of masked actions.
   * @returns Actions `[numEnvs, ...]` as the environment takes them.
   * @throws {TypeError} If there are no masks where actions are masked, or other ones.
   */
  act(observations: unknown, actionMasks?: Uint8Array): ActionArray {
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
   * Runs the policy on observations; recurrent states stay as they are.
   *
   * @param observations Observations as the policy takes them.
   * @param actionMasks 1 where a choice is allowed, of masked actions.
   * @returns Actions of the policy's distribution, the next recurrent states
   * where there are some, and what is recorded; overwritten by the next call.
   * @throws {TypeError} If there are no masks where actions are masked, or other ones.
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
    return compilePolicy(policy, (output, given) => ({
      ...options.record?.(output, given),
      actions: deterministic
        ? policy.mode(output)
        : policy.sample(given.params, output, { noise: given.noise }),
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
   * @param step Where episodes ended `[numEnvs]`.
   */
  observe(step: { terminated: Uint8Array; truncated: Uint8Array }): void {
    for (let i = 0; i < this.starts.length; i++) {
      this.starts[i] = step.terminated[i] | step.truncated[i];
    }
  }

  /** Empties the recurrent states, as all environments are reset. */
  endEpisodes(): void {
    this.starts.fill(1);
  }

  /** Saves the random numbers, the noise and the recurrent states. */
  save(): StateTree {
    return {
      random: this.#random.save() as unknown as StateTree,
      noise: this.#noise.slice(),
      state: this.state.slice(),
      starts: this.starts.slice(),
    };
  }

  /**
   * Restores what {@link save} returned.
   *
   * @param state The saved state.
   */
  load(state: StateTree): void {
    const saved = state as Record<string, StateTree>;
    this.#random.load(saved.random);
    this.#noise.set(saved.noise as Float32Array);
    this.state.set(saved.state as Float32Array);
    this.starts.set(saved.starts as Float32Array);
  }
}

/**
 * Fills an array with the kind of noise that a policy samples from.
 *
 * @param policy The policy.
 * @param random The stream that is drawn from.
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
