import { assert, assertEquals } from "@std/assert";
// @ts-types="@types/d3-dsv"
import { csvParseRows } from "d3-dsv";
import fc from "fast-check";
import { csvText } from "./csv.ts";

Deno.test("no text of a stranger is a formula, and numbers are numbers", () => {
  const cells = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "a;=b",
  ];
  assertEquals(csvParseRows(csvText([cells]))[0], [
    "'=1+1",
    "'+cmd|' /C calc'!A0",
    "'-2+3",
    "'@SUM(A1)",
    "\t'=1",
    "a;'=b",
  ]);
  const numbers = [
    -1,
    "-2.5",
    "+3e-9",
    -Infinity,
    "",
    null,
    undefined,
    "a-b; -c",
  ];
  assertEquals(
    csvText([numbers]),
    "-1,-2.5,+3e-9,-Infinity,,,,a-b; -c\n",
  );
  const unit = fc.constantFrom(..."=+-@;,\"'\t\r\n\uff1d 1a");
  fc.assert(fc.property(fc.string({ unit }), (text) => {
    const csv = csvText([[text]]);
    for (
      const cell of [csvParseRows(csv)[0]?.[0] ?? "", ...csv.split(/[;\t]/)]
    ) {
      assert(!/^[=+\-@\uff1d]/.test(cell) || !Number.isNaN(Number(text)), csv);
    }
  }));
});
