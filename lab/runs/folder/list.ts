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

// Looked up where they are used: pages have none.
const fs = () => builtin("node:fs");

/** Kind of a folder: `shared` is an agent that was cut out of a run. */
export type FolderKind = "run" | "experiment" | "search" | "shared";

/**
 * State of a folder. A run is `running` where its lock is held, `killed` where its
 * record says so without a lock, `unknown` where another machine may have the lock, or
 * nothing can be read.
 */
export type FolderState = RunState | "killed" | "unknown";

/** A folder that was found. */
export interface ListedFolder {
  /** Kind of the folder. */
  readonly kind: FolderKind;
  /** Real path. */
  readonly dir: string;
  /** Path below the root, `/` between its parts; empty for the root itself. */
  readonly name: string;
  /**
   * Path of the experiment or search that it belongs to.
   *
   * @default none
   */
  readonly parent?: string;
  /** State, of experiments and searches `running` or `ended`. */
  readonly state: FolderState;
  /**
   * Record of a run, made out of its files where a former version wrote none.
   *
   * @default it cannot be read
   */
  readonly record?: RunRecord;
  /** Lines on what cannot be read. */
  readonly problems: readonly string[];
  /** Text that differs where the record may do so. */
  readonly stamp: string;
  /** Text that differs where there may be new rows in the log of a run. */
  readonly logStamp: string;
}

/** Options of {@linkcode listRuns}. */
export interface ListRunsOptions {
  /**
   * Folders of a former call by their paths: those that did not change are not read
   * again.
   *
   * @default none
   */
  known?: ReadonlyMap<string, ListedFolder>;
  /**
   * Takes lines on folders that are left out.
   *
   * @default nobody
   */
  onNotice?: (line: string) => void;
}

/** Deepest folder below a root, and most folders and runs that are looked at. */
const MOST_DEPTH = 8, MOST_FOLDERS = 20_000, MOST_RUNS = 10_000;
/** Folders that hold no runs. */
const PASSED_OVER = /^(\.|node_modules$)/;
/** Locks of those who run an experiment, or a part of one, or a search. */
const GROUP_LOCK = /^(experiment(\.\d+-of-\d+)?|search)\.lock$/;
/** File of an agent that was cut out of a run. */
const AGENT_FILE = "agent.safetensors";
/** Files of which each makes the folder of a run. */
const OF_RUN = ["run.json", "progress.csv", "run.lock", "failure.txt"];
/** Files that tell of a run without a record. */
const OF_FORMER = [
  ...["config.yaml", "progress.csv", "report.html", "failure.txt"],
  ...["evaluations.json", "evaluations.csv", "resumes.txt"],
];

/**
 * Finds all runs, shared agents, experiments and searches below a folder. Links are
 * not followed, and what somebody else left there cannot lead to other files.
 *
 * @param root The folder, which may not be there yet.
 * @param options Folders that are known: see {@linkcode ListRunsOptions}.
 * @returns What was found, each folder before those in it.
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

/** A folder on the way. */
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

/** Lists the names in a folder, and which of them are folders; none where it is gone. */
function namesIn(dir: string): { names: Set<string>; folders: string[] } {
  try {
    const entries = fs().readdirSync(dir, { withFileTypes: true });
    return {
      names: new Set(entries.map(({ name }) => name)),
      folders: entries.filter((it) => it.isDirectory())
        .map(({ name }) => name).sort(),
    };
  } catch {
    // It is gone, or may not be read.
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

/** Describes a run, by what is known of it where its files did not change. */
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

/** Reads the record, or what stands in for it. */
function readRun(
  root: string,
  { dir }: { dir: string },
  found: Entry | undefined,
): Pick<ListedFolder, "record" | "problems"> {
  const problems: string[] = [];
  /** Notes why a file cannot be read. */
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

/** Tells a run from a shared agent; undefined for a folder that is neither. */
export function kindOfFolder(dir: string): "run" | "shared" | undefined {
  return kindOfRun(namesIn(dir).names);
}

/** Looks at the lock of a run, of which its record tells the rest. */
export async function stateOfRun(
  dir: string,
  state: RunState | undefined,
): Promise<FolderState> {
  const kind = kindOfFolder(dir) ?? "run";
  return stateOf(kind, { lock: await lockOf(`${dir}/run.lock`), state });
}

/** State of a lock: `left` by a process that was killed, `unclear` where nothing tells. */
type LockState = "none" | "held" | "left" | "unclear";

/** Paths that are being opened: a pipe keeps that from ever ending. */
const opening = new Set<string>();

/** Looks whether a process has a lock, by a shared one, for a moment; nothing is written. */
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
    // Not at once: were it replaced by a pipe just now, a thread alone would hang.
    file = await Deno.open(path);
    if (!file.statSync().isFile) return "unclear";
    if (!file.tryLockSync(false)) return "held";
    file.unlockSync();
    return isOwn(file) ? "left" : "unclear";
  } catch (error) {
    // Others are of a file system without locks.
    return error instanceof Deno.errors.NotFound ? "none" : "unclear";
  } finally {
    // Node has no `using` yet.
    file?.close();
    opening.delete(path);
  }
}

/** Most bytes of the line that names the holder of a lock. */
const HOLDER_BYTES = 4096;

/** True for a lock that names this machine, or none. */
function isOwn(file: Deno.FsFile): boolean {
  const bytes = new Uint8Array(HOLDER_BYTES);
  const text = new TextDecoder()
    .decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
  const named = /"host":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  const host = ownHost();
  return named === undefined || host === undefined ||
    named === JSON.stringify(host);
}

/** Returns the name of this machine; undefined where it may not be asked for. */
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
      // Whoever lists may read files, and nothing else.
    }
  }
}
