import { assertEquals, assertStrictEquals } from "@std/assert";
import { fileAddressesIn, relocate } from "./_relocate.ts";

const DATA = {
  module: "file:///here/code/env.ts",
  options: { imports: ["jsr:@a/b", "file:///here/code/more.ts"], deep: [{}] },
  path: "/here/code/env.py",
  others: ["/here/codes/env.py", "file:///here/code.ts", 3, null],
  numbers: Float32Array.of(1),
};

Deno.test("addresses and paths in a folder are those in its copy, all else stays", () => {
  const found = relocate(DATA, "file:///here/code/", "/there");
  assertEquals(found, {
    ...DATA,
    module: "file:///there/env.ts",
    options: {
      imports: ["jsr:@a/b", "file:///there/more.ts"],
      deep: [{}],
    },
    path: "/there/env.py",
  });
  assertStrictEquals(found.numbers, DATA.numbers);
  assertStrictEquals(relocate(DATA, undefined, "/there"), DATA);
});

Deno.test("addresses of files are found wherever they are", () => {
  assertEquals(fileAddressesIn(DATA), [
    "file:///here/code/env.ts",
    "file:///here/code/more.ts",
    "file:///here/code.ts",
  ]);
});
