/** Resets of the environments that an agent is told of, in every form of every algorithm. */
import type { ReplayBuffer } from "@bellman/buffers";
import { selectBackend } from "@bellman/compute";
import { DQN } from "@bellman/dqn";
import { box, discrete, Env, FrameStack, SyncVecEnv } from "@bellman/envs";
import { evaluate, train } from "@bellman/training";
import type { VecStep } from "@bellman/types";
import { assertAlmostEquals, assertEquals } from "@std/assert";
import {
  FRAMES,
  MadeUpEnv,
} from "../../algorithms/agent/testdata/made_up_env.ts";
import { agentOf, ALL_FORMS, type Form, STEPS } from "./forms.ts";

await selectBackend("cpu");

/** Steps after a reset. */
const AFTER = 14;

/**
 * Plays, and ends all episodes: by a step that truncates them, or
 * by a reset that the agent is told of, perhaps after a restart from a save.
 */
function played(
  form: Form,
  by: "step" | "reset" | "restart",
) {
  const options = {
    // Images take long on the cpu backend.
    engine: form.spaces === FRAMES ? "onnx" : "eager",
    onNotice: () => {},
  } as const;
  let agent = agentOf(form, options);
  const env = new MadeUpEnv(form.spaces), { numEnvs } = form.spaces;
  env.play(agent, STEPS);
  const step = env.step(agent.act(env.observations, env.actionMasks));
  const last = env.observations, lastMasks = env.actionMasks;
  const isStep = by === "step";
  if (isStep) env.time = 0;
  const taken: VecStep = {
    ...step,
    observations: env.observations,
    actionMasks: env.actionMasks,
    finalObservations: last,
    finalActionMasks: lastMasks,
    terminated: new Uint8Array(numEnvs),
    truncated: new Uint8Array(numEnvs).fill(+isStep),
  };
  agent.observe(taken);
  agent.update();
  if (by === "restart") {
    const state = structuredClone(agent.save());
    agent.close();
    agent = agentOf(form, { ...options, seed: 99 });
    agent.load(state);
  }
  env.time = 0;
  if (!isStep) {
    agent.endEpisodes();
    agent.endEpisodes();
  }
  const after = env.play(agent, AFTER);
  const { params } = agent;
  agent.close();
  return { ...after, params };
}

/** Forms that collect their steps in every way that there is. */
const NAMES = [
  "a2c, lstm",
  "a2c, separate objectives",
  "a3c, several masked actions, lstm",
  "acer, masked actions from 5, lstm",
  "acer, more cuts than rows for them",
  "async-sarsa, discrete actions",
  "dqn, everything",
  "dqn, frames that are shared",
  "sac, discrete actions",
  "td3, noise that is a walk",
];

const forms = ALL_FORMS.filter(({ name }) => NAMES.includes(name));
assertEquals(forms.length, NAMES.length);

for (const form of forms) {
  Deno.test(`${form.name}: a reset that it is told of is a truncation`, () => {
    const [wanted, told, restarted] = (["step", "reset", "restart"] as const)
      .map((by) => played(form, by));
    assertEquals(restarted, told);
    assertEquals(told.actions, wanted.actions);
    for (const path in wanted.params) {
      const { data } = told.params[path];
      wanted.params[path].data.forEach((it, i) =>
        assertAlmostEquals(data[i], it, 1e-5, path)
      );
    }
  });
}

/** Counts up from 0, without an end. */
class Count extends Env {
  readonly observationSpace = box({ low: 0, high: 1e6, shape: [1] });
  readonly actionSpace = discrete(2);
  #at = 0;

  reset(options?: { seed?: number }) {
    this.seed(options);
    return Float32Array.of(this.#at = 0);
  }

  step() {
    const observation = Float32Array.of(++this.#at);
    return { observation, reward: 1, terminated: false, truncated: false };
  }

  override save() {
    return { at: this.#at };
  }
}

/** Steps of agents that are reset in every way: as many as there are resets. */
async function resetInEveryWay(
  { nSteps, frames, numEnvs }: Record<"nSteps" | "frames" | "numEnvs", number>,
) {
  const makeEnv = () => {
    const counts = Array.from({ length: numEnvs }, () => () => new Count());
    const env = new SyncVecEnv(counts);
    return frames > 1 ? new FrameStack(env, { size: frames }) : env;
  };
  const agentFor = (seed: number) =>
    new DQN(env, {
      seed,
      engine: "eager",
      config: { nSteps, hiddenSizes: [4], batchSize: 4, learningStarts: 8 },
    });
  const env = makeEnv(), first = agentFor(1), second = agentFor(2);
  const stop = ({ step }: { step: number }) =>
    step >= 7 * numEnvs ? "stop" as const : undefined;
  const totalTimesteps = 11 * numEnvs;
  const evaluation = { env: makeEnv(), everyTimesteps: 5, maxSteps: 3 };
  const options = { totalTimesteps, evaluation, onWarning: () => {} };
  await train(first, env, { ...options, callbacks: [{ onStep: stop }] });
  await train(first, env, options);
  await evaluate(first.policy(), env, { episodes: 1, maxSteps: 3 });
  let observations = env.reset();
  for (let i = 0; i < 5; i++) {
    const step = env.step(first.act(observations));
    first.observe(step);
    first.update();
    observations = step.observations;
  }
  first.act(observations); // and no step follows
  first.endEpisodes();
  second.load(structuredClone(first.save()));
  await train(second, env, options);
  const buffer = second.memory.store!.buffer as ReplayBuffer;
  first.close();
  second.close();
  return { batch: buffer.gather(buffer.slots()), resets: 4 };
}

Deno.test("each row of replay leads to the number that follows, however often the environments are reset", async () => {
  const kinds = [[1, 1, 2], [3, 1, 1], [1, 3, 1], [3, 3, 2]];
  for (const [nSteps, frames, numEnvs] of kinds) {
    const { batch, resets } = await resetInEveryWay({
      nSteps,
      frames,
      numEnvs,
    });
    const { slots, observations, nextObservations, rewards, discounts } =
      batch as Record<string, Float32Array>;
    const flags = batch as Record<string, Uint8Array>;
    assertEquals(slots.length, (7 + 11 + 5 + 11) * numEnvs);
    assertEquals(flags.terminated.some((it) => it > 0), false);
    const cut = flags.truncated.reduce((sum, it) => sum + it, 0);
    assertEquals(cut, nSteps * resets * numEnvs);
    for (let row = 0; row < slots.length; row++) {
      const length = nSteps === 1
        ? 1
        : Math.round(Math.log(discounts[row]) / Math.log(0.99));
      assertAlmostEquals(rewards[row], (1 - 0.99 ** length) / 0.01, 1e-5);
      const stack = (
        of: Float32Array,
      ) => [...of.slice(row * frames, (row + 1) * frames)];
      const newest = stack(observations).at(-1)!;
      const upTo = (last: number) =>
        Array.from(
          { length: frames },
          (_, i) => Math.max(0, last - frames + 1 + i),
        );
      assertEquals(stack(observations), upTo(newest));
      assertEquals(stack(nextObservations), upTo(newest + length));
    }
  }
});
