// @ts-types="npm:@types/minimist@1.2.5"
import minimist from "npm:minimist@1.2.8";

/** The options of `parseArgs`, with std's names and meanings. */
export interface ParseOptions {
  string?: string | readonly string[];
  boolean?: boolean | string | readonly string[];
  default?: Record<string, unknown>;
  alias?: Record<string, string | readonly string[]>;
  collect?: string | readonly string[];
  negatable?: string | readonly string[];
  stopEarly?: boolean;
  "--"?: boolean;
  unknown?: (arg: string, key?: string, value?: unknown) => unknown;
}

/** The words of a command line: options by name, the rest under `_`. */
export type Args = Record<string, unknown> & {
  _: (string | number)[];
  "--"?: string[];
};

const list = (names: string | readonly string[] | boolean = []): string[] =>
  typeof names === "boolean" ? [] : [names].flat();

/**
 * minimist takes any `--no-x` for the opposite of `x`; std only where `x` is
 * negatable, and otherwise for an option `no-x`, which gets this mark here.
 */
const MARK = "\0no-";
const mark = (name: string) => name.replace(/^no-/, MARK);
const unmark = (name: string) => name.replace(MARK, "no-");

function markArgs(args: readonly string[], negatable: string[]): string[] {
  const end = args.indexOf("--");
  return args.map((arg, i) => {
    const name = /^--no-([^=]+)$/s.exec(arg)?.[1];
    if (name === undefined || negatable.includes(name)) return arg;
    return end >= 0 && i > end ? arg : `--${mark(arg.slice(2))}`;
  });
}

/** Names and all others that stand for the same options. */
function withAliases(names: string[], alias: ParseOptions["alias"]): string[] {
  const groups = Object.entries(alias ?? {})
    .map(([name, others]) => [name, ...list(others)]);
  return names.flatMap((name) =>
    groups.find((group) => group.includes(name)) ?? [name]
  );
}

function minimistOptions(
  options: ParseOptions,
  collect: string[],
): minimist.Opts {
  const { boolean: booleans, alias, unknown } = options;
  const bothForms = (names: string[]) => names.flatMap((it) => [it, mark(it)]);
  const defaults = Object.entries(options.default ?? {});
  return {
    string: ["_", ...bothForms(list(options.string))],
    boolean: booleans === true || bothForms(list(booleans)),
    default: Object.fromEntries(
      defaults.filter(([name]) => !collect.includes(name)),
    ),
    alias: alias as Record<string, string | string[]>,
    stopEarly: options.stopEarly ?? false,
    "--": options["--"] ?? false,
    unknown: (marked: string) => {
      const arg = unmark(marked);
      const name = /^--?([^=]+)/s.exec(arg)?.[1];
      if (name !== undefined && collect.includes(name)) return true;
      return unknown?.(arg, name) !== false;
    },
  };
}

/** What a collected option gives: a list, if it was given or declared. */
function collected(
  value: unknown,
  { fallback, isDeclared }: { fallback: unknown; isDeclared: boolean },
): unknown {
  // minimist says `false` of switches that were not given.
  if (value !== undefined && value !== false) return [value].flat();
  return fallback ?? (isDeclared ? [] : undefined);
}

/**
 * std's `parseArgs`, but `unknown` is told no value, and words that are no
 * options stay text, for which std must be given `string: ["_"]`.
 */
export function parseArgs(
  args: readonly string[],
  options: ParseOptions = {},
): Args {
  const { alias } = options;
  const collect = withAliases(list(options.collect), alias);
  const negatable = withAliases(list(options.negatable), alias);
  const { "--": rest, _: words, ...found } = minimist(
    markArgs(args, negatable),
    minimistOptions(options, collect),
  );
  const parsed: Args = { _: words.map(unmark) };
  for (const [name, value] of Object.entries(found)) {
    // A repeated option counts once unless it is collected.
    const isRepeated = Array.isArray(value) &&
      value !== options.default?.[name];
    parsed[unmark(name)] = isRepeated ? value.at(-1) : value;
  }
  const declared = [...list(options.string), ...list(options.boolean)];
  for (const name of collect) {
    const value = collected(found[name], {
      fallback: options.default?.[name],
      isDeclared: withAliases(declared, alias).includes(name),
    });
    if (value === undefined) delete parsed[name];
    else parsed[name] = value;
  }
  if (rest !== undefined) parsed["--"] = rest;
  return parsed;
}
