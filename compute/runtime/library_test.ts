import { assert, assertEquals } from "@std/assert";
import { libraryPath, RUNTIME_VERSION } from "./library.ts";

const VARIABLE = "BELLMAN_ONNXRUNTIME";

Deno.test("the npm package carries the library", async () => {
  const before = Deno.env.get(VARIABLE);
  Deno.env.delete(VARIABLE);
  try {
    assert((await Deno.stat(libraryPath())).isFile);
    assert(libraryPath().includes(RUNTIME_VERSION), libraryPath());
  } finally {
    if (before !== undefined) Deno.env.set(VARIABLE, before);
  }
});

Deno.test("a variable of the environment names another one", () => {
  const before = Deno.env.get(VARIABLE);
  Deno.env.set(VARIABLE, "/elsewhere/libonnxruntime.so");
  try {
    assertEquals(libraryPath(), "/elsewhere/libonnxruntime.so");
  } finally {
    if (before === undefined) Deno.env.delete(VARIABLE);
    else Deno.env.set(VARIABLE, before);
  }
});
