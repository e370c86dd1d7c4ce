import { assertEquals, assertThrows } from "@std/assert";
import { parseYaml } from "./yaml.ts";

Deno.test("anchors represent what they repeat, up to a number of values", () => {
  assertEquals(parseYaml("a: &a [1, 2]\nb: *a"), { a: [1, 2], b: [1, 2] });
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
  for (let i = 1; i < 12; i++) {
    const nine = Array(9).fill(`*a${i - 1}`).join(", ");
    lines.push(`a${i}: &a${i} [${nine}]`);
  }
  for (const text of [lines.join("\n"), "a: &a {b: *a}", "&a [*a, *a]"]) {
    assertThrows(
      () => parseYaml(text),
      SyntaxError,
      "it has more than 1,000,000 values",
    );
  }
});
