import { assertEquals } from "@std/assert";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { encodeCompileOptions } from "./compile_options.ts";

/** Fields of a message by their numbers; those of bytes stay bytes. */
function fieldsOf(bytes: Uint8Array): [number, unknown][] {
  const reader = new BinaryReader(bytes), fields: [number, unknown][] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === 0) fields.push([field, Number(reader.int64())]);
    else if (type === 1) fields.push([field, reader.double()]);
    else fields.push([field, reader.bytes()]);
  }
  return fields;
}

Deno.test("compile options are those of one device", () => {
  const [[field, build], ...rest] = fieldsOf(encodeCompileOptions());
  assertEquals([field, rest], [3, []]);
  assertEquals(fieldsOf(build as Uint8Array), [[1, -1], [4, 1], [5, 1]]);
});

Deno.test("flags are written by their types", () => {
  const flags = { a: "text", b: true, c: -3, d: 0.5 };
  const [, ...entries] = fieldsOf(encodeCompileOptions(flags));
  const read = entries.map(([field, entry]) => {
    const [[, name], [, value]] = fieldsOf(entry as Uint8Array);
    const [it] = fieldsOf(value as Uint8Array);
    return [field, new TextDecoder().decode(name as Uint8Array), ...it];
  });
  assertEquals(read, [
    [7, "a", 1, new TextEncoder().encode("text")],
    [7, "b", 2, 1],
    [7, "c", 3, -3],
    [7, "d", 4, 0.5],
  ]);
});
