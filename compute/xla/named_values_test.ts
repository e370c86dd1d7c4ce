import { assertEquals } from "@std/assert";
import { encodeNamedValues } from "./named_values.ts";
import { NAMED_VALUE_BYTES, STRUCTS, VALUE_TYPES } from "./pjrt_api.ts";

Deno.test("named values have a name, a type, a size and a value", () => {
  const values = { text: "naïve", whole: -(2 ** 40), real: 0.25, yes: true };
  const all = encodeNamedValues(values);
  const at = STRUCTS.PJRT_NamedValue;
  const starts = Object.keys(values).map((_, i) => i * NAMED_VALUE_BYTES);
  assertEquals(starts.map((it) => all.text(it + at.name)), Object.keys(values));
  assertEquals(starts.map((it) => all.int32(it + at.type)), [
    VALUE_TYPES.text,
    VALUE_TYPES.int64,
    VALUE_TYPES.float,
    VALUE_TYPES.bool,
  ]);
  const [text, whole, real, yes] = starts.map((it) => it + at.int64_value);
  assertEquals(all.text(text), "naïve");
  assertEquals(all.int64(whole), values.whole);
  assertEquals(new Float32Array(all.words.buffer, real, 1)[0], values.real);
  assertEquals(all.bool(yes), true);
});
