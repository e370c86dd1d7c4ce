import { assertEquals } from "@std/assert";
import { encodeNamedValues, readNamedValues } from "./named_values.ts";

Deno.test("named values are read as they were written", () => {
  const values = {
    text: "naïve",
    empty: "",
    whole: -(2 ** 40),
    real: 0.25,
    yes: true,
    no: false,
    list: [1, -2, 3],
  };
  const { address } = encodeNamedValues(values);
  const count = Object.keys(values).length;
  assertEquals(readNamedValues(address, count), values);
  assertEquals(readNamedValues(address, 0), {});
});
