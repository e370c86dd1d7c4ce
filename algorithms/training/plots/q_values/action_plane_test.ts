import { assert, assertEquals, assertThrows } from "@std/assert";
import { ActionPlane } from "./action_plane.ts";
import type { PlottedAgent, QValuePlotOptions } from "./plot_q_values.ts";
import { textsOf } from "../../testdata/parse_svg.ts";
import { draw, ONE, PLANE } from "../../testdata/plotted.ts";

Deno.test("Q is asked for a grid in [-1, 1], the other numbers in the middle", () => {
  const asked: number[][] = [];
  const agent: PlottedAgent = {
    qValues: (observation, actions) => {
      assertEquals([...observation], ONE[0]);
      for (let i = 0; i < actions.length; i += 4) {
        asked.push(Array.from(actions).slice(i, i + 4));
      }
      return new Float32Array(actions.length / 4);
    },
    policy: ({ numEnvs }) => ({ act: () => new Float32Array(4 * numEnvs) }),
  };
  const actionSpace = {
    ...PLANE,
    shape: [2, 2],
    low: [-1, -2, 0, -8],
    high: [1, 2, 4, 8],
  } as const;
  const svg = draw(agent, { actionSpace, gridSize: 3 });
  assertEquals(asked.length, 9);
  assertEquals(asked.slice(0, 4), [
    [-1, -1, 0, 0],
    [0, -1, 0, 0],
    [1, -1, 0, 0],
    [-1, 0, 0, 0],
  ]);
  const [, , axes] = textsOf(svg, "bp-chart");
  assert(axes.includes("action[0, 0]") && axes.includes("action[0, 1]"));
});

const BAD: readonly (readonly [Partial<QValuePlotOptions>, string])[] = [
  [
    { actionSpace: { ...PLANE, high: [1, Infinity] } },
    "actions between 0 and Infinity: expected finite bounds",
  ],
  [
    { actionSpace: { ...PLANE, shape: [0] } },
    "actions of 0 numbers: expected at least one",
  ],
];

for (const [options, message] of BAD) {
  Deno.test(`a plane says what is wrong: ${message}`, () => {
    const { actionSpace } = options;
    const { message: line } = assertThrows(
      () => new ActionPlane(actionSpace as typeof PLANE),
      RangeError,
      message,
    );
    assert(line.startsWith("Cannot plot ") && !line.includes("\n"));
  });
}
