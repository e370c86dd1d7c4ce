import {
  type Command,
  option,
  type ParsedOptions,
  valueOf,
} from "../terminal/command.ts";
import { TRUST_OPTION } from "../options/options.ts";
import { type CommandIo, notices, UsageError } from "@bellman/runs/program";
import { runDirOf } from "@bellman/runs/settings";
import { checkShared, shareRun } from "@bellman/share";

async function share(options: ParsedOptions, io: CommandIo): Promise<number> {
  const { positionals: runs, switches } = options;
  if (runs.length !== 1) {
    throw new UsageError(
      `Cannot share ${runs.length} runs: expected one run folder, as in 'share runs/a2c-CartPole-v1-seed0 --out agent'`,
    );
  }
  const out = valueOf(options, "out");
  if (out === undefined) {
    throw new UsageError(
      "Cannot share without --out: expected a new folder, as in '--out agent'",
    );
  }
  const files = await shareRun(runDirOf(runs[0]), {
    out,
    name: valueOf(options, "name"),
    license: valueOf(options, "license"),
    withModules: switches.has("with-modules"),
    isTrusted: switches.has("trust"),
    onNotice: notices(io),
  });
  const bytes = [...files.values()].reduce((sum, it) => sum + it.length, 0);
  io.out(`wrote ${out} (${files.size} files, ${Math.ceil(bytes / 1000)} kB)\n`);
  return 0;
}

async function check(options: ParsedOptions, io: CommandIo): Promise<number> {
  const { positionals: folders, switches, values } = options;
  const [other] = [
    ...values.keys(),
    ...switches.has("with-modules") ? ["with-modules"] : [],
  ];
  if (other !== undefined) {
    throw new UsageError(
      `Cannot use --${other} with --check: it is for a folder that is made`,
    );
  }
  if (folders.length === 0) {
    throw new UsageError(
      "Cannot check 0 folders: expected at least one, as in 'share --check agent'",
    );
  }
  const isTrusted = switches.has("trust");
  let count = 0;
  for (const folder of folders) {
    const { problems, unchecked } = await checkShared(runDirOf(folder), {
      isTrusted,
      onNotice: notices(io),
    });
    problems.forEach((it) => io.out(`${folder}: ${it}\n`));
    if (problems.length === 0) {
      io.out(
        `${folder}: holds what it claims\n${folder}: not checked: ${
          unchecked.join(", ")
        }\n`,
      );
    }
    count += problems.length;
  }
  return count === 0 ? 0 : 1;
}

/** `share`: cuts a run folder to what another person needs, or checks one. */
export const shareCommand: Command = {
  name: "share",
  usage: "RUN --out FOLDER [OPTIONS] | share --check FOLDER...",
  summary:
    "Make a folder of a run's agent to be shared, or check such folders.",
  options: [
    option("out FOLDER", "New folder of the agent."),
    option(
      "name NAME",
      "Name of the agent; by default algorithm and environment.",
    ),
    option("license MIT", "License that the card names; none by default."),
    option("with-modules", "Copy the modules that the run names, too."),
    option("check", "Check checksums, numbers and policies of shared folders."),
    TRUST_OPTION,
  ],
  async run(options, io) {
    return options.switches.has("check")
      ? await check(options, io)
      : await share(options, io);
  },
};
