import { policyFile, withAgent } from "@bellman/runs/training";
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
import { outputPath } from "@bellman/runs/settings";

/** `export`: writes the agent of a run folder as an ONNX file. */
export const exportCommand: Command = {
  name: "export",
  usage: "RUN [OPTIONS]",
  summary: "Write the agent of a run folder as an ONNX file.",
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
    ...AGENT_OPTIONS.filter(({ name }) => name !== "seed"),
  ],
  async run(options, io) {
    const agent = agentOf(options, "export", { environment: false });
    const { config, deterministic, checkpoint: { step } } = agent;
    const batchSize = integerOf(options, "batch", { fallback: undefined });
    const role = valueOf(options, "role");
    const path = valueOf(options, "out") ?? outputPath(
      agent,
      role === undefined ? "policy.onnx" : `policy.${role}.onnx`,
    );
    // What is there is replaced, so it should be no other file of the run's.
    if (!path.endsWith(".onnx")) {
      throw new UsageError(
        `Cannot write the policy to ${path}: expected a file that ends in .onnx`,
      );
    }
    await checkWritable(path, "the policy");
    await withAgent(agent, (setup) => {
      const file = policyFile(setup, { batchSize, deterministic, role });
      if (file === undefined) {
        throw new UsageError(
          `Cannot export an agent of ${config.algorithm}: it has no policy to export`,
        );
      }
      writeWhole(path, file);
      const kibibytes = Math.ceil(file.length / 1024);
      io.out(
        `${config.algorithm} on ${config.env}, step ${step}: wrote ${path} (${kibibytes} KiB)\n`,
      );
    }, { onNotice: notices(io) });
    return 0;
  },
};
