/** The effect of each setting on the numbers that a small run logs. */
import type { Agent, PropertySchema } from "@bellman/agent";
import { assert, assertEquals } from "@std/assert";
import { MadeUpEnv } from "../../algorithms/agent/testdata/made_up_env.ts";
import { agentOf, ALL_FORMS, type Form } from "./forms.ts";

/** Settings that no number of a run shows, and what does. */
export const UNLOGGED: Readonly<Record<string, string>> = {
  replayStorage: "the numbers are the same by design",
  saveReplay: "checkpoints have the rows or not",
  workerOrder: "one agent has no other workers",
  stepsPerStop: "one agent has no other workers",
  localWorkers: "they are for clusters",
};

/** Settings of small sizes that few of the usual values change. */
const FURTHER: Readonly<Record<string, readonly unknown[]>> = {
  hiddenSizes: [[5]],
  partNetworks: [{ a: "mlp" }],
  finalEpsilonProbabilities: [[0, 0, 1], [0, 1, 0]],
  finalEpsilons: [[1, 0.9, 0.8]],
  valueRange: [[-9, 9]],
  importanceClip: [0.01],
  clipRange: [1e-4],
  clipRangeValue: [1e-4],
  maxGradNorm: [1e-3],
  targetKl: [1e-9],
};

/** Settings with which others soon have an effect. */
const SENSITIVE: Readonly<Record<string, object>> = {
  acer: { importanceClip: 0.1 },
  acktr: { valueNetwork: "separate" },
  dqn: { learningRate: 0.3 },
  ppo: { clipRange: 0.01, learningRate: 0.05 },
};

/** Lists other values of a setting. */
function othersOf(
  key: string,
  property: PropertySchema,
  value: unknown,
): unknown[] {
  const types = [property.type].flat();
  const size = typeof value === "number" && value !== 0 ? value : 1;
  const numbers = [size / 2, 2 * size, 1, 2, 3, 4, 8, 12, 24, 40, 0, -1]
    .map((it) =>
      types.includes("integer") || property.multipleOf ? Math.round(it) : it
    );
  const all = [
    ...FURTHER[key] ?? [],
    // Of numbers in a row, auto is mlp.
    ...property.enum?.filter((it) => it !== "auto" && it !== "mlp") ?? [],
    ...types.includes("boolean") ? [true, false] : [],
    ...types.some((it) => it === "number" || it === "integer") ? numbers : [],
    ...types.includes("null") ? [null] : [],
  ];
  const texts = new Set([JSON.stringify(value)]);
  return all.filter((it) => {
    const text = JSON.stringify(it), isNew = !texts.has(text);
    texts.add(text);
    return isNew;
  });
}

/** Makes an agent; `undefined` where its settings are refused. */
function made(form: Form, config: object): Agent | undefined {
  try {
    return agentOf(form, { config, onNotice: () => {}, totalTimesteps: 200 });
  } catch {
    return undefined;
  }
}

/** Numbers that a small run logs; `undefined` where its settings are refused. */
function logged(form: Form, config: object, steps: number): string | undefined {
  const agent = made(form, config);
  if (agent === undefined) return undefined;
  const played = new MadeUpEnv(form.spaces).play(agent, steps);
  agent.close();
  return JSON.stringify([played.actions, played.updates]);
}

/** A form with settings that soon show an effect, all of its settings and numbers. */
function prepared(given: Form, steps: number) {
  const config = { ...SENSITIVE[given.definition.meta.name], ...given.config };
  const form = { ...given, config };
  const agent = made(form, {})!;
  const all = agent.config as Readonly<Record<string, unknown>>;
  agent.close();
  const { definition: { meta: { schema: { properties } } } } = form;
  return { form, all, properties, before: logged(form, {}, steps) };
}

/** Asserts that settings which are called idle change nothing, all at once. */
export function assertIdle(given: Form, steps: number): void {
  const { form, all, properties, before } = prepared(given, steps);
  const idleIn = (config: object) =>
    Object.keys(form.definition.meta.unusedSettings!(config, form.spaces));
  const changed: Record<string, unknown> = {};
  for (const key of idleIn(all)) {
    if (!(key in properties)) continue;
    const value = othersOf(key, properties[key], all[key]).find((it) =>
      idleIn({ ...all, [key]: it }).includes(key) &&
      made(form, { [key]: it }) !== undefined
    );
    if (value !== undefined) changed[key] = value;
  }
  assert(before !== undefined);
  assert(logged(form, changed, steps) === before, JSON.stringify(changed));
}

/** Asserts that each setting changes what is logged, is refused, or is called idle. */
export function assertEffects(given: Form, steps: number): void {
  const { form, all, properties, before } = prepared(given, steps);
  const { definition: { meta: { unusedSettings: idle } }, spaces } = form;
  const wrong: string[] = [];
  for (const [key, property] of Object.entries(properties)) {
    if (Object.hasOwn(UNLOGGED, key)) continue;
    let isIdle = false, hasEffect = false;
    const taken = [all[key]];
    for (const value of othersOf(key, property, all[key])) {
      const after = logged(form, { [key]: value }, steps);
      if (after === undefined) continue;
      taken.push(value);
      hasEffect = after !== before;
      isIdle = key in (idle?.({ ...all, [key]: value }, spaces) ?? {});
      if (hasEffect || isIdle) break;
    }
    // Where a single value is taken beside null, null stands for it.
    const isOne = taken.length === 2 && taken.includes(null);
    if (taken.length === 1 || isOne && !hasEffect) continue;
    if (isIdle && hasEffect) wrong.push(`${key} is called idle`);
    if (!isIdle && !hasEffect) wrong.push(`${key} does nothing`);
  }
  assertEquals(wrong, []);
}

/** Forms of every kind of actions, and of what leaves settings without effect. */
export const TYPICAL: readonly Form[] = ALL_FORMS.filter(({ name }) =>
  /^[^,]+, (discrete actions|box actions|two (networks|Q functions)|a given temperature|a normal prior|a mixture|double|noise( of each step)?|no (replay|trust region.*))$/
    .test(name)
);
