/**
 * Plays with a trained agent: reads the `policy.onnx` of a run and acts, in pages,
 * Node and Deno, without ONNX Runtime or a tensor library.
 *
 * @example
 * ```ts
 * import { Player } from "@bellman/client/play";
 * import { assertEquals } from "@std/assert";
 *
 * const file = await Deno.readFile("zoo/a2c/CartPole-v1/policy.onnx");
 * const player = new Player<number>(file);
 * // The pole falls to the right, and the cart follows it.
 * assertEquals(player.act([0, 0, 0.1, 0.5]), 1);
 * ```
 *
 * @module
 */
import {
  FLOAT,
  INT32,
  INT64,
  type Numbers,
  type OnnxInput,
  type OnnxModel,
  type OnnxNode,
  readOnnx,
  type Tensor,
} from "./onnx_file.ts";
import { checkNode, MOST_NUMBERS, OPERATIONS } from "./operations.ts";
import { normal } from "./random.ts";

export type { Numbers, Tensor } from "./onnx_file.ts";

/** An observation of one environment: a number, numbers in row-major order, or parts by name. */
export type PlayerObservation =
  | number
  | ArrayLike<number>
  | { readonly [name: string]: PlayerObservation };

/** Options of a {@linkcode Player}. */
export interface PlayerOptions {
  /**
   * Random numbers from 0 to below 1, for policies that sample their actions.
   *
   * @default Math.random
   */
  readonly random?: () => number;
}

/** Computes an operation and keeps its results by their names. */
function compute(node: OnnxNode, values: Map<string, Tensor>): void {
  const inputs = node.inputs.map((name) => {
    if (name === "" || values.has(name)) return values.get(name)!;
    throw new SyntaxError(`it makes no '${name}'`);
  });
  const results = OPERATIONS[node.op](inputs, node.attributes);
  const list = Array.isArray(results) ? results : [results];
  node.outputs.forEach((name, i) => values.set(name, list[i]));
}

/** Computes what depends on the file alone; returns the other operations. */
function foldConstants(
  { nodes, constants }: OnnxModel,
): [readonly OnnxNode[], ReadonlyMap<string, Tensor>] {
  const values = new Map(constants);
  const left = nodes.filter((node) => {
    // An input that is left out has no name.
    if (!node.inputs.every((it) => it === "" || values.has(it))) return true;
    compute(node, values);
    return false;
  });
  return [left, values];
}

/** Checks that a file is a policy of known operations. */
function checkModel({ nodes, inputs, outputs }: OnnxModel): void {
  nodes.forEach(checkNode);
  const isPolicy = inputs.some(({ name }) => isObservation(name)) &&
    outputs.includes("action");
  if (isPolicy) return;
  throw new SyntaxError(
    `it gives ${outputs.join(", ")}, expected action of observation`,
  );
}

/** A policy that is ready to be computed. */
interface Policy extends Omit<OnnxModel, "constants"> {
  readonly constants: ReadonlyMap<string, Tensor>;
}

function readPolicy(file: Uint8Array): Policy {
  try {
    const model = readOnnx(file);
    checkModel(model);
    const [nodes, constants] = foldConstants(model);
    const policy = { ...model, nodes, constants };
    tryOnce(policy);
    return policy;
  } catch (error) {
    // Damaged numbers break an operation, and damaged names no line.
    const isLine = error instanceof SyntaxError && LINE.test(error.message);
    const reason = isLine ? error.message : "it is no ONNX file";
    throw new SyntaxError(`Cannot play the policy: ${reason}`);
  }
}

/** What a line of a message is. */
const LINE = /^\P{C}{1,200}$/u;

/** Computes the operations, of inputs by name. */
function runPolicy(
  { nodes, constants, outputs }: Policy,
  inputs: Iterable<[string, Tensor]>,
): Record<string, Tensor> {
  const values = new Map([...constants, ...inputs]);
  for (const node of nodes) compute(node, values);
  return Object.fromEntries(outputs.map((name) => [name, values.get(name)!]));
}

/** Acts on one row of zeros: what does not fit together throws now, not later. */
function tryOnce(policy: Policy): void {
  const inputs = policy.inputs.map(({ name, type, shape: [, ...shape] }) => {
    const size = shape.reduce((a, b) => a * b, 1);
    if (!(size <= MOST_NUMBERS)) throw new RangeError("too many numbers");
    const data = arrayOf(type, { length: size });
    return [name, { shape: [1, ...shape], data: data.fill(0) }] as const;
  });
  const { action, ...rest } = runPolicy(policy, inputs.map(([...it]) => it));
  const state = policy.inputs.find(({ name }) => name === "state");
  const isFine = action.shape[0] === 1 && action.data.length > 0 &&
    (state === undefined ||
      rest.next_state.data.length === state.shape[1]);
  if (!isFine) throw new RangeError("its results do not fit");
}

const isObservation = (name: string) => /^observation(\.|$)/.test(name);

/** Array of numbers of a type. */
function arrayOf(type: number, numbers: ArrayLike<number>): Numbers {
  if (type === FLOAT) return Float32Array.from(numbers);
  return type === INT32 || type === INT64
    ? Int32Array.from(numbers)
    : Uint8Array.from(numbers);
}

/** The random numbers of options, of which they are the only one. */
function randomOf(options: PlayerOptions): () => number {
  const isObject = typeof options === "object" && options !== null;
  const name = isObject
    ? Object.keys(options).find((it) => it !== "random")
    : undefined;
  if (name !== undefined) {
    throw new TypeError(
      `Unknown option '${name}' of a player: did you mean 'random'?`,
    );
  }
  const random = isObject ? options.random ?? Math.random : undefined;
  if (typeof random === "function") return random;
  throw new TypeError(
    "Cannot make a player with such options: expected { random }, a function",
  );
}

/**
 * Acts by a `policy.onnx`: MLP, LSTM or small CNN, with one environment.
 *
 * `Action` is a number for discrete actions, `Float32Array` for box ones and
 * `Int32Array` for several whole numbers.
 *
 * @example
 * ```ts
 * import { Player } from "@bellman/client/play";
 * import { make } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const file = await Deno.readFile("zoo/a2c/CartPole-v1/policy.onnx");
 * const player = new Player<number>(file);
 * const env = make("CartPole-v1");
 * let observation = env.reset({ seed: 1 }), score = 0, isOver = false;
 * while (!isOver) {
 *   const step = env.step(player.act(observation));
 *   score += step.reward;
 *   observation = step.observation;
 *   isOver = step.terminated || step.truncated;
 * }
 * assert(score > 400);
 * ```
 */
export class Player<
  Action extends number | Numbers = number | Numbers,
> {
  readonly #policy: Policy;
  readonly #random: () => number;
  #state?: Tensor;
  #probabilities?: Float32Array;

  /**
   * Reads a policy.
   *
   * @param file Bytes of a `policy.onnx`.
   * @param options Random numbers, for policies that sample.
   * @throws {SyntaxError} If it is no such file, or has an operation that is
   * not known here.
   */
  constructor(file: Uint8Array, options: PlayerOptions = {}) {
    if (!(file instanceof Uint8Array)) {
      throw new TypeError(
        "Cannot play the policy: expected the bytes of a file, a Uint8Array",
      );
    }
    this.#policy = readPolicy(file);
    this.#random = randomOf(options);
  }

  /** Text by key that the file holds: spaces, scaling, what its inputs are. */
  get metadata(): Readonly<Record<string, string>> {
    return this.#policy.metadata;
  }

  /**
   * Probability of each action when the last one was chosen, in the order of the
   * masks; undefined for files without the output `probabilities`.
   */
  get probabilities(): Float32Array | undefined {
    return this.#probabilities;
  }

  /**
   * Chooses an action. A recurrent policy remembers what it has seen since
   * {@linkcode begin}.
   *
   * @param observation As the environment gives it, not scaled.
   * @param actionMasks 1 or 0 for each choice, of a policy of masked actions.
   * @returns The action, as the environment takes it.
   * @throws {TypeError} If a part of the observation, or masks, are missing.
   * @throws {RangeError} If their lengths are others.
   */
  act(observation: PlayerObservation, actionMasks?: ArrayLike<number>): Action {
    const inputs: Record<string, Tensor> = {};
    for (const input of this.#policy.inputs) {
      inputs[input.name] = this.#inputOf(input, observation, actionMasks);
    }
    const { action, next_state: state, probabilities } = this.run(inputs);
    this.#state = state;
    this.#probabilities = probabilities?.data as Float32Array | undefined;
    const isOne = action.shape.length === 1;
    return (isOne ? action.data[0] : action.data) as Action;
  }

  /** Forgets what a recurrent policy has seen: an episode begins. */
  begin(): void {
    this.#state = undefined;
  }

  /**
   * Runs the file on any number of rows: all of its inputs, by name.
   *
   * @param inputs Tensors `[rows, ...]` of the inputs.
   * @returns `action` `[rows, ...]`, `next_state` of recurrent policies, and
   * `probabilities` `[rows, n]` of files that give them.
   * @throws {TypeError} If an input is missing.
   * @throws {RangeError} If the shape of one does not fit.
   */
  run(inputs: Readonly<Record<string, Tensor>>): Record<string, Tensor> {
    const rows = this.#policy.inputs.map((it): [string, Tensor] => [
      it.name,
      checked(it, inputs[it.name]),
    ]);
    return runPolicy(this.#policy, rows);
  }

  /** Makes an input of one row. */
  #inputOf(
    { name, type, shape: [, ...shape] }: OnnxInput,
    observation: PlayerObservation,
    actionMasks?: ArrayLike<number>,
  ): Tensor {
    const size = shape.reduce((a, b) => a * b, 1);
    const filled = (value: () => number): Tensor => ({
      shape: [1, ...shape],
      data: Float32Array.from({ length: size }, value),
    });
    if (name === "state") return this.#state ?? filled(() => 0);
    if (name === "start") return filled(() => +(this.#state === undefined));
    if (name === "noise") {
      const isNormal = this.metadata.noise?.includes("normal");
      return filled(() => isNormal ? normal(this.#random) : this.#random());
    }
    const given = isObservation(name) ? partOf(observation, name) : actionMasks;
    if (given === undefined) {
      throw new TypeError(`Cannot act without ${name.replace("_", " ")}`);
    }
    const numbers = typeof given === "number" ? [given] : given;
    if (
      !Number.isInteger(Object(numbers).length) || typeof numbers === "string"
    ) {
      throw new TypeError(
        `Cannot act on ${name} of type ${typeof given}: expected ${size} numbers`,
      );
    }
    if (numbers.length !== size) {
      throw new RangeError(
        `Cannot act on ${numbers.length} numbers of ${name}: expected ${size}`,
      );
    }
    return { shape: [1, ...shape], data: arrayOf(type, numbers) };
  }
}

/** Finds the part of an observation that an input such as `observation.camera` names. */
function partOf(
  observation: PlayerObservation,
  name: string,
): number | ArrayLike<number> | undefined {
  const [, ...path] = name.split(".");
  return path.reduce(
    (it: PlayerObservation | undefined, key) =>
      (it as Record<string, PlayerObservation> | undefined)?.[key],
    observation,
  ) as number | ArrayLike<number> | undefined;
}

function checked({ name, shape }: OnnxInput, tensor?: Tensor): Tensor {
  if (tensor === undefined) throw new TypeError(`Cannot run without ${name}`);
  if (
    tensor?.shape?.length === undefined || tensor.data?.length === undefined
  ) {
    throw new TypeError(`Cannot run with ${name}: expected { shape, data }`);
  }
  const fits = tensor.shape.length === shape.length &&
    shape.every((length, i) => length === 0 || length === tensor.shape[i]) &&
    tensor.shape.reduce((a, b) => a * b, 1) === tensor.data.length;
  if (fits) return tensor;
  const expected = shape.map((it) => it === 0 ? "rows" : it).join(", ");
  throw new RangeError(
    `Cannot run with ${tensor.data.length} numbers of ${name} as [${tensor.shape}]: expected [${expected}]`,
  );
}
