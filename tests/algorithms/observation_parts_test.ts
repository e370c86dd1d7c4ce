/** Observations in parts: agents of every algorithm, in each of its forms. */
import { Agent, type AgentOptions, type AgentSpaces } from "@bellman/agent";
import { ALGORITHMS } from "@bellman/runs/settings";
import { paramsToArrays, RandomStream, selectBackend } from "@bellman/compute";
import { box, dict, ObservationNormalizer } from "@bellman/envs";
import { actorCritic, exportPolicy } from "@bellman/policies";
import type {
  Batch,
  BoxArray,
  StateArray,
  StateTree,
  Statistics,
  VecStep,
} from "@bellman/types";
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  FRAMES,
  MadeUpEnv,
  type Played,
} from "../../algorithms/agent/testdata/made_up_env.ts";
import { OnnxSession } from "../../compute/runtime/onnx_session.ts";
import { ALL_FORMS } from "./forms.ts";

await selectBackend("cpu");

const STEPS = 22;
const PARTS = dict({
  arm: box({ low: -1, high: 1, shape: [2] }),
  wheel: box({ low: -1, high: 1, shape: [] }),
});

/** Cuts rows of three numbers into parts. */
function inParts(rows: Batch): Batch {
  const all = Array.from(rows as Float32Array);
  return {
    arm: Float32Array.from(all.filter((_, i) => i % 3 < 2)),
    wheel: Float32Array.from(all.filter((_, i) => i % 3 === 2)),
  };
}

/** What an agent is asked and told. */
type Player = Pick<Agent, "act" | "observe" | "update">;

/** An agent for parts, which the made-up environments give whole. */
function readingParts(agent: Player): Player {
  return {
    act: (observations, masks) => agent.act(inParts(observations), masks),
    observe: (step: VecStep) =>
      agent.observe({
        ...step,
        observations: inParts(step.observations),
        finalObservations: inParts(step.finalObservations),
      }),
    update: (): Statistics | undefined => agent.update(),
  };
}

/** Forms that keep their observations in different ways. */
const KEPT = /, (discrete actions|lstm|two Q|box|.*several steps|.* in a file)/;

for (const { name, definition, spaces, config } of ALL_FORMS) {
  if (spaces === FRAMES || !KEPT.test(name)) continue;
  const madeFor = (spaces: AgentSpaces, options: AgentOptions = {}) =>
    new Agent(definition, spaces, {
      config,
      engine: "eager",
      totalTimesteps: 10_000,
      seed: 3,
      ...options,
    });
  const partSpaces = { ...spaces, observationSpace: PARTS };
  const play = (agent: Player, time = 0, steps = STEPS): Played =>
    new MadeUpEnv(spaces, time).play(agent, steps);

  Deno.test(`${name}: observations in parts are as good as whole ones`, () => {
    const whole = madeFor(spaces), parts = madeFor(partSpaces);
    const wanted = play(whole);
    assertEquals(play(readingParts(parts)), wanted);
    assertEquals(parts.params, whole.params);
    const again = madeFor(partSpaces, { seed: 99 });
    again.load(structuredClone(parts.save()));
    const going = play(whole, STEPS, 8);
    assertEquals(play(readingParts(again), STEPS, 8), going);
    for (const it of [whole, parts, again]) it.close();
  });

  if (definition.meta.hasReplay !== true) continue;
  Deno.test(`${name}: the scales of parts are those of whole observations`, () => {
    const [whole, parts] = [spaces, partSpaces].map((of) => {
      const observations = new ObservationNormalizer(of.observationSpace);
      return madeFor(of, { normalization: { observations } });
    });
    const wanted = play(whole);
    assertEquals(play(readingParts(parts)), wanted);
    assertEquals(parts.params, whole.params);
    for (const it of [whole, parts]) it.close();
  });
}

/** A picture and two numbers. */
const ROBOT = dict({
  camera: box({ low: 0, high: 255, shape: [36, 36, 1], dtype: "uint8" }),
  joints: box({ low: -1, high: 1, shape: [2] }),
});

/** What two robots see after so many steps. */
function robotsAt(time: number): Record<string, BoxArray> {
  return {
    camera: Uint8Array.from({ length: 2 * 36 * 36 }, (_, i) => i * time % 256),
    joints: Float32Array.from({ length: 4 }, (_, i) => Math.sin(time + i)),
  };
}

/** Numbers of all arrays of a state with a part's name in their paths, by type. */
function arraysOf(state: StateTree, part: string, path = ""): StateArray[] {
  if (ArrayBuffer.isView(state)) {
    return path.includes(part) ? [state as StateArray] : [];
  }
  return typeof state !== "object" || state === null ? [] : Object
    .entries(state).flatMap(([key, it]) =>
      arraysOf(it, part, `${path}/${key}`)
    );
}

const PICTURES: Readonly<Record<string, object>> = {
  a2c: { numSteps: 2 },
  acer: { numSteps: 2, bufferSize: 8, replayStart: 2, replayRatio: 1 },
  acktr: { numSteps: 2 },
  ppo: { numSteps: 2, minibatches: 2, epochs: 1 },
  sac: { bufferSize: 8, learningStarts: 2, batchSize: 2 },
};

for (const [name, config] of Object.entries(PICTURES)) {
  Deno.test(`${name}: pictures of a robot stay bytes, and each part has its network`, () => {
    const definition = ALGORITHMS.find((it) => it.meta.name === name)!;
    const agent = new Agent(definition, {
      observationSpace: ROBOT,
      actionSpace: { type: "discrete", n: 2 },
      numEnvs: 2,
    }, { config: { hiddenSizes: [8], ...config }, engine: "onnx", seed: 1 });
    const before = agent.params;
    assert(
      Object.keys(before).some((it) => it.includes("parts/camera/conv0")),
      Object.keys(before).join(" "),
    );
    let updates = 0;
    for (let time = 0; time < 4; time++) {
      agent.act(robotsAt(time));
      agent.observe({
        observations: robotsAt(time + 1),
        finalObservations: robotsAt(time + 0.5),
        rewards: Float64Array.of(time, 1),
        terminated: Uint8Array.of(time === 1 ? 1 : 0, 0),
        truncated: Uint8Array.of(0, time === 1 ? 1 : 0),
      });
      const statistics = agent.update();
      if (statistics === undefined) continue;
      updates++;
      for (const [key, it] of Object.entries(statistics)) {
        assert(Number.isFinite(it), key);
      }
    }
    assert(updates > 0);
    for (const path of ["camera/conv0/kernel", "joints"]) {
      const found = Object.keys(before).find((it) => it.includes(path));
      if (found === undefined) continue;
      assertNotEquals(agent.params[found].data, before[found].data);
    }
    const { experience } = agent.save() as Record<string, StateTree>;
    const pictures = arraysOf(experience, "camera");
    assert(pictures.length > 0);
    for (const it of pictures) assert(it instanceof Uint8Array);
    agent.close();
  });
}

Deno.test("an exported policy takes each part by its name, scaled within the file", async () => {
  const observationSpace = dict({
    camera: box({ low: 0, high: 255, shape: [4, 4, 1], dtype: "uint8" }),
    goal: { type: "discrete", n: 3 },
    joints: box({ low: -1, high: 1, shape: [2] }),
  });
  const actionSpace = { type: "discrete", n: 3 } as const;
  const policy = actorCritic({
    observationSpace,
    actionSpace,
    network: "parts",
    networkOptions: { partNetworks: { camera: "conv_only", joints: "mlp" } },
  });
  const params = policy.init(new RandomStream(2));
  const file = exportPolicy(policy, {
    params: paramsToArrays(params),
    actionSpace,
    batchSize: 2,
    scaling: { parts: ["joints"], mean: [1, 2], variance: [4, 9] },
  });
  const given = {
    camera: Uint8Array.from({ length: 32 }, (_, i) => 8 * i),
    goal: Int32Array.of(2, 0),
    joints: Float32Array.of(3, -1, 0, 5),
  };
  const normalizer = new ObservationNormalizer(observationSpace);
  normalizer.statistics.mean.set([1, 2]);
  normalizer.statistics.variance.set([4, 9]);
  const scaled = structuredClone(given);
  normalizer.apply(given, scaled);
  const output = policy.apply(params, policy.observationTensor(scaled, 2));
  const actions = new Int32Array(2);
  const type = (data: BoxArray, ...shape: number[]) => ({
    data,
    shape: [2, ...shape],
    dtype: data instanceof Uint8Array
      ? "uint8"
      : data instanceof Int32Array
      ? "int32"
      : "float32",
  } as const);
  const session = new OnnxSession(file, { threads: 1 });
  const binding = session.bind([
    { name: "observation.camera", ...type(given.camera, 4, 4, 1) },
    { name: "observation.goal", ...type(given.goal, 1) },
    { name: "observation.joints", ...type(given.joints, 2) },
  ] as never, [{ name: "action", ...type(actions) }] as never);
  binding.run();
  assertEquals([...actions], [...await policy.mode(output).data()]);
  binding.close();
  const text = new TextDecoder("latin1").decode(file);
  assertStringIncludes(text, "camera: NHWC; goal: NC; joints: NC");
  assertStringIncludes(text, "camera: within the file: x / 255; goal: none");
  assertThrows(
    () =>
      exportPolicy(policy, {
        params: paramsToArrays(params),
        actionSpace,
        scaling: { parts: ["joints"], mean: [1], variance: [4] },
      }),
    RangeError,
    "Cannot scale observations of 2 numbers by 1 means and 1 variances",
  );
});
