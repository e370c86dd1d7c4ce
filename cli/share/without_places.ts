import type { CheckpointNotes } from "@bellman/training";
import { stringify } from "@std/yaml";
import { existsSync, lstatSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isGymnasium } from "../config/gymnasium.ts";
import { parseYaml } from "../config/yaml.ts";
import { MODULES_FOLDER } from "../run/shared_agent.ts";
import { UsageError } from "../terminal/errors.ts";
import { readShared } from "./shared_files.ts";

/** What a run was made with, without the places of its machine. */
export interface PlacelessRun {
  configText: string;
  command: string;
  /** Copied modules by their names in the shared folder. */
  modules: Map<string, Uint8Array>;
  /** Names of files that the run names and that were not copied. */
  notShared: string[];
}

/** Beginning of a path or of a file's URL within words. */
const PLACE = /(^|[\s=[,{'":])(file:|[a-z]:[\\/]|~?[\\/]|\.\.?[\\/])/i;

/** Options that say where a run lay, and how much it printed. */
const DROPPED: Readonly<Record<string, boolean>> = {
  "--out": true,
  "--name": true,
  "--jobs": true,
  "--quiet": false,
  "--trust": false,
  "--unchecked": false,
};

/** Returns the command that trained a run, or one that trains as it was trained. */
function commandOf(text: string): string {
  const words = text.match(/(?:'[^']*'|\\'|[^\s'])+/g) ?? [];
  const kept: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const [name, value] = words[i].split("=", 2);
    const takesValue = DROPPED[name];
    if (takesValue === undefined) kept.push(words[i]);
    else if (takesValue && value === undefined) i++;
  }
  const command = kept.join(" ");
  const isAlone = /^deno task train [^\n]*$/.test(command) &&
    !/ --(config|init-from|resume|seeds)\b/.test(command) &&
    !PLACE.test(command);
  return isAlone ? command : "deno task train --config config.yaml";
}

/** Collects a run's modules, or their names. */
class Places {
  readonly modules = new Map<string, Uint8Array>();
  readonly notShared: string[] = [];
  readonly #options: { dir: string; withModules: boolean };

  constructor(options: { dir: string; withModules: boolean }) {
    this.#options = options;
  }

  /** Copies a module, or notes its name; returns what replaces it. */
  module(given: string): string[] {
    const path = given.startsWith("file:") ? fileURLToPath(given) : given;
    const name = basename(path);
    if (!this.#options.withModules) {
      this.notShared.push(name);
      return [];
    }
    const shared = `${MODULES_FOLDER}/${name}`;
    // One that was shared before lies in the run's folder.
    const inside = join(this.#options.dir, path);
    const found = existsSync(inside) ? inside : resolve(path);
    if (this.modules.has(shared)) {
      throw new UsageError(
        `Cannot share two modules of the name ${name}: rename one of them`,
      );
    }
    if (lstatSync(found, { throwIfNoEntry: false })?.isFile() !== true) {
      throw new UsageError(`Cannot share the module ${found}: it is no file`);
    }
    const folder = found.slice(0, -name.length - 1);
    this.modules.set(shared, moduleBytes(folder, name));
    return [shared];
  }

  /** Replaces paths in other values by the names of their files. */
  value(given: unknown): unknown {
    if (typeof given === "string" && PLACE.test(given)) {
      const name = basename(given);
      this.notShared.push(name);
      return name;
    }
    if (Array.isArray(given)) return given.map((it) => this.value(it));
    if (typeof given !== "object" || given === null) return given;
    return Object.fromEntries(
      Object.entries(given).map(([key, it]) => [key, this.value(it)]),
    );
  }
}

function moduleBytes(folder: string, name: string): Uint8Array {
  try {
    return readShared(folder, name, `${MODULES_FOLDER}/${name}`);
  } catch (error) {
    throw new UsageError(
      `Cannot share the module ${folder}/${name}: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/**
 * Cuts out of a run's notes what tells where it was made.
 *
 * @param notes Notes of its checkpoint.
 * @param options Its folder, and true where modules are copied.
 */
export function withoutPlaces(
  notes: CheckpointNotes,
  options: { dir: string; withModules: boolean },
): PlacelessRun {
  const given = parseYaml(String(notes.config)) as Record<string, unknown>;
  const places = new Places(options);
  const isPython = isGymnasium(String(given.env));
  const isOwn = (key: string, it: string) =>
    key === "envModules" && isPython
      ? it.endsWith(".py")
      : !/^(npm|jsr):/.test(it);
  const config = Object.fromEntries(
    Object.entries(given).map(([key, value]) => {
      if (key === "plugin") return [key, null];
      if (key !== "envModules" && key !== "algorithmModules") {
        return [key, places.value(value)];
      }
      const names = (value as string[])
        .flatMap((it) => isOwn(key, it) ? places.module(it) : [it]);
      return [key, names];
    }),
  );
  const { modules, notShared } = places;
  const command = commandOf(String(notes.command ?? ""));
  return { configText: stringify(config), command, modules, notShared };
}
