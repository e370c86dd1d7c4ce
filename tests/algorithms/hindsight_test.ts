/** Hindsight: agents of every algorithm with a replay buffer, in environments with goals. */
import { Agent, type AgentOptions, type Arrays } from "@bellman/agent";
import { ALGORITHMS } from "@bellman/runs/settings";
import { selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import type {
  ObservationInputArrays,
  ObservationScale,
} from "@bellman/policies";
import type { BoxArray, Space, Statistics, VecEnv } from "@bellman/types";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { assertRefused } from "../testdata/refused.ts";

await selectBackend("cpu");

/** Environments by algorithm: bits that end at the goal, and a point that goes on. */
const ENVS = {
  dqn: "BitFlip-v0",
  sac: "Reach-v0",
  td3: "Reach-v0",
} as const;
type Name = keyof typeof ENVS;

const HINDSIGHT = { strategy: "future", k: 4 } as const;

function agentOf(
  name: Name,
  env: VecEnv,
  { config, ...options }: AgentOptions = {},
): Agent {
  return new Agent(ALGORITHMS.find((it) => it.meta.name === name)!, env, {
    seed: 3,
    totalTimesteps: 1_000,
    engine: "eager",
    ...options,
    config: {
      hiddenSizes: [8],
      bufferSize: 200,
      batchSize: 32,
      learningStarts: 60,
      hindsight: HINDSIGHT,
      ...config,
    },
  });
}

/** Environments of 6-step episodes, so that a buffer also holds unfinished ones. */
const envOf = (name: Name, maxEpisodeSteps = 6): VecEnv =>
  makeVec(ENVS[name], { numEnvs: 2, maxEpisodeSteps });

type Goals = Record<string, BoxArray>;

/** Plays, and returns statistics of the updates. */
function play(
  agent: Agent,
  env: VecEnv,
  steps: number,
  seen: (now: Goals, next: Goals) => void = () => {},
): Statistics[] {
  const updates: Statistics[] = [];
  for (let i = 0; i < steps; i++) {
    const now = structuredClone(env.observations()) as Goals;
    const step = env.step(agent.act(now));
    const next = structuredClone(step.observations) as Goals;
    for (let row = 0; row < 2; row++) {
      if ((step.terminated[row] | step.truncated[row]) === 0) continue;
      for (const [part, rows] of Object.entries(step.finalObservations)) {
        const size = rows.length / 2, from = row * size;
        next[part].set(rows.subarray(from, from + size) as never, from);
      }
    }
    seen(now, next);
    agent.observe(step);
    const statistics = agent.update();
    if (statistics !== undefined) updates.push(statistics);
  }
  return updates;
}

/** A scale that doubles each number and adds 1. */
const doubling = (space: Space): ObservationScale => ({
  space,
  scaling: {},
  see() {},
  apply(batch: ObservationInputArrays, target: ObservationInputArrays) {
    for (const [part, scaled] of Object.entries(target)) {
      const given = (batch as Goals)[part];
      scaled.forEach((_: number, i: number) => scaled[i] = 2 * given[i] + 1);
    }
  },
  save: () => [],
  load() {},
} as unknown as ObservationScale);

/** Names parts of observations: `observations.desired_goal`. */
const byPart = (name: string, parts: Arrays): Arrays =>
  Object.fromEntries(
    Object.entries(parts).map(([part, array]) => [`${name}.${part}`, array]),
  );

/** Calls a function with each drawn batch, whose parts are arrays by name. */
function onDraw(agent: Agent, check: (drawn: Arrays) => void): void {
  const { memory } = agent, sample = memory.sample.bind(memory);
  memory.sample = (...given) => {
    const drawn = sample(...given);
    const { observations, nextObservations, ...others } = drawn.batch;
    check({
      ...others as Arrays,
      ...byPart("observations", observations as Arrays),
      ...byPart("nextObservations", nextObservations as Arrays),
    });
    return drawn;
  };
}

const rowOf = (rows: ArrayLike<number>, row: number, size: number) =>
  Array.from({ length: size }, (_, i) => rows[row * size + i]);

/** Points of Reach-v0 in the order in which each environment reached them. */
class Paths {
  /** Step at which a point was left, by its numbers and environment. */
  readonly #steps = new Map<string, { env: number; time: number }>();
  /** By environment: goal and next point of each step. */
  readonly #paths: { desired: number[]; next: number[]; episode: number }[][] =
    [[], []];

  see(now: Goals, next: Goals): void {
    for (const env of [0, 1]) {
      const path = this.#paths[env], time = path.length;
      const of = (goals: Goals, part: string) => rowOf(goals[part], env, 2);
      this.#steps.set(`${of(now, "observation")}`, { env, time });
      path.push({
        desired: of(now, "desired_goal"),
        next: of(next, "achieved_goal"),
        episode: Math.floor(time / 6),
      });
    }
  }

  /** Describes a drawn row; throws where its goal is none that may stand in. */
  judge(point: number[], next: number[], desired: number[]) {
    const { env, time } = this.#steps.get(`${point}`)!;
    const path = this.#paths[env], step = path[time];
    assertEquals(next, step.next);
    const isOther = `${desired}` !== `${step.desired}`;
    const later = path.slice(time)
      .filter((it) => it.episode === step.episode)
      .map((it) => `${it.next}`);
    if (isOther) assert(later.includes(`${desired}`), `${desired}`);
    // The last step that was seen may be stored, but not drawn from yet.
    const isUnfinished = step.episode === path.at(-1)!.episode &&
      path.length % 6 !== 0;
    return { isOther, isUnfinished };
  }
}

for (const isScaled of [false, true]) {
  Deno.test(`rewards follow goals that their episodes reached later, of ${isScaled ? "scaled" : "given"} observations`, () => {
    const env = envOf("sac"), paths = new Paths();
    const scale = (it: number) => isScaled ? Math.fround(2 * it + 1) : it;
    const agent = agentOf("sac", env, {
      normalization: isScaled
        ? { observations: doubling(env.observationSpace) }
        : {},
    });
    let rows = 0, others = 0, unfinished = 0, reached = 0;
    const points = new Map<string, number[]>();
    onDraw(agent, (drawn) => {
      const given = (name: string, row: number) => {
        const key = `${rowOf(drawn[name], row, 2)}`;
        assert(points.has(key), `${name} ${key}`);
        return points.get(key)!;
      };
      for (let row = 0; row < 32; row++) {
        const desired = given("observations.desired_goal", row);
        assertEquals(given("nextObservations.desired_goal", row), desired);
        const next = given("nextObservations.achieved_goal", row);
        const { isOther, isUnfinished } = paths.judge(
          given("observations.observation", row),
          next,
          desired,
        );
        const distance = Math.hypot(
          next[0] - desired[0],
          next[1] - desired[1],
        );
        assertEquals(drawn.rewards[row], distance <= 0.1 ? 0 : -1);
        assertEquals(drawn.terminated[row], 0);
        rows++;
        others += Number(isOther);
        unfinished += Number(isOther && isUnfinished);
        reached += Number(distance <= 0.1);
      }
    });
    env.reset({ seed: 5 });
    const updates = play(agent, env, 80, (now, next) => {
      paths.see(now, next);
      for (const goals of [now, next]) {
        for (const part of Object.values(goals)) {
          for (const row of [0, 1]) {
            const numbers = rowOf(part, row, 2);
            points.set(`${numbers.map(scale)}`, numbers);
          }
        }
      }
    });
    assert(updates.length > 20);
    assertAlmostEquals(others / rows, 0.8, 0.05);
    assert(unfinished > 20);
    assert(reached > 100);
    agent.close();
  });
}

Deno.test("episodes that reach another goal end there, though they went on", () => {
  const env = envOf("dqn"), agent = agentOf("dqn", env);
  let reached = 0;
  onDraw(agent, (drawn) => {
    for (let row = 0; row < 32; row++) {
      const [achieved, desired] = ["achieved", "desired"].map((it) =>
        rowOf(drawn[`nextObservations.${it}_goal`], row, 15)
      );
      const isReached = `${achieved}` === `${desired}`;
      assertEquals(drawn.rewards[row], isReached ? 0 : -1);
      assertEquals(drawn.terminated[row], Number(isReached));
      reached += Number(isReached);
    }
  });
  env.reset({ seed: 5 });
  play(agent, env, 60);
  assert(reached > 100);
  agent.close();
});

Deno.test("with bootstrapTruncated: false a time limit ends rows of any goal", () => {
  // Each episode has one step: the limit cuts all, but for goals reached by chance.
  const env = envOf("dqn", 1);
  const agent = agentOf("dqn", env, { config: { bootstrapTruncated: false } });
  let rows = 0;
  onDraw(agent, ({ terminated }) => {
    assertEquals([...terminated], new Array(32).fill(1));
    rows += terminated.length;
  });
  env.reset({ seed: 5 });
  play(agent, env, 40);
  assert(rows > 0);
  agent.close();
});

for (const name of Object.keys(ENVS) as Name[]) {
  Deno.test(`${name}, hindsight: what was saved goes on bit for bit`, () => {
    const env = envOf(name), engine = "onnx";
    const first = agentOf(name, env, { engine });
    env.reset({ seed: 2 });
    const before = play(first, env, 45);
    const state = structuredClone([first.save(), env.save()]);
    const going = play(first, env, 20);
    assert(before.length > 0 && going.length >= 20);

    const other = envOf(name);
    const second = agentOf(name, other, { engine, seed: 99 });
    other.reset({ seed: 1 });
    play(second, other, 40);
    second.load(state[0]);
    other.load(state[1]);
    assertEquals(play(second, other, 20), going);
    assertEquals(second.save(), first.save());
    [first, second].forEach((it) => it.close());
  });
}

Deno.test("hindsight is refused where no other goal can stand in", () => {
  const env = envOf("sac"), none = makeVec("Pendulum-v1", { numEnvs: 1 });
  assertRefused({
    "TypeError: Cannot run SAC with hindsight and nSteps: 3: expected nSteps: 1":
      () => agentOf("sac", env, { config: { nSteps: 3 } as object }),
    "TypeError: Cannot run TD3 with hindsight and replay: rank: expected replay: uniform":
      () => agentOf("td3", env, { config: { replay: "rank" } as object }),
    "TypeError: Cannot run SAC with hindsight and an environment without goals: expected observations with observation, achieved_goal, desired_goal, and the environment's computeReward":
      () => agentOf("sac", none),
    'RangeError: Cannot run SAC with hindsight = {"k":-1}: expected a mapping':
      () => agentOf("sac", env, { config: { hindsight: { k: -1 } } as object }),
    "RangeError: expected a mapping with strategy: future, final": () =>
      agentOf("sac", env, {
        config: { hindsight: { strategy: "futur" } } as object,
      }),
  });
});
