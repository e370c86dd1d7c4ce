import { defaultRegistry } from "@bellman/envs";
import { kindOf } from "@bellman/files";
import { registeredNetworks } from "@bellman/policies";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { messageOf, UsageError } from "../program/errors.ts";
import { addOwnModule } from "../program/own_modules.ts";
import { ALGORITHMS } from "./algorithms.ts";
import { countLoggers } from "./loggers.ts";
import type { RunConfig } from "./run_config.ts";

/** Settings that name modules of the user. */
type ModuleKey = "algorithmModules" | "envModules";

/** Functions that a module should call. */
const CALLS: Readonly<Record<ModuleKey, string>> = {
  algorithmModules: "registerAlgorithm, registerNetwork or registerLogger",
  envModules: "register",
};

/** URLs of modules that registered nothing on import. */
const idle = new Map<string, boolean>();

/** Returns the number of registrations so far. */
function countRegistered(): number {
  return ALGORITHMS.length + registeredNetworks().length + countLoggers() +
    defaultRegistry.size;
}

/** Describes the imported modules of a configuration that registered nothing, one line each. */
export function idleModules<K extends ModuleKey>(
  config: Pick<RunConfig, K>,
  key: K,
): string[] {
  const urls = moduleUrls(config, key);
  return config[key].filter((_, i) => idle.get(urls[i]))
    .map((module) =>
      `${module}, which ${key} names, registers nothing: expected a call of ${
        CALLS[key]
      }`
    );
}

/** Protocols of modules: the origin of web pages and data URLs is unknown. */
const PROTOCOLS: ReadonlySet<string> = new Set(["file:", "npm:", "jsr:"]);

/** Returns the URL of a module; paths are relative to the current folder. */
function urlOf(module: string, key: ModuleKey): string {
  if (module.trim() === "") {
    throw new UsageError(
      `Cannot import '${module}', which ${key} names: expected a file or a package of npm: or jsr:`,
    );
  }
  if (key === "envModules" && isPythonFile(module)) {
    throw new UsageError(
      `Cannot import ${module}, which envModules names: Python's files register environments of gym:, as in --env gym:Id-v0`,
    );
  }
  const url = /^[a-z]:[\\/]/i.test(module) ? null : URL.parse(module);
  if (url === null) return pathToFileURL(resolve(module)).href;
  if (PROTOCOLS.has(url.protocol)) return module;
  const shown = module.length > 60 ? `${module.slice(0, 57)}...` : module;
  throw new UsageError(
    `Cannot import ${shown}, which ${key} names: expected a file or a package of npm: or jsr:, not ${url.protocol}`,
  );
}

function isPythonFile(module: string): boolean {
  return module.endsWith(".py");
}

/**
 * Returns a Python module: its name, or the absolute path of its file.
 *
 * @throws {UsageError} If it is a file of another language.
 */
export function pythonModule(module: string): string {
  if (isPythonFile(module)) {
    return resolve(
      module.startsWith("file:") ? fileURLToPath(module) : module,
    );
  }
  if (/^[\p{ID_Continue}.]+$/u.test(module) && !/\.[cm]?[jt]s$/.test(module)) {
    return module;
  }
  throw new UsageError(
    `Cannot import ${module}, which envModules names: expected a .py file or the name of a Python module, for an environment of gym:`,
  );
}

/**
 * Returns the URLs of the modules of a configuration without importing them.
 *
 * @throws {UsageError} If one is neither a file nor a package.
 */
export function moduleUrls<K extends ModuleKey>(
  config: Pick<RunConfig, K>,
  key: K,
): string[] {
  return config[key].map((module) => urlOf(module, key));
}

/** Throws for pipes and devices, which an import would read forever. */
function checkReadable(url: string): void {
  if (!url.startsWith("file:")) return;
  const stats = statSync(fileURLToPath(url), { throwIfNoEntry: false });
  const kind = stats && kindOf(stats);
  if (kind === undefined) return;
  throw new UsageError(`it is ${kind}, expected a file`);
}

/**
 * Imports the modules of a configuration.
 *
 * @returns URLs of the modules.
 * @throws {UsageError} If one cannot be imported.
 */
export async function importModules<K extends ModuleKey>(
  config: Pick<RunConfig, K>,
  key: K,
): Promise<string[]> {
  const urls = moduleUrls(config, key);
  for (const [i, url] of urls.entries()) {
    try {
      checkReadable(url);
      const before = countRegistered();
      addOwnModule(url);
      await import(url);
      // A module only runs on its first import.
      if (!idle.has(url)) idle.set(url, countRegistered() === before);
    } catch (error) {
      throw new UsageError(
        `Cannot import ${config[key][i]}, which ${key} names: ${
          messageOf(error)
        }`,
        { cause: error },
      );
    }
  }
  return urls;
}
