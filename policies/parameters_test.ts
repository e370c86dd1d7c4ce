import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { nest, parameter, scope } from "./parameters.ts";

const tensor = tf.scalar(1);

Deno.test("scope undoes nest", () => {
  const path = fc.stringMatching(/^[a-z][a-z0-9/]{0,8}$/);
  fc.assert(fc.property(fc.uniqueArray(path), path, (paths, name) => {
    const params = Object.fromEntries(paths.map((p) => [p, tensor]));
    const back = scope({ other: tensor, ...nest(params, name) }, name);
    assertEquals(Object.keys(back), paths);
  }));
});

Deno.test("scope takes whole names only and shares the tensors", () => {
  const params = { "pi/a": tensor, "pip/b": tensor, "vf/pi/c": tensor };
  assertEquals(Object.keys(scope(params, "pi")), ["a"]);
  assertStrictEquals(scope(params, "pi").a, tensor);
  assertEquals(scope(params, "p"), {});
});

Deno.test("a missing parameter is named beside those that are there", () => {
  assertThrows(
    () => parameter({ "a/b": tensor }, "a/c"),
    RangeError,
    "Cannot find the parameter 'a/c' among a/b",
  );
});
