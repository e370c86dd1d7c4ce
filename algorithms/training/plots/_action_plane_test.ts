import { assert, assertEquals, assertThrows } from "@std/assert";
import { ActionPlane } from "./_action_plane.ts";
import type {
  PlottedAgent,
  QFPolicyPlotterOptions,
} from "./qf_policy_plotter.ts";
import { textsOf } from "../testdata/parse_svg.ts";
import { draw, ONE, PLANE } from "../testdata/plotted.ts";

Deno.test("Q is asked for a grid in [-1, 1], the other numbers as they are given", () => {
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
  const options = { actionSpace, gridSize: 3 };
  draw(agent, options);
  assertEquals(asked.length, 9);
  assertEquals(asked.slice(0, 4), [
    [-1, -1, 0, 0],
    [0, -1, 0, 0],
    [1, -1, 0, 0],
    [-1, 0, 0, 0],
  ]);
  asked.length = 0;
  const svg = draw(agent, { ...options, defaultAction: [0.5, NaN, 1, NaN] });
  assertEquals(asked.slice(0, 2), [[0.5, -1, -0.5, -1], [0.5, 0, -0.5, -1]]);
  const [, , axes] = textsOf(svg, "bp-chart");
  assert(axes.includes("action[0, 1]") && axes.includes("action[1, 1]"));
});

const BAD: readonly (readonly [Partial<QFPolicyPlotterOptions>, string])[] = [
  [
    { actionSpace: { ...PLANE, high: [1, Infinity] } },
    "actions between 0 and Infinity: expected finite bounds",
  ],
  [
    { actionSpace: { ...PLANE, shape: [0] } },
    "actions of 0 numbers: expected at least one",
  ],
  [
    { defaultAction: [NaN] },
    "a defaultAction of 1 numbers: expected 2",
  ],
  [
    { defaultAction: [0, 0] },
    "of which 0 numbers vary: expected NaN for one or two",
  ],
  [
    { defaultAction: [NaN, 5] },
    "defaultAction[1] = 5: expected NaN, or a number from 0 to 4",
  ],
];

for (const [options, message] of BAD) {
  Deno.test(`a plane says what is wrong: ${message}`, () => {
    const { actionSpace = PLANE, defaultAction } = options;
    const { message: line } = assertThrows(
      () => new ActionPlane(actionSpace as typeof PLANE, defaultAction),
      RangeError,
      message,
    );
    assert(line.startsWith("Cannot plot ") && !line.includes("\n"));
  });
}
