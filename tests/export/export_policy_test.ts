/**
 * Exported policies act as the agent does, in Python and in a process that
 * knows nothing of this project.
 */
import { A2C, type A2CConfig } from "@bellman/a2c";
import { ACER, type AcerConfig } from "@bellman/acer";
import { ACKTR, type AcktrConfig } from "@bellman/acktr";
import { paramsToArrays, RandomStream, selectBackend } from "@bellman/compute";
import { actionChoices } from "@bellman/envs";
import { Player, type Tensor as PlayerTensor } from "@bellman/client/play";
import { DQN, type DqnConfig } from "@bellman/dqn";
import { SAC, type SacConfig } from "@bellman/sac";
import {
  envActions,
  exportPolicy,
  stochasticPolicy,
  type StochasticPolicyOptions,
} from "@bellman/policies";
import type { Actor, ObservationScaling, Space } from "@bellman/types";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { pythonWith } from "./python.ts";

/** Lengths of batches that each file is given, and calls of each. */
const CALLS = { 1: 50, 7: 20, 64: 10 };
const HERE = new URL(".", import.meta.url).pathname;
const python = pythonWith("onnxruntime");

interface Tensor {
  data: number[];
  shape: number[];
  dtype: "float32" | "int32" | "uint8";
}

interface Case {
  observationSpace: Space & { shape?: readonly number[] };
  actionSpace: Space;
  config?: Partial<A2CConfig>;
  /** Settings of ACER in place of A2C. */
  acer?: Partial<AcerConfig>;
  /** Settings of ACKTR in place of A2C. */
  acktr?: Partial<AcktrConfig>;
  /** Settings of DQN in place of A2C. */
  dqn?: Partial<DqnConfig>;
  /** Settings of SAC in place of A2C. */
  sac?: Partial<SacConfig>;
  /** A policy without a value in place of an agent. */
  policy?: Partial<StochasticPolicyOptions>;
  /** Whether such a policy samples, by noise that the file is given. */
  samples?: boolean;
  scaling?: ObservationScaling;
  /** True where observations are drawn around the means of the scaling. */
  isScaled?: boolean;
  /** Whether actions are masked. */
  masked?: boolean;
  /** Share of the calls: images take long. */
  share?: number;
}

const box = (shape: number[], dtype: "float32" | "uint8" = "float32") => ({
  type: "box" as const,
  shape,
  low: dtype === "uint8" ? 0 : -10,
  high: dtype === "uint8" ? 255 : 10,
  dtype,
});

const TWO_ACTIONS: Space = {
  type: "box",
  shape: [2],
  low: [-0.05, -1],
  high: [0.05, 2],
  dtype: "float32",
};

const CASES: Record<string, Case> = {
  "discrete actions": {
    observationSpace: box([4]),
    actionSpace: { type: "discrete", n: 3, start: 5 },
    config: { valueNetwork: "separate" },
  },
  "box actions with bounds, observations scaled": {
    observationSpace: box([3]),
    actionSpace: TWO_ACTIONS,
    scaling: { mean: [1, 0, -2], variance: [4, 0.25, 9] },
  },
  "one-hot observations, several discrete actions": {
    observationSpace: { type: "multiDiscrete", nvec: [3, 4] },
    actionSpace: { type: "multiDiscrete", nvec: [2, 5] },
  },
  "masked actions": {
    observationSpace: box([4]),
    actionSpace: { type: "discrete", n: 5, start: 2 },
    config: { valueNetwork: "separate" },
    masked: true,
  },
  "a recurrent policy of several masked actions": {
    observationSpace: box([3]),
    actionSpace: { type: "multiDiscrete", nvec: [2, 5] },
    config: { network: "lstm", lstmSize: 16 },
    masked: true,
  },
  "samples of masked flags": {
    observationSpace: box([3]),
    actionSpace: { type: "multiBinary", n: 4 },
    policy: {},
    samples: true,
    masked: true,
  },
  "images": {
    observationSpace: box([40, 40, 4], "uint8"),
    actionSpace: { type: "discrete", n: 6 },
    config: { network: "cnn" },
    share: 0.1,
  },
  "a recurrent policy": {
    observationSpace: box([3]),
    actionSpace: { type: "discrete", n: 2 },
    config: { network: "lstm", lstmSize: 16 },
  },
  "a recurrent policy of images, box actions": {
    observationSpace: box([40, 40, 4], "uint8"),
    actionSpace: TWO_ACTIONS,
    config: { network: "cnn_lstm", lstmSize: 16 },
    share: 0.1,
  },
  "soft actor-critic, box actions": {
    observationSpace: box([3]),
    actionSpace: TWO_ACTIONS,
    sac: { hiddenSizes: [32, 32] },
    scaling: { mean: [1, 0, -2], variance: [4, 0.25, 9] },
  },
  "soft actor-critic with batch normalization": {
    observationSpace: box([3]),
    actionSpace: TWO_ACTIONS,
    sac: { method: "crossq", hiddenSizes: [32, 32] },
    scaling: { mean: [1, 0, -2], variance: [4, 0.25, 9] },
  },
  "time stamps, scaled": {
    observationSpace: box([3]),
    actionSpace: TWO_ACTIONS,
    sac: { hiddenSizes: [32, 32] },
    scaling: { mean: [1.7e9 + 37.5, 0, -2], variance: [250_000, 0.25, 9] },
    isScaled: true,
  },
  "soft actor-critic, discrete actions": {
    observationSpace: { type: "multiDiscrete", nvec: [3, 4] },
    actionSpace: { type: "discrete", n: 4 },
    sac: { hiddenSizes: [32, 32] },
  },
  "the means of noisy quantiles, masked": {
    observationSpace: box([3]),
    actionSpace: { type: "discrete", n: 4, start: 3 },
    dqn: {
      hiddenSizes: [32],
      dueling: true,
      values: "quantile",
      exploration: "noisy",
      sigma0: 5,
    },
    masked: true,
  },
  "samples of discrete actions": {
    observationSpace: box([3]),
    actionSpace: { type: "multiDiscrete", nvec: [2, 5] },
    policy: {},
    samples: true,
  },
  "a policy beside Q values": {
    observationSpace: box([3]),
    actionSpace: { type: "discrete", n: 3 },
    acer: { qNetwork: "separate" },
  },
  "a dueling network": {
    observationSpace: box([3]),
    actionSpace: TWO_ACTIONS,
    acer: { qNetwork: "shared" },
  },
  "a recurrent dueling network, several discrete actions": {
    observationSpace: box([3]),
    actionSpace: { type: "multiDiscrete", nvec: [2, 5] },
    acer: { network: "lnlstm", lstmSize: 16, qNetwork: "shared" },
  },
  "a policy that natural gradients move": {
    observationSpace: box([3]),
    actionSpace: TWO_ACTIONS,
    acktr: { objective: "separate" },
    scaling: { mean: [1, 0, -2], variance: [4, 0.25, 9] },
  },
  "a squashed Gaussian, stretched to the bounds": {
    observationSpace: box([3]),
    actionSpace: TWO_ACTIONS,
    policy: {},
    scaling: { mean: [1, 0, -2], variance: [4, 0.25, 9] },
  },
  "samples of a squashed Gaussian": {
    observationSpace: box([3]),
    actionSpace: TWO_ACTIONS,
    policy: {},
    samples: true,
  },
  "samples of a mixture": {
    observationSpace: { type: "multiDiscrete", nvec: [3, 4] },
    actionSpace: TWO_ACTIONS,
    policy: { distribution: "mixture", components: 3 },
    samples: true,
  },
  "samples by state-dependent exploration, of images": {
    observationSpace: box([40, 40, 4], "uint8"),
    actionSpace: TWO_ACTIONS,
    policy: { network: "cnn", useSde: true, sdeInitialLogStd: 0 },
    samples: true,
    share: 0.1,
  },
};

/** Observations of a space, as an environment might give them. */
function draw(space: Space, count: number, random: RandomStream) {
  switch (space.type) {
    case "box": {
      const size = space.shape.reduce((a, b) => a * b, 1) * count;
      return space.dtype === "uint8"
        ? Uint8Array.from({ length: size }, () => random.integer(256))
        : random.fillNormal(new Float32Array(size));
    }
    case "multiDiscrete":
      return Int32Array.from(
        { length: count * space.nvec.length },
        (_, i) => random.integer(space.nvec[i % space.nvec.length]),
      );
    default:
      throw new TypeError(`no observations of ${space.type}`);
  }
}

/** Masks that allow at least one choice of each part of an action; none of boxes. */
function drawMasks(
  space: Space,
  rows: number,
  random: RandomStream,
): Uint8Array {
  const masks: number[] = [], choices = actionChoices(space) ?? [];
  for (let row = 0; row < rows; row++) {
    for (const n of choices) {
      const kept = random.integer(n);
      for (let i = 0; i < n; i++) {
        masks.push(+(i === kept || random.integer(2) === 0));
      }
    }
  }
  return Uint8Array.from(masks);
}

/** What the wrapper around an environment does to its observations. */
function scaled(values: Numbers, scaling?: ObservationScaling): Numbers {
  if (scaling === undefined) return values;
  const { mean, variance } = scaling;
  return Float32Array.from(values, (x, i) => {
    const k = i % mean.length;
    return (x - mean[k]) / Math.sqrt(variance[k] + 1e-8);
  });
}

/** Result of a program that acts with a file. */
interface Answer {
  actions: number[][];
  /** Shapes of the inputs; of Python alone, as are metadata. */
  shapes?: Record<string, (number | string)[]>;
  metadata?: Record<string, string>;
}

/** A file, and what it is given. */
interface Task {
  file: string;
  inputs: Record<string, Tensor>[];
}

const ARRAYS = {
  float32: Float32Array,
  int32: Int32Array,
  uint8: Uint8Array,
} as const;

/** Runs a program that acts with a file. */
async function actions(command: string[], task: Task): Promise<Answer> {
  const [program, ...args] = command;
  const child = new Deno.Command(program, {
    args,
    cwd: "/",
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify(task)));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  assert(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

function agreed(actual: number[], expected: number[]): boolean {
  return expected.every((it, i) => Math.abs(it - actual[i]) <= 1e-5);
}

type Numbers = Float32Array | Int32Array | Uint8Array;

/** What is exported, and what it does itself. */
interface Subject {
  readonly input: { shape: readonly number[]; dtype: Tensor["dtype"] };
  readonly stateSize: number;
  /** Noise of one row, if the file takes any. */
  readonly noiseSize: number;
  readonly noiseKind?: "uniform" | "normal";
  readonly file: Uint8Array;
  act(
    observations: Numbers,
    given: { noise: Float32Array; masks?: Uint8Array; rows: number },
  ): number[];
  close(): void;
}

function agentSubject(it: Case): Subject {
  const { observationSpace, actionSpace, scaling, masked } = it;
  const spaces = {
    observationSpace,
    actionSpace,
    numEnvs: 1,
    actionMasks: masked,
  };
  const options = <Config>(config: Partial<Config> = {}) => ({
    config: { orthogonalInit: false, ...config },
    seed: 7,
  });
  const agent = it.acer
    ? new ACER(spaces, options({ replayRatio: 0, ...it.acer }))
    : it.acktr
    ? new ACKTR(spaces, options(it.acktr))
    : it.dqn
    ? new DQN(spaces, { config: it.dqn, seed: 7 })
    : it.sac
    ? new SAC(spaces, { config: it.sac, seed: 7 })
    : new A2C(spaces, options(it.config));
  const actors = new Map<number, Actor>();
  const actorOf = (numEnvs: number) => {
    const actor = actors.get(numEnvs) ??
      agent.policy({ deterministic: true, numEnvs });
    actors.set(numEnvs, actor);
    return actor;
  };
  return {
    input: agent.model.observationInput as Subject["input"],
    stateSize: agent.model.stateSize,
    noiseSize: 0,
    file: agent.exportPolicy({ scaling }),
    act: (seen, { masks, rows }) =>
      Array.from(actorOf(rows).act(seen, masks) as Numbers),
    close: () => agent.close(),
  };
}

function policySubject(it: Case): Subject {
  const { actionSpace, scaling, masked, samples = false } = it;
  const policy = stochasticPolicy({
    ...it.policy,
    observationSpace: it.observationSpace,
    actionSpace,
  });
  const params = policy.init(new RandomStream(7));
  const toEnv = envActions(actionSpace, { squashed: policy.squashesActions });
  const noiseSize = samples ? policy.noise.size : 0;
  return {
    input: policy.observationInput as Subject["input"],
    stateSize: 0,
    noiseSize,
    noiseKind: policy.noise.kind,
    file: exportPolicy(policy, {
      params: paramsToArrays(params),
      actionSpace,
      scaling,
      masked,
      deterministic: !samples,
    }),
    act: (seen, { noise, masks, rows }) =>
      tf.tidy(() => {
        const observations = policy.observationTensor(seen, rows);
        const output = policy.apply(params, observations, {
          actionMasks: masks &&
            tf.tensor([...masks], [rows, masks.length / rows], "int32"),
        });
        const actions = samples
          ? policy.sample(params, output, {
            noise: tf.tensor2d(noise, [rows, noiseSize]),
          })
          : policy.mode(output);
        return Array.from(toEnv(actions.dataSync()));
      }),
    close: () => tf.dispose(params),
  };
}

/** A file, what it is given and what its subject itself does. */
async function prepare(it: Case) {
  await selectBackend("cpu");
  const { observationSpace, actionSpace, scaling, share = 1 } = it;
  const random = new RandomStream(3);
  const subject = it.policy ? policySubject(it) : agentSubject(it);
  const { input: { shape, dtype }, stateSize, noiseSize } = subject;
  const inputs: Record<string, Tensor>[] = [];
  const expected: number[][] = [];
  const sizes = Object.entries(CALLS).flatMap(([rows, calls]) =>
    Array.from({ length: Math.ceil(calls * share) }, (_, call) => ({
      rows: Number(rows),
      isFirst: call === 0,
    }))
  );
  for (const { rows, isFirst } of sizes) {
    const seen = draw(observationSpace, rows, random);
    if (it.isScaled) {
      const { mean, variance } = scaling!;
      seen.forEach((x, i) => {
        const k = i % mean.length;
        seen[i] = mean[k] + x * Math.sqrt(variance[k]);
      });
    }
    const noise = random.fillNormal(new Float32Array(rows * noiseSize));
    if (subject.noiseKind === "uniform") {
      noise.forEach((_, i) => noise[i] = random.uniform());
    }
    const masks = it.masked ? drawMasks(actionSpace, rows, random) : undefined;
    const float32 = (data: ArrayLike<number>, ...shape: number[]): Tensor => ({
      data: Array.from(data),
      shape: [rows, ...shape],
      dtype: "float32",
    });
    inputs.push({
      observation: { data: [...seen], shape: [rows, ...shape], dtype },
      ...(stateSize > 0 && {
        start: float32(new Array(rows).fill(isFirst ? 1 : 0)),
      }),
      // Its numbers are of no matter where an episode starts.
      ...(stateSize > 0 && isFirst && {
        state: float32(new Array(rows * stateSize).fill(7), stateSize),
      }),
      ...(noiseSize > 0 && { noise: float32(noise, noiseSize) }),
      ...(masks && {
        action_masks: {
          data: [...masks],
          shape: [rows, masks.length / rows],
          dtype: "uint8" as const,
        },
      }),
    });
    expected.push(subject.act(scaled(seen, scaling), { noise, masks, rows }));
  }
  const file = await Deno.makeTempFile({ suffix: ".onnx" });
  await Deno.writeFile(file, subject.file);
  subject.close();
  return { task: { file, inputs }, expected };
}

type Act = (task: Task) => Answer | Promise<Answer>;

/** Acts by the player, which needs no runtime. */
function play({ file, inputs }: Task): Answer {
  const player = new Player(Deno.readFileSync(file));
  let state: PlayerTensor | undefined;
  const actions = inputs.map((input) => {
    const tensors = Object.entries(input).map(([name, it]) => {
      const data = ARRAYS[it.dtype].from(it.data);
      return [name, { shape: it.shape, data }];
    });
    const results = player.run({ state, ...Object.fromEntries(tensors) });
    state = results.next_state;
    return Array.from(results.action.data);
  });
  return { actions };
}

async function compare(it: Case, act: Act): Promise<Answer> {
  const { task, expected } = await prepare(it);
  const answer = await act(task), actual = answer.actions;
  await Deno.remove(task.file);
  assertEquals(actual.length, expected.length);
  const wrong = expected.filter((row, i) => !agreed(actual[i], row));
  assertEquals(wrong.length, 0);
  // A policy that always does the same would prove little.
  assert(new Set(expected.map(String)).size > 1);
  return answer;
}

/** Checks what a file says of its inputs. */
function checkDescription(
  it: Case,
  { shapes, metadata }: Answer,
): void {
  for (const shape of Object.values(shapes!)) assertEquals(shape[0], "batch");
  const says = (key: string, part: string) =>
    assertStringIncludes(metadata![key], part);
  const { observation, noise, state, action_masks: masks } = shapes!;
  says("layout", observation.length === 4 ? "NHWC" : "NC");
  if (it.scaling) says("scaling", "within the file: (x - mean) / sqrt(");
  else says("scaling", observation.length === 4 ? "x / 255" : "none");
  says("noise", noise ? `${noise[1]} independent ` : "none");
  says("actions", noise ? "sampled by the input noise" : "likeliest");
  says("state", state ? `${state[1]} numbers: zeros at first` : "none");
  says("bounds", it.actionSpace.type === "box" ? "action space" : "none");
  assertEquals(JSON.parse(metadata!["action space"]), it.actionSpace);
  assertEquals(masks !== undefined, it.masked ?? false);
  if (masks) says("action masks", `${masks[1]} numbers: 1 where a choice`);
}

const deno = [Deno.execPath(), "run", "-A", "--no-config", `${HERE}act.ts`];

for (const [name, it] of Object.entries(CASES)) {
  Deno.test(`an exported policy acts alike in a fresh Deno process: ${name}`, async () => {
    await compare(it, (task) => actions(deno, task));
  });

  Deno.test(`an exported policy acts alike in the player: ${name}`, async () => {
    await compare(it, play);
  });

  Deno.test({
    name: `an exported policy acts alike in Python: ${name} [onnxruntime]`,
    ignore: python === undefined,
    fn: async () =>
      checkDescription(
        it,
        await compare(it, (task) => actions([python!, `${HERE}act.py`], task)),
      ),
  });
}
