import { contains, describeSpace } from "./values.ts";
import type { Batch, BoxArray, Space, SpaceValue } from "@bellman/types";
import { isArrayOf } from "./arrays.ts";
import { allocateBatch, readRow, readRowInto } from "./batch.ts";

function show(value: unknown): string {
  if (ArrayBuffer.isView(value)) return `[${value}]`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * Whether an action can be taken. A box's action need not lie within the
 * bounds, since environments clip it, but it must be of its length and finite.
 */
function isUsable(space: Space, action: unknown): boolean {
  if (space.type !== "box") return contains(space, action);
  return isArrayOf(space, action) && areFinite(action);
}

/** Whether all are; a loop, since a call for each would allocate it. */
export function areFinite(numbers: BoxArray): boolean {
  for (let i = 0; i < numbers.length; i++) {
    if (!Number.isFinite(numbers[i])) return false;
  }
  return true;
}

/** Throws unless an action can be taken. */
export function checkAction(space: Space, action: SpaceValue): void {
  if (isUsable(space, action)) return;
  throw new RangeError(
    `Cannot take action ${show(action)}: expected ${describeSpace(space)}`,
  );
}

function isNested(space: Space): boolean {
  return space.type === "dict" || space.type === "tuple";
}

/** Throws unless a batch is of the kind and the length of another. */
function checkBatch(
  space: Space,
  { given, like, numEnvs }: { given: Batch; like: Batch; numEnvs: number },
): void {
  if (space.type === "dict" || space.type === "tuple") {
    const spaces = space.spaces as Record<string, Space>;
    for (const key in spaces) {
      checkBatch(spaces[key], {
        given: (given as Record<string, Batch> | undefined)?.[key] as Batch,
        like: (like as Record<string, Batch>)[key],
        numEnvs,
      });
    }
    return;
  }
  const wanted = (like as BoxArray).length;
  const length = (given as BoxArray | undefined)?.length;
  if (length !== wanted) {
    throw new RangeError(
      `Cannot step ${numEnvs} copies with ${
        length ?? "no"
      } numbers of actions: expected ${wanted}`,
    );
  }
  // Discrete actions are read as numbers, from any array.
  if (space.type === "discrete" || given.constructor === like.constructor) {
    return;
  }
  throw new TypeError(
    `Cannot step ${numEnvs} copies with actions in a ${given.constructor.name}: expected a ${like.constructor.name}`,
  );
}

/** The actions of a batch one by one, in objects that are made once. */
export class ActionRows {
  /** Each copy's action; the arrays are reused. */
  readonly values: SpaceValue[] = [];
  #space: Space;
  #like: Batch;
  #numEnvs: number;

  constructor(space: Space, numEnvs: number) {
    this.#space = space;
    this.#numEnvs = numEnvs;
    this.#like = allocateBatch(space, numEnvs);
    for (let row = 0; row < numEnvs; row++) {
      this.values.push(readRow(space, { batch: this.#like, row }));
    }
  }

  /** Reads and checks a batch before any copy is stepped. */
  read(actions: Batch): readonly SpaceValue[] {
    this.#check(actions);
    const space = this.#space, values = this.values;
    for (let row = 0; row < values.length; row++) {
      values[row] = readRowInto(space, values[row], actions, row);
      checkAction(space, values[row]);
    }
    return values;
  }

  #check(actions: Batch): void {
    // The usual batch is fine, which is seen without an object made for it.
    const like = this.#like, numEnvs = this.#numEnvs;
    const isFine = !isNested(this.#space) &&
      actions?.constructor === like.constructor &&
      (actions as BoxArray).length === (like as BoxArray).length;
    if (!isFine) checkBatch(this.#space, { given: actions, like, numEnvs });
  }
}
