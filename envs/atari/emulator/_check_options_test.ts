import { assertEquals, assertThrows } from "@std/assert";
import {
  CHANCE,
  checkOptions,
  FLAG,
  FRAME_LIMIT,
  FRAME_RANGE,
  oneOf,
  SIZE,
  whole,
} from "./_check_options.ts";

const KINDS = {
  flag: FLAG,
  chance: CHANCE,
  frames: FRAME_LIMIT,
  range: FRAME_RANGE,
  size: SIZE,
  count: whole(2),
  word: oneOf("red", "blue"),
};
const check = (options: object) => checkOptions("a toy", options, KINDS);

Deno.test("options that can be are returned, but for undefined ones", () => {
  assertEquals(check({}), {});
  assertEquals(check({ flag: undefined, other: undefined }), {});
  const fine: Record<string, unknown[]> = {
    flag: [true, false],
    chance: [0, 0.5, 1],
    frames: [1, 7, Infinity],
    range: [1, 4, [2, 5], [1, 2]],
    size: [{ width: 1, height: 84 }],
    count: [2, 2 ** 40],
    word: ["red", "blue"],
  };
  for (const [name, values] of Object.entries(fine)) {
    for (const value of values) {
      assertEquals(check({ [name]: value }), { [name]: value });
    }
  }
});

Deno.test("values of another type are refused", () => {
  for (const [name, { expected }] of Object.entries(KINDS)) {
    for (
      const [value, shown] of [
        ["2", '"2"'],
        [null, "null"],
        [true, "true"],
        [1, "1"],
        [[], "[]"],
        [3n, "3n"],
      ] as const
    ) {
      const { types } = KINDS[name as keyof typeof KINDS];
      if (value !== null && types.includes(typeof value)) continue;
      assertThrows(
        () => check({ [name]: value }),
        TypeError,
        `Cannot make a toy with ${name} ${shown}: expected ${expected}`,
      );
    }
  }
});

Deno.test("values out of range are refused", () => {
  const wrong: Record<string, [unknown, string][]> = {
    chance: [[-0.1, "-0.1"], [1.1, "1.1"], [NaN, "NaN"]],
    frames: [[0, "0"], [2.5, "2.5"], [-Infinity, "-Infinity"], [NaN, "NaN"]],
    range: [
      [0, "0"],
      [Infinity, "Infinity"],
      [[3, 3], "[ 3, 3 ]"],
      [[5, 2], "[ 5, 2 ]"],
      [[2], "[ 2 ]"],
      [[1, 2, 3], "[ 1, 2, 3 ]"],
      [["1", 2], '[ "1", 2 ]'],
      [{}, "{}"],
    ],
    size: [
      [{ width: -1, height: 84 }, "{ width: -1, height: 84 }"],
      [{ width: 84 }, "{ width: 84 }"],
      [{ width: 8, height: "8" }, '{ width: 8, height: "8" }'],
    ],
    count: [[1, "1"], [2.5, "2.5"], [2 ** 60, `${2 ** 60}`], [NaN, "NaN"]],
    word: [["green", '"green"'], ["", '""']],
  };
  for (const [name, values] of Object.entries(wrong)) {
    const { expected } = KINDS[name as keyof typeof KINDS];
    for (const [value, shown] of values) {
      assertThrows(
        () => check({ [name]: value }),
        RangeError,
        `Cannot make a toy with ${name} ${shown}: expected ${expected}`,
      );
    }
  }
});

Deno.test("an option that there is not is refused with the nearest one", () => {
  const says = "Cannot make a toy with 'flags': did you mean 'flag'?";
  assertThrows(() => check({ flags: true }), TypeError, says);
  assertThrows(() => check({ toString: 1 }), TypeError, "with 'toString'");
});
