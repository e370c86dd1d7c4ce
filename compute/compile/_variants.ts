import type { TensorType } from "../graph/graph.ts";
import { isTypeLeaf, mapLeaves, type Tree } from "../tracing/tree.ts";
import type { OtherShapes } from "./_inputs.ts";
import type { Settings } from "./options.ts";

/** Replaces the shapes of some declarations. */
export function withShapes(
  types: Tree<TensorType>,
  others: OtherShapes | undefined,
): Tree<TensorType> {
  if (others === undefined) return types;
  return mapLeaves(types, isTypeLeaf, ({ shape, dtype }, name) => ({
    dtype,
    shape: others.get(name) ?? shape,
  }));
}

/** Functions compiled for the declared shapes, and for others as they come. */
export class Variants<T> {
  readonly #make: (others: OtherShapes | undefined) => T;
  readonly #settings: Settings;
  readonly #known = new Map<string, T>();
  #declared: T | undefined;

  constructor(
    make: (others: OtherShapes | undefined) => T,
    settings: Settings,
  ) {
    this.#make = make;
    this.#settings = settings;
  }

  /**
   * Returns the function for shapes, compiled at their first use.
   *
   * @throws {RangeError} If too many sets of shapes have been compiled.
   */
  get(others: OtherShapes | undefined): T {
    if (others === undefined) return this.#declared ??= this.#make(undefined);
    const shapes = [...others].map(([name, shape]) => `${name} [${shape}]`)
      .join(", ");
    const known = this.#known.get(shapes);
    if (known !== undefined) return known;
    const { name, maxShapes, onNotice } = this.#settings;
    const count = this.#known.size + 2;
    if (count > maxShapes) {
      throw new RangeError(
        `Cannot compile ${name} for ${shapes}: it was compiled for ${
          count - 1
        } sets of shapes already; pad the batch or raise maxShapes`,
      );
    }
    const made = this.#make(others);
    this.#known.set(shapes, made);
    onNotice(
      `Compiled ${name} again for ${shapes} (${count} of at most ${maxShapes} sets of shapes)`,
    );
    return made;
  }
}
