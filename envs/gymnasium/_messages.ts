/** Messages to a host and its answers; `host/main.py` is the other side. */
import type { BoxDtype, Space } from "@bellman/types";
import {
  box,
  discrete,
  multiBinary,
  multiDiscrete,
} from "../spaces/constructors.ts";
import { unknownEnvironment } from "../_checks.ts";
import type { EnvKwargs } from "../registry/registry.ts";
import type { GroupArrays } from "../workers/group_hosts.ts";
import { HostFailure } from "../workers/host_failure.ts";
import { bytesOf, padded } from "../workers/_group_arrays.ts";

/** A bound as JSON has it: infinities are texts. */
type Bound = number | string;

/** A space as a host describes it. */
type HostSpace =
  | { type: "discrete"; n: number; start?: number }
  | {
    type: "box";
    shape: number[];
    low: Bound | Bound[];
    high: Bound | Bound[];
    dtype: BoxDtype;
  }
  | { type: "multiDiscrete"; nvec: number[] }
  | { type: "multiBinary"; n: number }
  | { type: "dict" | "tuple"; spaces: [name: string, space: HostSpace][] };

const INFINITIES: Readonly<Record<string, number>> = {
  inf: Infinity,
  "-inf": -Infinity,
};

function boundOf(bound: Bound | Bound[]): number | number[] {
  const one = (it: Bound) => typeof it === "number" ? it : INFINITIES[it];
  return Array.isArray(bound) ? bound.map(one) : one(bound);
}

/** Reads the space that a host describes. */
export function readSpace(space: HostSpace): Space {
  switch (space.type) {
    case "discrete":
      return discrete(space.n, { start: space.start });
    case "box": {
      const { shape, dtype } = space;
      const low = boundOf(space.low), high = boundOf(space.high);
      return box({ shape, low, high, dtype });
    }
    case "multiDiscrete":
      return multiDiscrete(space.nvec);
    case "multiBinary":
      return multiBinary(space.n);
    case "dict":
      // In the order in which the parts travel.
      return {
        type: "dict",
        spaces: Object.fromEntries(
          space.spaces.map(([name, inner]) => [name, readSpace(inner)]),
        ),
      };
    case "tuple":
      return {
        type: "tuple",
        spaces: space.spaces.map(([, inner]) => readSpace(inner)),
      };
  }
}

/** Version of the messages that this side speaks. */
export const PROTOCOL = 1;

/** The first byte of what a host is asked. */
export const ORDERS = {
  open: 1,
  reset: 2,
  step: 3,
  snapshot: 4,
  restore: 5,
  render: 6,
  switch: 7,
} as const;

/** Bytes in front of each answer: whether it could be done, and room. */
export const HEAD = 8;
const FAILED = 1;

/** Settings of the environments that a host makes. */
export interface HostSettings {
  readonly protocol: number;
  /** As Gymnasium knows it. */
  readonly id: string;
  readonly kwargs: EnvKwargs;
  readonly modules: readonly string[];
  readonly wrappers: readonly { name: string; kwargs: EnvKwargs }[];
  /**
   * True where an environment whose episode ended is reset in the same step. A
   * single environment is not; its steps tell their `info` instead.
   */
  readonly resets: boolean;
  /** True where pictures are wanted if there are some. */
  readonly draws: boolean;
  readonly numEnvs: number;
  /** Number of the first environment, as they are counted in errors. */
  readonly first: number;
  /** Hint, for errors, on how to name another Python. */
  readonly otherPython: string;
  /** The named pipes that it makes: for its input, for its output, or none. */
  readonly pipes: readonly string[];
}

/** Description that a host gives of its environments. */
export interface Handshake {
  readonly protocol: number;
  readonly gymnasium: string;
  /** The folder of the named pipes, which the host removes once they are open. */
  readonly pipes: string | null;
  readonly observationSpace: HostSpace;
  readonly actionSpace: HostSpace;
  readonly maxEpisodeSteps: number | null;
  readonly rewardThreshold: number | null;
}

interface HostError {
  readonly name: string;
  readonly message: string;
  readonly traceback: string;
  /** True where the message says all: the caller asked for what cannot be. */
  readonly isRefusal: boolean;
  /** Ids that there are, where an unknown one was asked for. */
  readonly known: string[] | null;
}

/** Reads a value that came as JSON, from shared memory. */
export function readJson<T>(bytes: Uint8Array): T {
  return JSON.parse(new TextDecoder().decode(bytes.slice()));
}

/** Throws what a host answered instead of what it was asked for. */
export function checkAnswer(answer: Uint8Array, id: string): void {
  if (answer[0] !== FAILED) return;
  const told = readJson<HostError>(answer.subarray(HEAD));
  const { name, traceback: stack, known } = told;
  if (!told.isRefusal) {
    throw new HostFailure("error", told.message, { name, stack });
  }
  const message = known === null
    ? told.message
    : unknownEnvironment(id, inModule(id, known)).message;
  throw new Refusal(message, { name, stack });
}

/** Ids as one asks for them with the module that `id` names, if it does. */
function inModule(id: string, known: readonly string[]): string[] {
  const prefix = id.slice(0, id.lastIndexOf(":") + 1);
  return known.map((it) => prefix + it);
}

/** A failure whose message is a whole sentence, of one of this side's classes. */
export class Refusal extends HostFailure {
  constructor(message: string, thrown: { name: string; stack?: string }) {
    super("error", message, thrown);
  }
}

/** Number of seeds of NumPy's old generator. */
const SEEDS = 2 ** 32;

/**
 * Seeds as a host reads them, eight bytes each: their lowest 32 bits, as many
 * environments seed that generator.
 */
export function seedBytes(seeds: readonly number[]): Uint8Array {
  const words = BigUint64Array.from(seeds, (seed) => BigInt(seed % SEEDS));
  return new Uint8Array(words.buffer);
}

/**
 * Reads the parts of an answer to a step into the arrays of a group, as bytes.
 */
export class AnswerReader {
  #observations: readonly Uint8Array[];
  #finals: readonly Uint8Array[];
  #rewards: Uint8Array;
  #terminated: Uint8Array;
  #truncated: Uint8Array;
  #rowBytes: readonly number[];
  #hasFinals: boolean;

  constructor(arrays: GroupArrays, { resets }: Pick<HostSettings, "resets">) {
    this.#hasFinals = resets;
    this.#observations = bytesOf(arrays.observations);
    this.#finals = bytesOf(arrays.finalObservations);
    [this.#rewards] = bytesOf(arrays.rewards);
    this.#terminated = arrays.terminated;
    this.#truncated = arrays.truncated;
    const copies = arrays.terminated.length;
    this.#rowBytes = this.#observations.map((it) => it.length / copies);
  }

  /** Reads the observations; what follows them begins where this returns. */
  readObservations(answer: Uint8Array): number {
    let at = HEAD;
    for (const target of this.#observations) {
      target.set(answer.subarray(at, at + target.length));
      at = padded(at + target.length);
    }
    return at;
  }

  /** Reads the arrays that a step brought; what follows begins where this returns. */
  readStep(answer: Uint8Array): number {
    let at = this.readObservations(answer);
    const copies = this.#terminated.length;
    this.#rewards.set(answer.subarray(at, at + 8 * copies));
    at += 8 * copies;
    this.#terminated.set(answer.subarray(at, at + copies));
    this.#truncated.set(answer.subarray(at + copies, at + 2 * copies));
    at = padded(at + 2 * copies);
    return this.#hasFinals ? this.#readFinals(answer, at) : at;
  }

  #readFinals(answer: Uint8Array, from: number): number {
    let at = from;
    for (let row = 0; row < this.#terminated.length; row++) {
      if (this.#terminated[row] + this.#truncated[row] === 0) continue;
      this.#finals.forEach((target, leaf) => {
        const size = this.#rowBytes[leaf];
        target.set(answer.subarray(at, at + size), row * size);
        at += size;
      });
    }
    return at;
  }
}
