import {
  type Algorithm,
  aliasesOf,
  type ConfigSchema,
  describeProperty,
  findKey,
  ownSchema,
  type PropertySchema,
} from "@bellman/agent";
import { hintAt } from "@bellman/files/options";
import { UsageError } from "@bellman/runs/program";
import {
  ALGORITHMS,
  findAlgorithm,
  fullSchema,
  runSchema,
} from "@bellman/runs/settings";

/** Letters of a line. */
const WIDTH = 100;

/** Cuts a text where a line ends. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const words = text.slice(0, length - 3);
  return `${words.slice(0, words.lastIndexOf(" "))}...`;
}

/** Returns all of a setting: names, meaning, values and default. */
function wholeSetting(key: string, property: PropertySchema): string {
  const aliases = aliasesOf(property);
  const also = aliases.length === 0 ? "" : ` (also ${aliases.join(", ")})`;
  const { description } = property;
  const meaning = description === undefined ? "" : `\n      ${description}`;
  const fallback = JSON.stringify(property.default);
  return `  ${key}${also}${meaning}
      ${describeProperty(property)}; default ${fallback}`;
}

/** Returns the help of a configuration: meaning, values and default of each key. */
export function configHelp(title: string, schema: ConfigSchema): string {
  const settings = Object.entries(schema.properties)
    .map(([key, property]) => wholeSetting(key, property));
  return `${title}\n${settings.join("\n")}\n`;
}

/** Returns a line for each key of a configuration: default and meaning. */
function briefHelp(
  title: string,
  schema: ConfigSchema,
  defaults: Readonly<Record<string, unknown>> = {},
): string {
  const rows = Object.entries(schema.properties).map(([key, property]) => {
    const value = JSON.stringify(defaults[key] ?? property.default);
    const [meaning] = (property.description ?? describeProperty(property))
      .split(/(?<=\.) |[;:] /);
    return [`  ${key} = ${value}`, meaning];
  });
  const longest = Math.max(...rows.map(([left]) => left.length));
  const width = Math.min(longest, 36);
  const lines = rows.map(([left, right]) =>
    cut(`${left.padEnd(width)}  ${right}`, WIDTH)
  );
  return `${title}\n${lines.join("\n")}\n`;
}

/** Returns the settings of an algorithm, whole. */
function wholeHelp(algorithm: Algorithm): string {
  const { name, runDefaults = {} } = algorithm.meta;
  const others = Object.entries(runDefaults)
    .map(([key, value]) => `; ${key} is ${JSON.stringify(value)} by default`);
  return configHelp(
    `Keys of ${name}${others.join("")}:`,
    ownSchema(algorithm.meta),
  );
}

/** Returns all algorithms, a line each, and where their settings are. */
function overview(): string {
  const width = Math.max(...ALGORITHMS.map(({ meta }) => meta.name.length));
  const rows = ALGORITHMS
    .map(({ meta: { name, summary } }) =>
      `  ${name.padEnd(width)}  ${summary}`
    );
  return `Algorithms:
${rows.join("\n")}

Settings, which --set and files take, are listed by
  train ALGORITHM --help       those of an algorithm, a line each
  train run --help             those of every run
  train ALGORITHM KEY --help   one, with its values and other names
  train all --help             everything
`;
}

/** Returns an algorithm with its presets and a line for each of its settings. */
function algorithmHelp(algorithm: Algorithm): string {
  const { name, summary, presets = {}, runDefaults } = algorithm.meta;
  const { properties } = runSchema();
  const runs = Object.entries(runDefaults ?? {}).map(([key]) =>
    [key, properties[key]] as const
  ).filter(([, property]) => property !== undefined);
  const schema = {
    properties: {
      ...Object.fromEntries(runs),
      ...ownSchema(algorithm.meta).properties,
    },
  };
  const names = Object.keys(presets).join(", ") || "none";
  return `${name}: ${summary}
${cut(`Presets, which 'list ${name}' prints: ${names}`, WIDTH)}

${
    briefHelp(
      `Settings of ${name} for --set KEY=VALUE, and their defaults:`,
      schema,
      runDefaults,
    )
  }
'train run --help' lists the settings of every run, 'train ${name} KEY --help' explains one.
`;
}

/**
 * Returns the help of `train` for its arguments: an algorithm, `run`, `all`
 * or a key.
 *
 * @throws {UsageError} If a word is none of these.
 */
export function trainHelp(words: readonly string[]): string {
  const [first, ...rest] = words;
  const algorithm = first === undefined ? undefined : findAlgorithm(first);
  const others = algorithm === undefined ? words : rest;
  const [word] = others;
  if (word === undefined) {
    return algorithm === undefined ? overview() : algorithmHelp(algorithm);
  }
  const run = () => configHelp("Keys of a run:", runSchema());
  if (word === "all") {
    const shown = algorithm === undefined ? ALGORITHMS : [algorithm];
    return [run(), ...shown.map(wholeHelp)].join("\n");
  }
  if (word === "run") {
    return briefHelp("Settings of every run for --set KEY=VALUE:", runSchema());
  }
  const schemas = algorithm === undefined ? ALGORITHMS : [algorithm];
  for (const it of schemas) {
    const schema = fullSchema(it), key = findKey(schema, word);
    if (key === undefined) continue;
    return configHelp(
      Object.hasOwn(it.meta.schema.properties, key)
        ? `Setting of ${it.meta.name}:`
        : "Setting of a run:",
      { properties: { [key]: schema.properties[key] } },
    );
  }
  const keys = schemas.flatMap((it) => Object.keys(fullSchema(it).properties));
  const hint = hintAt(
    word,
    algorithm === undefined
      ? [...ALGORITHMS.map(({ meta }) => meta.name), "run", "all"]
      : [...new Set(keys)],
  );
  const what = algorithm === undefined ? "" : ` of ${algorithm.meta.name}`;
  throw new UsageError(`Cannot help with '${word}'${what}: ${hint}`);
}

/**
 * Returns the settings as data: JSON schemas of a run's, and of each algorithm's
 * or of the one that is named.
 *
 * @throws {UsageError} If a word is no algorithm.
 */
export function trainSchemas([word]: readonly string[]): object {
  const found = word === undefined ? undefined : findAlgorithm(word);
  if (word !== undefined && found === undefined) {
    const names = ALGORITHMS.map(({ meta }) => meta.name);
    throw new UsageError(
      `Cannot help with '${word}' as JSON: ${hintAt(word, names)}`,
    );
  }
  const shown = found === undefined ? ALGORITHMS : [found];
  return {
    run: runSchema(),
    algorithms: shown.map(({ meta }) => {
      const { name, summary, presets = {}, runDefaults = {} } = meta;
      return { name, summary, presets, runDefaults, schema: ownSchema(meta) };
    }),
  };
}
