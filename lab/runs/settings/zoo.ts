import { hintAt } from "@bellman/files/options";
import { UsageError } from "../program/errors.ts";
import { hintAtForeignFile } from "./elsewhere.ts";
import { gymnasiumId } from "./gymnasium.ts";
import { type Entry, numberOf } from "./settings.ts";
import { parseYaml } from "./yaml.ts";
import { QUANTILES } from "./zoo_defaults.ts";

/*
 * Converts files of rl-baselines3-zoo: settings by environment, with names of
 * Stable-Baselines3 and Python syntax. Source:
 * https://github.com/DLR-RM/rl-baselines3-zoo.
 */

const NETWORKS: Readonly<Record<string, string | undefined>> = {
  MlpPolicy: undefined,
  MultiInputPolicy: undefined,
  CnnPolicy: "cnn",
  MlpLstmPolicy: "lstm",
  CnnLstmPolicy: "cnn_lstm",
};

/** Exploration noise, by its names there. */
const NOISES: Readonly<Record<string, string>> = {
  "normal": "gaussian",
  "ornstein-uhlenbeck": "ou",
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

/** Returns true for an environment's settings; other entries are parts of those. */
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
    env.replace(/^PositionOnly(\w+)/, "$1NoVel"),
    ...isGame ? [ATARI] : [],
  ];
  const section = sections.find(([name]) => wanted.includes(name));
  if (section !== undefined) return section;
  throw new UsageError(
    `Cannot use ${origin}: it has no settings of ${env}; ${hintAt(env, names)}`,
  );
}

/** Python's words by YAML's. */
const WORDS: Readonly<Record<string, string>> = {
  True: "true",
  False: "false",
  None: "null",
};
/** Strings, brackets with the called function, argument names, and words. */
const PYTHON =
  /'[^']*'|"[^"]*"|(?:([\w.]+)\s*)?\(|\)|(\w+)\s*=|\b(?:True|False|None)\b/g;

/** Parses a Python expression: `dict(net_arch=(64, 64), activation_fn=nn.ReLU)`. */
function fromPython(text: string): unknown {
  const closing: string[] = [];
  const asYaml = text.replaceAll(PYTHON, (token, called, argument) => {
    if (argument !== undefined) return `${argument}: `;
    if (token === ")") return closing.pop() ?? token;
    if (!token.endsWith("(")) return WORDS[token] ?? token;
    if (called !== undefined && called !== "dict") {
      throw new SyntaxError(`a call of ${called}`);
    }
    closing.push(called === undefined ? "]" : "}");
    return called === undefined ? "[" : "{";
  });
  return plainNumbers(parseYaml(asYaml));
}

/** Converts texts such as `100_000`, a number in Python. */
function plainNumbers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainNumbers);
  if (!isMapping(value)) return numberOf(value);
  const entries = Object.entries(value)
    .map(([key, it]) => [key, plainNumbers(it)]);
  return Object.fromEntries(entries);
}

/** Parses a mapping, or a Python expression of one. */
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

/** Returns the layer sizes, which must be the same for policy and value function. */
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

/** Policy arguments that have only one possible value here. */
const FIXED: Readonly<Record<string, unknown>> = {
  n_critics: 2,
  n_lstm_layers: 1,
  full_std: true,
  use_expln: false,
  share_features_extractor: true,
  normalize_images: true,
};

/** Translates `policy_kwargs`. */
function policyEntries(
  value: unknown,
  { origin, isOwn }: Pick<ZooOptions, "origin" | "isOwn">,
): Entry[] {
  const pathOf = (name: string) => `policy_kwargs' ${name} of ${origin}`;
  const kwargs = mappingOf(value, `policy_kwargs of ${origin}`);
  return Object.entries(kwargs).flatMap(([name, argument]): Entry[] => {
    if (name === "n_critics" && isOwn("numCritics")) return [[name, argument]];
    switch (name) {
      case "n_quantiles":
        return isOwn("droppedQuantiles")
          ? [["quantiles", argument]]
          : [["values", "quantile"], ["atoms", argument]];
      case "net_arch":
        if (isOwn("criticHiddenSizes") && isMapping(argument)) {
          const { pi, qf } = argument;
          return [["hiddenSizes", pi], ["criticHiddenSizes", qf]];
        }
        return [["hiddenSizes", sizesOf(argument, pathOf(name))]];
      case "dropout_rate":
        if (isOwn("dropout")) return [["dropout", argument ?? 0]];
        break;
      case "layer_norm":
        if (isOwn("normalization")) {
          return argument === true ? [["normalization", "layer"]] : [];
        }
        break;
      case "activation_fn":
        return [[
          "activation",
          String(argument).replace(/^.*\./, "").toLowerCase()
            .replace("leakyrelu", "leaky_relu"),
        ]];
      case "log_std_init":
      case "ortho_init":
        return [[name, argument]];
      case "lstm_hidden_size":
        return [["lstmSize", argument]];
      case "optimizer_class":
        if (String(argument).endsWith("RMSpropTFLike")) {
          return [["optimizer", "rmsprop_tf1"]];
        }
        break;
      case "optimizer_kwargs":
        if (isMapping(argument) && Object.keys(argument).join() === "eps") {
          const key = isOwn("adamEpsilon") ? "adamEpsilon" : "rmspropEpsilon";
          return [[key, argument.eps]];
        }
        break;
      case "squash_output":
        if (isOwn("actions")) {
          return [["actions", argument === true ? "squashed" : "gaussian"]];
        }
        break;
      case "shared_lstm":
      case "enable_critic_lstm":
        if (argument !== (name === "shared_lstm")) return [];
        return [["valueNetwork", "shared"]];
      default:
        if (Object.hasOwn(FIXED, name) && argument === FIXED[name]) return [];
    }
    throw new UsageError(
      `Cannot use ${pathOf(name)} = ${
        JSON.stringify(argument)
      }: no setting is like it; leave it out`,
    );
  });
}

/** Settings that may have a schedule, by their names there. */
const SCHEDULED = {
  learning_rate: "learningRate",
  clip_range: "clipRange",
} as const;

/** Options of Atari's wrapper, by their names there. */
const ATARI_OPTIONS: Readonly<Record<string, string>> = {
  noop_max: "noopMax",
  frame_skip: "frameskip",
  terminal_on_life_loss: "terminalOnLifeLoss",
  clip_reward: "clipReward",
};

/** Translates Atari's wrapper; `undefined` for other wrappers. */
function atariOptions(wrapper: unknown): Record<string, unknown> | undefined {
  const [[name, kwargs] = []] = isMapping(wrapper)
    ? Object.entries(wrapper)
    : [[String(wrapper), {}]];
  if (!name?.endsWith("AtariWrapper")) return undefined;
  const options = Object.entries(kwargs ?? {})
    .map(([key, it]) => [ATARI_OPTIONS[key] ?? key, it]);
  return { preprocessing: "baselines", ...Object.fromEntries(options) };
}

/** Returns the number of `lin_0.2`, a linear schedule to 0. */
function linear(value: unknown): number | undefined {
  const [, first] = /^lin_([\d.e+-]+)$/.exec(String(value)) ?? [];
  return first === undefined ? undefined : Number(first);
}

/** Translates one setting of a section. */
function translated(
  name: string,
  value: unknown,
  options: ZooOptions,
): Entry[] {
  const { origin, isOwn } = options;
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
      const isCnn = policy === "CnnPolicy";
      const isShared = isCnn && isOwn("valueNetwork");
      return [
        ...network === undefined ? [] : [["network", network] as Entry],
        ...isShared ? [["valueNetwork", "shared"] as Entry] : [],
        ...isCnn && isOwn("dueling") ? [["hiddenSizes", []] as Entry] : [],
      ];
    }
    case "policy_kwargs":
      return policyEntries(value, options);
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
      const listed = value === null ? [] : [value].flat();
      const atari = listed.flatMap((it) => atariOptions(it) ?? []);
      const wrappers = listed.filter((it) => atariOptions(it) === undefined);
      return [
        ...atari.map((it): Entry => ["envKwargs", it]),
        ...wrappers.length === 0 ? [] : [["wrappers", wrappers] as Entry],
      ];
    }
    case "ent_coef": {
      if (value === "auto") return [];
      const first = /^auto_([\d.e+-]+)$/.exec(String(value))?.[1];
      return first === undefined
        ? [[name, value]]
        : [["initialTemperature", Number(first)]];
    }
    case "noise_type":
      return [[name, NOISES[String(value)] ?? value]];
    case "replay_buffer_class":
    case "replay_buffer_kwargs":
      return []; // Translated together.
    case "optimize_memory_usage":
      return []; // Observations are always stored once.
    case "learning_starts":
      return [[name, value === 0 ? 1 : value]];
    case "use_rms_prop":
      return [["optimizer", value === false ? "adam" : "rmsprop"]];
    case "learning_rate":
    case "clip_range": {
      const first = linear(value);
      return first === undefined
        ? [[name, value]]
        : [[name, first], [`${SCHEDULED[name]}Schedule`, "linear"]];
    }
    case "batch_size":
      // With minibatches, it determines their number.
      return isOwn("minibatches") ? [] : [[name, value]];
    case "target_update_interval":
      return isOwn("dueling") ? [] : [[name, value]];
    default:
      return [[name, value]];
  }
}

/** Settings of hindsight replay, by the names of `HerReplayBuffer`. */
const HINDSIGHT: Readonly<Record<string, string>> = {
  goal_selection_strategy: "strategy",
  n_sampled_goal: "k",
};

/** Translates `replay_buffer_class` and its arguments. */
function hindsightEntries(
  { replay_buffer_class: kind, replay_buffer_kwargs: argument }: Readonly<
    Record<string, unknown>
  >,
  { origin }: ZooOptions,
): Entry[] {
  const setting = `replay_buffer_kwargs of ${origin}`;
  const kwargs = argument === undefined ? {} : mappingOf(argument, setting);
  // Goals are always sampled anew, and episodes may have any length.
  const { online_sampling, max_episode_length: _, ...rest } = kwargs;
  const unknown = Object.entries(rest)
    .filter(([name]) => !Object.hasOwn(HINDSIGHT, name));
  if (online_sampling === false) unknown.push(["online_sampling", false]);
  const isHindsight = String(kind).endsWith("HerReplayBuffer");
  if (kind !== undefined && !isHindsight) {
    unknown.unshift(["replay_buffer_class", kind]);
  }
  if (unknown.length > 0 || (kind === undefined && argument !== undefined)) {
    const [name, value] = unknown[0] ?? ["replay_buffer_kwargs", argument];
    throw new UsageError(
      `Cannot use ${name} = ${
        JSON.stringify(value)
      } of ${origin}: no setting is like it; leave it out`,
    );
  }
  if (kind === undefined) return [];
  const hindsight = Object.entries(rest).map(([name, value]) => [
    HINDSIGHT[name],
    typeof value === "string"
      ? value.replace(/^.*\./, "").toLowerCase()
      : value,
  ]);
  return [["hindsight", Object.fromEntries(hindsight)]];
}

/** Greatest common divisor. */
function divisorOf(a: number, b: number): number {
  return b === 0 ? a : divisorOf(b, a % b);
}

/**
 * Translates PPO's rollouts: `batch_size` counts steps, and is limited to the rollout.
 * Recurrent networks learn from sequences that fill a minibatch.
 */
function rolloutEntries(
  section: Readonly<Record<string, unknown>>,
  { origin, isOwn }: ZooOptions,
): Entry[] {
  if (!isOwn("minibatches")) return [];
  const isRecurrent = /Lstm/.test(String(section.policy));
  const [steps, size] = isRecurrent ? [128, 128] : [2048, 64];
  const { n_envs = 1, n_steps = steps, batch_size = size } = section;
  const rows = Number(n_envs) * Number(n_steps);
  const batch = Math.min(Number(batch_size ?? rows), rows);
  const entries: Entry[] = section.n_steps === undefined
    ? [["numSteps", steps]]
    : [];
  // Their own settings are rejected.
  if (!(Number.isInteger(rows) && rows > 0)) return entries;
  if (!(Number.isInteger(batch) && batch > 0 && rows % batch === 0)) {
    throw new UsageError(
      `Cannot use batch_size = ${
        JSON.stringify(batch_size)
      } of ${origin}: expected a divisor of the ${rows} steps of a rollout (n_envs = ${n_envs}, n_steps = ${n_steps})`,
    );
  }
  entries.push(["minibatches", rows / batch]);
  const length = divisorOf(batch, Number(n_steps));
  return isRecurrent && length < Number(n_steps)
    ? [...entries, ["sequenceLength", length]]
    : entries;
}

/** Finds the method of SAC that a file is for, by its name or its settings. */
function methodEntries(
  section: Readonly<Record<string, unknown>>,
  { origin, isOwn }: ZooOptions,
): Entry[] {
  if (!isOwn("method")) return [];
  const [named] = /tqc|crossq|redq|droq/i.exec(origin) ?? [];
  const isTqc = "top_quantiles_to_drop_per_net" in section ||
    /n_quantiles/.test(JSON.stringify(section.policy_kwargs ?? ""));
  const method = named?.toLowerCase() ?? (isTqc ? "tqc" : undefined);
  return method === undefined ? [] : [["method", method]];
}

/** Translates DQN's settings with other units. */
function valueEntries(
  section: Readonly<Record<string, unknown>>,
  { origin, isOwn }: ZooOptions,
): ZooSettings {
  if (!isOwn("dueling")) return { entries: [], notes: [] };
  const isQuantile = /qr.?dqn/i.test(origin) ||
    /n_quantiles/.test(JSON.stringify(section.policy_kwargs ?? ""));
  const { batch_size = 32, target_update_interval: interval } = section;
  const entries: Entry[] = isQuantile
    ? [...QUANTILES, ["adamEpsilon", 0.01 / Number(batch_size)]]
    : [];
  if (interval === undefined) return { entries, notes: [] };
  const { n_envs = 1, train_freq = 4, gradient_steps = 1 } = section;
  const steps = Number(train_freq) * Number(n_envs);
  const updates = gradient_steps === -1 ? steps : Number(gradient_steps);
  // It is copied at most once per round of updates.
  const every = Math.max(
    updates,
    Math.round(Number(interval) / steps * updates),
  );
  if (!(every >= 1)) {
    // Errors should name the original settings.
    return { entries: [...entries, ["targetInterval", interval]], notes: [] };
  }
  const note =
    `target_update_interval = ${interval} steps of ${origin} is targetInterval = ${every} updates (n_envs = ${n_envs}, train_freq = ${train_freq}, gradient_steps = ${gradient_steps})`;
  return { entries: [...entries, ["targetInterval", every]], notes: [note] };
}

/** Settings of a file, with notes for its user. */
export interface ZooSettings {
  entries: Entry[];
  /** Lines about converted settings. */
  notes: string[];
}

/** Options of {@linkcode zooEntries}. */
interface ZooOptions {
  /** Name of the file. */
  origin: string;
  /** Environment of the command line, if any. */
  env: string | undefined;
  /** Returns true for settings that the algorithm has. */
  isOwn: (setting: string) => boolean;
}

/**
 * Translates the section of an environment in a file of rl-baselines3-zoo.
 *
 * @param sections Settings by environment.
 * @param options File, environment and settings of the algorithm.
 * @throws {UsageError} If there is no such section, or a setting has no counterpart.
 */
export function zooEntries(
  sections: readonly Entry[],
  options: ZooOptions,
): ZooSettings {
  const { origin, env, isOwn } = options;
  const [name, raw] = sectionOf(sections.filter(isSection), {
    env,
    origin,
  });
  const section = plainNumbers(raw) as Record<string, unknown>;
  const settings = Object.entries(section);
  const foreign = settings.map(([key]) => key).filter((it) => !isOwn(it));
  const hint = hintAtForeignFile(foreign);
  if (hint !== undefined) throw new UsageError(`Cannot use ${origin}: ${hint}`);
  const { entries, notes } = valueEntries(section, options);
  const converted = Object.entries(Object.fromEntries([
    ...entries,
    ...methodEntries(section, options),
    ...settings.flatMap(([key, value]) => translated(key, value, options)),
    ...rolloutEntries(section, options),
    ...hindsightEntries(section, options),
  ]));
  return {
    notes,
    entries: env === undefined && name !== ATARI
      ? [["env", gymnasiumId(name) ?? name], ...converted]
      : converted,
  };
}
