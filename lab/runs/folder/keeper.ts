import { builtin } from "@bellman/files";
import { bytesToHex } from "@noble/hashes/utils.js";
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

// Looked up on use: browsers have none.
const fs = () => builtin("node:fs");
const paths = () => builtin("node:path");

/** Bytes of the SHA-256 at the end of a checkpoint file. */
const HASH_BYTES = 32;

/**
 * Makes the record's entry of an evaluation.
 *
 * @param result Result of the evaluation.
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
 * Updates the record of a run while it trains, and writes it at each change of state.
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
   * Creates a keeper without writing anything.
   *
   * @param folder Folder of the run.
   * @param record Initial record.
   */
  constructor(folder: RunFolder, record: RunRecord) {
    this.#folder = folder;
    this.#record = record;
  }

  /** Record as it was last written. */
  get record(): RunRecord {
    return this.#record;
  }

  /**
   * Changes the record, and writes it.
   *
   * @param changes Changed members.
   */
  change(changes: Partial<RunRecord>): void {
    this.#record = { ...this.#record, ...changes };
    writeRecord(this.#folder, this.#record);
  }

  /**
   * Changes the state of the run.
   *
   * @param state New state.
   * @param reason Reason, if there is one.
   * @param changes Other changed members.
   */
  enter(
    state: RunState,
    reason?: string,
    changes: Partial<RunRecord> = {},
  ): void {
    const since = new Date().toISOString();
    // A process may be killed between a checkpoint and its record.
    const checkpoints = checkpointsIn(this.#folder);
    this.change({ ...changes, checkpoints, state, since, reason });
  }

  /**
   * Makes a callback that updates the record of a run.
   *
   * @param seed Seed of evaluations during training.
   * @returns The callback.
   */
  callback(seed: number): Callback {
    return {
      onStart: ({ step }) => {
        // Entries after the resumed checkpoint will be repeated.
        const during = this.#record.evaluations.during
          .filter((it) => it.step <= step);
        this.enter("running", undefined, { step, evaluations: { during } });
      },
      onEvaluation: (context, result) => {
        const entry = recordedEvaluation(result, { step: context.step, seed });
        const during = this.#record.evaluations.during
          .filter((it) => it.step < entry.step);
        const evaluations = { during: [...during, entry] };
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
 * Returns the progress numbers of a record.
 *
 * @param progress Counters of training.
 */
export function progressOf(
  { step, updates, episodes, elapsedSeconds: seconds }: Pick<
    TrainContext,
    "step" | "updates" | "episodes" | "elapsedSeconds"
  >,
): Pick<RunRecord, "step" | "updates" | "episodes" | "seconds"> {
  return { step, updates, episodes, seconds };
}

/** Lists the checkpoints of a run with their checksums, the best one last. */
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

/** Reads the checksum at the end of a checkpoint file, unless it is damaged. */
function hashOf(path: string): string {
  const file = fs().openSync(path, "r");
  try {
    const bytes = new Uint8Array(HASH_BYTES);
    const position = Math.max(0, fs().fstatSync(file).size - HASH_BYTES);
    fs().readSync(file, bytes, { position });
    return bytesToHex(bytes);
  } finally {
    fs().closeSync(file);
  }
}
