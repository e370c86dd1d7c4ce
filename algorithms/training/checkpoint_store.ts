import {
  builtin,
  isStateRecord,
  loadNotesSync,
  loadStateSync,
  saveStateSync,
  TEMPORARY_SUFFIX,
} from "@bellman/files";
import type { StateTree } from "@bellman/types";

// Looked up where they are used: pages have none.
const fs = () => builtin("node:fs");
const paths = () => builtin("node:path");

/** Options of {@link CheckpointStore.save}. */
export interface SaveOptions {
  /**
   * Keep it as the best one, apart from the numbered ones and in place of the former best.
   *
   * @default false
   */
  best?: boolean;
  /**
   * Numbered checkpoints to keep, this one included; that of the best one's step is kept in addition.
   *
   * @default Infinity
   */
  keepLast?: number;
  /**
   * Plain values to keep with the state, such as the run's configuration.
   *
   * @default {}
   */
  notes?: CheckpointNotes;
}

/** Plain values with the state of a checkpoint: what JSON holds as it is. */
export type CheckpointNotes = Readonly<Record<string, StateTree>>;

/** Checkpoint on the disk. */
export interface CheckpointInfo {
  /** Environment steps at which it was made. */
  readonly step: number;
  /** Path of its file. */
  readonly path: string;
  /** True where it is the one kept as the best. */
  readonly best: boolean;
}

/** Checkpoint with its state. */
export interface Checkpoint extends CheckpointInfo {
  /** State that was saved. */
  readonly state: StateTree;
  /** Notes that were saved with it. */
  readonly notes: CheckpointNotes;
  /** One line for each newer checkpoint that could not be read. */
  readonly warnings: readonly string[];
}

/** Options of a {@link CheckpointStore}. */
export interface CheckpointStoreOptions {
  /**
   * Name of the file of the best one.
   *
   * @default "best.safetensors"
   */
  best?: string;
}

/** Checkpoints of a folder. */
export interface CheckpointList {
  /** The numbered ones, oldest first. */
  readonly checkpoints: readonly CheckpointInfo[];
  /** The best one. */
  readonly best?: CheckpointInfo;
  /** One line for each broken one. */
  readonly warnings: readonly string[];
}

/** Header of a checkpoint. */
interface Label {
  readonly step: number;
  readonly best: boolean;
  readonly notes: CheckpointNotes;
}

const NUMBERED = /^step_(\d+)\.safetensors$/;

/**
 * Checkpoints in a folder. Each is a file in the safetensors format
 * (`step_000012345.safetensors`), whose metadata holds the step and all values
 * that are no arrays; SHA-256 guards both: a checkpoint of which one bit has
 * changed is not loaded.
 *
 * It is written to a temporary file, flushed and renamed: whenever the process
 * dies, the checkpoints that had been complete can be loaded. One process at a
 * time may write to a folder.
 *
 * @example
 * ```ts
 * import { CheckpointStore } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const store = new CheckpointStore(await Deno.makeTempDir());
 * store.save(80, { params: { bias: new Float32Array([1, 2]) } });
 * store.save(160, { params: { bias: new Float32Array([3, 4]) } });
 *
 * const { step, state } = store.load("latest");
 * assertEquals(step, 160);
 * assertEquals(state, { params: { bias: new Float32Array([3, 4]) } });
 * ```
 */
export class CheckpointStore {
  /** The folder. */
  readonly dir: string;
  readonly #best: string;

  /**
   * Names the folder of checkpoints.
   *
   * @param dir The folder; it is made with the first checkpoint.
   * @param options Name of the best one's file.
   */
  constructor(
    dir: string,
    { best = "best.safetensors" }: CheckpointStoreOptions = {},
  ) {
    this.dir = dir;
    this.#best = best;
  }

  /**
   * Saves a state.
   *
   * @param step Environment steps taken.
   * @param state State to save.
   * @param options Rank and number of those to keep.
   * @returns The checkpoint.
   * @throws {RangeError} When `step` is not a whole number of at least 0.
   * @throws {TypeError} When the state holds something that cannot be saved.
   */
  save(
    step: number,
    state: StateTree,
    options: SaveOptions = {},
  ): CheckpointInfo {
    if (!Number.isSafeInteger(step) || step < 0) {
      throw new RangeError(
        `Cannot save a checkpoint at step ${step}: it must be a whole number of at least 0`,
      );
    }
    const { best = false, keepLast = Infinity, notes = {} } = options;
    fs().mkdirSync(this.dir, { recursive: true });
    this.#removeLeftovers();
    const name = `step_${String(step).padStart(9, "0")}.safetensors`;
    const path = paths().join(this.dir, best ? this.#best : name);
    saveStateSync(state, path, { notes: { step, best, notes } });
    if (!best) this.#keepLast(keepLast);
    return { step, path, best };
  }

  /**
   * Loads a checkpoint.
   *
   * @param which A step, the latest one that can be read, or the best one. Where no numbered one can be read,
   *   the best one is the latest, too.
   * @returns The checkpoint, with a warning for each newer one that is broken.
   * @throws {SyntaxError} When the wanted checkpoint is broken.
   * @throws {RangeError} When there is none.
   */
  load(which: number | "latest" | "best" = "latest"): Checkpoint {
    if (which === "latest") return this.newest().next().value as Checkpoint;
    const path = which === "best"
      ? paths().join(this.dir, this.#best)
      : this.#numbered().find(({ step }) => step === which)?.path;
    if (path === undefined || !fs().existsSync(path)) {
      const steps = this.#numbered().map(({ step }) => step).join(", ");
      throw new RangeError(
        which === "best"
          ? `Cannot load the best checkpoint: ${this.dir} has none`
          : `Cannot load the checkpoint of step ${which}: ${this.dir} has ${
            steps || "none"
          }`,
      );
    }
    return { ...readCheckpoint(path), warnings: [] };
  }

  /**
   * Loads the checkpoints that can be read, newest first, and the best one after
   * those where none of them is of its step.
   *
   * @param check Throws over a checkpoint that is to be passed over.
   * @yields The checkpoints, each with a warning for those passed over before it.
   * @throws {SyntaxError} Where all of them are broken.
   * @throws {RangeError} Where there is none.
   */
  *newest(
    check: (checkpoint: Omit<Checkpoint, "warnings">) => void = () => {},
  ): Generator<Checkpoint, void> {
    const warnings: string[] = [];
    const steps = new Set<number>();
    const best = paths().join(this.dir, this.#best);
    const all = this.#numbered().reverse().map(({ path }) => path);
    if (fs().existsSync(best)) all.push(best);
    for (const path of all) {
      let checkpoint: Omit<Checkpoint, "warnings">;
      try {
        checkpoint = readCheckpoint(path);
        check(checkpoint);
      } catch (error) {
        warnings.push((error as Error).message);
        continue;
      }
      if (steps.has(checkpoint.step)) continue;
      yield { ...checkpoint, warnings: warnings.splice(0) };
      steps.add(checkpoint.step);
    }
    if (steps.size > 0) return;
    if (warnings.length > 0) throw new SyntaxError(warnings[0]);
    throw new RangeError(`Cannot load a checkpoint: ${this.dir} has none`);
  }

  /**
   * Lists what is there. Broken checkpoints are left out and described in
   * `warnings`. Arrays are not read: their hash is checked on loading.
   *
   * @returns The numbered ones, the best one, and warnings.
   */
  list(): CheckpointList {
    const warnings: string[] = [];
    const good = ({ path }: { path: string }): CheckpointInfo[] => {
      try {
        const { step, best } = readLabel(path);
        return [{ step, path, best }];
      } catch (error) {
        warnings.push((error as Error).message);
        return [];
      }
    };
    const checkpoints = this.#numbered().flatMap(good);
    const path = paths().join(this.dir, this.#best);
    const [best] = fs().existsSync(path) ? good({ path }) : [];
    return { checkpoints, best, warnings };
  }

  /**
   * Removes the numbered checkpoints after a step: a run that resumes there
   * writes them again. The best one stays.
   *
   * @param step The last step to keep.
   * @param options Number of those up to there to keep, as in `save`: all by default.
   */
  truncate(
    step: number,
    { keepLast = Infinity }: Pick<SaveOptions, "keepLast"> = {},
  ): void {
    for (const { step: own, path } of this.#numbered()) {
      // A folder of such a name is none of ours.
      if (own > step && fs().lstatSync(path).isFile()) fs().rmSync(path);
    }
    // A process that was killed between writing one and removing another.
    this.#keepLast(keepLast);
    this.#removeLeftovers();
  }

  /**
   * Reads the notes of the checkpoint of a step; its arrays are not read.
   *
   * @param step Its step.
   * @returns The notes; none where there is no such checkpoint.
   */
  notes(step: number): CheckpointNotes {
    const { checkpoints, best } = this.list();
    const found = [...checkpoints, best].find((info) => info?.step === step);
    return found === undefined ? {} : readLabel(found.path).notes;
  }

  #names(): string[] {
    return fs().existsSync(this.dir) ? fs().readdirSync(this.dir) : [];
  }

  #numbered(): CheckpointInfo[] {
    return this.#names().flatMap((name) => {
      const match = NUMBERED.exec(name);
      return match
        ? [{ step: +match[1], path: paths().join(this.dir, name), best: false }]
        : [];
    }).sort((a, b) => a.step - b.step);
  }

  /** Removes the oldest good ones, but that of the best one's step, its second copy; broken ones are not counted. */
  #keepLast(count: number): void {
    const { checkpoints, best } = this.list();
    const excess = Math.max(0, checkpoints.length - Math.max(1, count));
    for (const { path, step } of checkpoints.slice(0, excess)) {
      if (step !== best?.step) fs().rmSync(path);
    }
  }

  /** Removes what a process that died left behind. */
  #removeLeftovers(): void {
    for (const name of this.#names()) {
      if (!/^(step|best)/.test(name) || !name.endsWith(TEMPORARY_SUFFIX)) {
        continue;
      }
      fs().rmSync(paths().join(this.dir, name), { force: true });
    }
  }
}

/** Reads a checkpoint. Throws one line that names the file. */
function readCheckpoint(path: string): Omit<Checkpoint, "warnings"> {
  const { state, notes } = loadStateSync(path, { name: `checkpoint ${path}` });
  return { ...checkLabel(path, notes), path, state };
}

/** Reads what a checkpoint says of itself; its arrays are not read. */
function readLabel(path: string): Label {
  return checkLabel(path, loadNotesSync(path, { name: `checkpoint ${path}` }));
}

/** Refuses another checkpoint, or another state, that was copied here. */
function checkLabel(path: string, label: StateTree): Label {
  const fail = (why: string): never => {
    throw new SyntaxError(`Cannot load checkpoint ${path}: ${why}`);
  };
  const { step, best, notes } = isStateRecord(label) ? label : {};
  if (
    typeof step !== "number" || typeof best !== "boolean" ||
    !isStateRecord(notes)
  ) return fail("it holds another state");
  const named = NUMBERED.exec(paths().basename(path));
  if (named && Number(named[1]) !== step) fail(`it is of step ${step}`);
  if (!named && !best) fail("it is a copy of another checkpoint");
  return { step, best: !named, notes };
}
