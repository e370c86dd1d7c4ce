import { assertEquals } from "@std/assert";
import { describeSpace } from "./describe_space.ts";
import {
  box,
  dict,
  discrete,
  multiBinary,
  multiDiscrete,
  tuple,
} from "./space_constructors.ts";

Deno.test("each space is told in words", () => {
  const goal = discrete(3, { start: 1 });
  assertEquals(
    [
      goal,
      box({ low: -1, high: [1, 2] }),
      multiDiscrete([2, 3]),
      multiBinary(4),
      dict({ goal, home: goal }),
      tuple([goal]),
    ].map(describeSpace),
    [
      "a whole number from 1 to 3",
      "float32 numbers of shape [2] from -1 to [1,2]",
      "2 whole numbers below [2,3]",
      "4 bits",
      "a record of goal, home",
      "a list of 1 values",
    ],
  );
});
