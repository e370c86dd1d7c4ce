import { readdirSync, statSync } from "node:fs";
import {
  defaultRegistry,
  envSpec,
  makeWorld,
  registeredIds,
} from "@bellman/envs";
import type { Algorithm } from "@bellman/agent";
import { hintAt } from "@bellman/files/options";
import type { EnvSpec } from "@bellman/types";
import {
  ALGORITHMS,
  findAlgorithm,
  presetFor,
  ZOO,
  zooAgents,
} from "@bellman/runs/settings";
import { importAlgorithms } from "../options/options.ts";
import {
  type Command,
  option,
  type ParsedOptions,
} from "../terminal/command.ts";
import { readCard } from "@bellman/share";
import { UsageError } from "@bellman/runs/program";
import { loadAllEnvironments, round } from "@bellman/runs/training";

function listing() {
  return {
    algorithms: ALGORITHMS.map(({ meta: { name, summary } }) => ({
      name,
      summary,
    })),
    environments: registeredIds().map((id) => ({
      ...envSpec(id),
      id,
      ...defaultRegistry.get(id)!.makeWorld && { seats: seatsOf(id) },
    })),
    presets: ALGORITHMS.flatMap(({ meta: { name: algorithm, presets = {} } }) =>
      Object.keys(presets).map((name) => ({ algorithm, name }))
    ),
  };
}

/** Names the seats of a game. */
function seatsOf(id: string): string[] {
  const world = makeWorld(id, { numEnvs: 1 });
  world.close();
  return world.seats.map(({ name }) => name);
}

function describeEnv(
  { maxEpisodeSteps, rewardThreshold, seats }: EnvSpec & { seats?: string[] },
): string {
  return [
    seats && `a game of ${seats.join(", ")}`,
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
    row("pz:NAME_vN", "any game of Python's PettingZoo"),
    row("page:URL", "a game in a page, which calls connect"),
    row("program:COMMAND", "a game in a program, of any engine"),
    "",
    "Presets:",
    ...presets.map((it) => row(it.name, it.algorithm)),
    "",
    "'list PRESET' prints the settings of a preset; docs/guides/which_algorithm.md says which algorithm to try.",
    "",
  ].join("\n");
}

/** A preset of an algorithm. */
interface Preset {
  algorithm: string;
  name: string;
  text: string;
}

/** Finds the presets that the arguments name: by algorithm, by name, or both. */
function presetsNamed(words: readonly string[]): Preset[] {
  const [first, second, extra] = words;
  if (extra !== undefined) {
    throw new UsageError(
      `Cannot list '${extra}': expected a preset, an algorithm, or both, as in 'list a2c CartPole-v1'`,
    );
  }
  const algorithm = findAlgorithm(first);
  const name = algorithm === undefined ? first : second;
  if (algorithm === undefined && second !== undefined) {
    throw new UsageError(
      `Cannot list presets of '${first}': ${
        hintAt(first, ALGORITHMS.map((it) => it.meta.name))
      }`,
    );
  }
  const all = (of: Algorithm): Preset[] =>
    Object.entries(of.meta.presets ?? {})
      .map(([name, text]) => ({ algorithm: of.meta.name, name, text }));
  const owners = algorithm === undefined ? ALGORITHMS : [algorithm];
  if (name === undefined) return owners.flatMap(all);
  const found = owners.flatMap((owner) => {
    const preset = presetFor(owner, { env: name });
    return all(owner).filter((it) => it.name === preset);
  });
  if (found.length > 0) return found;
  if (name === "all") {
    throw new UsageError("Cannot list 'all': did you mean 'list --all'?");
  }
  const names = owners.flatMap((it) => Object.keys(it.meta.presets ?? {}));
  const others = algorithm === undefined
    ? ALGORITHMS.map((it) => it.meta.name)
    : [];
  throw new UsageError(
    `Cannot list '${name}': ${
      hintAt(name, [...new Set([...others, ...names])])
    }`,
  );
}

function presetsAsText(presets: readonly Preset[]): string {
  return presets.map(({ algorithm, name, text }) =>
    `# train ${algorithm} --preset ${name}\n${text.trimEnd()}\n`
  ).join("\n");
}

/** Lists the trained agents that come with the repository. */
function zooListing() {
  return zooAgents().map(({ name, dir }) => {
    const { mean, deviation, episodes } = readCard(dir).evaluation;
    const bytes = readdirSync(dir)
      .reduce((sum, name) => sum + statSync(`${dir}/${name}`).size, 0);
    return { name: ZOO + name, mean, deviation, episodes, bytes };
  });
}

function zooAsText(agents: ReturnType<typeof zooListing>): string {
  const rows = agents.map(({ name, mean, deviation, episodes, bytes }) => [
    name,
    `${round(mean)} ± ${round(deviation)}`,
    `${episodes} episodes`,
    `${Math.ceil(bytes / 1000)} kB`,
  ]);
  const widths = [0, 1, 2].map((i) =>
    Math.max(0, ...rows.map((it) => it[i].length))
  );
  return rows.map((row) =>
    `${row.map((it, i) => it.padEnd(widths[i] ?? 0)).join("  ")}\n`
  ).join("");
}

/** Imports algorithms of the user's own; other settings have no meaning here. */
async function importNamed(options: ParsedOptions): Promise<void> {
  const other = options.values.get("set")
    ?.find((it) => !/^(algorithmModules|algorithm_modules)=/.test(it));
  if (other !== undefined) {
    throw new UsageError(
      `Cannot use '--set ${other}' with list: expected algorithmModules=[FILE.ts]`,
    );
  }
  await importAlgorithms(options);
}

/** `list`: the algorithms, environments and presets there are. */
export const listCommand: Command = {
  name: "list",
  usage: "[ALGORITHM] [PRESET] [OPTIONS] | list zoo",
  summary:
    "List algorithms, environments and presets, print a preset, or list the trained agents of the zoo.",
  options: [
    option("all", "List all Atari games."),
    option(
      "set KEY=VALUE",
      "With algorithmModules=[FILE.ts], list your own algorithms, too.",
    ),
    option("json", "Print everything as one JSON object."),
  ],
  async run(options, io) {
    const isJson = options.switches.has("json");
    if (options.positionals.join() === "zoo") {
      const zoo = zooListing();
      io.out(isJson ? `${JSON.stringify({ zoo })}\n` : zooAsText(zoo));
      return 0;
    }
    await importNamed(options);
    if (options.positionals.length > 0) {
      const presets = presetsNamed(options.positionals);
      io.out(
        isJson ? `${JSON.stringify({ presets })}\n` : presetsAsText(presets),
      );
      return 0;
    }
    const games = await loadAllEnvironments();
    const found = listing();
    const grouped = options.switches.has("all") ? new Set<string>() : games;
    io.out(isJson ? `${JSON.stringify(found)}\n` : asText(found, grouped));
    return 0;
  },
};
