import { builtin } from "@bellman/files";
import { logNameIn } from "./curves.ts";
import { formerRecord, formerSettings } from "./former_run.ts";
import { type Entry, lookAt, problemOf, readTextInside } from "./inside.ts";
import {
  MOST_RECORD,
  parseRecord,
  type RunRecord,
  type RunState,
} from "./record.ts";

// Looked up on use: browsers have none.
const fs = () => builtin("node:fs");

/** Kind of a folder; `shared` is an agent made by `share`. */
export type FolderKind = "run" | "experiment" | "search" | "shared";

/**
 * State of a folder. A run is `running` if its lock is held, `killed` if its record
 * says running without a lock, `unknown` if another machine may hold the lock, or
 * nothing can be read.
 */
export type FolderState = RunState | "killed" | "unknown";

/** Listed folder. */
export interface ListedFolder {
  /** Kind of folder. */
  readonly kind: FolderKind;
  /** Real path. */
  readonly dir: string;
  /** Path below the root, with `/` as separator; empty for the root. */
  readonly name: string;
  /**
   * Path of the experiment or search that contains it.
   *
   * @default none
   */
  readonly parent?: string;
  /** State; `running` or `ended` for experiments and searches. */
  readonly state: FolderState;
  /**
   * Record of a run, made from its files if an older version wrote none.
   *
   * @default it cannot be read
   */
  readonly record?: RunRecord;
  /** A line for each file that cannot be read. */
  readonly problems: readonly string[];
  /** Changes whenever the record may have changed. */
  readonly stamp: string;
  /** Changes whenever the log of a run may have new rows. */
  readonly logStamp: string;
}

/** Options of {@linkcode listRuns}. */
export interface ListRunsOptions {
  /**
   * Result of an earlier call by path: unchanged folders are not read again.
   *
   * @default none
   */
  known?: ReadonlyMap<string, ListedFolder>;
  /**
   * Receives a line for each folder that is skipped.
   *
   * @default nobody
   */
  onNotice?: (line: string) => void;
}

/** Largest depth below a root, and largest numbers of folders and runs. */
const MOST_DEPTH = 8, MOST_FOLDERS = 20_000, MOST_RUNS = 10_000;
/** Skipped folders. */
const PASSED_OVER = /^(\.|node_modules$)/;
/** Lock files of experiments, parts of experiments, and searches. */
const GROUP_LOCK = /^(experiment(\.\d+-of-\d+)?|search)\.lock$/;
/** File of a shared agent. */
const AGENT_FILE = "agent.safetensors";
/** Any of these files makes a folder a run. */
const OF_RUN = ["run.json", "progress.csv", "run.lock", "failure.txt"];
/** Files of runs of older versions, without a record. */
const OF_FORMER = [
  ...["config.yaml", "progress.csv", "report.html", "failure.txt"],
  ...["evaluations.json", "evaluations.csv", "resumes.txt"],
];

/**
 * Finds all runs, shared agents, experiments and searches below a folder. Links are not
 * followed, and untrusted contents cannot lead to other files.
 *
 * @param root Root folder, which may not exist yet.
 * @param options Known folders: see {@linkcode ListRunsOptions}.
 * @returns The folders, each before those inside of it.
 *
 * @example
 * ```ts
 * import { listRuns } from "@bellman/runs";
 * import { assertEquals } from "@std/assert";
 *
 * const root = await Deno.makeTempDir();
 * await Deno.mkdir(`${root}/first`);
 * const log = "time/steps,train/loss\n80,0.5\n";
 * await Deno.writeTextFile(`${root}/first/progress.csv`, log);
 * const [{ kind, name, state }] = await listRuns(root);
 * assertEquals([kind, name, state], ["run", "first", "killed"]);
 * ```
 */
export async function listRuns(
  root: string,
  { known = new Map(), onNotice = () => {} }: ListRunsOptions = {},
): Promise<ListedFolder[]> {
  const walk = new Walk(root, known, onNotice);
  try {
    walk.realRoot = fs().realpathSync(root);
  } catch {
    // It may be made later.
    return [];
  }
  await walk.visit({ name: "", depth: 0 });
  return walk.found;
}

/** Folder to visit. */
interface Place {
  name: string;
  depth: number;
  parent?: string;
}

class Walk {
  readonly found: ListedFolder[] = [];
  realRoot = "";
  readonly #root: string;
  readonly #known: ReadonlyMap<string, ListedFolder>;
  readonly #onNotice: (line: string) => void;
  readonly #notices = new Set<string>();
  #folders = 0;
  #runs = 0;

  constructor(
    root: string,
    known: ReadonlyMap<string, ListedFolder>,
    onNotice: (line: string) => void,
  ) {
    this.#root = root;
    this.#known = known;
    this.#onNotice = onNotice;
  }

  async visit(place: Place): Promise<void> {
    const { name, depth, parent } = place;
    const dir = name === "" ? this.realRoot : `${this.realRoot}/${name}`;
    const known = this.#known.get(dir);
    const isRun = known?.kind === "run" || known?.kind === "shared";
    if (isRun && lookAt(dir)?.kind === "a folder") {
      await this.#addRun({ dir, name, parent, kind: known.kind });
      return;
    }
    if (++this.#folders > MOST_FOLDERS || depth > MOST_DEPTH) {
      this.#notice(
        depth > MOST_DEPTH
          ? `Folders more than ${MOST_DEPTH} levels below ${this.#root} are not shown`
          : `No more than ${MOST_FOLDERS} folders are looked at`,
      );
      return;
    }
    const { names, folders } = namesIn(dir);
    const kind = kindOfRun(names);
    if (kind !== undefined) {
      await this.#addRun({ dir, name, parent, kind });
      return;
    }
    const isGroup = await this.#addGroup(names, { dir, name, parent });
    for (const inner of folders) {
      if (PASSED_OVER.test(inner)) continue;
      await this.visit({
        name: name === "" ? inner : `${name}/${inner}`,
        depth: depth + 1,
        parent: isGroup ? dir : parent,
      });
    }
  }

  async #addGroup(
    names: ReadonlySet<string>,
    place: Pick<ListedFolder, "dir" | "name" | "parent">,
  ): Promise<boolean> {
    const kind = names.has("trials.jsonl")
      ? "search"
      : names.has("plan.yaml") && names.has("runs")
      ? "experiment"
      : undefined;
    if (kind === undefined) return false;
    const locks = await Promise.all(
      [...names].filter((it) => GROUP_LOCK.test(it))
        .map((it) => lockOf(`${place.dir}/${it}`)),
    );
    const state = locks.includes("held") ? "running" : "ended";
    this.found.push({
      ...place,
      kind,
      state,
      problems: [],
      stamp: state,
      logStamp: "",
    });
    return true;
  }

  async #addRun(
    place: Pick<ListedFolder, "dir" | "name" | "parent" | "kind">,
  ): Promise<void> {
    if (++this.#runs > MOST_RUNS) {
      this.#notice(`No more than ${MOST_RUNS} runs are shown`);
      return;
    }
    const known = this.#known.get(place.dir);
    this.found.push(await listedRun(this.realRoot, place, known));
  }

  #notice(line: string): void {
    if (this.#notices.has(line)) return;
    this.#notices.add(line);
    this.#onNotice(line);
  }
}

/** Lists the names in a folder, and which of them are folders; empty if it is gone. */
function namesIn(dir: string): { names: Set<string>; folders: string[] } {
  try {
    const entries = fs().readdirSync(dir, { withFileTypes: true });
    return {
      names: new Set(entries.map(({ name }) => name)),
      folders: entries.filter((it) => it.isDirectory())
        .map(({ name }) => name).sort(),
    };
  } catch {
    // It is gone, or not readable.
    return { names: new Set(), folders: [] };
  }
}

function kindOfRun(names: ReadonlySet<string>): "run" | "shared" | undefined {
  const isAgent = names.has(AGENT_FILE) && !names.has("checkpoints") &&
    !names.has("progress.csv");
  if (isAgent && names.has("config.yaml")) return "shared";
  const isRun = OF_RUN.some((it) => names.has(it)) ||
    names.has("config.yaml") && names.has("checkpoints");
  return isRun ? "run" : undefined;
}

/** Describes a run, or returns the known description if its files did not change. */
async function listedRun(
  root: string,
  place: Pick<ListedFolder, "dir" | "name" | "parent" | "kind">,
  known: ListedFolder | undefined,
): Promise<ListedFolder> {
  const { dir } = place, record = lookAt(`${dir}/run.json`);
  const entries = record === undefined
    ? OF_FORMER.map((it) => lookAt(`${dir}/${it}`))
    : [record];
  const lock = await lockOf(`${dir}/run.lock`);
  const stamp = [lock, ...entries.map((it) => it?.stamp)].join();
  const log = logNameIn(dir);
  const logStamp = (log && lookAt(`${dir}/${log}`)?.stamp) ?? "";
  const isSame = known?.stamp === stamp && known.parent === place.parent;
  if (isSame && known.logStamp === logStamp) return known;
  if (isSame) return { ...known, logStamp };
  const read = readRun(root, place, record);
  const state = stateOf(place.kind, { lock, state: read.record?.state });
  return { ...place, ...read, state, stamp, logStamp };
}

function stateOf(
  kind: FolderKind,
  { lock, state }: { lock: LockState; state?: RunState },
): FolderState {
  if (kind === "shared") return "ended";
  if (lock === "held") return "running";
  if (state === "running") return lock === "unclear" ? "unknown" : "killed";
  return state ?? "unknown";
}

/** Reads the record, or makes it from other files. */
function readRun(
  root: string,
  { dir }: { dir: string },
  found: Entry | undefined,
): Pick<ListedFolder, "record" | "problems"> {
  const problems: string[] = [];
  /** Reads a file, and notes the problem if that fails. */
  const trying = <T>(name: string, read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      const problem = problemOf(error);
      problems.push(name === "" ? problem : `${name}: ${problem}`);
    }
  };
  const text = (name: string, most?: number) =>
    readTextInside(root, `${dir}/${name}`, { most });
  if (found !== undefined) {
    const record = trying(
      "run.json",
      () => parseRecord(text("run.json", MOST_RECORD) ?? "", "run.json"),
    );
    return { record, problems };
  }
  const settings = trying(
    "config.yaml",
    () => formerSettings(text("config.yaml") ?? "{}"),
  );
  const record = trying(
    "its files",
    () => formerRecord({ dir }, settings ?? {}, (line) => problems.push(line)),
  );
  return { record, problems };
}

/** Distinguishes a run from a shared agent; undefined for a folder that is neither. */
export function kindOfFolder(dir: string): "run" | "shared" | undefined {
  return kindOfRun(namesIn(dir).names);
}

/** Determines the state of a run from its record and lock. */
export async function stateOfRun(
  dir: string,
  state: RunState | undefined,
): Promise<FolderState> {
  const kind = kindOfFolder(dir) ?? "run";
  return stateOf(kind, { lock: await lockOf(`${dir}/run.lock`), state });
}

/** State of a lock: `left` by a process that was killed, `unclear` if unknown. */
type LockState = "none" | "held" | "left" | "unclear";

/** Paths that are being opened: a pipe may block forever. */
const opening = new Set<string>();

/** Checks for a lock by taking a shared one for a moment; nothing is written. */
async function lockOf(path: string): Promise<LockState> {
  const entry = lookAt(path);
  if (entry === undefined) return "none";
  if (
    entry.kind !== undefined || opening.has(path) ||
    typeof Deno === "undefined"
  ) return "unclear";
  opening.add(path);
  let file: Deno.FsFile | undefined;
  try {
    // In a separate thread: if a pipe replaced it just now, only that thread would
    // hang.
    file = await Deno.open(path);
    if (!file.statSync().isFile) return "unclear";
    if (!file.tryLockSync(false)) return "held";
    file.unlockSync();
    return isOwn(file) ? "left" : "unclear";
  } catch (error) {
    // Other errors are of file systems without locks.
    return error instanceof Deno.errors.NotFound ? "none" : "unclear";
  } finally {
    // Node has no `using` yet.
    file?.close();
    opening.delete(path);
  }
}

/** Largest size of the holder's line in bytes. */
const HOLDER_BYTES = 4096;

/**
 * Returns true for a lock of this machine, or one that names none; not for one of a
 * process of Node, which holds it without locking the file.
 */
function isOwn(file: Deno.FsFile): boolean {
  const bytes = new Uint8Array(HOLDER_BYTES);
  const text = new TextDecoder()
    .decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
  if (text.includes('"lockless":true')) return false;
  const named = /"host":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  const host = ownHost();
  return named === undefined || host === undefined ||
    named === JSON.stringify(host);
}

/** Returns the host name of this machine; undefined without permission. */
function ownHost(): string | undefined {
  for (
    const ask of [
      () => Deno.hostname(),
      () => Deno.readTextFileSync("/etc/hostname").trim(),
    ]
  ) {
    try {
      return ask();
    } catch {
      // Listing only needs permission to read files.
    }
  }
}
