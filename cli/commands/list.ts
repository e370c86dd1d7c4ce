import { envSpec, registeredIds } from "@bellman/envs";
import { ALGORITHMS } from "../config/algorithms.ts";
import type { Command, ParsedOptions } from "../terminal/command.ts";
import { loadAllEnvironments } from "../run/environment_modules.ts";
import type { CommandIo } from "../terminal/process.ts";
import { UsageError } from "../terminal/errors.ts";

interface Listing {
  algorithms: { name: string; summary: string }[];
  environments: {
    id: string;
    maxEpisodeSteps?: number;
    rewardThreshold?: number;
  }[];
  presets: { algorithm: string; name: string }[];
}

function listing(): Listing {
  return {
    algorithms: ALGORITHMS.map(({ name, summary }) => ({ name, summary })),
    environments: registeredIds().map((id) => ({ ...envSpec(id), id })),
    presets: ALGORITHMS.flatMap(({ name: algorithm, presets }) =>
      Object.keys(presets).map((name) => ({ algorithm, name }))
    ),
  };
}

function describeEnv(env: Listing["environments"][number]): string {
  const parts = [];
  if (env.maxEpisodeSteps !== undefined) {
    parts.push(`at most ${env.maxEpisodeSteps} steps`);
  }
  if (env.rewardThreshold !== undefined) {
    parts.push(`solved at ${env.rewardThreshold}`);
  }
  return parts.join(", ");
}

/** Row of environments that are not registered. */
const GYMNASIUM: [string, string] = [
  "gym:NAME-vN",
  "any environment of Python's Gymnasium",
];

/** Returns one row for all Atari games. */
function atariRow(games: ReadonlySet<string>): [string, string] {
  const count = [...games].filter((id) => id.startsWith("ALE/")).length;
  return ["ALE/GAME-v5", `${count} Atari games; --all lists them`];
}

/** Returns the rows of environments; games share one row. */
function environmentRows(
  { environments }: Listing,
  games: ReadonlySet<string>,
): [string, string][] {
  const rows = environments
    .filter(({ id }) => !games.has(id))
    .map((it): [string, string] => [it.id, describeEnv(it)]);
  return games.size === 0
    ? [...rows, GYMNASIUM]
    : [...rows, atariRow(games), GYMNASIUM];
}

function asText(found: Listing, games: ReadonlySet<string>): string {
  const { algorithms, presets } = found;
  const row = (left: string, right: string) =>
    `  ${left.padEnd(26)}  ${right}`.trimEnd();
  return [
    "Algorithms:",
    ...algorithms.map((it) => row(it.name, it.summary)),
    "",
    "Environments:",
    ...environmentRows(found, games).map(([id, what]) => row(id, what)),
    "",
    "Presets:",
    ...presets.map((it) => row(it.name, it.algorithm)),
    "",
  ].join("\n");
}

async function list(options: ParsedOptions, io: CommandIo): Promise<number> {
  const [stray] = options.positionals;
  if (stray !== undefined) {
    throw new UsageError(
      `Cannot list '${stray}': expected options alone, as in 'list --all'`,
    );
  }
  const games = await loadAllEnvironments();
  const found = listing();
  const grouped = options.switches.has("all") ? new Set<string>() : games;
  io.out(
    options.switches.has("json")
      ? `${JSON.stringify(found)}\n`
      : asText(found, grouped),
  );
  return 0;
}

/** `list`: the algorithms, environments and presets there are. */
export const listCommand: Command = {
  name: "list",
  usage: "[--all] [--json]",
  summary: "List algorithms, environments and presets.",
  options: [
    { name: "all", help: "List all Atari games." },
    { name: "json", help: "Print everything as one JSON object." },
  ],
  run: list,
};
