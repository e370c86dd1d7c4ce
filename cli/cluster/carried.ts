/** What goes to the nodes of a cluster with a run, and what comes back from them. */
import type { RayOptions } from "@bellman/envs/ray";
import { RunFolder } from "@bellman/training";
import { existsSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import type { ResolvedConfig } from "../config/resolve.ts";
import { codeOf } from "../run/environment_modules.ts";
import { originalConfig, signConfig } from "../run/ownership.ts";
import { savedConfigOf } from "../run/saved_run.ts";
import { UsageError, writeWhole } from "../terminal/errors.ts";
import { readText } from "../terminal/read_text.ts";

/** Files that a configuration names, and not a package of JSR or npm. */
function filesOf(config: ResolvedConfig): string[] {
  const { modules, files } = codeOf(config);
  return [...modules.filter((it) => it.startsWith("file:")), ...files];
}

/**
 * Checks that each of several runs can be made in one place, and finds there what its
 * configuration names.
 *
 * @param config The configuration.
 * @param cluster Cluster that the runs are made on, if any.
 * @throws {UsageError} If it may not, or could not be opened here.
 */
export function checkCarried(
  config: ResolvedConfig,
  cluster: Pick<RayOptions, "code"> | undefined,
): void {
  if (config.vectorization === "ray") {
    throw new UsageError(
      "Cannot use vectorization: ray for several runs: each run is made in one place; expected another one",
    );
  }
  const [file] = filesOf(config);
  const isThere = cluster === undefined || cluster.code === "here";
  if (file === undefined || isThere) return;
  throw new UsageError(
    `Cannot ship ${file} to the cluster: its runs would name the place that it has there; expected code that is at the same path on all nodes, with --cluster-code here`,
  );
}

/**
 * Returns the words of a command that are right on a node, too: the path of
 * `--config` is relative to the folder of the code.
 *
 * @throws {UsageError} If the file lies elsewhere.
 */
export function configIn(
  words: readonly string[],
  { code, folder }: { code?: "ship" | "here"; folder: string },
): string[] {
  const at = words.indexOf("--config") + 1;
  if (at === 0) return [...words];
  const path = resolve(words[at]), inFolder = relative(folder, path);
  const isOutside = inFolder.startsWith("..") || isAbsolute(inFolder);
  if (isOutside && code !== "here") {
    throw new UsageError(
      `Cannot ship ${words[at]} to the cluster: expected a file in ${folder}`,
    );
  }
  return words.with(at, isOutside ? path : inFolder);
}

/**
 * Signs the configuration of a run that a node has begun for this user, as `train`
 * does here. One that names code stays as it is: a node may have been somebody else's.
 */
export function adoptRun(dir: string): void {
  const { configPath, signaturePath } = new RunFolder(dir);
  if (![configPath, signaturePath].every((it) => existsSync(it))) return;
  const [current, signed] = [configPath, signaturePath]
    .map((path) => readText(path, "the configuration"));
  const original = originalConfig(current, signed);
  if (original === undefined || original.isOwn) return;
  const config = savedConfigOf(dir);
  if (config === undefined) return;
  const { modules, options, files } = codeOf(config);
  if (modules.length + options.length + files.length > 0) return;
  writeWhole(signaturePath, signConfig(original.text));
}
