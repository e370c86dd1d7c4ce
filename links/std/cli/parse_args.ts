// @ts-types="npm:@types/minimist@1.2.5"
import minimist from "npm:minimist@1.2.8";

/** The options of `parseArgs` that this workspace uses. */
export interface ParseOptions {
  string?: readonly string[];
  boolean?: readonly string[];
  collect?: readonly string[];
  alias?: Record<string, string | readonly string[]>;
  default?: Record<string, unknown>;
  unknown?: (arg: string, key?: string, value?: unknown) => unknown;
}

/** The words of a command line: options by name, the rest under `_`. */
export type Args = Record<string, unknown> & { _: (string | number)[] };

export function parseArgs(
  args: string[],
  options: ParseOptions = {},
): Args {
  const { collect = [], string = [], ...rest } = options;
  const parsed = minimist(args, {
    ...rest,
    boolean: [...(rest.boolean ?? [])],
    string: ["_", ...string],
    unknown: (arg: string) => rest.unknown?.(arg) !== false,
  } as minimist.Opts) as Args;
  for (const name of collect) {
    const value = parsed[name];
    parsed[name] = value === undefined ? [] : [value].flat();
  }
  return parsed;
}
