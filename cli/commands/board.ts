import { statSync } from "node:fs";
import { runDirOf } from "@bellman/runs/settings";
import { UsageError } from "@bellman/runs/program";
import { type Command, integerOf, option } from "../terminal/command.ts";

/** Folders that are shown where none is named. */
const FOLDERS = ["runs", "experiments", "searches"];

const PORT = 8650;

/**
 * Returns false for a folder that may be made later.
 *
 * @throws {UsageError} If something else is there.
 */
function isFolder(path: string): boolean {
  const found = path === ""
    ? undefined
    : statSync(path, { throwIfNoEntry: false });
  if (path !== "" && found === undefined) return false;
  if (found?.isDirectory()) return true;
  throw new UsageError(`Cannot show '${path}': expected a folder`);
}

/** `board`: serves all runs, experiments and searches of some folders to a browser. */
export const boardCommand: Command = {
  name: "board",
  usage: "[FOLDER...] [OPTIONS]",
  summary: "Show all runs, experiments and searches in a browser, live.",
  options: [
    option(
      "port N",
      `Port of 127.0.0.1 to listen on, 0 for a free one; ${PORT} by default.`,
    ),
    option("quiet", "Print nothing but the address."),
  ],
  async run(options, io) {
    const port = integerOf(options, "port", {
      minimum: 0,
      maximum: 65_535,
      fallback: PORT,
    });
    const { positionals } = options;
    const roots = positionals.length > 0 ? positionals.map(runDirOf) : FOLDERS;
    const missing = roots.filter((it) => !isFolder(it));
    // Loads the whole page: only where it is served.
    const { serveBoard } = await import("@bellman/board");
    const board = await serveBoard({ roots, port });
    io.out(`${board.url}\n`);
    if (!options.switches.has("quiet")) {
      const later = missing.length === 0
        ? ""
        : ` (${missing.join(", ")}: not there yet)`;
      io.out(`Shows ${roots.join(", ")}${later}; Ctrl-C ends it\n`);
    }
    // Nothing is to be saved: a signal ends the process as it does by default.
    await board.finished;
    return 0;
  },
};
