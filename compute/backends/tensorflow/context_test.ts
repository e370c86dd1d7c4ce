import { assertEquals } from "@std/assert";
import { configProto } from "./context.ts";

Deno.test("the configuration asks for growth of a GPU's memory", () => {
  assertEquals([...configProto(0)], [0x32, 2, 0x20, 1]);
});

Deno.test("the configuration limits threads in and between operations", () => {
  assertEquals([...configProto(3)], [0x10, 3, 0x28, 3, 0x32, 2, 0x20, 1]);
});
