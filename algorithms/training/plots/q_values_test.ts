import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  plotQValues,
  type PlottedAgent,
  type QValuePlotOptions,
} from "./q_values.ts";
import {
  numbersOf,
  ofClass,
  parseSvg,
  pointsOf,
  textsOf,
  within,
} from "../testdata/parse_svg.ts";

/** An image as a tree. */
type Drawn = ReturnType<typeof parseSvg>;

/** One number, of bounds that are not those of [-1, 1]. */
const LINE = {
  type: "box",
  shape: [1],
  low: -2,
  high: 2,
  dtype: "float32",
} as const;
/** Discrete actions that are not counted from 0. */
const THREE = { type: "discrete", n: 3, start: 5 } as const;

/** Observations: one. */
const ONE: readonly number[][] = [[0.25, -1, 3]];

/** An agent with a Q function of one number from -2 to 2; samples in order. */
function lineAgent(
  q: (x: number) => number,
  samples: readonly number[] = [0],
): PlottedAgent {
  return {
    qValues: (_, actions) => Float64Array.from(actions, (it) => q(2 * it)),
    policy: ({ numEnvs }) => ({
      act: () => Float32Array.from({ length: numEnvs }, (_, i) => samples[i]),
    }),
  };
}

/** An agent with values for actions from 5 on. */
function discreteAgent(
  values: readonly number[],
  samples: readonly number[] = [5],
): PlottedAgent {
  return {
    qValues: () => values,
    policy: ({ numEnvs }) => ({
      act: () => Int32Array.from({ length: numEnvs }, (_, i) => samples[i]),
    }),
  };
}

/** Draws an agent of `LINE`, if nothing else is said. */
function draw(
  agent: PlottedAgent,
  options: Partial<QValuePlotOptions> = {},
): Drawn {
  const svg = plotQValues(agent, {
    actionSpace: LINE,
    observations: ONE,
    samples: 1,
    ...options,
  });
  assert(!/NaN|Infinity|undefined/.test(svg), svg);
  return parseSvg(svg);
}

/** The bars that show shares of the samples. */
function sharesOf(svg: Drawn): Drawn[] {
  return within(svg, "bp-color1", "rect").slice(1);
}

Deno.test("one number that varies is a curve, over a histogram of the samples", () => {
  const q = (x: number) => 3 - (x - 0.5) ** 2;
  const svg = draw(lineAgent(q, [-2, 2, 1.99, 0.02]), {
    samples: 4,
    gridSize: 41,
  });
  const [curve] = within(svg, "bp-line", "path").flatMap(pointsOf);
  assertEquals(curve.length, 41);
  const values = curve.map((_, i) => q(-2 + i / 10));
  // Pixels are as far apart as values of Q are.
  const [top, bottom] = [Math.max(...values), Math.min(...values)];
  const heights = curve.map(([, y]) => y);
  const [highest, lowest] = [Math.min(...heights), Math.max(...heights)];
  curve.forEach(([x, y], i) => {
    assertAlmostEquals(x, curve[0][0] + i * 252 / 40, 0.11);
    const wanted = lowest -
      (values[i] - bottom) / (top - bottom) * (lowest - highest);
    assertAlmostEquals(y, wanted, 0.11);
  });
  const bars = sharesOf(svg);
  const sizes = bars.map((it) => numbersOf(it, "height")[0]);
  assertEquals(
    sizes.flatMap((size, i) => size > 0 ? [i] : []),
    [0, 20, 39],
  );
  assertAlmostEquals(sizes[39], 2 * sizes[0], 0.11);
  assertStringIncludes(
    ofClass(svg, "bp-panel")[0].firstChild!.textContent!,
    "Q from -3.25 to 3, highest at action[0] = 0.5; the samples' mean is 0.5025",
  );
});

Deno.test("discrete actions are bars of Q and of their shares", () => {
  const samples = [5, 5, 5, 7];
  const svg = draw(discreteAgent([1, -2, 4], samples), {
    actionSpace: THREE,
    samples: 4,
  });
  const [low, none, high] = within(svg, "bp-color0", "rect").slice(1)
    .map((it) => numbersOf(it, "y", "height"));
  // Bars begin at 0: upwards, downwards.
  assertAlmostEquals(low[0] + low[1], none[0], 0.2);
  assertAlmostEquals(none[1], 2 * low[1], 0.2);
  assertAlmostEquals(high[1], 4 * low[1], 0.4);
  const shares = sharesOf(svg).map((it) => numbersOf(it, "height")[0]);
  assertAlmostEquals(shares[0], 3 * shares[2], 0.3);
  assertEquals(shares[1], 0);
  assertStringIncludes(textsOf(svg, "bp-chart")[1], "567action");
  assertStringIncludes(
    ofClass(svg, "bp-panel")[0].firstChild!.textContent!,
    "Q from -2 to 4, highest at action = 7; 75% of the samples are action 5",
  );
});

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
  const svg = plotQValues(lineAgent((x) => 3 * x), {
    actionSpace: LINE,
    observations: [[1, 2, 3, 4, 5], [0, 0, 0, 0, 0]],
    samples: 1,
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
    "Observation 2 of 2: Q from -6 to 6, highest at action[0] = 2; the samples' mean is 0.",
  );
  assertStringIncludes(svg, "prefers-color-scheme:dark");
  assert(!/<script|href|url\(|@import/.test(svg));
});

Deno.test("values that are all alike, or not finite, are drawn", () => {
  const missing = [
    draw(lineAgent(() => Infinity)),
    draw(discreteAgent([NaN, NaN, NaN]), { actionSpace: THREE }),
  ];
  for (const svg of missing) {
    assertStringIncludes(svg.textContent!, "Q is not finite");
  }
  draw(lineAgent(() => -7));
  draw(discreteAgent([0, 0, NaN]), { actionSpace: THREE });
  // Where a part is missing, the others are drawn.
  const half = draw(lineAgent((x) => x < -1 ? NaN : x));
  const [curve] = within(half, "bp-line", "path").flatMap(pointsOf);
  assertEquals(curve.length, 37);
});

Deno.test("the first number of a box action varies, the others are in the middle", () => {
  const asked: number[] = [];
  const agent: PlottedAgent = {
    qValues: (observation, actions) => {
      assertEquals([...observation], ONE[0]);
      asked.push(...Array.from(actions));
      return new Float32Array(actions.length / 4);
    },
    policy: ({ numEnvs }) => ({ act: () => new Float32Array(4 * numEnvs) }),
  };
  const actionSpace = {
    ...LINE,
    shape: [2, 2],
    low: [-1, -2, 0, -Infinity],
    high: [1, 2, 4, 8],
  } as const;
  const svg = draw(agent, { actionSpace, gridSize: 3 });
  assertEquals(asked, [[-1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]].flat());
  assert(textsOf(svg, "bp-chart")[1].includes("action[0, 0]"));
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
    textsOf(draw(lineAgent(() => 0), { observations }), "bp-name");
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
    { actionSpace: { ...LINE, high: [Infinity] } },
    RangeError,
    "actions between -2 and Infinity: expected finite bounds",
  ],
  [
    { actionSpace: { ...LINE, shape: [0] } },
    RangeError,
    "actions of 0 numbers: expected at least one",
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
        plotQValues(lineAgent(() => 0), {
          actionSpace: LINE,
          observations: ONE,
          ...options,
        }),
      error,
      message,
    );
    assert(line.startsWith("Cannot plot ") && !line.includes("\n"));
  });
}
