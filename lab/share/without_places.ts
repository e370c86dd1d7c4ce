import type { CheckpointNotes } from "@bellman/training";
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { MODULES_FOLDER, parseYaml, writeYaml } from "@bellman/runs/settings";
import { asLine, messageOf, UsageError } from "@bellman/runs/program";
import { readShared } from "./shared_files.ts";

/** Start of a path, or of a file URL, within words. */
const PLACE = /(^|[\s=[,{'":])(file:|[a-z]:[\\/]|~?[\\/]|\.\.?[\\/])/i;

/** Options with locations of a run, or for its output. */
const DROPPED =
  / --(?:(?:out|name|jobs)[ =](?:'[^']*'|\S+)|quiet|trust|unchecked)(?= |$)/g;

/** Command that only trains, as `taskLine` writes it. */
const TRAINS = (() => {
  const word = String.raw`(?:[\p{L}\p{N}/._:@%+=,-]+|'[^']*'(?:\\''[^']*')*)`;
  const names = "env|preset|seed|steps|workers|engine|backend|every|set";
  return RegExp(
    `^deno task train(?: (?!-)${word})?(?: --(?:${names}) ${word})*$`,
    "u",
  );
})();

/**
 * Returns the command that trained a run, or a safe equivalent: an untrusted run may
 * contain any text.
 */
export function commandOf(text: string): string {
  const command = text.replaceAll(DROPPED, "");
  const isAlone = TRAINS.test(command) && asLine(command) === command &&
    !/modules|plugin/i.test(command) && !PLACE.test(command);
  return isAlone ? command : "deno task train --config config.yaml";
}

/** Configuration of a run without locations on its machine. */
interface PlacelessRun {
  /** Configuration and command. */
  config: string;
  command: string;
  /** Copied modules by name in the shared folder. */
  modules: Map<string, Uint8Array>;
  /** Names of the run's files that were not copied. */
  notShared: string[];
}

/**
 * Removes the locations on a machine from a run's notes.
 *
 * @param notes Notes of its checkpoint.
 * @param options Run folder, and whether modules are copied.
 * @throws {UsageError} If a module cannot be copied.
 */
export function withoutPlaces(
  notes: CheckpointNotes,
  { dir, withModules }: { dir: string; withModules: boolean },
): PlacelessRun {
  const original = parseYaml(String(notes.config)) as Record<string, unknown>;
  const modules = new Map<string, Uint8Array>(), notShared: string[] = [];
  const copied = (module: string): string[] => {
    const path = module.startsWith("file:") ? fileURLToPath(module) : module;
    const name = basename(path), shared = `${MODULES_FOLDER}/${name}`;
    if (!withModules) {
      notShared.push(name);
      return [];
    }
    // A module that was shared before is in the run's folder.
    const inside = join(dir, path);
    const file = existsSync(inside) ? inside : resolve(path);
    try {
      if (modules.has(shared)) throw new Error("another one has its name");
      modules.set(shared, readShared(dirname(file), name, shared));
    } catch (error) {
      throw new UsageError(
        `Cannot share the module ${file}: ${messageOf(error)}`,
        { cause: error },
      );
    }
    return [shared];
  };
  const placeless = (value: unknown): unknown => {
    if (typeof value === "string" && PLACE.test(value)) {
      notShared.push(basename(value));
      return basename(value);
    }
    if (Array.isArray(value)) return value.map(placeless);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, it]) => [key, placeless(it)]),
    );
  };
  // Python modules may be packages.
  const isFile = (key: string, module: string) =>
    key === "envModules" && /^(gym|pz):/.test(String(original.env))
      ? module.endsWith(".py")
      : !/^(npm|jsr):/.test(module);
  // A path of this machine, which the agent does not need.
  const entries = Object.entries({ ...original, plugin: null });
  const config = Object.fromEntries(entries.map(([key, value]) => [
    key,
    key === "envModules" || key === "algorithmModules"
      ? (value as unknown as string[])
        .flatMap((it) => isFile(key, it) ? copied(it) : [it])
      : placeless(value),
  ]));
  const command = commandOf(String(notes.command ?? ""));
  return { config: writeYaml(config), command, modules, notShared };
}
