import { parseArgs } from "node:util";
import { isDeno } from "@bellman/files";
import { typoOf } from "@bellman/files/options";
import { type CommandIo, shellWord, UsageError } from "@bellman/runs/program";

/** An option of a command, as the help shows it. */
export interface OptionSpec {
  /** Name without the dashes. */
  name: string;
  /** Placeholder of its value; without one the option is a switch. */
  value?: string;
  /** May be given more than once. */
  repeat?: boolean;
  /** Heading that the help shows it under, `Options` by default. */
  group?: string;
  /** One line of help. */
  help: string;
}

/**
 * Makes an option of a command.
 *
 * @param usage Name and, unless it is a switch, placeholder: `seed N`.
 * @param help One line of help.
 */
export function option(
  usage: string,
  help: string,
  { repeat = false, group }: Pick<OptionSpec, "repeat" | "group"> = {},
): OptionSpec {
  const [name, value] = usage.split(" ");
  return { name, value, help, repeat, group };
}

/** A command of the command line. */
export interface Command {
  /** First word after the program's name. */
  name: string;
  /** Rest of the usage line. */
  usage: string;
  /** Summary in one line. */
  summary: string;
  /** Options other than the common ones. */
  options: readonly OptionSpec[];
  /** Further help, printed below the options. */
  details?: (options: ParsedOptions) => string | Promise<string>;
  /** Help as data, which `--help --json` prints beside the options. */
  data?: (options: ParsedOptions) => object | Promise<object>;
  /** Runs it and returns the exit code. */
  run(options: ParsedOptions, io: CommandIo): Promise<number>;
}

/** A parsed command line: positionals in order, options by name. */
export interface ParsedOptions {
  positionals: string[];
  switches: Set<string>;
  values: Map<string, string[]>;
}

/** Options of every command. */
const COMMON_OPTIONS: readonly OptionSpec[] = [
  option("help", "Show this help; also -h."),
  option("debug", "Show the stack trace of an error."),
];

/** Returns a hint for an unknown option, if there is one. */
export type OptionHint = (name: string) => string | undefined;

function unknownOption(
  arg: string,
  specs: readonly OptionSpec[],
  hintAt?: OptionHint,
): UsageError {
  const given = arg.split("=")[0];
  const name = given.replace(/^-+/, "");
  const guess = typoOf(name, specs.map((spec) => spec.name));
  // A setting is no option, unless it has too many dashes.
  const takesSettings = specs.some((spec) => spec.name === "set");
  const setting = takesSettings && guess !== name ? hintAt?.(name) : undefined;
  const hint = setting ??
    (guess === undefined
      ? "'--help' lists the options"
      : `did you mean '--${guess}'?`);
  return new UsageError(`Unknown option '${given}': ${hint}`);
}

/** Parses `args` against the options of a command. */
export function parseOptions(
  args: readonly string[],
  commandSpecs: readonly OptionSpec[],
  hintAt?: OptionHint,
): ParsedOptions {
  const specs = [...commandSpecs, ...COMMON_OPTIONS];
  const { tokens, positionals } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    options: Object.fromEntries(specs.map(({ name, value }) => [name, {
      type: value === undefined ? "boolean" : "string",
      ...(name === "help" && { short: "h" }),
    }])),
  });
  const switches = new Set<string>();
  const values = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const spec = specs.find(({ name }) => name === token.name);
    if (spec === undefined) {
      throw unknownOption(args[token.index], specs, hintAt);
    }
    const { name, value: wanted } = spec;
    if (wanted === undefined) {
      checkPlain(name, args.slice(token.index));
      switches.add(name);
      continue;
    }
    // A negative number is a value, another option is none.
    const isOption = !token.inlineValue && /^-[^\d.]/.test(token.value ?? "");
    if (!token.value || isOption) {
      throw new UsageError(
        `Cannot read '--${name}': expected a value, as in '--${name} ${wanted}'`,
      );
    }
    values.set(name, [...values.get(name) ?? [], token.value]);
  }
  for (const { name, repeat } of specs) {
    const { length } = values.get(name) ?? [];
    if (length <= 1 || repeat) continue;
    throw new UsageError(
      `Cannot use '--${name}' ${length} times: give it once`,
    );
  }
  return { positionals, switches, values };
}

/** Checks that a switch is given without a value, with or without `=`. */
function checkPlain(name: string, [arg, next]: readonly string[]): void {
  const isValue = next === "true" || next === "false";
  if (!arg.includes("=") && !isValue) return;
  const given = arg.includes("=") ? arg : `${arg} ${next}`;
  throw new UsageError(
    `Cannot use '${given}': '--${name}' takes no value, leave it out`,
  );
}

/** Returns the value of an option, if it was given. */
export function valueOf(
  options: ParsedOptions,
  name: string,
): string | undefined {
  return options.values.get(name)?.[0];
}

/** Parses an option as an integer from `minimum` to `maximum`; `fallback` where it was not given. */
export function integerOf<T extends number | undefined>(
  options: ParsedOptions,
  name: string,
  { minimum = 1, maximum, fallback }: {
    minimum?: number;
    maximum?: number;
    fallback: T;
  },
): number | T {
  const text = valueOf(options, name);
  if (text === undefined) return fallback;
  const value = Number(text);
  const isInRange = value >= minimum && value <= (maximum ?? Infinity);
  if (!Number.isSafeInteger(value) || !isInRange) {
    const range = maximum === undefined
      ? `of at least ${minimum}`
      : `from ${minimum} to ${maximum}`;
    throw new UsageError(
      `Cannot use --${name} ${text}: expected an integer ${range}`,
    );
  }
  return value;
}

/** Lists the words of a command line. */
export function wordsOf(
  { positionals, values, switches }: ParsedOptions,
): string[] {
  return [
    ...positionals,
    ...[...values].flatMap(([name, given]) =>
      given.flatMap((value) => [`--${name}`, value])
    ),
    ...[...switches].map((name) => `--${name}`),
  ];
}

/** Start of a command line: a task in a checkout, else the package's program. */
function programStart(): string {
  if (!isDeno()) return "npx @bellman/cli";
  const isCheckout = import.meta.url.startsWith("file:");
  return isCheckout ? "deno task" : "deno run -A jsr:@bellman/cli";
}

/** Returns the line that runs a command with words that are quoted for a shell. */
export function commandLine(command: string, words: string): string {
  return `${programStart()} ${command} ${words}`.trimEnd();
}

/** Returns the line that runs a command with given options. */
export function taskLine(command: string, options: ParsedOptions): string {
  return commandLine(command, wordsOf(options).map(shellWord).join(" "));
}

const PROGRAM = "bellman";

function columns(rows: readonly string[][]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
    .join("\n");
}

/** Returns the help of the program: its commands, a line each. */
export function programHelp(commands: readonly Command[]): string {
  const rows = commands.map(({ name, summary }) => [name, summary]);
  return `Reinforcement learning from the command line.

Usage: ${PROGRAM} COMMAND [OPTIONS]

Commands:
${columns(rows)}

'${PROGRAM} COMMAND --help' lists a command's options.
`;
}

/** Returns the help of one command as JSON: options, and its further data. */
async function helpAsJson(
  { name, usage, summary, options: specs, data }: Command,
  options: ParsedOptions,
): Promise<string> {
  const help = { name, usage, summary, options: specs };
  return `${JSON.stringify({ ...help, ...await data?.(options) }, null, 2)}\n`;
}

/** Returns the help of one command, for its other arguments. */
export async function commandHelp(
  command: Command,
  options: ParsedOptions,
): Promise<string> {
  if (options.switches.has("json")) return await helpAsJson(command, options);
  const specs = [...command.options, ...COMMON_OPTIONS];
  const left = ({ name, value }: OptionSpec) =>
    value === undefined ? `--${name}` : `--${name} ${value}`;
  const width = Math.max(...specs.map((spec) => left(spec).length));
  const groups = Map.groupBy(specs, ({ group = "Options" }) => group);
  const details = await command.details?.(options);
  const blocks = [...groups].map(([title, specs]) =>
    `${title}:\n${
      columns(specs.map((spec) => [left(spec).padEnd(width), spec.help]))
    }\n`
  );
  // With a word to help with, its help alone.
  const isAsked = details !== undefined && options.positionals.length > 0;
  const body = isAsked
    ? details
    : `${blocks.join("")}${details === undefined ? "" : `\n${details}`}`;
  return `${command.summary}

Usage: ${PROGRAM} ${command.name} ${command.usage}

${body}`;
}
