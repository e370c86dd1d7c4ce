import { assertEquals } from "@std/assert";
import { givenOptions } from "./_given_options.ts";

Deno.test("an option that is undefined is as left out, other empty values are not", () => {
  const options = { a: undefined, b: null, c: 0, d: "", e: false, f: NaN };
  assertEquals(Object.keys(givenOptions(options)), ["b", "c", "d", "e", "f"]);
  assertEquals(givenOptions({}), {});
});
