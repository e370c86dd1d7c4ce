import { envSpec, registeredIds } from "@bellman/envs";
import type { EnvSpec } from "@bellman/types";
import { ALGORITHMS } from "../config/algorithms.ts";
import { importAlgorithms } from "../config/resolve.ts";
import { type Command, option } from "../terminal/command.ts";
import { loadAllEnvironments } from "../run/environment_modules.ts";
import { UsageError } from "../terminal/errors.ts";

function listing() {
  return {
    algorithms: ALGORITHMS.map(({ name, summary }) => ({ name, summary })),
    environments: registeredIds().map((id) => ({ ...envSpec(id), id })),
    presets: ALGORITHMS.flatMap(({ name: algorithm, presets }) =>
      Object.keys(presets).map((name) => ({ algorithm, name }))
    ),
  };
}

function describeEnv({ maxEpisodeSteps, rewardThreshold }: EnvSpec): string {
  return [
    maxEpisodeSteps && `at most ${maxEpisodeSteps} steps`,
    rewardThreshold !== undefined && `solved at ${rewardThreshold}`,
  ].filter(Boolean).join(", ");
}

/** Formats a listing; Atari games that are grouped share one row. */
function asText(
  { algorithms, environments, presets }: ReturnType<typeof listing>,
  grouped: ReadonlySet<string>,
): string {
  const row = (left: string, right: string) =>
    `  ${left.padEnd(26)}  ${right}`.trimEnd();
  const games = [...grouped].filter((id) => id.startsWith("ALE/")).length;
  return [
    "Algorithms:",
    ...algorithms.map((it) => row(it.name, it.summary)),
    "",
    "Environments:",
    ...environments.filter(({ id }) => !grouped.has(id))
      .map((it) => row(it.id, describeEnv(it))),
    ...games === 0
      ? []
      : [row("ALE/GAME-v5", `${games} Atari games; --all lists them`)],
    row("gym:NAME-vN", "any environment of Python's Gymnasium"),
    "",
    "Presets:",
    ...presets.map((it) => row(it.name, it.algorithm)),
    "",
  ].join("\n");
}

/** `list`: the algorithms, environments and presets there are. */
export const listCommand: Command = {
  name: "list",
  usage: "[OPTIONS]",
  summary: "List algorithms, environments and presets.",
  options: [
    option("all", "List all Atari games."),
    option(
      "set KEY=VALUE",
      "With algorithmModules=[FILE.ts], list your own algorithms, too.",
    ),
    option("json", "Print everything as one JSON object."),
  ],
  async run(options, io) {
    const [stray] = options.positionals;
    if (stray !== undefined) {
      throw new UsageError(
        `Cannot list '${stray}': expected options alone, as in 'list --all'`,
      );
    }
    await importAlgorithms(options);
    const games = await loadAllEnvironments();
    const found = listing();
    const grouped = options.switches.has("all") ? new Set<string>() : games;
    io.out(
      options.switches.has("json")
        ? `${JSON.stringify(found)}\n`
        : asText(found, grouped),
    );
    return 0;
  },
};
