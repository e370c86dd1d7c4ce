/** A world among others that step together: its rows, its random stream, its episode. */
import { RandomStream } from "./random.ts";
import {
  bytesFor,
  choicesOf,
  type GameValue,
  HEAD,
  joined,
  layOut,
  padded,
  type Rows,
} from "./rows.ts";
import { fromJson, toJson } from "./saved_text.ts";
import type {
  GameParameters,
  GameStep,
  GameWorld,
  WatchedStep,
} from "./world.ts";

/** Finds out if a value is a promise. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === "function";
}

/** Waits for all, where there is something to wait for: else it costs a turn. */
export function settled<T>(
  values: (T | Promise<T>)[],
): T[] | Promise<T[]> {
  return values.some(isPromise) ? Promise.all(values) : values as T[];
}

/** Messages of so many rows, which are reused. */
export class Messages {
  /** Actions, behind the head of a message. */
  readonly actions: Rows;
  readonly observations: Rows;
  readonly finals: Rows;
  /** Masks of actions, of worlds that have some. */
  readonly masks?: Rows;
  readonly rewards: Float64Array;
  readonly terminated: Uint8Array;
  readonly truncated: Uint8Array;
  readonly #taken: Uint8Array;
  readonly #answer: Uint8Array;
  /** Bytes of what a reset answers. */
  readonly #begun: number;

  constructor(
    { observationSpace: seen, actionSpace: acted, actionMasks }: GameWorld,
    rows: number,
  ) {
    const choices = actionMasks && choicesOf(acted);
    const mask = { type: "multiBinary", n: choices ?? 0 } as const;
    const maskBytes = choices ? bytesFor(mask, rows) : 0;
    this.#begun = HEAD + bytesFor(seen, rows) + maskBytes;
    const at = this.#begun, ends = at + 8 * rows;
    const buffer = new ArrayBuffer(ends + padded(2 * rows));
    this.observations = layOut(seen, rows, { buffer, from: HEAD });
    if (choices) {
      const { end: from } = this.observations;
      this.masks = layOut(mask, rows, { buffer, from });
    }
    this.rewards = new Float64Array(buffer, at, rows);
    this.terminated = new Uint8Array(buffer, ends, rows);
    this.truncated = new Uint8Array(buffer, ends + rows, rows);
    this.#answer = new Uint8Array(buffer);
    const final = new ArrayBuffer(bytesFor(seen, rows));
    this.finals = layOut(seen, rows, { buffer: final, from: 0 });
    const taken = new ArrayBuffer(HEAD + bytesFor(acted, rows));
    this.actions = layOut(acted, rows, { buffer: taken, from: HEAD });
    this.#taken = new Uint8Array(taken);
  }

  /** Takes the actions of a step. */
  take(message: Uint8Array): void {
    const { length } = this.#taken;
    if (message.length !== length) {
      throw new RangeError(
        `Cannot take actions of ${message.length} bytes: expected ${length}`,
      );
    }
    this.#taken.set(message);
  }

  /** Bytes of the actions that were taken. */
  takenActions(): Uint8Array {
    return this.#taken.slice(HEAD);
  }

  /** Answer to a reset; the next one reuses it. */
  begun(): Uint8Array {
    return this.#answer.subarray(0, this.#begun);
  }

  /** Answer to a step, with more behind it; without more the next one reuses it. */
  stepped(more: readonly Uint8Array[]): Uint8Array {
    if (more.length === 0) return this.#answer;
    return joined([this.#answer, ...more]);
  }
}

/** Draws a parameter for an episode: a range, one of a list, or what it is. */
function drawn(value: unknown, random: RandomStream): unknown {
  if (Array.isArray(value) && value.length === 2) {
    const [low, high] = value as number[];
    return low + (high - low) * random.uniform();
  }
  const { oneOf } = Object(value) as { oneOf?: unknown[] };
  return oneOf ? oneOf[random.integer(oneOf.length)] : value;
}

/** What plays an episode again: its beginning, and the actions since. */
interface Tape {
  readonly seed?: number;
  /** Random stream when it began. */
  readonly random: number[];
  readonly actions: Uint8Array[];
}

/** A world as `saved` has it. */
interface SavedWorld {
  readonly random: number[];
  readonly parameters: unknown;
  /** State of a world that saves it. */
  readonly state?: unknown;
  /** Seed and random stream that the episode of another began with. */
  readonly begun?: Pick<Tape, "seed" | "random">;
  /** Number of its actions, for who waits until they are played again. */
  readonly steps?: number;
  /** The actions, and what was seen last, by the byte. */
  readonly actions?: string;
  readonly seen?: string;
}

function textOf(parts: readonly Uint8Array[]): string {
  return btoa(
    Array.from(joined(parts), (it) => String.fromCharCode(it)).join(""),
  );
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (it) => it.charCodeAt(0));
}

/** A world and its rows. */
export class Place {
  readonly world: GameWorld;
  readonly agents: number;
  /** Names of the parameters that the world has looked at. */
  readonly read = new Set<string>();
  readonly #first: number;
  readonly #messages: Messages;
  #random = new RandomStream(0);
  #parameters: GameParameters = {};
  #tape?: Tape;
  /** True where the episode could not be played again: the next step cuts it off. */
  #isLost = false;

  /** @param at First row of the world, and the messages that hold its rows. */
  constructor(
    world: GameWorld,
    { first, messages }: { first: number; messages: Messages },
  ) {
    this.world = world;
    this.agents = world.agents ?? 1;
    this.#first = first;
    this.#messages = messages;
  }

  /** Starts an episode with parameters that it draws. */
  begin(parameters: GameParameters, seed?: number): void | Promise<void> {
    if (seed !== undefined) this.#random = new RandomStream(seed);
    this.#parameters = Object.fromEntries(
      Object.entries(parameters)
        .map(([name, it]) => [name, drawn(it, this.#random)]),
    );
    return this.#begin(seed);
  }

  #begin(seed?: number): void | Promise<void> {
    const random = this.#random, parameters = {};
    for (const [name, value] of Object.entries(this.#parameters)) {
      const get = () => {
        this.read.add(name);
        return value;
      };
      Object.defineProperty(parameters, name, { get, enumerable: true });
    }
    this.#isLost = false;
    if (!this.world.save) {
      this.#tape = { seed, random: random.save(), actions: [] };
    }
    const first = this.world.reset({ seed, random, parameters });
    const show = (value: GameValue) => {
      this.#each(
        value,
        (it, row) => this.#messages.observations.write(it, row),
      );
    };
    return isPromise(first) ? first.then(show) : show(first);
  }

  /** Takes the step of the actions in the message, or one that a person makes. */
  step(isWatched: boolean): GameStep | undefined | Promise<GameStep> {
    if (this.#isLost) return undefined;
    if (isWatched) return this.#watch();
    this.#tape?.actions.push(this.#taken());
    const acted = this.#rows((row) => this.#messages.actions.read(row));
    return this.world.step(acted);
  }

  async #watch(): Promise<WatchedStep> {
    const { world } = this;
    if (!world.watch) {
      throw new TypeError("Cannot watch a person: the world has no 'watch'");
    }
    const step = await world.watch();
    const { actions } = this.#messages;
    this.#each(step.action, (it, row) => actions.write(it, row));
    this.#tape?.actions.push(this.#taken());
    return step;
  }

  /** Bytes of the actions of its rows. */
  #taken(): Uint8Array {
    const { actions } = this.#messages;
    return joined(this.#bytes(actions));
  }

  /**
   * Writes the result of a step.
   *
   * @param finals Takes the bytes of last observations.
   * @returns True if the world is to be reset.
   */
  write(step: GameStep | undefined, finals: Uint8Array[]): boolean {
    const messages = this.#messages;
    const { observations, terminated, truncated, rewards } = messages;
    let over = 0;
    for (let agent = 0; agent < this.agents; agent++) {
      const row = this.#first + agent;
      rewards[row] = step ? this.#of(step.reward, agent, "reward") : 0;
      terminated[row] = step
        ? Number(this.#of(step.terminated, agent, "terminated"))
        : 0;
      truncated[row] = step
        ? Number(this.#of(step.truncated, agent, "truncated"))
        : 1;
      const hasEnded = terminated[row] + truncated[row] > 0;
      const target = hasEnded ? messages.finals : observations;
      if (step) {
        target.write(this.#of(step.observation, agent, "observation"), row);
      }
      if (!hasEnded) continue;
      // What was seen last stays so where there is no step.
      finals.push(
        ...(step ? target : observations).bytes(row).map((it) => it.slice()),
        ...this.#maskOf(agent, row),
      );
      const next = step?.next === undefined
        ? undefined
        : this.#of(step.next as GameValue | GameValue[], agent, "next");
      if (next === undefined) over++;
      else observations.write(next, row);
    }
    if (over > 0 && over < this.agents) {
      throw new TypeError(
        "Cannot reset a world of which some agents go on: expected 'next' for those that ended",
      );
    }
    return over > 0;
  }

  /** Writes the masks of its rows. */
  mask(): void {
    const { masks } = this.#messages;
    if (!masks) return;
    const given = this.world.actionMasks!() as GameValue;
    this.#each(given, (it, row) => masks.write(it, row));
  }

  /** Bytes of the newest mask of a row, if there are some. */
  #maskOf(agent: number, row: number): Uint8Array[] {
    const { masks } = this.#messages;
    if (!masks) return [];
    if (!this.#isLost) {
      const given = this.world.actionMasks!() as GameValue;
      masks.write(
        this.agents === 1 ? given : this.#of(given, agent, "mask"),
        row,
      );
    }
    return masks.bytes(row).map((it) => it.slice());
  }

  /** Saves the world, or how its episode is played again. */
  async save(): Promise<SavedWorld> {
    const { observations } = this.#messages, tape = this.#tape;
    const random = this.#random.save(), parameters = toJson(this.#parameters);
    if (this.world.save) {
      const state = toJson(await this.world.save());
      return { random, parameters, state };
    }
    return {
      ...{ random, parameters },
      ...tape && {
        begun: { seed: tape.seed, random: tape.random },
        steps: tape.actions.length,
        actions: textOf(tape.actions),
        seen: textOf(this.#bytes(observations)),
      },
    };
  }

  /** Restores what was saved. */
  async load(saved: SavedWorld): Promise<void> {
    this.#parameters = fromJson(saved.parameters) as GameParameters;
    this.#isLost = false;
    if (saved.state !== undefined) {
      await this.world.load!(fromJson(saved.state));
    } else if (saved.begun) await this.#replay(saved);
    this.#random.load(saved.random);
  }

  /** Plays an episode again: it goes on if it comes to the same. */
  async #replay(
    { begun, actions, seen, steps, random }: SavedWorld,
  ): Promise<void> {
    const messages = this.#messages, played = bytesOf(actions!);
    this.#random.load(begun!.random);
    await this.#begin(begun!.seed);
    const size = played.length / Math.max(1, steps!);
    let isOver = false;
    for (let at = 0; at < played.length && !isOver; at += size) {
      let from = at;
      for (const it of this.#bytes(messages.actions)) {
        it.set(played.subarray(from, from += it.length));
      }
      isOver = this.write(await this.step(false), []);
    }
    const rows = this.#bytes(messages.observations);
    this.#isLost = isOver || textOf(rows) !== seen ||
      `${this.#random.save()}` !== `${random}`;
    if (!this.#isLost) return;
    let from = 0;
    const last = bytesOf(seen!);
    for (const it of rows) it.set(last.subarray(from, from += it.length));
  }

  /** Bytes of all of its rows. */
  #bytes(rows: Rows): Uint8Array[] {
    return [this.#rows((row) => rows.bytes(row))].flat(2);
  }

  /** Returns one value, or a list of those of each agent. */
  #rows<T>(value: (row: number) => T): T | T[] {
    if (this.agents === 1) return value(this.#first);
    return Array.from(
      { length: this.agents },
      (_, i) => value(this.#first + i),
    );
  }

  /** Calls a function with the value of each row. */
  #each(value: GameValue, use: (it: GameValue, row: number) => void): void {
    for (let agent = 0; agent < this.agents; agent++) {
      use(this.#of(value, agent, "observation"), this.#first + agent);
    }
  }

  /** Returns the value of an agent, of a list where there are several. */
  #of<T>(value: T | ArrayLike<T>, agent: number, what: string): T {
    if (value === undefined || value === null) {
      throw new TypeError(`Cannot send a step without its ${what}`);
    }
    if (this.agents === 1) return value as T;
    const list = value as ArrayLike<T>;
    if (list.length === this.agents) return list[agent];
    throw new RangeError(
      `Cannot send the ${what} of ${this.agents} agents: expected a list of ${this.agents}`,
    );
  }
}
