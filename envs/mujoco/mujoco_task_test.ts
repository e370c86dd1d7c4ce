import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import { checkEnv } from "../check_env.ts";
import { SeededRandom } from "../random.ts";
import { type EnvRegistry, make, makeVec } from "../registry/registry.ts";
import { SubprocessVecEnv, WorkerVecEnv } from "../workers/mod.ts";
import { findLibrary } from "./install/installed.ts";
import {
  isMujocoInstalled,
  MujocoEnv,
  type MujocoModel,
  type MujocoOptionsOf,
  type MujocoState,
  mujocoTask,
  type MujocoTaskName,
  MujocoVecEnv,
  registerMujoco,
} from "./mod.ts";
import { actionCost } from "./tasks/_numpy_sums.ts";
import { SLIDER } from "./testdata/slider.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";
import { testsWith } from "../../tests/testdata/tests_with.ts";

const ignore = !isMujocoInstalled();

const test = testsWith("MuJoCo", !ignore);

/** Gymnasium's HalfCheetah as anybody can write it. */
const CHEETAH = mujocoTask({
  name: "OwnCheetah",
  xml: "half_cheetah.xml",
  frameSkip: 5,
  resetNoiseScale: 0.1,
  velocityNoise: "normal",
  options: { forwardRewardWeight: 1, ctrlCostWeight: 0.1 },
  place: ({ qpos }) => [qpos[0]],
  observe: ({ qpos, qvel }) => [qpos.subarray(1), qvel],
  reward: (_, { action, velocity, options }) => ({
    reward_forward: options.forwardRewardWeight * velocity[0],
    reward_ctrl: -actionCost(options.ctrlCostWeight, action),
  }),
  info: ({ qpos }, { velocity }) => ({
    x_position: qpos[0],
    x_velocity: velocity[0],
  }),
});

/** Gymnasium's Ant likewise, whose speed trails and whose contacts cost. */
const ANT = mujocoTask({
  name: "OwnAnt",
  xml: "ant.xml",
  frameSkip: 5,
  resetNoiseScale: 0.1,
  velocityNoise: "normal",
  usesContactForces: () => true,
  place({ xpos }, { model }) {
    const torso = 3 * model.idOf("body", "torso");
    return [xpos[torso], xpos[torso + 1]];
  },
  observe: ({ qpos, qvel, cfrcExt }) => [
    qpos.subarray(2),
    qvel,
    cfrcExt.subarray(6).map((it) => Math.min(Math.max(it, -1), 1)),
  ],
  isTerminated: ({ qpos }) => qpos[2] < 0.2 || qpos[2] > 1,
  reward(state, { action, velocity, terminated }) {
    let force = 0;
    for (const it of state.cfrcExt) force += Math.min(Math.max(it, -1), 1) ** 2;
    return {
      reward_forward: velocity[0],
      reward_survive: terminated ? 0 : 1,
      reward_ctrl: -actionCost(0.5, action),
      reward_contact: -0.0005 * force,
    };
  },
});

test("HalfCheetah on the base has the built-in one's numbers, bit for bit", () => {
  for (const options of [{}, { ctrlCostWeight: 0.3, frameSkip: 3 }]) {
    const own = new MujocoEnv(CHEETAH, options);
    const known = new MujocoEnv("HalfCheetah", options);
    assertEquals(own.reset({ seed: 3 }), known.reset({ seed: 3 }));
    const random = new SeededRandom(1);
    for (let t = 0; t < 300; t++) {
      const action = new Float32Array(6).map(() => random.uniform(-1, 1));
      assertEquals(own.step(action), known.step(action));
    }
    own.close();
    known.close();
  }
});

test("Ant on the base has the built-in one's numbers", () => {
  const own = new MujocoEnv(ANT), known = new MujocoEnv("Ant");
  assertEquals(own.reset({ seed: 3 }), known.reset({ seed: 3 }));
  const random = new SeededRandom(1);
  for (let t = 0; t < 100; t++) {
    const action = new Float32Array(8).map(() => random.uniform(-1, 1));
    const [a, b] = [own.step(action), known.step(action)];
    assertEquals([a.observation, a.terminated], [b.observation, b.terminated]);
    assertAlmostEquals(a.reward, b.reward, 1e-12);
    if (a.terminated) assertEquals(own.reset(), known.reset());
  }
  own.close();
  known.close();
});

test("a task of one's own keeps an environment's promises", () => {
  const env = new MujocoEnv(SLIDER, { width: 30, height: 20 });
  checkEnv(env, { steps: 60 });
  assertEquals(env.observationSpace.shape, [4]);
  assertEquals(env.dt, 0.02);
  env.reset({ seed: 1 });
  const { info, reward } = env.step(Float32Array.of(0.5));
  assertEquals(info!.cost, -0.025);
  assertEquals(reward, (info!.distance as number) - 0.025);
  env.close();
});

test("copies have the numbers of single ones, and go on from snapshots", () => {
  const options = { numEnvs: 2, maxEpisodeSteps: 20, kwargs: { goal: 2 } };
  const together = new MujocoVecEnv(SLIDER, options);
  const singles = [5, 6].map(() => new MujocoEnv(SLIDER, options.kwargs));
  const first = together.reset({ seed: [5, 6] }) as Float64Array;
  assertEquals(
    [...first],
    singles.flatMap((it, i) => [...it.reset({ seed: 5 + i })]),
  );
  const actions = Float32Array.of(0.3, -1);
  for (let t = 0; t < 10; t++) {
    const { rewards } = together.step(actions);
    const alone = singles.map((it, i) => it.step(actions.slice(i, i + 1)));
    assertEquals([...rewards], alone.map((it) => it.reward));
  }
  const snapshot = together.save();
  const other = new MujocoVecEnv(SLIDER, options);
  other.load(snapshot);
  assertEquals(other.step(actions).rewards, together.step(actions).rewards);
  for (const it of [together, other, ...singles]) it.close();
});

test("a registered task is made by name, with its options and its limit", () => {
  const registry: EnvRegistry = new Map();
  const spec = { id: "Slider-v7", maxEpisodeSteps: 5, rewardThreshold: 1 };
  registerMujoco(SLIDER, spec, { registry });
  const env = make("Slider-v7", { registry, kwargs: { goal: 3 } });
  assertEquals(env.spec, spec);
  env.reset({ seed: 0 });
  const ends = Array.from({ length: 5 }, () => env.step(new Float32Array(1)));
  assertEquals(ends.map((it) => it.truncated).indexOf(true), 4);
  env.close();
  assertRefused({
    "TypeError: Unknown option 'gaol' of Slider: did you mean 'goal'?": () =>
      make("Slider-v7", { registry, kwargs: { gaol: 3 } }),
    'TypeError: Cannot make Slider with goal "far": expected a finite number':
      () => make("Slider-v7", { registry, kwargs: { goal: "far" } }),
  });
});

test("workers and processes have the numbers of this thread", () => {
  const module = import.meta.resolve("./testdata/slider.ts");
  const source = { id: "Slider-v0", imports: [module] };
  const here = makeVec("Slider-v0", { numEnvs: 2 });
  here.reset({ seed: 4 });
  const actions = Float32Array.of(1, -0.5);
  const expected = here.step(actions).rewards.slice();
  here.close();
  for (const Hosted of [WorkerVecEnv, SubprocessVecEnv]) {
    const env = new Hosted(source, { numEnvs: 2 });
    env.reset({ seed: 4 });
    assertEquals(env.step(actions).rewards, expected);
    env.close();
  }
});

test("a model is a file, a URL or text", async () => {
  const path = await Deno.makeTempFile({ suffix: ".xml" });
  await Deno.writeTextFile(path, SLIDER.xml as string);
  const actions = Float32Array.of(1);
  const rewards = [SLIDER.xml, path, new URL(`file://${path}`)].map((xml) => {
    const env = new MujocoEnv(mujocoTask({ ...SLIDER, xml }));
    env.reset({ seed: 0 });
    const { reward } = env.step(actions);
    env.close();
    return reward;
  });
  await Deno.remove(path);
  assertEquals(new Set(rewards).size, 1);
});

Deno.test("both engines find the same things by their names [MuJoCo]", {
  ignore: ignore || findLibrary() === undefined,
}, async () => {
  await import("./wasm.ts");
  const found = (["native", "wasm"] as const).map((engine) => {
    const ids: number[] = [];
    const task = mujocoTask({
      ...SLIDER,
      observe({ sensordata }, { model }) {
        ids.push(
          model.idOf("body", "ball"),
          model.idOf("joint", "slide"),
          model.idOf("geom", "ball"),
          model.idOf("site", "middle"),
          model.idOf("camera", "side"),
          model.idOf("tendon", "line"),
          model.idOf("actuator", "motor"),
          model.idOf("sensor", "speed"),
        );
        return [sensordata];
      },
    });
    const env = new MujocoEnv(task, { engine });
    assertEquals(env.observationSpace.shape, [1]);
    env.reset({ seed: 0 });
    const { observation } = env.step(Float32Array.of(1));
    // Sensors trail by a step of the engine.
    assertAlmostEquals(env.qvel[0] - observation[0], 0.01, 1e-12);
    env.close();
    return ids.slice(0, 8);
  });
  assert(found[0].every((id) => id >= 0));
  assertEquals(found[0], found[1]);
});

/** What making and stepping a changed slider throws: one line. */
function refusal(
  change: object,
  options: MujocoOptionsOf<typeof SLIDER> = {},
): string {
  const { message } = assertThrows(() => {
    const env = new MujocoEnv(mujocoTask({ ...SLIDER, ...change }), options);
    try {
      env.reset({ seed: 0 });
      env.step(new Float32Array(1));
    } finally {
      env.close();
    }
  }, Error);
  assertEquals(message.split("\n").length, 1, message);
  return message;
}

test("a model that cannot be used is told in one line", async () => {
  await import("./wasm.ts");
  const engines = findLibrary() === undefined
    ? ["wasm"] as const
    : ["native", "wasm"] as const;
  for (const engine of engines) {
    const broken = refusal({ xml: "<mujoco>\n<worldbdy/></mujoco>" }, {
      engine,
    });
    assert(broken.startsWith("Cannot load the model of Slider: "), broken);
    assert(broken.includes("worldbdy"), broken);
    assert(broken.includes("line 2"), broken);
  }
  const none = "/none/slider.xml";
  assertEquals(refusal({ xml: none }), `Cannot find the model '${none}'`);
  const body = `<body><joint name="j" type="slide"/><geom size="1"/></body>`;
  const still = `<mujoco><worldbody>${body}</worldbody></mujoco>`;
  assertEquals(
    refusal({ xml: still, observe: undefined }),
    "Cannot make Slider of a model without actuators",
  );
  const free = still.replace(
    "</mujoco>",
    `<actuator><motor joint="j"/></actuator></mujoco>`,
  );
  assertEquals(
    refusal({ xml: free, observe: undefined }),
    `Cannot make Slider of a model whose actuator 0 has no range: expected one, such as ctrlrange="-1 1"`,
  );
});

test("functions that return what cannot be are told in one line", () => {
  const lost = (_: MujocoState, { model }: { model: MujocoModel }) => [
    model.idOf("body", "bal"),
  ];
  let calls = 0;
  const reward = "Cannot use the reward of Slider: it is ";
  for (
    const [value, shown] of [
      [NaN, "NaN"],
      [null, "null"],
      [undefined, "undefined"],
      [{ a: 1, b: NaN }, "NaN"],
    ]
  ) {
    const says = `${reward}${shown}, expected a finite number`;
    assertEquals(refusal({ reward: () => value }), says);
  }
  const cases: Record<string, object> = {
    "Cannot use terminated of Slider: it is 1, expected true or false": {
      isTerminated: () => 1,
    },
    "Cannot use observation[0] of Slider: it is NaN, expected a finite number":
      { observe: () => [NaN] },
    "Cannot use the observation of Slider: it is of 3 numbers, expected 2, as at first":
      { observe: () => Array(calls++ === 0 ? 2 : 3).fill(0) },
    "Cannot make Slider of a model without a body named 'bal'": {
      observe: lost,
    },
    "Cannot make a task on MuJoCo with this name: expected a text": {
      name: "",
    },
    "Cannot make a task on MuJoCo with this xml: expected a model's text, file or URL":
      { xml: 3 },
    "Cannot make a task on MuJoCo with this reward: expected a function": {
      reward: 1,
    },
  };
  for (const [says, change] of Object.entries(cases)) {
    assertEquals(refusal(change), says);
  }
});

test("built-in kinds can be registered with other limits", () => {
  const registry: EnvRegistry = new Map();
  const kind: MujocoTaskName = "InvertedPendulum";
  registerMujoco(kind, { id: "Short-v0", maxEpisodeSteps: 2 }, { registry });
  const env = makeVec("Short-v0", { registry, numEnvs: 1 });
  env.reset({ seed: 0 });
  env.step(new Float32Array(1));
  assertEquals([...env.step(new Float32Array(1)).truncated], [1]);
  env.close();
});
