import type * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";

/**
 * The part of a parameter map under a prefix, with the prefix taken off.
 *
 * The tensors are shared, not copied.
 *
 * @param params Map from path to tensor.
 * @param name First part of the wanted paths, without the slash.
 * @returns The entries whose path starts with `name/`, in their order.
 *
 * @example
 * ```ts
 * import { scope } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const bias = tf.zeros([2]);
 * const params = { "pi/head/bias": bias, "vf/head/bias": bias };
 * assertEquals(Object.keys(scope(params, "pi")), ["head/bias"]);
 * ```
 */
export function scope(params: Params, name: string): Params {
  const start = `${name}/`;
  const inside: Params = {};
  for (const path in params) {
    if (path.startsWith(start)) inside[path.slice(start.length)] = params[path];
  }
  return inside;
}

/**
 * A parameter map with each path put under a prefix: undone by {@link scope}.
 *
 * The tensors are shared, not copied.
 *
 * @param params Map from path to tensor.
 * @param name What goes before each path, without the slash.
 * @returns The same entries, named `name/path`.
 *
 * @example
 * ```ts
 * import { nest } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const params = nest({ "head/bias": tf.zeros([2]) }, "pi");
 * assertEquals(Object.keys(params), ["pi/head/bias"]);
 * ```
 */
export function nest(params: Params, name: string): Params {
  const outside: Params = {};
  for (const path in params) outside[`${name}/${path}`] = params[path];
  return outside;
}

/**
 * Takes one tensor out of a parameter map.
 *
 * @param params Map from path to tensor.
 * @param path Path of the wanted tensor.
 * @returns The tensor.
 * @throws {RangeError} If there is no tensor of that path.
 *
 * @example
 * ```ts
 * import { parameter } from "@bellman/policies";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(
 *   () => parameter({}, "pi/head/bias"),
 *   RangeError,
 *   "Cannot find the parameter 'pi/head/bias'",
 * );
 * ```
 */
export function parameter<T extends tf.Tensor = tf.Tensor>(
  params: Readonly<Record<string, tf.Tensor>>,
  path: string,
): T {
  const found = params[path];
  if (found === undefined) {
    throw new RangeError(
      `Cannot find the parameter '${path}' among ${
        Object.keys(params).join(", ") || "none"
      }`,
    );
  }
  return found as T;
}
