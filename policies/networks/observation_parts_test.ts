import { assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  mapParts,
  nameParts,
  partOf,
  partsNamed,
} from "./observation_parts.ts";

const NAMES = fc.uniqueArray(fc.stringMatching(/^[a-z.]{1,6}$/), {
  minLength: 1,
});

Deno.test("named parts are found again among others", () => {
  fc.assert(fc.property(NAMES, (names) => {
    const parts = Object.fromEntries(names.map((name, i) => [name, [i]]));
    const named = { ...nameParts("seen", parts), seeing: [1], "see.n": [2] };
    assertEquals(partsNamed("seen", named), parts);
    for (const name of names) assertEquals(partOf(parts, name), parts[name]);
  }));
});

Deno.test("what has no parts is one value", () => {
  const wholes = [Uint8Array.of(1), [1, 2], 3, { shape: [2], dtype: "int32" }];
  for (const whole of wholes) {
    const named = nameParts<unknown>("seen", whole as never);
    assertEquals(named, { seen: whole });
    assertEquals(partsNamed<unknown>("seen", named), whole);
    assertEquals(mapParts(whole as never, (_, name) => name ?? "none"), "none");
  }
});
