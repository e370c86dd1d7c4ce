import { assertEquals } from "@std/assert";
import { firstLine } from "./host_failure.ts";

const SHOWN = "\n \x1b[31merror\x1b[0m: no ball \r\n    at play.ts:3\n";

Deno.test("the first line is the first that says something", () => {
  assertEquals(firstLine(SHOWN), "error: no ball");
  assertEquals(firstLine("\n"), "");
});
