/** Resets of the environments that an agent is told of, in every form of every algorithm. */
import { selectBackend } from "@bellman/compute";
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
