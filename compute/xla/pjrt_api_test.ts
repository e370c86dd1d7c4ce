import { assert, assertEquals } from "@std/assert";
import {
  API_BYTES,
  ERROR_CODES,
  FUNCTIONS,
  NAMED_VALUE_BYTES,
  OLDEST_MINOR,
  STRUCTS,
  SUBJECT,
} from "./pjrt_api.ts";
import layout from "./testdata/layout.json" with { type: "json" };

/** The layout of the header of API 0.81, by the C compiler. */
const HEADER: Readonly<Record<string, number>> = layout;

Deno.test("functions are at the places of the header", () => {
  for (const [name, place] of Object.entries(FUNCTIONS)) {
    assertEquals([name, place], [name, HEADER[name]]);
  }
  const last = Math.max(...Object.values(FUNCTIONS));
  assertEquals(API_BYTES, 40 + 8 * (last + 1));
  assertEquals(HEADER["API minor version"], OLDEST_MINOR);
});

Deno.test("fields are at the offsets of the header", () => {
  for (const [struct, fields] of Object.entries(STRUCTS)) {
    for (const [field, offset] of Object.entries(fields)) {
      const name = `${struct}.${field}`;
      assertEquals([name, offset], [name, HEADER[name]]);
    }
  }
  assertEquals(NAMED_VALUE_BYTES, HEADER.PJRT_NamedValue);
});

Deno.test("what arguments are of is their first field", () => {
  const subjects = Object.entries(HEADER).filter(([name]) =>
    /_Args\.(error|event|client|device|device_description|topology|executable|loaded_executable|buffer|src)$/
      .test(name) && HEADER[name] === SUBJECT
  );
  // Those of the plugin itself and of its creation have no subject.
  assert(
    subjects.length >= Object.keys(FUNCTIONS).length - 4,
    `${subjects.length}`,
  );
  assertEquals(ERROR_CODES.indexOf("UNAUTHENTICATED"), 16);
});
