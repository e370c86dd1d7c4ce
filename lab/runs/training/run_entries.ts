import { kindOf, platform } from "@bellman/files";
import { RunFolder } from "../folder/run_folder.ts";
import {
  existsSync,
  lstatSync,
  readdirSync,
  realpathSync,
  rmSync,
  type Stats,
} from "node:fs";
import {
  basename,
  dirname,
  isAbsolute,
  join,
  relative,
  resolve,
  sep,
} from "node:path";
import process from "node:process";
import type { ResolvedConfig } from "../settings/resolve.ts";
import { UsageError } from "../program/errors.ts";

/** Makes the folder name of a new run from its configuration, with an optional prefix. */
export function defaultFolder(
  { algorithm, env, seed }: ResolvedConfig,
  words?: string,
): string {
  const time = new Date().toISOString().replace(/[-:]/g, "").slice(0, 15)
    .replace("T", "-");
  // An id may contain characters that folder names should not: ALE/Pong-v5.
  const name = env.replaceAll(/[^\w.-]+/g, "-");
  const front = words === undefined ? "" : `${words}-`;
  return `runs/${front}${algorithm}-${name}-seed${seed}-${time}`;
}

/** Entry of a run's folder. */
interface Entry {
  path: string;
  name: string;
  found: Stats;
  /** Kind of entry, if it is not a file. */
  kind?: string;
}

/** Lists all entries where a run reads and writes. */
function entriesOf(dir: string): Entry[] {
  const { checkpointsDir, plotsDir, videosDir } = new RunFolder(dir);
  const isFolder = (path: string) =>
    lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  // Targets of links are checked where links are allowed.
  const within = [checkpointsDir, plotsDir, videosDir]
    .filter((it) => existsSync(it) && (isFolder(it) || isFolder(`${it}/.`)));
  return [dir, ...within].flatMap((parent) =>
    readdirSync(parent).flatMap((name) => {
      const path = `${parent}/${name}`;
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats === undefined
        ? []
        : [{ path, name, found: stats, kind: kindOf(stats) }];
    })
  );
}

/** Kinds of entries that any run may contain. */
const USUAL: readonly (string | undefined)[] = [undefined, "a folder"];

/**
 * Throws for pipes, devices and sockets in a run, which would block readers.
 *
 * @param dir Run folder.
 * @throws {UsageError} If there is one.
 */
export function refuseDevices(dir: string): void {
  for (const { path, kind } of entriesOf(dir)) {
    if (USUAL.includes(kind) || kind === "a link") continue;
    throw new UsageError(
      `Cannot use the run ${dir}: ${path} is ${kind}, expected a file or a folder; remove it`,
    );
  }
}

/**
 * Throws for entries that lead out of a run: links, and files with a second hard link,
 * which may be the user's.
 *
 * @param dir Run folder.
 * @throws {UsageError} If there is one.
 */
export function refuseLinks(dir: string): void {
  for (const { path, kind, found: stats } of entriesOf(dir)) {
    const isShared = kind === undefined && stats.nlink > 1;
    if (kind !== "a link" && !isShared) continue;
    throw new UsageError(
      `Cannot use the run ${dir}: ${path} ${
        isShared ? "has a second name elsewhere" : "is a link"
      }; put a copy in its place, or add --trust`,
    );
  }
}

function isLink(path: string): boolean {
  // With a separator at its end, the target would be checked.
  return lstatSync(resolve(path), { throwIfNoEntry: false })
    ?.isSymbolicLink() ?? false;
}

/** End of a run's path in the folder of an experiment or a search. */
const OF_GROUP =
  /\/(runs\/[^/]+\/[^/]+|(trials|confirmation)\/\d+(\/[^/]+)?)\/seed-\d+$/;

/**
 * Throws for a run that is a link, or is behind one in the folder of its experiment or
 * search: writing there would change another run.
 *
 * @param dir Run folder.
 * @throws {UsageError} If it is.
 */
export function refuseLinkedRun(dir: string): void {
  let path = resolve(dir);
  const [below = ""] = OF_GROUP.exec(path.replaceAll(sep, "/")) ?? [];
  for (const _ of below.split("/")) {
    if (isLink(path)) {
      throw new UsageError(
        `Cannot use the run ${dir}: ${path} is a link; name the folder that it leads to, or add --trust`,
      );
    }
    path = dirname(path);
  }
}

/**
 * Throws for links in the folder of an experiment or a search, which may be untrusted:
 * they would redirect what is written and removed.
 *
 * @param dir Folder, which may not exist yet.
 * @throws {UsageError} If it is a link, or there is one at any depth.
 *
 * @example
 * ```ts
 * import { UsageError } from "@bellman/runs";
 * import { refuseLinksIn } from "@bellman/runs/training";
 * import { assertThrows } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir();
 * refuseLinksIn(dir);
 * await Deno.symlink("/etc/hostname", `${dir}/config.yaml`);
 * assertThrows(() => refuseLinksIn(dir), UsageError, "config.yaml is a link");
 * ```
 */
export function refuseLinksIn(dir: string): void {
  const refuse = (path: string, hint: string) =>
    new UsageError(`Cannot use the folder ${dir}: ${path} is a link; ${hint}`);
  if (isLink(dir)) throw refuse("it", "name the folder that it leads to");
  const folders = [dir];
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    for (const entry of entriesIn(folder)) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) folders.push(path);
      if (!entry.isSymbolicLink()) continue;
      throw refuse(path, "put a copy of what it leads to in its place");
    }
  }
}

/** Lists a folder, which another process may have removed. */
function entriesIn(dir: string) {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return [];
    throw error;
  }
}

/**
 * Removes a file or folder, unless links in its path lead out of a root folder.
 *
 * @param root Root folder.
 * @param path Path to remove, if it exists.
 * @throws {UsageError} If it lies elsewhere; nothing is removed then.
 *
 * @example
 * ```ts
 * import { removeInside } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir();
 * await Deno.mkdir(`${dir}/checkpoints`);
 * removeInside(dir, `${dir}/checkpoints`);
 * assertEquals([...Deno.readDirSync(dir)], []);
 * ```
 */
export function removeInside(root: string, path: string): void {
  const parent = dirname(path);
  if (!existsSync(parent)) return;
  // A link itself is removed, not its target.
  const within = relative(realpathSync(root), realpathSync(parent));
  if (within.split(sep)[0] === ".." || isAbsolute(within)) {
    throw new UsageError(
      `Cannot remove ${path}: links lead out of ${root} there`,
    );
  }
  rmSync(path, { recursive: true, force: true });
}

/**
 * Throws if another user could create links in the folder meanwhile.
 *
 * @param dir Run folder.
 * @throws {UsageError} If it belongs to another user.
 */
export function refuseForeignFolder(dir: string): void {
  const { uid } = lstatSync(`${dir}/.`);
  if (platform().os === "windows" || uid === process.getuid!()) return;
  throw new UsageError(
    `Cannot resume ${dir}: the folder is another user's, who could change it meanwhile; copy it first, or add --trust`,
  );
}

/** Names of the files that a run writes, including unfinished ones. */
const FILES =
  /^(run\.json|config\.(yaml|sig)|(progress|episodes)\.csv|report\.html|policy\.onnx|run\.lock|replay\.rows.*|events\.out\..*|(step|best).*\.safetensors)(\.\d+)?(\.tmp)?$/;

/**
 * Checks that no folder or link has the name of a file that the run will write.
 *
 * @param dir Run folder.
 * @throws {UsageError} If one has.
 */
export function checkFiles(dir: string): void {
  for (const { path, name, kind } of entriesOf(dir)) {
    if (kind === undefined || !FILES.test(name)) continue;
    throw new UsageError(
      `Cannot resume ${dir}: ${path} is ${kind}, expected a file; move it away`,
    );
  }
}

/**
 * Removes the files of a new run. Errors are ignored, since the reason why the run did
 * not start matters more.
 *
 * @param folder Run folder.
 * @param options Remove the folder too, if the run created it.
 */
export function removeNew(
  { dir, checkpointsDir, plotsDir, videosDir }: RunFolder,
  { isMade }: { isMade: boolean },
): void {
  const folders = [checkpointsDir, plotsDir, videosDir];
  try {
    const paths = isMade ? [dir] : readdirSync(dir)
      .map((name) => join(dir, name))
      .filter((it) => folders.includes(it) || FILES.test(basename(it)));
    for (const path of paths) rmSync(path, { recursive: true, force: true });
  } catch {
    // It stays.
  }
}
