import {
  builtin,
  isStateRecord,
  loadNotesSync,
  loadStateSync,
  saveStateSync,
  TEMPORARY_SUFFIX,
} from "@bellman/files";
import { checkOptions, TEXT } from "@bellman/files/options";
import type { StateTree } from "@bellman/types";

// Looked up on use: browsers have none.
const fs = () => builtin("node:fs");
const paths = () => builtin("node:path");

/** Options of {@link CheckpointStore.save}. */
export interface SaveOptions {
  /**
   * Save it as the best checkpoint, in place of the former best, not as a numbered one.
   *
   * @default false
   */
  best?: boolean;
  /**
   * Number of numbered checkpoints to keep, including this one; that of the best one's
   * step is kept too.
   *
   * @default Infinity
   */
  keepLast?: number;
  /**
   * Plain values saved with the state, such as the run's configuration.
   *
   * @default {}
   */
  notes?: CheckpointNotes;
}

/** Plain JSON values saved with a checkpoint. */
export type CheckpointNotes = Readonly<Record<string, StateTree>>;

/** Checkpoint on disk. */
export interface CheckpointInfo {
  /** Environment steps so far. */
  readonly step: number;
  /** Path of the file. */
  readonly path: string;
  /** True for the best checkpoint. */
  readonly best: boolean;
}

/** Checkpoint with its contents. */
export interface Checkpoint extends CheckpointInfo {
  /** Saved state. */
  readonly state: StateTree;
  /** Notes saved with it. */
  readonly notes: CheckpointNotes;
  /** A line for each newer checkpoint that could not be read. */
  readonly warnings: readonly string[];
}

/** Checkpoints in a folder. */
export interface CheckpointList {
  /** Numbered checkpoints, oldest first. */
  readonly checkpoints: readonly CheckpointInfo[];
  /** Best checkpoint. */
  readonly best?: CheckpointInfo;
  /** A line for each damaged checkpoint. */
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
 * Checkpoints in a folder. Each is a safetensors file (`step_000012345.safetensors`)
 * with the step and plain values in its metadata; SHA-256 checksums detect every
 * changed bit.
 *
 * A checkpoint is written to a temporary file, flushed and renamed: if the process
 * dies, complete checkpoints stay readable. Only one process at a time may write to a
 * folder.
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
  /** Path of the folder. */
  readonly dir: string;
  readonly #best: string;

  /**
   * Creates a store; the folder is made with the first checkpoint.
   *
   * @param dir Path of the folder.
   * @param options Name of the best checkpoint's file.
   */
  constructor(
    dir: string,
    options: {
      /**
       * Name of the best checkpoint's file.
       *
       * @default "best.safetensors"
       */
      best?: string;
    } = {},
  ) {
    const { best = "best.safetensors" } = checkOptions(
      "a store of checkpoints",
      options,
      { best: TEXT },
    );
    this.dir = dir;
    this.#best = best;
  }

  /**
   * Saves a state.
   *
   * @param step Environment steps taken.
   * @param state State to save.
   * @param options Best or numbered, and number of checkpoints to keep.
   * @returns The checkpoint.
   * @throws {RangeError} If `step` is not a whole number of at least 0.
   * @throws {TypeError} If the state contains a value that cannot be saved.
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
   * @param which Step, the latest readable checkpoint, or the best one. If no numbered
   *   one is readable, the best one is also the latest.
   * @returns The checkpoint, with a warning for each newer one that is damaged.
   * @throws {SyntaxError} If the wanted checkpoint is damaged.
   * @throws {RangeError} If there is none.
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
   * Loads the readable checkpoints, newest first, then the best one, unless a numbered
   * one has its step.
   *
   * @param check Throws if a checkpoint should be skipped.
   * @yields Checkpoints, each with a warning for those skipped before it.
   * @throws {SyntaxError} If all of them are damaged.
   * @throws {RangeError} If there is none.
   */
  *newest(
    check: (checkpoint: Omit<Checkpoint, "warnings">) => void = () => {},
  ): Generator<Checkpoint, void> {
    const warnings: string[] = [];
    const steps = new Set<number>();
    const best = paths().join(this.dir, this.#best);
    const files = this.#numbered().reverse().map(({ path }) => path);
    if (fs().existsSync(best)) files.push(best);
    for (const path of files) {
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
   * Lists the checkpoints. Damaged ones are left out and described in `warnings`.
   * Arrays are not read: their hash is checked on loading.
   *
   * @returns Numbered checkpoints, the best one, and warnings.
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
   * Removes the numbered checkpoints after a step, since a run resumed there writes
   * them again. The best one stays.
   *
   * @param step The last step to keep.
   * @param options Number of those up to the step to keep, as in `save`: all by
   * default.
   */
  truncate(
    step: number,
    { keepLast = Infinity }: Pick<SaveOptions, "keepLast"> = {},
  ): void {
    for (const { step: fileStep, path } of this.#numbered()) {
      // A folder of such a name is not a checkpoint.
      if (fileStep > step && fs().lstatSync(path).isFile()) fs().rmSync(path);
    }
    // Left by a process that was killed between writing and removing.
    this.#keepLast(keepLast);
    this.#removeLeftovers();
  }

  /**
   * Reads the notes of a step's checkpoint without its arrays.
   *
   * @param step Step of the checkpoint.
   * @returns The notes; none if there is no such checkpoint.
   */
  notes(step: number): CheckpointNotes {
    const { checkpoints, best } = this.list();
    const match = [...checkpoints, best].find((info) => info?.step === step);
    return match === undefined ? {} : readLabel(match.path).notes;
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

  /**
   * Removes the oldest readable checkpoints, except that of the best one's step, its
   * second copy; damaged ones are not counted.
   */
  #keepLast(count: number): void {
    const { checkpoints, best } = this.list();
    const excess = Math.max(0, checkpoints.length - Math.max(1, count));
    for (const { path, step } of checkpoints.slice(0, excess)) {
      if (step !== best?.step) fs().rmSync(path);
    }
  }

  /** Removes temporary files of a process that died. */
  #removeLeftovers(): void {
    for (const name of this.#names()) {
      if (!/^(step|best)/.test(name) || !name.endsWith(TEMPORARY_SUFFIX)) {
        continue;
      }
      fs().rmSync(paths().join(this.dir, name), { force: true });
    }
  }
}

/** Reads a checkpoint; errors name the file. */
function readCheckpoint(path: string): Omit<Checkpoint, "warnings"> {
  const { state, notes } = loadStateSync(path, { name: `checkpoint ${path}` });
  return { ...checkLabel(path, notes), path, state };
}

/** Reads the header of a checkpoint; its arrays are not read. */
function readLabel(path: string): Label {
  return checkLabel(path, loadNotesSync(path, { name: `checkpoint ${path}` }));
}

/** Throws if a file holds another checkpoint or another state, as after copying. */
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
