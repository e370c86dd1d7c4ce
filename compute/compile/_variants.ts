import type { TensorType } from "../graph/graph.ts";
import { isTypeLeaf, leavesOf, type Tree, treeOf } from "../tracing/tree.ts";
import type { OtherShapes } from "./_inputs.ts";

/** The declarations with other shapes in the place of some. */
export function withShapes(
  types: Tree<TensorType>,
  others: OtherShapes | undefined,
): Tree<TensorType> {
  if (others === undefined) return types;
  const leaves = leavesOf(types, isTypeLeaf).map(({ name, path, leaf }) => ({
    path,
    leaf: { dtype: leaf.dtype, shape: others.get(name) ?? leaf.shape },
  }));
  return treeOf(leaves, types);
}

/** What is compiled for the declared shapes, and for others as they come. */
export class Variants<T> {
  readonly #make: (others: OtherShapes | undefined) => T;
  readonly #name: string;
  readonly #maxShapes: number;
  readonly #onNotice: (line: string) => void;
  readonly #known = new Map<string, T>();
  #declared: T | undefined;

  constructor(
    make: (others: OtherShapes | undefined) => T,
    { name, maxShapes, onNotice }: {
      name: string;
      maxShapes: number;
      onNotice: (line: string) => void;
    },
  ) {
    this.#make = make;
    this.#name = name;
    this.#maxShapes = maxShapes;
    this.#onNotice = onNotice;
  }

  /**
   * What there is for the shapes, compiled at their first use.
   *
   * @throws {RangeError} If too many sets of shapes have been compiled.
   */
  get(others: OtherShapes | undefined): T {
    if (others === undefined) return this.#declared ??= this.#make(undefined);
    const shapes = [...others].map(([name, shape]) => `${name} [${shape}]`)
      .join(", ");
    const known = this.#known.get(shapes);
    if (known !== undefined) return known;
    const count = this.#known.size + 2;
    if (count > this.#maxShapes) {
      throw new RangeError(
        `Cannot compile ${this.#name} for ${shapes}: it was compiled for ${
          count - 1
        } sets of shapes already; pad the batch or raise maxShapes`,
      );
    }
    const made = this.#make(others);
    this.#known.set(shapes, made);
    this.#onNotice(
      `Compiled ${this.#name} again for ${shapes} (${count} of at most ${this.#maxShapes} sets of shapes)`,
    );
    return made;
  }
}
