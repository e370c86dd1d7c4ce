import { writeState } from "@bellman/files";
import type { StateTree } from "@bellman/types";
import {
  type Checkpoint,
  type CheckpointInfo,
  type CheckpointList,
  type CheckpointNotes,
  CheckpointStore,
  type SaveOptions,
} from "../checkpoint_store.ts";
import type { CheckpointBytes } from "./messages.ts";

/** Keeps the last checkpoint in memory, where there are no files; the best is not kept. */
export class MemoryStore extends CheckpointStore {
  #last?: { step: number; state: StateTree; notes: CheckpointNotes };

  /** Begins without one. */
  constructor() {
    super("");
  }

  /** The last saved state; none before the first step. */
  get state(): StateTree | undefined {
    return this.#last?.state;
  }

  override save(
    step: number,
    state: StateTree,
    { best = false, notes = {} }: SaveOptions = {},
  ): CheckpointInfo {
    if (!best) this.#last = { step, state, notes };
    return { step, path: "", best };
  }

  override load(): Checkpoint {
    return { ...this.#last!, path: "", best: false, warnings: [] };
  }

  override list(): CheckpointList {
    return { checkpoints: [], warnings: [] };
  }

  override truncate(): void {}

  override notes(): CheckpointNotes {
    return this.#last?.notes ?? {};
  }

  /** Writes the last checkpoint as a file. */
  async bytes(): Promise<CheckpointBytes> {
    if (this.#last === undefined) throw new Error("Nothing is saved yet");
    const { step, state, notes } = this.#last;
    const label = { step, best: false, notes };
    const file = new Response(writeState(state, { notes: label }));
    return { step, bytes: new Uint8Array(await file.arrayBuffer()) };
  }
}
