import { FileStorage } from "@bellman/buffers/storage";
import { isStateRecord } from "@bellman/files";
import type { SavedRows, StateTree } from "@bellman/types";
import type { Experience } from "./experience.ts";

/**
 * The file of an agent's replay buffer, where settings keep it in one: see
 * `Agent.openReplay`.
 *
 * @example
 * ```ts
 * import { a2c } from "@bellman/a2c";
 * import { Agent } from "@bellman/agent";
 * import { selectBackend } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const agent = new Agent(a2c, {
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 3,
 * }, { config: { hiddenSizes: [8] } });
 * assertEquals(agent.rows.of(agent.save()), undefined); // A2C replays nothing.
 * agent.close();
 * ```
 */
export class ReplayFile implements SavedRows {
  readonly #experience: Experience;
  readonly #title: string;
  #storage: FileStorage | undefined;

  /**
   * Opens nothing yet.
   *
   * @param experience Steps of the agent.
   * @param title Name of the algorithm in messages.
   */
  constructor(experience: Experience, title: string) {
    this.#experience = experience;
    this.#title = title;
  }

  /**
   * Opens a file, or begins one; the replay buffer is empty then.
   *
   * @param path The file; its folder exists.
   * @throws {TypeError} If the replay buffer is in memory.
   * @throws {SyntaxError} If the path is no file's.
   */
  open(path: string | URL): void {
    if (this.#experience.keepIn === undefined) {
      throw new TypeError(
        `Cannot keep the steps of ${this.#title} in a file: expected replayStorage: file`,
      );
    }
    this.#storage = FileStorage.open(path);
    this.#experience.keepIn(this.#storage);
  }

  /** Closes it, if it is open: the agent acts from now on, and collects nothing. */
  close(): void {
    if (this.#storage === undefined) return;
    this.#experience.keepIn!(undefined);
    this.#storage.close();
    this.#storage = undefined;
  }

  /**
   * Finds where the file has the rows of a saved state.
   *
   * @param state State of the agent.
   * @returns Plain data; nothing of a replay buffer in memory.
   */
  of(state: StateTree): StateTree | undefined {
    const { experience } = isStateRecord(state) ? state : {};
    return this.#experience.savedRows?.(experience);
  }

  /**
   * Leaves the rows of saved states in the file, and uses the places of all others
   * again.
   *
   * @param rows What {@link of} found in each state that may be loaded.
   */
  keep(rows: readonly StateTree[]): void {
    this.#storage?.keep(rows);
  }

  /**
   * Puts the present replay buffer, such as an empty one, in the place of that of a
   * saved state whose rows are lost.
   *
   * @param state State of the agent.
   * @returns A state that the agent loads.
   */
  replaceIn(state: StateTree): StateTree {
    if (!isStateRecord(state)) return state;
    const experience = this.#experience.withReplay?.(state.experience);
    return experience === undefined ? state : { ...state, experience };
  }
}
