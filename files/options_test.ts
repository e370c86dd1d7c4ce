import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  checkOptions,
  FLAG,
  givenOptions,
  isWhole,
  oneOf,
  type OptionKind,
  refuseUnknown,
  typoOf,
  whole,
} from "./options.ts";

const KINDS = {
  flag: FLAG,
  chance: ["number", "0 to 1", (it: number) => it >= 0 && it <= 1],
  size: [
    ["number", "object"],
    "a whole number, or one in a record",
    (it: number | { width: unknown }) =>
      isWhole(typeof it === "number" ? it : it.width, 1),
  ],
  count: whole(2),
  word: oneOf("red", "blue"),
} satisfies Record<string, OptionKind>;
const check = (options: object) => checkOptions("a toy", options, KINDS);

Deno.test("options that can be are returned, but for undefined ones", () => {
  assertEquals(check({}), {});
  assertEquals(check({ flag: undefined, other: undefined }), {});
  assertEquals(check(Object.create(null)), {});
  const fine: Record<string, unknown[]> = {
    flag: [true, false],
    chance: [0, 0.5, 1],
    size: [1, { width: 84 }],
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
  for (const [name, [types, expected]] of Object.entries(KINDS)) {
    const cases = [
      ["2", '"2"'],
      [null, "null"],
      [true, "true"],
      [1, "1"],
      [[], "[]"],
      [3n, "3n"],
    ] as const;
    for (const [value, shown] of cases) {
      if (value !== null && [types].flat().includes(typeof value)) continue;
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
    size: [
      [0, "0"],
      [{ width: -1 }, "{ width: -1 }"],
      [{ width: "8" }, '{ width: "8" }'],
      [[2], "[ 2 ]"],
    ],
    count: [[1, "1"], [2.5, "2.5"], [2 ** 60, `${2 ** 60}`], [NaN, "NaN"]],
    word: [["green", '"green"'], ["", '""']],
  };
  for (const [name, values] of Object.entries(wrong)) {
    const [, expected] = KINDS[name as keyof typeof KINDS];
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
  const says = "Unknown option 'flags' of a toy: did you mean 'flag'?";
  assertThrows(() => check({ flags: true }), TypeError, says);
  assertThrows(() => check({ toString: 1 }), TypeError, "option 'toString'");
});

Deno.test("an option that is undefined is as left out, other empty values are not", () => {
  const options = { a: undefined, b: null, c: 0, d: "", e: false, f: NaN };
  assertEquals(Object.keys(givenOptions(options)), ["b", "c", "d", "e", "f"]);
  assertEquals(givenOptions({}), {});
});

Deno.test("a name is hinted at where it is near, and else all are told", () => {
  const says = (name: string, names: string[]) =>
    assertThrows(() => refuseUnknown({ [name]: 1 }, names, "Ant-v5"), TypeError)
      .message.replace(`Unknown option '${name}' of Ant-v5: `, "");
  const names = ["frameSkip", "width"];
  assertEquals(says("frameskip", names), "did you mean 'frameSkip'?");
  assertEquals(says("skip", names), "did you mean 'frameSkip'?");
  assertEquals(says("color", names), "expected one of frameSkip, width");
  assertEquals(says("color", ["width"]), "expected width");
  assertEquals(says("color", []), "it has none");
  const many = Array.from({ length: 14 }, (_, i) => `option${i}`);
  assertMatch(says("color", many), /option11 or 2 more$/);
});

Deno.test("the nearest name ignores case, and a likely typo is near", () => {
  const ids = ["CartPole-v1", "Chain-v0"];
  assertEquals(typoOf("cartpole-v1", ids), "CartPole-v1");
  assertEquals(typoOf("CartPol", ids), "CartPole-v1");
  assertEquals(typoOf("trian", ["train"]), "train");
  assertEquals(typoOf("bananas", ["train"]), undefined);
  assertEquals(typoOf("bananas", []), undefined);
});

Deno.test("what is no object is refused as options", () => {
  const lists = [[], [1], new Map([["mode", 1]]), new Set()];
  for (const given of [3, "three", null, undefined, ...lists] as never[]) {
    assertThrows(
      () => check(given),
      TypeError,
      "as the options of a toy: expected an object",
    );
  }
});

Deno.test("a wrong option is told on one line, whatever its value", () => {
  const refuse = (mode: unknown) =>
    assertThrows(
      () => checkOptions("Pong", { mode }, { mode: whole(1) }),
      TypeError,
      "Cannot make Pong with mode ",
    ).message;
  assertEquals(
    refuse("two"),
    'Cannot make Pong with mode "two": expected a whole number of at least 1',
  );
  const value = Array.from({ length: 60 }, (_, i) => `word ${i}\n`);
  assertEquals(refuse({ value }).split("\n").length, 1);
});
