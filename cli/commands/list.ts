import { envSpec, registeredIds } from "@bellman/envs";
import { type AlgorithmName, ALGORITHMS } from "../algorithms.ts";
import type { ParsedOptions } from "../args.ts";
import type { Command } from "../command.ts";
import type { CommandIo } from "../io.ts";

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
  const names = Object.keys(ALGORITHMS) as AlgorithmName[];
  return {
    algorithms: names.map((name) => ({
      name,
      summary: ALGORITHMS[name].summary,
    })),
    environments: registeredIds().map((id) => ({ ...envSpec(id), id })),
    presets: names.flatMap((algorithm) =>
      Object.keys(ALGORITHMS[algorithm].presets)
        .map((name) => ({ algorithm, name }))
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

function asText({ algorithms, environments, presets }: Listing): string {
  const row = (left: string, right: string) =>
    `  ${left.padEnd(26)}  ${right}`.trimEnd();
  return [
    "Algorithms:",
    ...algorithms.map((it) => row(it.name, it.summary)),
    "",
    "Environments:",
    ...environments.map((it) => row(it.id, describeEnv(it))),
    "",
    "Presets:",
    ...presets.map((it) => row(it.name, it.algorithm)),
    "",
  ].join("\n");
}

function list(options: ParsedOptions, io: CommandIo): Promise<number> {
  const found = listing();
  io.out(
    options.switches.has("json") ? `${JSON.stringify(found)}\n` : asText(found),
  );
  return Promise.resolve(0);
}

/** `list`: the algorithms, environments and presets there are. */
export const listCommand: Command = {
  name: "list",
  usage: "[--json]",
  summary: "List algorithms, environments and presets.",
  options: [{ name: "json", help: "Print one JSON object." }],
  run: list,
};
