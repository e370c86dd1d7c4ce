import { hintAt } from "@bellman/files/options";
import { hintAtOption } from "@bellman/runs/settings";
import {
  type Command,
  commandHelp,
  parseOptions,
  programHelp,
} from "./terminal/command.ts";
import { boardCommand } from "./commands/board.ts";
import { evalCommand } from "./commands/eval.ts";
import { experimentCommand } from "./commands/experiment.ts";
import { exportCommand } from "./commands/export.ts";
import { leagueCommand } from "./commands/league.ts";
import { listCommand } from "./commands/list.ts";
import { playCommand } from "./commands/play.ts";
import { plotCommand } from "./commands/plot.ts";
import { recordCommand } from "./commands/record.ts";
import { searchCommand } from "./commands/search.ts";
import { shareCommand } from "./commands/share.ts";
import { trainCommand } from "./commands/train.ts";
import {
  type CommandIo,
  guarded,
  processIo,
  UsageError,
} from "@bellman/runs/program";

/** Commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  trainCommand,
  experimentCommand,
  searchCommand,
  evalCommand,
  playCommand,
  recordCommand,
  leagueCommand,
  exportCommand,
  plotCommand,
  shareCommand,
  boardCommand,
  listCommand,
];

/** Arguments that print the help of the program. */
const HELP: ReadonlySet<string> = new Set(["--help", "-h", "help"]);

function findCommand(name: string): Command {
  const command = COMMANDS.find((it) => it.name === name);
  if (command !== undefined) return command;
  const hint = hintAt(name, COMMANDS.map((it) => it.name));
  throw new UsageError(`Unknown command '${name}': ${hint}`);
}

async function dispatch(
  args: readonly string[],
  io: CommandIo,
): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || HELP.has(name)) {
    io.out(programHelp(COMMANDS));
    return name === undefined ? 2 : 0;
  }
  const command = findCommand(name);
  const options = parseOptions(rest, command.options, hintAtOption);
  if (options.switches.has("help")) {
    io.out(await commandHelp(command, options));
    return 0;
  }
  return await command.run(options, io);
}

/** Runs one command line and returns its exit code. */
export async function run(
  args: readonly string[],
  io: CommandIo = processIo(),
): Promise<number> {
  const isDebugged = args.includes("--debug");
  return await guarded(io, () => dispatch(args, io), { isDebugged });
}
