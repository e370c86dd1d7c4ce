import type { StateTree } from "./state_tree.ts";

/** Options of {@link CheckpointStore.save}. */
export interface SaveOptions {
  /**
   * Keep it as the best one, apart from the numbered ones and in place of the former best.
   *
   * @default false
   */
  best?: boolean;
  /**
   * How many numbered checkpoints to keep, this one included.
   *
   * @default Infinity
   */
  keepLast?: number;
}

/** A checkpoint on the disk. */
export interface CheckpointInfo {
  /** Environment steps at which it was made. */
  readonly step: number;
  /** Path of its manifest. */
  readonly path: string;
  /** Whether it is the one kept as the best. */
  readonly best: boolean;
}

/** A checkpoint with its state. */
export interface Checkpoint extends CheckpointInfo {
  /** What was saved. */
  readonly state: StateTree;
  /** One line for each newer checkpoint that could not be read. */
  readonly warnings: readonly string[];
}

/** The checkpoints of a folder. */
export interface CheckpointList {
  /** The numbered ones, oldest first. */
  readonly checkpoints: readonly CheckpointInfo[];
  /** The best one. */
  readonly best?: CheckpointInfo;
  /** One line for each broken one. */
  readonly warnings: readonly string[];
}

/** Checkpoints in a folder. */
export class CheckpointStore {
  /** The folder. */
  readonly dir: string;
  constructor(dir: string) {
    this.dir = dir;
  }
  /** Saves a state. */
  save(
    _step: number,
    _state: StateTree,
    _options: SaveOptions = {},
  ): CheckpointInfo {
    throw new Error("Cannot save yet");
  }
  /** Loads a state. */
  load(_which: number | "latest" | "best" = "latest"): Checkpoint {
    throw new Error("Cannot load yet");
  }
  /** Lists what is there. */
  list(): CheckpointList {
    return { checkpoints: [], warnings: [] };
  }
}
