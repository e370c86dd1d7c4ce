import {
  mapParams,
  type Params,
  randomNormal,
  randomUniform,
  ravel,
  scan,
  switchCase,
  type TensorData,
  tidy,
  unravel,
} from "@bellman/compute";
import { envActionTensor, type ObservationInput } from "@bellman/policies";
import type { EpisodeStatistics, Space } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import type {
  AgentContext,
  AgentState,
  AnyParts,
  Draw,
  Progress,
  RandomNumbers,
  Tensors,
  Update,
} from "./algorithm.ts";
import {
  recordedOf,
  Rollout,
  type RolloutOptions,
  targetOf,
  targetsOfTensors,
  valueOf,
} from "./rollout.ts";

/** Running episodes as tensors. */
export interface DeviceEpisodes {
  /** States of the environments, with the axis of environments first. */
  readonly state: Tensors;
  /** Steps of each episode so far `[numEnvs]`, `int32`. */
  readonly lengths: tf.Tensor;
  /** Return so far of each episode `[numEnvs]`. */
  readonly returns: tf.Tensor;
}

/** Step of tensor environments. */
export interface DeviceStep {
  /** Episodes after the step; finished ones were reset. */
  readonly episodes: DeviceEpisodes;
  /** States before resets. */
  readonly last: Tensors;
  /** Rewards `[numEnvs]`. */
  readonly rewards: tf.Tensor;
  /** Booleans `[numEnvs]`: the episode terminated. */
  readonly terminated: tf.Tensor;
  /** Booleans `[numEnvs]`: the episode was truncated. */
  readonly truncated: tf.Tensor;
  /** Length of each episode, this step included `[numEnvs]`, `int32`. */
  readonly lengths: tf.Tensor;
  /** Return of each episode, this step included `[numEnvs]`. */
  readonly returns: tf.Tensor;
}

/**
 * Environments as pure functions of tensors, such as `tensorVecEnv` of
 * `@bellman/envs/tensor`.
 */
export interface DeviceEnv {
  /** Name and version. */
  readonly id: string;
  /** Space of one observation. */
  readonly observationSpace: Space;
  /** Space of one action. */
  readonly actionSpace: Space;
  /** Number of uniform random numbers for an initial state. */
  readonly startSize: number;
  /** Starts episodes from uniform numbers `[startSize, numEnvs]`. */
  begin(uniform: tf.Tensor): DeviceEpisodes;
  /** Takes a step in each environment. */
  step(
    episodes: DeviceEpisodes,
    options: { readonly actions: tf.Tensor; readonly uniform: tf.Tensor },
  ): DeviceStep;
  /** Computes observations of states `[rows, ...]`. */
  observe(state: Tensors): tf.Tensor;
}

/** Everything that a call changes. */
export interface LoopState {
  readonly learned: AgentState;
  readonly episodes: DeviceEpisodes;
  /** Key and counter of all random numbers. */
  readonly random: { readonly key: tf.Tensor; readonly counter: tf.Tensor };
}

/** Results of an update, with an axis of updates first. */
export interface LoopResults {
  /** Statistics in the order of their names. */
  readonly stats: tf.Tensor;
  /**
   * Length and return of episodes that ended `[numSteps, 2, numEnvs]`: lengths
   * of those that were truncated are negative, of those that continue 0.
   */
  readonly ended: tf.Tensor;
}

/** Random numbers of an update, or of all updates of a call. */
export interface LoopDraws {
  /** Noise of the policy `[numSteps, numEnvs, size]`. */
  readonly noise: tf.Tensor;
  /** Uniform random numbers of initial states `[numSteps, startSize, numEnvs]`. */
  readonly uniform: tf.Tensor;
  /** Counter of the first random input of the update. */
  readonly counter: tf.Tensor;
}

/** Inputs of an update other than the state. */
export interface LoopRow {
  /** Scalars of `Parts.inputs`. */
  readonly numbers: Readonly<Record<string, tf.Scalar>>;
  readonly draws: LoopDraws;
}

/** A rollout as the program collects it, step-major. */
interface Collected {
  readonly observations: tf.Tensor;
  readonly actions: tf.Tensor;
  readonly rewards: tf.Tensor;
  readonly terminated: tf.Tensor;
  readonly truncated: tf.Tensor;
  readonly values: tf.Tensor;
  readonly recorded: Tensors;
  readonly last: Tensors;
  readonly ended: tf.Tensor;
}

/** Random numbers that the program draws. */
interface RandomInput extends RandomNumbers {
  readonly rows: number;
}

/** Random numbers that stand for those of the program. */
const DRAWN = new WeakMap<object, RandomInput>();

const onDevice: Draw = ({ kind, size }, rows) => {
  const input = { data: new Float32Array(), shape: [rows, size] };
  DRAWN.set(input, { kind, size, rows });
  return input;
};

function drawnAs(input: unknown, title: string): RandomInput {
  const drawn = DRAWN.get(input as object);
  if (drawn !== undefined) return drawn;
  throw refused(title, "it takes arrays that are not drawn at random");
}

const DOES_MORE = "it does more than to collect a rollout and learn from it";

function refused(title: string, why: string): TypeError {
  return new TypeError(
    `Cannot run ${title} with loop: device: ${why}, expected loop: host`,
  );
}

/** Parts of a {@link DeviceLoop}. */
interface DeviceLoopParts {
  /** Name of the algorithm in messages. */
  readonly title: string;
  readonly parts: AnyParts;
  readonly rollout: RolloutOptions;
  readonly env: DeviceEnv;
  readonly context: AgentContext;
}

/** A rollout and an update as pure functions of tensors. */
export class DeviceLoop {
  /** Names of the statistics, as the last update returned them. */
  names: readonly string[] = [];
  readonly #parts: AnyParts;
  readonly #rollout: RolloutOptions;
  readonly #device: DeviceEnv;
  readonly #context: AgentContext;
  readonly #title: string;
  readonly #learn: Update<AgentState, Tensors, Tensors>;
  /** Names of the inputs of the update that are numbers. */
  readonly numbers: readonly string[];
  /** Random inputs of the update by name. */
  readonly #random: readonly (readonly [string, RandomInput])[];

  constructor({ title, parts, rollout, env, context }: DeviceLoopParts) {
    this.#parts = parts;
    this.#title = title;
    const start = { steps: 0, updates: 0, fraction: 0 };
    this.#learn = parts.learn({ ...start, updates: -1 });
    const inputs = Object.entries(this.inputsAt(start));
    this.numbers = inputs.filter(([, it]) => typeof it === "number")
      .map(([name]) => name);
    this.#random = inputs.filter(([, it]) => typeof it !== "number")
      .map(([name, it]) => [name, drawnAs(it, title)]);
    this.#rollout = rollout;
    this.#device = env;
    this.#context = context;
  }

  /** Returns the inputs of an update, of which the random ones are drawn on the device. */
  inputsAt(progress: Progress): Readonly<Record<string, unknown>> {
    if (this.#parts.learn(progress) !== this.#learn) {
      throw refused(this.#title, DOES_MORE);
    }
    return this.#parts.inputs(progress, onDevice);
  }

  /** Builds the initial state: new tensors, except the learned ones. */
  start(learned: AgentState, words: Int32Array): LoopState {
    const { numEnvs } = this.#context, env = this.#device;
    return tidy(() => {
      const key = tf.tensor1d(words, "int32");
      const counter = tf.scalar(0, "int32");
      const uniform = randomUniform([env.startSize, numEnvs], { key, counter });
      return {
        learned,
        // Separate tensors, as some may be the same.
        episodes: cloned(env.begin(uniform)),
        random: { key, counter: tf.scalar(1, "int32") },
      };
    });
  }

  /**
   * Draws the random numbers of all updates of a call at once, which is faster. Those
   * of an update depend on its number, not on where calls begin and end.
   *
   * @param random Key, and counter of the first update.
   * @param options Most updates of a call, and those that it makes.
   */
  draw(
    { key, counter }: LoopState["random"],
    { length, rounds }: { length: number; rounds: tf.Tensor },
  ): { random: LoopState["random"]; draws: LoopDraws } {
    const { numSteps } = this.#rollout, { numEnvs } = this.#context;
    const { kind, size } = this.#parts.policy.noise;
    const sample = kind === "uniform" ? randomUniform : randomNormal;
    // Noise, starts of episodes, and random inputs of the update.
    const each = tf.scalar(2 + this.#random.length, "int32");
    const counters = tf.add(
      counter,
      tf.mul(tf.range(0, length, 1, "int32"), each),
    );
    const next = tf.add(counters, tf.scalar(1, "int32"));
    return {
      random: { key, counter: tf.add(counter, tf.mul(rounds, each)) },
      draws: {
        counter: tf.add(counters, tf.scalar(2, "int32")),
        noise: sample(
          [length, numSteps, numEnvs, size],
          { key, counter: counters },
        ),
        uniform: randomUniform(
          [length, numSteps, this.#device.startSize, numEnvs],
          { key, counter: next },
        ),
      },
    };
  }

  /**
   * Collects a rollout and learns from it.
   *
   * @param state State before it.
   * @param row Its numbers and random numbers.
   * @param key Key of random inputs.
   */
  iterate(
    { learned, episodes }: Omit<LoopState, "random">,
    { numbers, draws }: LoopRow,
    key: tf.Tensor,
  ): { state: Omit<LoopState, "random">; results: LoopResults } {
    const { inputs: names } = this.#rollout, { policy } = this.#parts;
    const collected = this.#collect(learned.policy, { episodes, draws });
    const { rollout } = collected;
    const { rewards, terminated, truncated } = rollout;
    const targets = targetsOfTensors(this.#rollout, {
      rewards,
      terminated,
      truncated,
      ...this.#values(learned.policy, collected),
    });
    const batch = {
      ...mapParams(rollout.recorded as Params, (it) => this.#rows(it)),
      observations: policy.encode(this.#rows(rollout.observations)),
      actions: this.#rows(rollout.actions),
      ...Object.fromEntries(
        names.map((name) => [
          name,
          this.#rows(targetOf(targets.inputs, name)),
        ]),
      ),
    };
    const inputs = this.#inputs({ key, counter: draws.counter });
    const update = this.#learn(learned, batch, { ...numbers, ...inputs });
    const stats = Object.entries({ ...update.stats, ...targets.stats })
      .filter((it): it is [string, tf.Tensor] => it[1] !== undefined);
    this.names = stats.map(([name]) => name);
    return {
      state: {
        learned: update.state,
        episodes: collected.episodes,
      },
      results: {
        stats: tf.stack(stats.map(([, it]) => tf.reshape(it, []))),
        ended: rollout.ended,
      },
    };
  }

  /** Draws the random inputs of an update. */
  #inputs({ key, counter }: LoopState["random"]): Tensors {
    return Object.fromEntries(
      this.#random.map(([name, { kind, rows, size }], i) => {
        const source = {
          key,
          counter: tf.add(counter, tf.scalar(i, "int32")),
        };
        const sample = kind === "normal" ? randomNormal : randomUniform;
        const numbers = sample([rows, size], source);
        // The ranks of random numbers: equal ones keep their order.
        const isOrder = kind === "permutation";
        return [name, isOrder ? tf.topk(numbers, size).indices : numbers];
      }),
    );
  }

  /**
   * Builds the rows of an update, step-major as they were collected: without
   * recurrence the order of rows does not matter.
   */
  #rows(x: tf.Tensor): tf.Tensor {
    return tf.reshape(x, [-1, ...x.shape.slice(2)]);
  }

  /** Computes observations, in the form that the policy encodes. */
  #observe(state: Tensors): tf.Tensor {
    const { shape } = this.#parts.policy.observationInput as ObservationInput;
    return tf.reshape(this.#device.observe(state), [-1, ...shape]);
  }

  /** Acts and steps. */
  #collect(
    params: Params,
    { episodes, draws }: { episodes: DeviceEpisodes; draws: LoopDraws },
  ): { episodes: DeviceEpisodes; rollout: Collected } {
    const rollout = this.#rollout, { numSteps: length, values } = rollout;
    const { actionSpace } = this.#context;
    const policy = this.#parts.policy, env = this.#device;
    const observe = (state: Tensors) => this.#observe(state);
    const { state, results } = scan(episodes, {
      length,
      rows: { noise: draws.noise, uniform: draws.uniform },
      body(episodes, { noise, uniform }) {
        const observations = observe(episodes.state);
        const output = policy.apply(params, policy.encode(observations));
        const actions = policy.sample(params, output, {
          noise: noise as tf.Tensor2D,
        });
        const step = env.step(episodes, {
          actions: envActionTensor(actions, actionSpace, {
            squashed: policy.squashesActions,
          }),
          uniform,
        });
        const terminated = tf.cast(step.terminated, "float32");
        const truncated = tf.cast(step.truncated, "float32");
        const results: Collected = {
          observations,
          actions,
          rewards: step.rewards,
          terminated,
          truncated,
          values: values === "acting"
            ? valueOf(output)
            : tf.zerosLike(step.rewards),
          recorded: recordedOf(rollout, output),
          last: step.last,
          ended: endedOf(step, { terminated, truncated }),
        };
        return { state: step.episodes, results };
      },
    });
    return { episodes: state, rollout: results };
  }

  /** Values that the targets bootstrap from. */
  #values(
    params: Params,
    { rollout, episodes }: { rollout: Collected; episodes: DeviceEpisodes },
  ): { values: tf.Tensor; finalValues: tf.Tensor; lastValues: tf.Tensor } {
    const { values: when, numSteps, bootstrapTruncated = true } = this.#rollout;
    const { numEnvs } = this.#context;
    const policy = this.#parts.policy;
    const count = numEnvs * numSteps;
    const shape = [numSteps, numEnvs];
    const none = () => tf.zeros(shape);
    if (when === undefined) {
      const lastValues = tf.zeros([numEnvs]);
      return { values: rollout.values, finalValues: none(), lastValues };
    }
    const valuesOf = (observations: tf.Tensor) =>
      valueOf(policy.apply(params, policy.encode(observations)));
    const flat = (x: tf.Tensor) => tf.reshape(x, [count, ...x.shape.slice(2)]);
    const lastValues = valuesOf(this.#observe(episodes.state));
    // The same rows as the update's, which computes these values as well.
    const values = when === "acting" ? rollout.values : tf.reshape(
      valuesOf(this.#rows(rollout.observations)),
      shape,
    );
    const isCut = tf.mul(tf.sub(1, rollout.terminated), rollout.truncated);
    if (!bootstrapTruncated) return { values, finalValues: none(), lastValues };
    // Time limits are rare: mostly there is nothing to value.
    const { finalValues } = switchCase(tf.cast(tf.max(isCut), "int32"), [
      () => ({ finalValues: none() as tf.Tensor }),
      () => {
        const last = Object.fromEntries(
          Object.entries(rollout.last).map(([name, it]) => [name, flat(it)]),
        );
        const all = tf.reshape(valuesOf(this.#observe(last)), shape);
        return { finalValues: tf.mul(all, isCut) as tf.Tensor };
      },
    ]);
    return { values, finalValues, lastValues };
  }
}

/** Returns functions that join the tensors of each part to a vector, and split it. */
export function packingOf(like: AgentState): {
  pack: (state: AgentState) => AgentState;
  unpack: (packed: AgentState) => AgentState;
} {
  const map = (
    state: AgentState,
    change: (part: Params, like: Params) => Params,
  ): AgentState =>
    Object.fromEntries(
      Object.entries(state).map(([name, part]) => {
        const tensors = Object.values(like[name]);
        const isFlat = tensors.length > 1 &&
          tensors.every(({ dtype }) => dtype === "float32");
        return [name, isFlat ? change(part, like[name]) : part];
      }),
    );
  return {
    pack: (state) =>
      map(state, (part, like) => ({
        flat: ravel(part, Object.keys(like)),
      })),
    unpack: (packed) =>
      map(
        packed,
        ({ flat }, like) => unravel(flat as tf.Tensor1D, like),
      ),
  };
}

/** Copies episodes. */
function cloned({ state, lengths, returns }: DeviceEpisodes): DeviceEpisodes {
  return {
    state: Object.fromEntries(
      Object.entries(state).map(([name, it]) => [name, it.clone()]),
    ),
    lengths: lengths.clone(),
    returns: returns.clone(),
  };
}

/** Length and return of each episode that ended; see {@link LoopResults}. */
function endedOf(
  { lengths, returns }: DeviceStep,
  { terminated, truncated }: Pick<Collected, "terminated" | "truncated">,
): tf.Tensor {
  const cut = tf.mul(tf.sub(1, terminated), truncated);
  const sign = tf.sub(terminated, cut);
  const length = tf.mul(tf.cast(lengths, "float32"), sign);
  return tf.stack([length, returns]);
}

/** Lists the episodes that ended, ordered by step. */
export function episodesIn(
  ended: TensorData,
  numEnvs: number,
): EpisodeStatistics[] {
  const episodes: EpisodeStatistics[] = [];
  for (let at = 0; at < ended.length; at += 2 * numEnvs) {
    for (let env = 0; env < numEnvs; env++) {
      const length = ended[at + env];
      if (length === 0) continue;
      episodes.push({
        env,
        return: ended[at + numEnvs + env],
        length: Math.abs(length),
        terminated: length > 0,
      });
    }
  }
  return episodes;
}

/** Returns the rollout of an algorithm that can run as one program. */
export function rolloutThatFits(
  title: string,
  parts: AnyParts,
): RolloutOptions {
  const refuse = (why: string) => refused(title, why);
  const { memory, explore, afterUpdate } = parts;
  const isMore = explore ?? afterUpdate;
  if (isMore !== undefined || !(memory instanceof Rollout)) {
    throw refuse(DOES_MORE);
  }
  const rollout = memory.options;
  if (rollout.tensorTargets === undefined) {
    throw refuse("it has no targets of tensors");
  }
  if (!("shape" in parts.policy.observationInput)) {
    throw refuse("its observations have parts");
  }
  if (parts.policy.stateSize > 0) throw refuse("its network is recurrent");
  if (parts.policy.usesStateDependentExploration) {
    throw refuse("its noise depends on the state");
  }
  return rollout;
}
