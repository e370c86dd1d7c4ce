import type {
  Batch,
  BoxArray,
  BoxSpace,
  DiscreteSpace,
  Space,
  SpaceValue,
} from "@bellman/types";
import { areFinite, elementCount, isArrayOf } from "./arrays.ts";
import { allocateBatch, readRow, readRowInto } from "./batch.ts";
import { contains, describeSpace } from "./values.ts";

function show(value: unknown): string {
  if (ArrayBuffer.isView(value)) return `[${value}]`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * Throws unless an action can be taken. That of a box may lie outside the
 * bounds, since environments clip it, but has the box's length and is finite.
 */
export function checkAction(space: Space, action: SpaceValue): void {
  const isUsable = space.type === "box"
    ? isArrayOf(space, action) && areFinite(action)
    : contains(space, action);
  if (isUsable) return;
  throw new RangeError(
    `Cannot take action ${show(action)}: expected ${describeSpace(space)}`,
  );
}

/** Writes a number of copies, in the singular where it is one. */
export function countCopies(count: number): string {
  return `${count} ${count === 1 ? "copy" : "copies"}`;
}

/** Throws unless there are as many numbers as the environments take. */
export function checkActionCount(
  numEnvs: number,
  given: { readonly length?: unknown } | undefined,
  expected: number,
): asserts given is Batch {
  if (given?.length === expected) return;
  throw new RangeError(
    `Cannot step ${countCopies(numEnvs)} with ${
      given?.length ?? "no"
    } numbers of actions: expected ${expected}`,
  );
}

function areWithin(actions: BoxArray, n: number): boolean {
  for (let i = 0; i < actions.length; i++) {
    const action = actions[i];
    if (!(action >= 0 && action < n && action === (action | 0))) return false;
  }
  return true;
}

/** Throws unless each environment can take its action of a batch. */
export function checkActions(
  space: DiscreteSpace | BoxSpace,
  actions: BoxArray,
  numEnvs: number,
): void {
  const isBox = space.type === "box", size = isBox ? elementCount(space) : 1;
  checkActionCount(numEnvs, actions, numEnvs * size);
  const areFine = isBox
    ? actions instanceof Float32Array && areFinite(actions)
    : areWithin(actions, space.n);
  if (areFine) return;
  for (let at = 0; at < actions.length; at += size) {
    checkAction(space, isBox ? actions.slice(at, at + size) : actions[at]);
  }
}

/** Throws unless a batch of actions has the arrays of another. */
export function checkBatch(
  space: Space,
  given: Batch | undefined,
  like: Batch,
  numEnvs: number,
): void {
  if (space.type === "dict" || space.type === "tuple") {
    const spaces = space.spaces as Record<string, Space>;
    for (const key in spaces) {
      const part = (given as Record<string, Batch> | undefined)?.[key];
      const wanted = (like as Record<string, Batch>)[key];
      checkBatch(spaces[key], part, wanted, numEnvs);
    }
    return;
  }
  const { length } = like as BoxArray;
  checkActionCount(numEnvs, given, length);
  // Discrete actions are read as numbers, from any array.
  if (space.type === "discrete" || given.constructor === like.constructor) {
    return;
  }
  throw new TypeError(
    `Cannot step ${
      countCopies(numEnvs)
    } with actions in a ${given.constructor.name}: expected a ${like.constructor.name}`,
  );
}

/** The actions of a batch one by one, in objects that are made once. */
export class ActionRows {
  /** Action of each environment; the arrays are reused. */
  readonly values: SpaceValue[] = [];
  #space: Space;
  #like: Batch;

  constructor(space: Space, numEnvs: number) {
    this.#space = space;
    this.#like = allocateBatch(space, numEnvs);
    for (let row = 0; row < numEnvs; row++) {
      this.values.push(readRow(space, { batch: this.#like, row }));
    }
  }

  /** Reads and checks a batch before any environment is stepped. */
  read(actions: Batch): readonly SpaceValue[] {
    const space = this.#space, values = this.values;
    checkBatch(space, actions, this.#like, values.length);
    for (let row = 0; row < values.length; row++) {
      values[row] = readRowInto(space, values[row], actions, row);
      checkAction(space, values[row]);
    }
    return values;
  }
}
