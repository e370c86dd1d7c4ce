import { assertEquals } from "@std/assert";
import { wrongOption } from "./_wrong_option.ts";

Deno.test("a wrong option is told on one line, whatever its value", () => {
  assertEquals(
    wrongOption("Pong", ["mode", "two"], "an integer"),
    'Cannot make Pong with mode "two": expected an integer',
  );
  const value = Array.from({ length: 60 }, (_, i) => `word ${i}\n`);
  const line = wrongOption("Pong", ["mode", { value }], "an integer");
  assertEquals(line.split("\n").length, 1);
});
