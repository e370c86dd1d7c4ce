import { checkSpace } from "@bellman/envs/checks";
import { isStateRecord } from "@bellman/files";
import type { AgentOptions, AgentSpaces, AnyParts, Meta } from "./algorithm.ts";
import {
  checkOptions,
  FLAG,
  FUNCTION,
  OBJECT,
  type OptionKinds,
  refuseUnknown,
  TEXT,
} from "@bellman/files/options";

/** Names of all parts of an agent. */
const PARTS = [
  ...["policy", "state", "memory", "inputs", "learn"],
  ...["explore", "afterUpdate", "qFunction"],
];

/** Functions of a memory that every agent calls. */
const MEMORY = ["add", "endEpisodes", "ready", "sample", "save", "load"];

/**
 * Throws unless what an algorithm built has the parts of an agent.
 *
 * @param parts Result of `build`.
 * @param title Name of the algorithm in messages.
 * @throws {TypeError} If a part is missing, unknown or of another kind.
 */
export function checkParts(parts: AnyParts, title: string): void {
  const demand = (isMet: boolean, found: string, wanted: string) => {
    if (isMet) return;
    throw new TypeError(
      `Cannot make an agent of ${title}: ${found}; expected ${wanted}`,
    );
  };
  const isFunction = (it: unknown) => typeof it === "function";
  demand(isStateRecord(parts), "build gave no record", PARTS.join(", "));
  refuseUnknown(parts, PARTS, `the parts of ${title}`);
  const { policy, state, memory, inputs, learn, explore } = parts;
  demand(
    isFunction(policy?.apply),
    "build gave no policy",
    "one such as actorCritic makes",
  );
  demand(
    isStateRecord(state?.policy),
    "the state has no part 'policy'",
    "{ policy: policy.init(context.random) } in it",
  );
  const missing = MEMORY.find((name) => !isFunction(Object(memory)[name]));
  demand(
    missing === undefined && isStateRecord(memory.batch),
    memory === undefined
      ? "build gave no memory"
      : `the memory has no ${missing ?? "batch"}`,
    "a Rollout, a Replay or another Memory",
  );
  demand(isFunction(inputs), "inputs is no function", "(progress, draw) => {}");
  demand(isFunction(learn), "learn is no function", "() => update");
  demand(
    explore === undefined || isFunction(explore.act),
    "explore has no act",
    "a function of the exploration",
  );
}

/** Options of an agent. */
const OPTIONS: readonly (keyof AgentOptions)[] = [
  ...["config", "seed", "totalTimesteps", "normalization"] as const,
  ...["data", "engine", "threads", "onNotice"] as const,
];

const META: OptionKinds<Meta> = {
  name: TEXT,
  title: TEXT,
  summary: TEXT,
  schema: OBJECT,
  presets: OBJECT,
  runDefaults: OBJECT,
  statistics: OBJECT,
  smallConfig: OBJECT,
  hasReplay: FLAG,
  learnsFromData: FLAG,
  isGreedy: FLAG,
  defaultedBy: OBJECT,
  unusedSettings: FUNCTION,
};

/** Throws for wrong types of algorithm, environments or options. */
export function checkArguments(
  algorithm: { readonly meta: Meta },
  spaces: AgentSpaces,
  options: AgentOptions,
): void {
  if (algorithm?.meta?.schema === undefined) {
    throw new TypeError(
      "Cannot make an agent without an algorithm: expected one as a2c of @bellman/a2c is",
    );
  }
  const { name, title = name, schema } = algorithm.meta;
  checkOptions(`the meta of ${title}`, algorithm.meta, META);
  if (!isStateRecord(schema.properties)) {
    throw new TypeError(
      `Cannot make an agent of ${title}, whose schema has no properties: expected { properties: {} } or more`,
    );
  }
  if (spaces?.observationSpace === undefined) {
    throw new TypeError(
      `Cannot make an agent of ${title} without an environment: expected one of makeVec(id, { numEnvs: 8 })`,
    );
  }
  checkSpace(spaces.observationSpace);
  checkSpace(spaces.actionSpace);
  const setting = Object.keys(options ?? {})
    .find((it) => Object.hasOwn(schema.properties, it));
  if (setting !== undefined && !(OPTIONS as string[]).includes(setting)) {
    throw new TypeError(
      `Unknown option '${setting}' of an agent: it is a setting of ${title}, as in { config: { ${setting} } }`,
    );
  }
  refuseUnknown(options, OPTIONS, "an agent");
}
