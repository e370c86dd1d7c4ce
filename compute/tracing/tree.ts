import { ARRAYS, type TensorType } from "../graph/graph.ts";

/**
 * Nested records with leaves of one kind: how the inputs and outputs of a
 * compiled function are named.
 */
export type Tree<Leaf> = { readonly [key: string]: Leaf | Tree<Leaf> };

/** A leaf and the keys that lead to it. */
export interface NamedLeaf<Leaf> {
  /** The keys, joined by dots. */
  readonly name: string;
  readonly path: readonly string[];
  readonly leaf: Leaf;
}

/**
 * Lists the leaves of a tree in the order of its keys, undefined ones left out.
 *
 * @throws {TypeError} If the tree is no record, or something in it is neither a
 * record nor a leaf.
 */
export function leavesOf<Leaf>(
  tree: unknown,
  isLeaf: (node: unknown) => node is Leaf,
): NamedLeaf<Leaf>[] {
  const leaves: NamedLeaf<Leaf>[] = [];
  const visit = (node: unknown, path: readonly string[]) => {
    const name = path.join(".");
    const isRoot = path.length === 0;
    if (node === undefined && !isRoot) return;
    if (isLeaf(node) && !isRoot) {
      leaves.push({ name, path, leaf: node });
    } else if (isRecord(node) && !isLeaf(node)) {
      for (const key in node) visit(node[key], [...path, key]);
    } else {
      throw new TypeError(
        `Cannot use ${describe(node)}${
          isRoot ? " by itself" : ` as '${name}'`
        }: expected tensors in nested records`,
      );
    }
  };
  visit(tree, []);
  return leaves;
}

/**
 * Returns the records of a tree without the leaves: what is empty stays empty.
 */
export function recordsOf(tree: unknown): Tree<never> {
  const records: Record<string, Tree<never>> = {};
  for (const [key, node] of Object.entries(tree as object)) {
    if (isRecord(node) && !isTypeLeaf(node)) records[key] = recordsOf(node);
  }
  return records;
}

/** Makes a tree of leaves at their paths, with the records of another tree. */
export function treeOf<Leaf>(
  leaves: readonly { readonly path: readonly string[]; readonly leaf: Leaf }[],
  like: unknown = {},
): Tree<Leaf> {
  const tree: Record<string, unknown> = recordsOf(like);
  for (const { path, leaf } of leaves) {
    let node = tree;
    for (const key of path.slice(0, -1)) {
      node = (node[key] ??= {}) as Record<string, unknown>;
    }
    node[path[path.length - 1]] = leaf;
  }
  return tree as Tree<Leaf>;
}

/** Replaces the leaves of a tree. */
export function mapLeaves<From, To>(
  tree: unknown,
  isLeaf: (node: unknown) => node is From,
  transform: (leaf: From, name: string) => To,
): Tree<To> {
  const leaves = leavesOf(tree, isLeaf).map(({ name, path, leaf }) => ({
    path,
    leaf: transform(leaf, name),
  }));
  return treeOf(leaves, tree);
}

function isRecord(node: unknown): node is Record<string, unknown> {
  if (typeof node !== "object" || node === null) return false;
  if (Array.isArray(node) || ArrayBuffer.isView(node)) return false;
  // Promises, maps and the like have nothing to look into.
  const prototype = Object.getPrototypeOf(node);
  return prototype === Object.prototype || prototype === null ||
    Object.keys(node).length > 0;
}

function describe(node: unknown): string {
  if (node === null || node === undefined) return String(node);
  if (Array.isArray(node)) return "an array";
  return typeof node === "object"
    ? `a ${node.constructor.name}`
    : `a ${typeof node}`;
}

const DTYPES: ReadonlySet<string> = new Set(Object.keys(ARRAYS));

/** True where a node is meant to declare a tensor, rightly or wrongly. */
function isDeclaration(node: unknown): node is TensorType {
  const it = node as Partial<TensorType> | null;
  return typeof it === "object" && it !== null && Array.isArray(it.shape) &&
    typeof it.dtype === "string";
}

/** True where a node of a tree declares a tensor; tensors themselves do too. */
export function isTypeLeaf(node: unknown): node is TensorType {
  return isDeclaration(node) && DTYPES.has(node.dtype);
}

/**
 * Lists the declarations of a tree.
 *
 * @throws {TypeError} If a type is unknown.
 * @throws {RangeError} If a length is not a whole number of at least 0.
 */
export function declarationsOf(tree: unknown): NamedLeaf<TensorType>[] {
  const leaves = leavesOf(tree, isDeclaration);
  for (const { name, leaf: { shape, dtype } } of leaves) {
    if (!DTYPES.has(dtype)) {
      throw new TypeError(
        `Cannot declare '${name}' as ${dtype}: expected one of ${
          [...DTYPES].join(", ")
        }`,
      );
    }
    if (shape.every((it) => Number.isInteger(it) && it >= 0)) continue;
    throw new RangeError(
      `Cannot declare '${name}' with the shape [${shape}]: expected whole numbers of at least 0`,
    );
  }
  return leaves;
}
