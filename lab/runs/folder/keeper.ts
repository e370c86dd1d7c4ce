import { builtin } from "@bellman/files";
import {
  type Callback,
  CheckpointStore,
  type EvaluationResult,
  type TrainContext,
} from "@bellman/training";
import {
  type RecordedCheckpoint,
  type RecordedEvaluation,
  type RunRecord,
  type RunState,
  writeRecord,
} from "./record.ts";
import type { RunFolder } from "./run_folder.ts";

// Looked up where they are used: pages have none.
const fs = () => builtin("node:fs");
const paths = () => builtin("node:path");

/** Bytes of SHA-256, with which the file of a checkpoint ends. */
const HASH_BYTES = 32;

/**
 * Returns what a record keeps of an evaluation.
 *
 * @param result The evaluation.
 * @param about Environment steps of the policy, and seed of the episodes.
 */
export function recordedEvaluation(
  { returns, meanReturn, stdReturn, successRate }: EvaluationResult,
  { step, seed }: { step: number; seed: number },
): RecordedEvaluation {
  return {
    step,
    seed,
    episodes: returns.length,
    meanReturn,
    stdReturn,
    ...successRate !== undefined && { successRate },
  };
}

/**
 * Keeps the record of a run while it trains: writes it at each change of its state.
 *
 * @example
 * ```ts
 * import { readRecord, RecordKeeper, RunFolder } from "@bellman/runs";
 * import { assertEquals } from "@std/assert";
 *
 * const folder = new RunFolder(await Deno.makeTempDir());
 * const now = new Date().toISOString();
 * const keeper = new RecordKeeper(folder, {
 *   ...{ state: "running", since: now, begun: now, resumes: 0 },
 *   ...{ step: 0, updates: 0, episodes: 0, seconds: 0 },
 *   ...{ engine: "ONNX Runtime", versions: { bellman: "0.1.0" } },
 *   settings: { algorithm: "a2c", env: "CartPole-v1", seed: 1 },
 *   evaluations: { during: [] },
 *   checkpoints: [],
 * });
 * keeper.enter("failed", "the disk is full", { step: 400 });
 * assertEquals(readRecord(folder)?.reason, "the disk is full");
 * ```
 */
export class RecordKeeper {
  readonly #folder: RunFolder;
  #record: RunRecord;

  /**
   * Makes the keeper of a record, and writes nothing.
   *
   * @param folder Folder of the run.
   * @param record The record as it is.
   */
  constructor(folder: RunFolder, record: RunRecord) {
    this.#folder = folder;
    this.#record = record;
  }

  /** The record as it was last written. */
  get record(): RunRecord {
    return this.#record;
  }

  /**
   * Changes the record, on the disk too.
   *
   * @param changes Members that change.
   */
  change(changes: Partial<RunRecord>): void {
    this.#record = { ...this.#record, ...changes };
    writeRecord(this.#folder, this.#record);
  }

  /**
   * Changes the state of the run.
   *
   * @param state The state that it comes into now.
   * @param reason Reason of it, if it has one.
   * @param changes Other members that change.
   */
  enter(
    state: RunState,
    reason?: string,
    changes: Partial<RunRecord> = {},
  ): void {
    const since = new Date().toISOString();
    // A process may have been killed between a checkpoint and its record.
    const checkpoints = checkpointsIn(this.#folder);
    this.change({ ...changes, checkpoints, state, since, reason });
  }

  /**
   * Returns a callback that keeps the record of a run up to date.
   *
   * @param seed Seed of the evaluations during training.
   * @returns The callback.
   */
  callback(seed: number): Callback {
    return {
      onStart: ({ step }) => {
        // What came after the checkpoint that it resumes from comes again.
        const during = this.#record.evaluations.during
          .filter((it) => it.step <= step);
        this.enter("running", undefined, { step, evaluations: { during } });
      },
      onEvaluation: (context, result) => {
        const own = recordedEvaluation(result, { step: context.step, seed });
        const during = this.#record.evaluations.during
          .filter((it) => it.step < own.step);
        const evaluations = { during: [...during, own] };
        this.change({ ...progressOf(context), evaluations });
      },
      onCheckpoint: (context) => {
        const checkpoints = checkpointsIn(this.#folder);
        this.change({ ...progressOf(context), checkpoints });
      },
    };
  }
}

/**
 * Returns the numbers that a record has of a run.
 *
 * @param progress Counters of a training.
 */
export function progressOf(
  { step, updates, episodes, elapsedSeconds: seconds }: Pick<
    TrainContext,
    "step" | "updates" | "episodes" | "elapsedSeconds"
  >,
): Pick<RunRecord, "step" | "updates" | "episodes" | "seconds"> {
  return { step, updates, episodes, seconds };
}

/** Lists the checkpoints of a run with their checksums, the best one at last. */
function checkpointsIn(
  { dir, checkpointsDir }: RunFolder,
): RecordedCheckpoint[] {
  const { checkpoints, best } = new CheckpointStore(checkpointsDir).list();
  return [...checkpoints, ...best ? [best] : []].map(({ step, path }) => ({
    step,
    file: paths().relative(dir, path).replaceAll(paths().sep, "/"),
    sha256: hashOf(path),
  }));
}

/** Reads the checksum with which the file of a state ends, unless it is damaged. */
function hashOf(path: string): string {
  const file = fs().openSync(path, "r");
  try {
    const bytes = new Uint8Array(HASH_BYTES);
    const position = Math.max(0, fs().fstatSync(file).size - HASH_BYTES);
    fs().readSync(file, bytes, { position });
    return bytes.toHex();
  } finally {
    fs().closeSync(file);
  }
}
