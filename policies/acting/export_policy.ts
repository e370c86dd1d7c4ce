import {
  type ArrayWithShape,
  exportOnnx,
  paramsFromArrays,
} from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import type {
  DiscreteSpace,
  ObservationScaling,
  PolicyExport,
  Space,
} from "@bellman/types";
import type { Policy, PolicyOutput } from "../models/policy.ts";
import { boundsOf, sizeOf } from "../networks/_layers.ts";
import type { ObservationInput } from "../networks/observations.ts";
import { type DictOf, mapParts, partOf } from "../networks/observations.ts";
import { choicesOf, type EnvActionsOptions } from "./policy_actor.ts";

/** Options of {@linkcode exportPolicy}. */
export interface ExportPolicyOptions extends PolicyExport {
  /** Parameters of the policy, by path. */
  readonly params: Readonly<Record<string, ArrayWithShape>>;
  /**
   * Action space. Box actions are clipped to its bounds; those of squashing policies
   * are rescaled from [-1, 1] to the bounds.
   */
  readonly actionSpace: Space;
  /**
   * True if actions are masked: the file then has an input for masks.
   *
   * @default false
   */
  readonly masked?: boolean;
}

type Tensors = Readonly<Record<string, tf.Tensor>>;

/**
 * Exports a policy as a self-contained ONNX file: scaling and encoding of observations,
 * the network, and the choice of the action.
 *
 * The file maps `observation`, `[batch, ...]` as the environment returns it (stacked
 * frames oldest first; each part of a dict is an input of its own, as
 * `observation.camera`), to `action`, `[batch, ...]` as the environment takes it. A
 * sampling policy also has the input `noise`. A recurrent policy also has the inputs
 * `state`, zeros at first, and `start`, 1 where an episode starts, and the output
 * `next_state`. With action masking it has the input `action_masks`, `[batch, choices]`
 * of uint8. With `probabilities` it has an output of that name, `[batch, n]`: those of
 * sampled actions, and 1 for the action that a Q-function takes. The batch size is free
 * unless `batchSize` fixes it. Metadata describe layout, scaling, bounds, noise,
 * recurrent state and masks.
 *
 * @param model The policy.
 * @param options Parameters, action space, observation scaling.
 * @returns The bytes of the file.
 * @throws {RangeError} If the batch size is not a whole number above 0, the scaling is
 * for observations of another size, or float32, in which the file computes, cannot
 * represent observations or actions precisely enough, such as time stamps.
 * @throws {TypeError} If box actions are masked, or probabilities are asked for of
 * actions that are not discrete.
 *
 * @example
 * ```ts
 * import { paramsToArrays, RandomStream } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { actorCritic, exportPolicy } from "@bellman/policies";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const actionSpace = { type: "discrete", n: 2 } as const;
 * const model = actorCritic({
 *   observationSpace: {
 *     type: "box",
 *     shape: [4],
 *     low: -1,
 *     high: 1,
 *     dtype: "float32",
 *   },
 *   actionSpace,
 *   network: "mlp",
 * });
 * const params = paramsToArrays(model.init(new RandomStream(1)));
 * const file = exportPolicy(model, { params, actionSpace });
 * const text = new TextDecoder("latin1").decode(file);
 * assert(text.includes("observation") && text.includes("action"));
 * ```
 */
export function exportPolicy(
  model: Policy,
  options: ExportPolicyOptions,
): Uint8Array<ArrayBuffer> {
  const { batchSize, deterministic = true, scaling, metadata, masked } =
    options;
  if (batchSize !== undefined) checkBatchSize(batchSize);
  const discrete = options.probabilities
    ? discreteOf(options.actionSpace)
    : undefined;
  const scales = scalesOf(model, scaling);
  for (const scale of Object.values(scales)) checkScaleDigits(scale);
  checkActionDigits(options.actionSpace);
  const { observationInput, stateSize, noise } = model;
  const rows = (shape: readonly number[]) => [batchSize ?? 1, ...shape];
  const float32 = (...shape: number[]) => ({
    shape: rows(shape),
    dtype: "float32" as const,
  });
  const policy = (value: unknown) => {
    const inputs = value as Tensors;
    const params = paramsFromArrays(options.params);
    const output = model.apply(
      params,
      model.encode(mapParts(
        inputs.observation as DictOf<tf.Tensor>,
        (part, name = "") => scaled(part, scales[name]),
      )),
      {
        state: inputs.state as tf.Tensor2D,
        masks: inputs.start as tf.Tensor1D,
        actionMasks: inputs.action_masks,
      },
    );
    const chosen = deterministic ? model.mode(output) : model.sample(
      params,
      output,
      { noise: inputs.noise as tf.Tensor2D },
    );
    return {
      action: envActionTensor(chosen, options.actionSpace, {
        squashed: model.squashesActions,
      }),
      next_state: output.state,
      probabilities: discrete &&
        probabilitiesOf(model, output, chosen, discrete),
    };
  };
  return exportOnnx(policy, {
    metadata: { ...metadataOf(model, options), ...metadata },
    batch: batchSize === undefined ? "batch" : undefined,
    inputs: {
      observation: mapParts(
        observationInput,
        ({ shape, dtype }, name = "") => ({
          shape: rows(shape),
          dtype: scales[name] === undefined ? dtype : "float32" as const,
        }),
      ),
      ...(stateSize > 0 && { state: float32(stateSize), start: float32() }),
      ...(!deterministic && { noise: float32(noise.size) }),
      ...(masked && {
        action_masks: { shape: rows([choicesOf(model)]), dtype: "uint8" },
      }),
    },
  });
}

/** Makes the metadata that describe inputs and outputs of a file. */
function metadataOf(
  model: Policy,
  { actionSpace, scaling, deterministic = true, masked }: ExportPolicyOptions,
): Record<string, string> {
  const { observationInput, stateSize, noise } = model;
  return {
    layout: partTexts(observationInput, layoutOf),
    scaling: scalingText(model, scaling),
    "action space": JSON.stringify(actionSpace),
    bounds: actionSpace.type !== "box"
      ? "none"
      : model.squashesActions
      ? "actions are stretched from [-1, 1] to those of the action space"
      : "actions are clipped to those of the action space",
    actions: deterministic ? "likeliest" : "sampled by the input noise",
    noise: deterministic ? "none" : noiseText(model, noise.size),
    state: stateSize === 0 ? "none" : `${stateSize} numbers: zeros at first, ` +
      "then next_state; start is 1 where an episode starts, else 0",
    ...(masked && {
      "action masks": `${choicesOf(model)} numbers: 1 where a choice of ` +
        "a part of the action is allowed, else 0, side by side",
    }),
  };
}

/** Order of an observation's axes, by their number. */
const LAYOUTS: Readonly<Record<number, string>> = {
  0: "N",
  1: "NC",
  3: "NHWC",
};

function layoutOf({ shape }: ObservationInput): string {
  return LAYOUTS[shape.length] ?? "the environment's";
}

/** Makes a text about the observations, or about each part of a dict. */
function partTexts<T>(
  value: DictOf<T>,
  describe: (one: T, name?: string) => string,
): string {
  const texts = mapParts(value, describe);
  return typeof texts === "string"
    ? texts
    : Object.entries(texts).map((it) => it.join(": ")).join("; ");
}

function scalingText(model: Policy, scaling?: ObservationScaling): string {
  const scales = scalesOf(model, scaling);
  return partTexts(model.observationDivisor, (divisor, name = "") => {
    if (scales[name] === undefined) {
      return divisor === 1 ? "none" : `within the file: x / ${divisor}`;
    }
    const { epsilon = 1e-8, clip = 10 } = scales[name];
    return `within the file: (x - mean) / sqrt(variance + ${epsilon}), from -${clip} to ${clip}`;
  });
}

function noiseText(model: Policy, size: number): string {
  const numbers = model.noise.kind === "normal"
    ? "standard normal numbers"
    : "numbers from 0 to below 1";
  const kept = model.usesStateDependentExploration
    ? "; may be kept for some steps"
    : "";
  return `${size} independent ${numbers} for each observation${kept}`;
}

function checkBatchSize(batchSize: number): void {
  if (Number.isInteger(batchSize) && batchSize >= 1) return;
  throw new RangeError(
    `Cannot export a policy for ${batchSize} observations: expected a whole number of at least 1`,
  );
}

function discreteOf(space: Space): DiscreteSpace {
  if (space.type === "discrete") return space;
  throw new TypeError(
    `Cannot export probabilities of ${space.type} actions: expected discrete actions`,
  );
}

/** Computes the probability of each action, of which a Q-function takes the best one. */
function probabilitiesOf(
  model: Policy,
  { policy }: PolicyOutput,
  chosen: tf.Tensor,
  { start = 0, n }: DiscreteSpace,
): tf.Tensor {
  if (!("values" in model)) return tf.softmax(policy);
  const index = tf.sub(chosen, tf.scalar(start, "int32"));
  return tf.cast(tf.oneHot(index as tf.Tensor1D, n), "float32");
}

/**
 * Returns the scaling of each part by name; that of observations without parts under
 * "".
 *
 * @throws {RangeError} If the scaling is for observations of another size.
 */
function scalesOf(
  { observationInput }: Policy,
  scaling: ObservationScaling | undefined,
): Readonly<Record<string, ObservationScaling>> {
  if (scaling === undefined) return {};
  const { mean, variance, parts = [""] } = scaling;
  const sizes = parts.map((name) =>
    sizeOf(partOf(observationInput, name || undefined)?.shape ?? [])
  );
  const size = sizes.reduce((sum, it) => sum + it, 0);
  if (mean.length !== size || variance.length !== size) {
    throw new RangeError(
      `Cannot scale observations of ${size} numbers by ${mean.length} means and ${variance.length} variances`,
    );
  }
  let end = 0;
  return Object.fromEntries(parts.map((name, i) => {
    const from = end;
    end += sizes[i];
    const part = (numbers: ArrayLike<number>) =>
      Array.from(numbers).slice(from, end);
    return [name, {
      ...scaling,
      mean: part(mean),
      variance: part(variance),
    }];
  }));
}

/** Largest tolerated rounding error, relative to a standard deviation or an action range. */
const MOST_LOST = 1e-4;

/** Returns the rounding error of float32 near a number. */
function roundingOf(value: number): number {
  return Math.abs(value) * 2 ** -24;
}

/** Throws if float32 rounds away differences that the agent saw in training. */
function checkScaleDigits(
  { mean, variance, epsilon = 1e-8, dtype = "float32" }: ObservationScaling,
): void {
  for (let i = 0; i < mean.length; i++) {
    const rounding = roundingOf(mean[i]);
    const deviation = Math.sqrt(variance[i] + epsilon);
    const isConstant = Math.sqrt(variance[i]) < rounding;
    const isKept = dtype === "float32" || dtype === "uint8" ||
      dtype === "int32" && Math.abs(mean[i]) < 2 ** 24 ||
      isConstant && mean[i] === Math.fround(mean[i]);
    const lost = isKept ? 0 : rounding / deviation;
    if (lost <= MOST_LOST && deviation < 2 ** 120) continue;
    const [center, width] = [mean[i], deviation]
      .map((it) => Number(it.toPrecision(6)));
    throw new RangeError(
      `Cannot export a policy for observations of ${dtype}, ${center} with a deviation of ${width}: float32, which the file takes, cannot hold them; change their origin or their unit in the environment`,
    );
  }
}

/** Throws if float32 has too few numbers between the bounds of actions. */
function checkActionDigits(space: Space): void {
  if (space.type !== "box" || space.dtype === "float32") return;
  const [low, high] = boundsOf(space);
  low.forEach((least, i) => {
    const size = Math.max(Math.abs(least), Math.abs(high[i]));
    if (roundingOf(size) <= MOST_LOST * (high[i] - least)) return;
    throw new RangeError(
      `Cannot export a policy for actions of ${space.dtype} from ${least} to ${
        high[i]
      }: float32, which the file gives, cannot tell them apart; change their origin in the environment`,
    );
  });
}

/**
 * Scales observations as the environment's wrapper does. The part of the mean that
 * float32 cannot represent is subtracted separately.
 */
function scaled(
  observation: tf.Tensor,
  scaling?: ObservationScaling,
): tf.Tensor {
  if (scaling === undefined) return observation;
  const { mean, variance, epsilon = 1e-8, clip = 10 } = scaling;
  const shape = observation.shape.slice(1);
  const tensor = (of: (i: number) => number) =>
    tf.tensor(Float32Array.from(mean, (_, i) => of(i)), shape);
  const centered = tf.sub(
    tf.sub(observation, tensor((i) => mean[i])),
    tensor((i) => mean[i] - Math.fround(mean[i])),
  );
  const deviation = tensor((i) => Math.sqrt(variance[i] + epsilon));
  return tf.clipByValue(tf.div(centered, deviation), -clip, clip);
}

/**
 * Converts sampled actions to the environment's actions: {@linkcode envActions} as a
 * pure function of tensors.
 *
 * @param actions Sampled actions `[numEnvs, ...]`.
 * @param space Action space: any but dict and tuple.
 * @param options Range of the box actions.
 * @returns Actions `[numEnvs, ...]` within the bounds.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { envActionTensor } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const box = { type: "box", shape: [1], low: -2, high: 2, dtype: "float32" } as const;
 * const actions = envActionTensor(tf.tensor2d([[3], [-1]]), box);
 * assertEquals(actions.arraySync(), [[2], [-1]]);
 * ```
 */
export function envActionTensor(
  actions: tf.Tensor,
  space: Space,
  { squashed = false }: EnvActionsOptions = {},
): tf.Tensor {
  if (space.type !== "box") return actions;
  const shape = [...space.shape];
  const [low, high] = boundsOf(space);
  const tensor = (of: (low: number, high: number) => number) =>
    tf.tensor(Float32Array.from(low, (it, i) => of(it, high[i])), shape);
  // Float32 cannot represent the difference of all pairs of bounds.
  const wanted = squashed
    ? tf.add(
      tf.mul(actions, tensor((low, high) => high / 2 - low / 2)),
      tensor((low, high) => high / 2 + low / 2),
    )
    : actions;
  const isExact = space.dtype === "float32";
  const least = tensor((it) => isExact ? it : within(it, 1));
  const most = tensor((_, it) => isExact ? it : within(it, -1));
  const inside = tf.minimum(tf.maximum(wanted, least), most);
  const whole = space.dtype === "int32" || space.dtype === "uint8";
  return whole ? tf.cast(tf.round(inside), "int32") : inside;
}

/** Rounds a bound to the nearest float32 inside the bounds. */
function within(bound: number, direction: 1 | -1): number {
  const rounded = Math.fround(bound);
  return (bound - rounded) * direction <= 0 ? rounded : Math.fround(
    rounded + direction * Math.max(2 * roundingOf(bound), 2 ** -149),
  );
}
