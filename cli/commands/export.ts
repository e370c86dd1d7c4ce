import { loadEnvironment, policyFile, withAgent } from "@bellman/runs/training";
import {
  checkWritable,
  notices,
  UsageError,
  writeWhole,
} from "@bellman/runs/program";
import {
  type Command,
  integerOf,
  option,
  valueOf,
} from "../terminal/command.ts";
import { AGENT_OPTIONS, agentOf } from "../options/agent.ts";
import { outputPath, type ResolvedConfig } from "@bellman/runs/settings";
import { existsSync } from "node:fs";

/** Makes the page of a run's game. */
async function pageOf(
  config: ResolvedConfig,
  policy: Uint8Array,
): Promise<string> {
  const modules = await loadEnvironment(config);
  // Only pages need what draws games.
  const { gamePage } = await import("@bellman/runs/play");
  return await gamePage(config, { policy, modules });
}

/** `export`: writes the agent of a run folder as an ONNX file or a page. */
export const exportCommand: Command = {
  name: "export",
  usage: "RUN [OPTIONS]",
  summary: "Write the agent of a run folder as an ONNX file, or as a page.",
  options: [
    option(
      "out FILE.onnx",
      "ONNX file; by default policy.onnx in the run folder.",
    ),
    option(
      "batch N",
      "Observations that the file takes at once; any number by default.",
    ),
    option("role NAME", "Role of the policy, in games with one of each."),
    option(
      "probabilities",
      "Add an output of each discrete action's probability.",
    ),
    option(
      "page FILE.html",
      "Write a page instead, in which a person plays the run's game against it.",
    ),
    ...AGENT_OPTIONS.filter(({ name }) => name !== "seed"),
  ],
  async run(options, io) {
    const page = valueOf(options, "page"), out = valueOf(options, "out");
    for (const other of ["out", "batch"]) {
      if (page === undefined || valueOf(options, other) === undefined) continue;
      throw new UsageError(
        `Cannot use both --page and --${other}: give one of them`,
      );
    }
    // No code of the run's is executed but that of its game.
    const agent = agentOf(options, "export", { environment: false });
    const { warnings } = page === undefined
      ? agent
      : agentOf(options, "export");
    const { config, deterministic, checkpoint: { step } } = agent;
    const batchSize = integerOf(options, "batch", { fallback: undefined });
    const role = valueOf(options, "role");
    const path = page ?? out ?? outputPath(
      agent,
      role === undefined ? "policy.onnx" : `policy.${role}.onnx`,
    );
    const [what, ending] = page === undefined
      ? ["the policy", ".onnx"]
      : ["the page", ".html"];
    // What is there is replaced, so it should be no other file of the run's.
    if (!path.endsWith(ending)) {
      throw new UsageError(
        `Cannot write ${what} to ${path}: expected a file that ends in ${ending}`,
      );
    }
    if (page !== undefined && existsSync(page)) {
      throw new UsageError(
        `Cannot write the page to ${page}: it is there already, expected another file`,
      );
    }
    await checkWritable(path, what);
    const probabilities = page !== undefined ||
      options.switches.has("probabilities");
    await withAgent({ ...agent, warnings }, async (setup) => {
      const file = policyFile(setup, {
        ...{ batchSize, deterministic, role, probabilities },
      });
      if (file === undefined) {
        throw new UsageError(
          `Cannot export an agent of ${config.algorithm}: it has no policy to export`,
        );
      }
      const written = page === undefined ? file : await pageOf(config, file);
      writeWhole(path, written);
      const kibibytes = Math.ceil(written.length / 1024);
      io.out(
        `${config.algorithm} on ${config.env}, step ${step}: wrote ${path} (${kibibytes} KiB)\n`,
      );
    }, { onNotice: notices(io) });
    return 0;
  },
};
