import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  plotQValues,
  type PlottedAgent,
  type QValuePlotOptions,
} from "./plot_q_values.ts";
import {
  contoursOf,
  numbersOf,
  ofClass,
  parseSvg,
  textsOf,
} from "../../testdata/parse_svg.ts";
import {
  discreteAgent,
  draw,
  LINE,
  lineAgent,
  ONE,
  PLANE,
  planeAgent,
  THREE,
} from "../../testdata/plotted.ts";

Deno.test("each observation has a panel, with its own values and samples", () => {
  const agent: PlottedAgent = {
    qValues: ([state]) => [Number(state), 0, 0],
    policy: ({ numEnvs }) => ({
      act: (batch) => {
        const states = batch as Float64Array;
        assertEquals(states.length, numEnvs);
        return Int32Array.from(states, (it) => 5 + it);
      },
    }),
  };
  const svg = draw(agent, {
    actionSpace: THREE,
    observations: [[1], Int32Array.of(2), Uint8Array.of(0), [1]],
    samples: 7,
  });
  const panels = ofClass(svg, "bp-panel");
  assertEquals(
    textsOf(svg, "bp-name"),
    [1, 2, 0, 1].map((it) => `Observation (${it})`),
  );
  panels.forEach((panel, i) =>
    assertStringIncludes(
      panel.firstChild!.textContent!,
      `100% of the samples are action ${5 + [1, 2, 0, 1][i]}`,
    )
  );
  // The fourth is below the first.
  const [first, , , fourth] = ofClass(svg, "bp-name").map((it) =>
    numbersOf(it, "x", "y")
  );
  assert(fourth[0] === first[0] && fourth[1] > first[1] + 250);
  const [width, height] = numbersOf(svg, "width", "height");
  for (const text of ofClass(svg, "bp-text")) {
    const [x, y] = numbersOf(text, "x", "y");
    assert(x >= 0 && x <= width && y >= 0 && y <= height);
  }
});

Deno.test("an image says in words what it shows and needs nothing else", () => {
  const title = 'SAC on <Swimmer> & "co" \u0000\uD800';
  const svg = plotQValues(planeAgent((x, y) => x + y), {
    actionSpace: PLANE,
    observations: [[1, 2, 3, 4, 5], [0, 0, 0, 0, 0]],
    title,
  });
  const root = parseSvg(svg);
  const shown = 'SAC on <Swimmer> & "co" ';
  assertEquals(root.getAttribute("role"), "img");
  assertEquals(root.getAttribute("aria-label"), shown);
  assertEquals(textsOf(root, "bp-title"), [shown]);
  const [name] = Array.from(root.getElementsByTagName("title"));
  const [description] = Array.from(root.getElementsByTagName("desc"));
  assertEquals([name.nodeName, name.textContent], ["title", shown]);
  assertStringIncludes(
    description.textContent!,
    "Observation 2 of 2: Q from -2 to 5, highest at action[0] = 1, action[1] = 4; the samples' mean is 0, 1.",
  );
  assertStringIncludes(svg, "prefers-color-scheme:dark");
  assert(!/<script|href|url\(|@import/.test(svg));
});

Deno.test("values that are all alike, or not finite, are drawn", () => {
  const flat = draw(planeAgent(() => 3));
  assertEquals(contoursOf(flat).length, 1);
  assert(textsOf(flat, "bp-chart").some((it) => it.includes("3")));
  const missing = [
    draw(planeAgent(() => NaN)),
    draw(lineAgent(() => Infinity), { actionSpace: LINE }),
    draw(discreteAgent([NaN, NaN, NaN]), { actionSpace: THREE }),
  ];
  for (const svg of missing) {
    assertStringIncludes(svg.textContent!, "Q is not finite");
  }
  draw(lineAgent(() => -7), { actionSpace: LINE });
  draw(discreteAgent([0, 0, NaN]), { actionSpace: THREE });
  // Where a part is missing, the others are drawn.
  const half = draw(planeAgent((x, y) => x < -1 ? NaN : y));
  assert(contoursOf(half).length > 5);
});

Deno.test("each drawing asks anew, with the same seed, and closes its actor", () => {
  const asked: unknown[] = [];
  let closed = 0;
  let value = 1;
  const agent: PlottedAgent = {
    qValues: () => [value, 0, 0],
    policy: (options) => {
      asked.push(options);
      return { act: () => Int32Array.of(6, 6), close: () => closed++ };
    },
  };
  const options = { actionSpace: THREE, observations: ONE, samples: 2 };
  const plot = () => plotQValues(agent, options);
  const first = plot();
  assertEquals(plot(), first);
  value = 2;
  assert(plot() !== first);
  value = NaN;
  agent.qValues = () => {
    throw new RangeError("no values");
  };
  assertThrows(() => plot(), RangeError, "no values");
  assertEquals(asked, Array(4).fill({ numEnvs: 2, seed: 0 }));
  assertEquals(closed, 4);
});

Deno.test("panels are named by what is seen where there is room for it", () => {
  const names = (...observations: number[][]) =>
    textsOf(draw(planeAgent(() => 0), { observations }), "bp-name");
  assertEquals(names([0.12345, -2], [1, 1e-9]), [
    "Observation (0.123, -2)",
    "Observation (1, 1e-9)",
  ]);
  const counted = ["Observation 1 of 2", "Observation 2 of 2"];
  assertEquals(names([0, 1, 2, 3, 4], [0, 1, 2, 3, 5]), counted);
  const long = [-0.1234, -0.1234, -0.1234, -0.1234];
  assertEquals(names([0, 0, 0, 0], long), counted);
});

const BAD: readonly (readonly [
  Partial<QValuePlotOptions>,
  typeof RangeError | typeof TypeError,
  string,
])[] = [
  [
    { observations: [] },
    RangeError,
    "for 0 observations: expected at least one",
  ],
  [
    { samples: 0 },
    RangeError,
    "samples = 0: expected a whole number of at least 1",
  ],
  [
    { gridSize: 1 },
    RangeError,
    "gridSize = 1: expected a whole number of at least 2",
  ],
  [
    { actionSpace: { type: "multiDiscrete", nvec: [2, 2] } },
    TypeError,
    "actions of type multiDiscrete: expected box or discrete",
  ],
];

for (const [options, error, message] of BAD) {
  Deno.test(`a plotter says what is wrong: ${message}`, () => {
    const { message: line } = assertThrows(
      () =>
        plotQValues(planeAgent(() => 0), {
          actionSpace: PLANE,
          observations: ONE,
          ...options,
        }),
      error,
      message,
    );
    assert(line.startsWith("Cannot plot ") && !line.includes("\n"));
  });
}
