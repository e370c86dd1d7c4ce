import {
  describeSpace,
  elementCount,
  FrameStack,
  make,
  SeededRandom,
  spacesEqual,
  SyncVecEnv,
} from "@bellman/envs";
import type { Batch, Env, RgbImage, Space, VecEnv } from "@bellman/types";
import type {
  InferenceSession,
  Tensor,
  TypedTensor,
} from "npm:onnxruntime-web@1.30.0/wasm";

/** Functions of ONNX Runtime that a policy is played with; the same in Node's. */
export interface Runtime {
  readonly InferenceSession: typeof InferenceSession;
  readonly Tensor: typeof Tensor;
}

/** A policy's file, ready to act. */
export interface OpenPolicy {
  readonly session: InferenceSession;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Environments to play in. */
export interface Stage {
  readonly env: string;
  readonly copies: number;
  readonly seed: number;
}

type Feed = Record<string, TypedTensor<"float32" | "int32" | "uint8">>;

/** Names of the inputs that policies of ours may have. */
const INPUTS = ["observation", "noise", "state", "start", "action_masks"];

/** Episodes of a policy in copies of an environment. */
export class Playing {
  steps = 0;
  /** Returns of the episodes that ended. */
  readonly returns: number[] = [];
  readonly #policy: OpenPolicy;
  readonly #runtime: Runtime;
  readonly #envs: Env[];
  readonly #vec: VecEnv;
  readonly #random: SeededRandom;
  readonly #sums: Float64Array;
  #observations: Batch;
  #state?: Float32Array;
  #starts: Float32Array;

  /**
   * Makes the environments.
   *
   * @param runtime ONNX Runtime.
   * @param policy The policy.
   * @param stage Environment, number of copies, and seed.
   * @throws {TypeError} If the policy is of another environment.
   */
  constructor(runtime: Runtime, policy: OpenPolicy, stage: Stage) {
    const { env, copies, seed } = stage;
    this.#runtime = runtime;
    this.#policy = policy;
    this.#envs = Array.from({ length: copies }, () => make(env));
    const vec = new SyncVecEnv(this.#envs.map((it) => () => it));
    const size = Number(policy.metadata["frame stack"] ?? 1);
    this.#vec = size > 1 ? new FrameStack(vec, { size }) : vec;
    checkFits(policy, this.#vec, env);
    this.#random = new SeededRandom(seed);
    this.#sums = new Float64Array(copies);
    this.#starts = new Float32Array(copies).fill(1);
    this.#observations = this.#vec.reset({ seed });
  }

  /** Steps of the environment in a second. */
  get framesPerSecond(): number {
    return this.#envs[0].framesPerSecond ?? 30;
  }

  /** Takes one step of all copies; returns the actions. */
  async step(): Promise<number[]> {
    const { action, next_state: state } = await this.#policy.session.run(
      this.#feed(),
    );
    const { actionSpace, numEnvs } = this.#vec;
    const chosen = Array.from(action.data as ArrayLike<number>, Number);
    const step = this.#vec.step(
      actionSpace.type === "box"
        ? Float32Array.from(chosen)
        : Int32Array.from(chosen),
    );
    this.#observations = step.observations;
    this.#state = state?.data as Float32Array | undefined;
    this.steps += numEnvs;
    for (let i = 0; i < numEnvs; i++) {
      const ends = step.terminated[i] === 1 || step.truncated[i] === 1;
      this.#sums[i] += step.rewards[i];
      this.#starts[i] = Number(ends);
      if (!ends) continue;
      this.returns.push(this.#sums[i]);
      this.#sums[i] = 0;
    }
    return chosen;
  }

  /** Draws all copies. */
  draw(): RgbImage[] {
    const width = this.#envs.length > 1 ? 150 : 600;
    return this.#envs.map((it) => it.render({ width, height: width * 2 / 3 }));
  }

  #feed(): Feed {
    const { numEnvs } = this.#vec, feed: Feed = {};
    const { Tensor } = this.#runtime, { metadata } = this.#policy;
    for (const it of this.#policy.session.inputMetadata) {
      if (!it.isTensor) continue;
      const shape = [numEnvs, ...it.shape.slice(1).map(Number)];
      const size = shape.reduce((product, length) => product * length, 1);
      const data: ArrayLike<number> = {
        observation: () => this.#observations as Float32Array,
        state: () => this.#state ?? new Float32Array(size),
        start: () => this.#starts,
        // These environments allow every action.
        action_masks: () => new Uint8Array(size).fill(1),
        noise: () => this.#noise(size, metadata.noise),
      }[it.name]!();
      const type = it.type as "float32";
      feed[it.name] = new Tensor(type, convert(data, type), shape);
    }
    return feed;
  }

  #noise(size: number, kind: string): Float32Array {
    const isNormal = kind.includes("normal");
    return Float32Array.from(
      { length: size },
      () => isNormal ? this.#random.normal() : this.#random.uniform(),
    );
  }
}

/** Copies numbers into an array of a tensor's type. */
function convert(data: ArrayLike<number>, type: string): Float32Array {
  const arrays = {
    float32: Float32Array,
    int32: Int32Array,
    uint8: Uint8Array,
  };
  return arrays[type as keyof typeof arrays].from(data) as Float32Array;
}

/** Refuses a policy of other observations or actions. */
function checkFits(
  { session, metadata }: OpenPolicy,
  { observationSpace, actionSpace, numEnvs }: VecEnv,
  env: string,
): void {
  const refuse = (why: string) =>
    new TypeError(`Cannot play this policy in ${env}: ${why}`);
  const space: Space = JSON.parse(metadata["action space"]);
  if (!spacesEqual(space, actionSpace)) {
    throw refuse(
      `its actions are ${describeSpace(space)}, expected ${
        describeSpace(actionSpace)
      }`,
    );
  }
  const input = session.inputMetadata.find(({ name }) =>
    name === "observation"
  );
  const [batch, ...shape] = input?.isTensor ? input.shape : [];
  const size = shape.map(Number).reduce((product, it) => product * it, 1);
  if (size !== elementCount(observationSpace)) {
    throw refuse(
      `its observations have ${size} numbers, expected ${
        elementCount(observationSpace)
      }`,
    );
  }
  if (typeof batch === "number" && batch !== numEnvs) {
    throw refuse(`it is for ${batch} copies, expected ${numEnvs}`);
  }
}

/**
 * Checks that a file is a policy of ours.
 *
 * @throws {TypeError} If it has other inputs or no such metadata.
 */
export function checkPolicy({ session, metadata }: OpenPolicy): void {
  const { inputNames, outputNames } = session;
  const other = inputNames.find((it) => !INPUTS.includes(it));
  if (
    other === undefined && inputNames.includes("observation") &&
    outputNames.includes("action") && metadata["action space"] !== undefined
  ) return;
  throw new TypeError(
    `its inputs are ${inputNames.join(", ")} and its outputs ${
      outputNames.join(", ")
    }, expected a policy's, from observation to action`,
  );
}
