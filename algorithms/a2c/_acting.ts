import type { Params, RandomStream } from "@bellman/compute";
import type {
  ActorCritic,
  ActorCriticOutput,
  ObservationArray,
} from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";

/** What is remembered between two steps of a recurrent model. */
export interface Memory {
  /** State before the step `[numEnvs, stateSize]`. */
  readonly state: Float32Array;
  /** `[numEnvs]`, 1 where an episode starts at the step. */
  readonly starts: Float32Array;
}

/** What one step of acting gives. */
export interface Acted {
  /** Actions as sampled, row-major `[numEnvs, ...actionShape]`. */
  readonly actions: Float32Array | Int32Array;
  /** Estimated returns `[numEnvs]`. */
  readonly values: Float32Array;
  /** State after the step, of recurrent models. */
  readonly state?: Float32Array;
}

/** Applies a model to one observation of each environment. */
export function forward(
  model: ActorCritic,
  params: Params,
  { observations, memory }: {
    observations: ObservationArray;
    memory: Memory;
  },
): ActorCriticOutput {
  const numEnvs = memory.starts.length;
  const encoded = model.observationTensor(observations, numEnvs);
  if (model.stateSize === 0) return model.apply(params, encoded);
  return model.apply(params, encoded, {
    state: tensor2d(memory.state, [numEnvs, model.stateSize]),
    masks: tensor1d(memory.starts),
  });
}

/** Values of one observation of each environment. */
export function valuesOf(
  model: ActorCritic,
  params: Params,
  inputs: { observations: ObservationArray; memory: Memory },
): Float32Array {
  return tf.tidy(() => read(forward(model, params, inputs).value));
}

/** Chooses an action in each environment, from noise or the likeliest one. */
export function choose(
  model: ActorCritic,
  params: Params,
  inputs: {
    observations: ObservationArray;
    memory: Memory;
    noise: Float32Array | null;
  },
): Acted {
  return tf.tidy(() => {
    const { noise, memory } = inputs;
    const output = forward(model, params, inputs);
    const actions = noise === null ? model.mode(output) : model.sample(
      params,
      output,
      { noise: tensor2d(noise, [memory.starts.length, model.noise.size]) },
    );
    return {
      actions: read<Float32Array | Int32Array>(actions),
      values: read(output.value),
      ...(output.state && { state: read<Float32Array>(output.state) }),
    } as unknown as tf.TensorContainer;
  }) as unknown as Acted;
}

/** Fills an array with the kind of noise that a model samples from. */
export function drawNoise(
  model: ActorCritic,
  random: RandomStream,
  noise: Float32Array,
): void {
  if (model.noise.kind === "uniform") random.fillUniform(noise);
  else random.fillNormal(noise);
}

/** A tensor of a copy: a backend may keep the array that it is given. */
export function tensor1d(values: Float32Array): tf.Tensor1D {
  return tf.tensor1d(values.slice(), "float32");
}

function tensor2d(values: Float32Array, shape: [number, number]): tf.Tensor2D {
  return tf.tensor2d(values.slice(), shape, "float32");
}

/** A tensor's numbers, as an array of one's own. */
function read<T = Float32Array>(tensor: tf.Tensor): T {
  return tensor.dataSync().slice() as T;
}
