import type { DType } from "../graph/graph.ts";

/**
 * Nested records with leaves of one kind: how the inputs and outputs of a
 * compiled function are named.
 *
 * @example
 * ```ts
 * import type { Tree } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * const sizes: Tree<number> = { params: { kernel: 8, bias: 2 }, rate: 1 };
 * assertEquals(Object.keys(sizes), ["params", "rate"]);
 * ```
 */
export type Tree<Leaf> = { readonly [key: string]: Leaf | Tree<Leaf> };

/** A leaf and the keys that lead to it. */
export interface NamedLeaf<Leaf> {
  /** The keys, joined by dots. */
  readonly name: string;
  readonly path: readonly string[];
  readonly leaf: Leaf;
}

/** The leaves of a tree in the order of its keys, undefined ones left out. */
export function leavesOf<Leaf>(
  tree: unknown,
  isLeaf: (node: unknown) => node is Leaf,
): NamedLeaf<Leaf>[] {
  const leaves: NamedLeaf<Leaf>[] = [];
  const visit = (node: unknown, path: readonly string[]) => {
    const name = path.join(".");
    if (node === undefined) return;
    if (isLeaf(node)) {
      leaves.push({ name, path, leaf: node });
    } else if (isRecord(node)) {
      for (const key in node) visit(node[key], [...path, key]);
    } else {
      throw new TypeError(
        `Cannot use ${
          describe(node)
        } as '${name}': expected tensors in nested records`,
      );
    }
  };
  visit(tree, []);
  return leaves;
}

/** A tree of leaves at their paths. */
export function treeOf<Leaf>(
  leaves: readonly { readonly path: readonly string[]; readonly leaf: Leaf }[],
): Tree<Leaf> {
  const tree: Record<string, unknown> = {};
  for (const { path, leaf } of leaves) {
    let node = tree;
    for (const key of path.slice(0, -1)) {
      node = (node[key] ??= {}) as Record<string, unknown>;
    }
    node[path[path.length - 1]] = leaf;
  }
  return tree as Tree<Leaf>;
}

function isRecord(node: unknown): node is Record<string, unknown> {
  return typeof node === "object" && node !== null && !Array.isArray(node) &&
    !ArrayBuffer.isView(node);
}

function describe(node: unknown): string {
  if (node === null) return "null";
  if (Array.isArray(node)) return "an array";
  return typeof node === "object" ? node.constructor.name : `a ${typeof node}`;
}

/** Shape and type of an input, as they are declared. */
export interface TypeLeaf {
  readonly shape: readonly number[];
  readonly dtype: DType;
}

const DTYPES: ReadonlySet<unknown> = new Set([
  "float32",
  "int32",
  "bool",
  "uint8",
]);

/** Whether a node of a tree declares a tensor; tensors themselves do too. */
export function isTypeLeaf(node: unknown): node is TypeLeaf {
  const it = node as Partial<TypeLeaf> | null;
  return typeof it === "object" && it !== null && Array.isArray(it.shape) &&
    DTYPES.has(it.dtype);
}
