import { hintAt, UsageError } from "../terminal/errors.ts";
import { hintAtForeignFile } from "./elsewhere.ts";
import { gymnasiumId } from "./gymnasium.ts";
import type { Entry } from "./schema.ts";
import { parseYaml } from "./yaml.ts";

/*
 * Files of rl-baselines3-zoo: settings by environment, in stable-baselines3's
 * names and Python syntax. Source: https://github.com/DLR-RM/rl-baselines3-zoo.
 */

/** Settings that such a file leaves to stable-baselines3, where ours differ. */
export const ZOO_DEFAULTS: Readonly<Record<string, Record<string, unknown>>> = {
  a2c: {
    numEnvs: 1,
    normalizeObservation: false,
    normalizeReward: false,
    numSteps: 5,
    gaeLambda: 1,
    entropyCoefficient: 0,
    learningRate: 0.0007,
    learningRateSchedule: "constant",
    optimizer: "rmsprop",
    normalizeAdvantage: false,
    valueNetwork: "separate",
    objective: "shared",
  },
};

const NETWORKS: Readonly<Record<string, string | undefined>> = {
  MlpPolicy: undefined,
  MultiInputPolicy: undefined,
  CnnPolicy: "cnn",
  MlpLstmPolicy: "lstm",
  CnnLstmPolicy: "cnn_lstm",
};

/** Section of all Atari games. */
const ATARI = "atari";

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns true for settings by environment. */
export function isZoo(entries: readonly Entry[]): boolean {
  return entries.every(([, it]) => isMapping(it)) && entries.some(isSection);
}

/** Returns true for settings of environments; others are parts of those. */
function isSection([name]: Entry): boolean {
  return name === ATARI || /-v\d+$/.test(name);
}

/** Finds the section of an environment, or the only one. */
function sectionOf(
  sections: readonly Entry[],
  { env, origin }: { env: string | undefined; origin: string },
): Entry {
  const names = sections.map(([name]) => name);
  if (env === undefined) {
    if (sections.length === 1) return sections[0];
    throw new UsageError(
      `Cannot choose from the ${names.length} environments of ${origin}: expected --env, as in --env ${
        names.find((it) => it !== ATARI)
      }`,
    );
  }
  const isGame = /^ALE\/|NoFrameskip-v\d+$/.test(env);
  const wanted = [
    env,
    env.replace(/^gym:(.*:)?/, ""),
    ...isGame ? [ATARI] : [],
  ];
  const found = sections.find(([name]) => wanted.includes(name));
  if (found !== undefined) return found;
  throw new UsageError(
    `Cannot use ${origin}: it has no settings of ${env}; ${hintAt(env, names)}`,
  );
}

/** Parses a Python expression: `dict(net_arch=[64, 64], activation_fn=nn.ReLU)`. */
function fromPython(text: string): unknown {
  const asYaml = text.replaceAll(/\bdict\(/g, "{").replaceAll(")", "}")
    .replaceAll(/(\w+)\s*=\s*/g, "$1: ")
    .replaceAll(
      /\b(True|False|None)\b/g,
      (word) => word === "None" ? "null" : word.toLowerCase(),
    );
  return parseYaml(asYaml);
}

/** Parses a mapping that may be a Python expression. */
function mappingOf(value: unknown, setting: string): Record<string, unknown> {
  let parsed = value;
  try {
    if (typeof value === "string") parsed = fromPython(value);
  } catch {
    parsed = undefined;
  }
  if (isMapping(parsed)) return parsed;
  throw new UsageError(
    `Cannot use ${setting} = ${
      JSON.stringify(value)
    }: expected a mapping, such as "dict(net_arch=[64, 64])"`,
  );
}

/** Returns the sizes of layers that are the same for policy and values. */
function sizesOf(value: unknown, setting: string): unknown {
  const [only] = Array.isArray(value) && value.length === 1 ? value : [value];
  if (!isMapping(only)) return value;
  const [first, ...others] = Object.values(only).map((it) =>
    JSON.stringify(it)
  );
  if (others.every((it) => it === first)) return Object.values(only)[0];
  throw new UsageError(
    `Cannot use ${setting} = ${
      JSON.stringify(value)
    }: expected the same layers for policy and values`,
  );
}

/** Translates `policy_kwargs`. */
function policyEntries(value: unknown, origin: string): Entry[] {
  const of = (name: string) => `policy_kwargs' ${name} of ${origin}`;
  const kwargs = mappingOf(value, `policy_kwargs of ${origin}`);
  return Object.entries(kwargs).flatMap(([name, it]): Entry[] => {
    switch (name) {
      case "net_arch":
        return [["hiddenSizes", sizesOf(it, of(name))]];
      case "activation_fn":
        return [[
          "activation",
          String(it).replace(/^.*\./, "").toLowerCase()
            .replace("leakyrelu", "leaky_relu"),
        ]];
      case "log_std_init":
      case "ortho_init":
        return [[name, it]];
      case "lstm_hidden_size":
        return [["lstmSize", it]];
      case "optimizer_class":
        if (String(it).endsWith("RMSpropTFLike")) {
          return [["optimizer", "rmsprop_tf1"]];
        }
        break;
      case "optimizer_kwargs":
        if (isMapping(it) && Object.keys(it).join() === "eps") {
          return [["rmspropEpsilon", it.eps]];
        }
        break;
      case "n_critics":
        if (it === 2) return [];
    }
    throw new UsageError(
      `Cannot use ${of(name)} = ${
        JSON.stringify(it)
      }: no setting is like it; leave it out`,
    );
  });
}

/** Translates one setting of a section. */
function translated(name: string, value: unknown, origin: string): Entry[] {
  switch (name) {
    case "policy": {
      const policy = String(value);
      if (!Object.hasOwn(NETWORKS, policy)) {
        throw new UsageError(
          `Cannot use policy = ${JSON.stringify(value)} of ${origin}: ${
            hintAt(policy, Object.keys(NETWORKS))
          }`,
        );
      }
      const network = NETWORKS[policy];
      return network === undefined ? [] : [["network", network]];
    }
    case "policy_kwargs":
      return policyEntries(value, origin);
    case "normalize": {
      const { norm_obs = true, norm_reward = true } = typeof value === "boolean"
        ? { norm_obs: value, norm_reward: value }
        : mappingOf(value, `normalize of ${origin}`);
      return [
        ["normalizeObservation", norm_obs],
        ["normalizeReward", norm_reward],
      ];
    }
    case "env_wrapper": {
      const given = value === null ? [] : [value].flat();
      const wrappers = given.filter((it) =>
        !String(it).endsWith("AtariWrapper")
      );
      const entries: Entry[] = wrappers.length === 0
        ? []
        : [["wrappers", wrappers]];
      return wrappers.length === given.length
        ? entries
        : [["envKwargs", { preprocessing: "baselines" }], ...entries];
    }
    case "ent_coef": {
      if (value === "auto") return [];
      const first = /^auto_([\d.e+-]+)$/.exec(String(value))?.[1];
      return first === undefined
        ? [[name, value]]
        : [["initialTemperature", Number(first)]];
    }
    case "use_rms_prop":
      return [["optimizer", value === false ? "adam" : "rmsprop"]];
    case "learning_rate": {
      const first = /^lin_([\d.e+-]+)$/.exec(String(value))?.[1];
      return first === undefined
        ? [[name, value]]
        : [[name, Number(first)], ["learningRateSchedule", "linear"]];
    }
    default:
      return [[name, value]];
  }
}

/**
 * Translates a file of rl-baselines3-zoo: the section of an environment.
 *
 * @param entries Settings by environment.
 * @param options Name of the file, and of the environment, if the command line
 * gives one; true for settings that the algorithm has.
 * @throws {UsageError} If there is no such section, or a setting has no like.
 */
export function zooEntries(
  entries: readonly Entry[],
  { origin, env, isOwn }: {
    origin: string;
    env: string | undefined;
    isOwn: (setting: string) => boolean;
  },
): Entry[] {
  const sections = entries.filter(isSection);
  const [name, section] = sectionOf(sections, { env, origin });
  const settings = Object.entries(section as Record<string, unknown>);
  const foreign = settings.map(([key]) => key).filter((it) => !isOwn(it));
  const hint = hintAtForeignFile(foreign);
  if (hint !== undefined) throw new UsageError(`Cannot use ${origin}: ${hint}`);
  const given = settings
    .flatMap(([key, value]) => translated(key, value, origin));
  return env === undefined && name !== ATARI
    ? [["env", gymnasiumId(name) ?? name], ...given]
    : given;
}
