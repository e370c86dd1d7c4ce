import {
  type PrioritySampler,
  ProportionalSampler,
  RankBasedSampler,
} from "@bellman/buffers";
import { FileStorage, type Storage } from "@bellman/buffers/storage";
import type { TensorData } from "@bellman/compute";
import { isStateRecord } from "@bellman/files";
import type { SavedRows, StateTree } from "@bellman/types";

/** Options of prioritized sampling. */
export interface PriorityOptions {
  /**
   * Sampling of transitions or segments: uniform, proportional to their TD error, or by
   * its rank.
   *
   * @default "uniform"
   */
  readonly replay?: "uniform" | "proportional" | "rank";
  /**
   * Exponent of priorities: 0 samples uniformly.
   *
   * @default 0.6
   */
  readonly priorityAlpha?: number;
  /**
   * Initial exponent of importance weights; it rises to 1 over the run.
   *
   * @default 0.4
   */
  readonly priorityBeta?: number;
  /**
   * Term added to each TD error.
   *
   * @default 1e-6
   */
  readonly priorityEpsilon?: number;
}

/** Options of a {@link ReplayStore}. */
export interface ReplayStoreOptions extends PriorityOptions {
  /**
   * Storage of the buffer: memory, or the file of `Agent.openReplay`.
   *
   * @default "memory"
   */
  readonly replayStorage?: "memory" | "file";
  /**
   * Save the buffer with the agent.
   *
   * @default true
   */
  readonly saveReplay?: boolean;
}

/** Buffer of a {@link ReplayStore}. */
export interface StoredBuffer {
  /** Number of rows or segments in it. */
  readonly length: number;
  /** Removes all rows. */
  clear(): void;
  /** Saves its contents, or the location of rows in a file. */
  save(): object;
  /** Restores what `save` returned. */
  load(state: never): void;
}

/** Parts of a new buffer. */
export interface BufferParts {
  /** Prioritized sampler; none samples uniformly. */
  readonly sampler?: PrioritySampler;
  /** Storage of the rows; memory without it. */
  readonly storage?: Storage;
}

/**
 * Replay buffer of an agent, in memory or in a file, with its priorities and its share
 * of saved states.
 *
 * @typeParam B Buffer.
 *
 * @example
 * ```ts
 * import { ReplayStore } from "@bellman/agent";
 * import { ReplayBuffer } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const fields = { reward: { shape: [], dtype: "float32" } } as const;
 * const store = new ReplayStore({ saveReplay: false }, {
 *   name: "transitions",
 *   make: (parts) => new ReplayBuffer({ ...parts, capacity: 10, fields }),
 * });
 * store.buffer.add({ reward: Float32Array.of(1) });
 * assertEquals([store.buffer.length, store.save()], [1, null]);
 * ```
 */
export class ReplayStore<B extends StoredBuffer = StoredBuffer>
  implements SavedRows {
  readonly #options: ReplayStoreOptions;
  readonly #name: string;
  readonly #make: (storage?: Storage) => B;
  readonly #sampler: PrioritySampler | undefined;
  #priorities = new Float64Array();
  #buffer: B | undefined;
  #file: FileStorage | undefined;
  /** Saved state of a buffer whose file is not open yet. */
  #unopened: StateTree | undefined = null;

  /**
   * Creates a store; its buffer exists at once, unless it is for a file.
   *
   * @param options Priorities, storage, and whether it is saved.
   * @param buffer Plural name of its contents, and a function that creates it.
   */
  constructor(
    options: ReplayStoreOptions,
    { name, make }: {
      readonly name: string;
      readonly make: (parts: BufferParts) => B;
    },
  ) {
    const sampler = this.#sampler = samplerOf(options);
    this.#options = options;
    this.#name = name;
    this.#make = (storage) => make({ ...(sampler && { sampler }), storage });
    if (!this.isInFile) this.#buffer = this.#make();
  }

  /** True where the settings keep it in a file. */
  get isInFile(): boolean {
    return this.#options.replayStorage === "file";
  }

  /**
   * The buffer.
   *
   * @throws {TypeError} If its file is not open.
   */
  get buffer(): B {
    if (this.#buffer === undefined) throw this.#closed();
    return this.#buffer;
  }

  #closed(): TypeError {
    return new TypeError(
      `Cannot keep ${this.#name} in a file: expected openReplay() of one before`,
    );
  }

  /** Raises the importance-weight exponent beta with the finished fraction of the run. */
  anneal(fraction: number): void {
    if (this.#sampler === undefined) return;
    const { priorityBeta = 0.4 } = this.#options;
    this.#sampler.beta = priorityBeta + (1 - priorityBeta) * fraction;
  }

  /** True if sampling is prioritized. */
  get hasPriorities(): boolean {
    return this.#sampler !== undefined;
  }

  /**
   * Sets priorities from TD errors, if sampling is prioritized.
   *
   * @param slots Slots in the buffer, as a batch has them.
   * @param errors Absolute errors, as many.
   */
  prioritize(slots: ArrayLike<number>, errors: TensorData): void {
    if (this.#sampler === undefined) return;
    const { priorityEpsilon = 1e-6 } = this.#options;
    if (this.#priorities.length !== errors.length) {
      this.#priorities = new Float64Array(errors.length);
    }
    for (let i = 0; i < errors.length; i++) {
      this.#priorities[i] = errors[i] + priorityEpsilon;
    }
    this.#sampler.updatePriorities(slots, this.#priorities);
  }

  /**
   * Opens or creates a file; the buffer is then empty.
   *
   * @param path Path of the file; its folder must exist.
   * @throws {SyntaxError} If the path is not that of a file.
   */
  open(path: string | URL): void {
    this.#file = FileStorage.open(path);
    this.#buffer = this.#make(this.#file);
    this.#unopened = undefined;
  }

  /** Closes the file, if it is open: the agent can then only act. */
  close(): void {
    if (this.#file === undefined) return;
    this.#buffer = this.#unopened = undefined;
    this.#file.close();
    this.#file = undefined;
  }

  /**
   * Saves the buffer, unless the settings leave it out.
   *
   * @throws {TypeError} If its file was closed.
   */
  save(): StateTree {
    const { saveReplay = true } = this.#options;
    if (this.#buffer === undefined) {
      if (this.#unopened === undefined) throw this.#closed();
      return this.#unopened;
    }
    return saveReplay ? this.#buffer.save() as StateTree : null;
  }

  /**
   * Restores a saved state; one without a buffer leaves this one empty.
   *
   * @throws {TypeError} If it is not such a state.
   */
  load(state: StateTree): void {
    if (state !== null && !isStateRecord(state)) {
      throw new TypeError(
        `Cannot restore ${this.#name} from something else: expected what save() gave`,
      );
    }
    if (this.#buffer === undefined) this.#unopened = state;
    else if (state === null) this.#buffer.clear();
    else this.#buffer.load(state as never);
  }

  /**
   * Locates the rows of a saved state in the file.
   *
   * @param state State of the agent.
   * @returns Plain data; undefined for a buffer in memory.
   */
  of(state: StateTree): StateTree | undefined {
    return partsOf(partsOf(partsOf(state).experience).replay).storage;
  }

  /**
   * Keeps the rows of saved states in the file, and frees all others.
   *
   * @param rows Results of {@link of} for each state that may be loaded.
   */
  keep(rows: readonly StateTree[]): void {
    this.#file?.keep(rows);
  }

  /**
   * Replaces the buffer of a saved state, whose rows are lost, with the current one.
   *
   * @param state State of the agent.
   * @returns A state that the agent loads.
   */
  replaceIn(state: StateTree): StateTree {
    const all = partsOf(state), { experience } = all;
    return {
      ...all,
      experience: { ...partsOf(experience), replay: this.save() },
    };
  }
}

function partsOf(state: StateTree | undefined): Record<string, StateTree> {
  return state !== undefined && isStateRecord(state) ? state : {};
}

function samplerOf(
  { replay, priorityAlpha: alpha, priorityBeta: beta }: PriorityOptions,
): PrioritySampler | undefined {
  if (replay === "rank") return new RankBasedSampler({ alpha, beta });
  if (replay === "proportional") {
    return new ProportionalSampler({ alpha, beta });
  }
}
