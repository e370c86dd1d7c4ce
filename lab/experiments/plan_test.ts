import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import fc from "fast-check";
import { UsageError } from "@bellman/runs/program";
import { cellsOf, nameOf } from "./cells.ts";
import { parsePlan } from "./plan.ts";

const WHOLE = `
name: classic
environments: [CartPole-v1, ALE/Pong-v5]
seeds: 200..202
steps: 1000
episodes: 7
set: { numEnvs: 4 }
variants:
  a2c:
  bare: { algorithm: a2c, preset: none, set: { numEnvs: 2, gamma: 0.9 } }
  sac: { environments: [Pendulum-v1], steps: 20 }
scores:
  Pendulum-v1: { low: -1200, high: -150 }
compare: [[a2c, bare]]
`;

Deno.test("a plan has a cell for each variant, environment and seed, seeds outermost", () => {
  const plan = parsePlan(WHOLE, "plan.yaml", "other");
  const [a2c, bare, sac] = plan.variants;
  assertEquals([plan.name, plan.episodes, a2c.seeds], ["classic", 7, [
    200,
    201,
    202,
  ]]);
  assertEquals([a2c.algorithm, a2c.steps, a2c.set], ["a2c", 1000, {
    numEnvs: 4,
  }]);
  assertEquals([bare.algorithm, bare.preset, bare.set], ["a2c", "none", {
    numEnvs: 2,
    gamma: 0.9,
  }]);
  assertEquals([sac.environments, sac.steps], [["Pendulum-v1"], 20]);
  assertEquals(plan.scores, { "Pendulum-v1": { low: -1200, high: -150 } });
  const cells = cellsOf(plan, "dir");
  assertEquals(cells.slice(0, 6).map(nameOf), [
    "a2c/CartPole-v1/seed-200",
    "a2c/ALE-Pong-v5/seed-200",
    "bare/CartPole-v1/seed-200",
    "bare/ALE-Pong-v5/seed-200",
    "sac/Pendulum-v1/seed-200",
    "a2c/CartPole-v1/seed-201",
  ]);
  assertEquals(cells[1].dir, "dir/runs/a2c/ALE-Pong-v5/seed-200");
});

Deno.test("a variant may have seeds of its own", () => {
  const plan = parsePlan(
    `environments: [E]
seeds: 2
variants:
  tuned: { algorithm: a2c }
  fresh: { algorithm: a2c, seeds: 200..202 }
  two: { algorithm: a2c, seeds: [7, 5] }
`,
    "plan.yaml",
    "mine",
  );
  assertEquals(cellsOf(plan, "dir").map(nameOf), [
    "tuned/E/seed-0",
    "fresh/E/seed-200",
    "two/E/seed-7",
    "tuned/E/seed-1",
    "fresh/E/seed-201",
    "two/E/seed-5",
    "fresh/E/seed-202",
  ]);
});

Deno.test("what a plan leaves out has defaults", () => {
  const plan = parsePlan(
    "{variants: {a2c: {}}, environments: [CartPole-v1]}",
    "x/mine.yaml",
    "mine",
  );
  assertEquals([plan.name, plan.variants[0].seeds.length, plan.episodes], [
    "mine",
    10,
    100,
  ]);
  assertEquals([plan.variants[0].steps, plan.scores, plan.compare], [
    undefined,
    {},
    [],
  ]);
});

const BASE = "environments: [E]\nvariants: { a2c: {}, sac: {} }\n";

const REFUSED: Readonly<Record<string, string>> = {
  "": "it has no variants",
  "- a": "expected a mapping",
  "variants: {}": "it has no variants",
  "variants: [a2c]":
    'Cannot use variants = ["a2c"] of plan.yaml: expected a mapping',
  "variants: { a2c: {} }":
    "the variant 'a2c' of plan.yaml: it has no environments",
  "environments: []\nvariants: { a2c: {} }": "environments = []",
  "environments: [E]\nvariants: { a2c: 3 }":
    "Cannot read the variant 'a2c' of plan.yaml",
  "environments: [E]\nvariants: { a2c: { stes: 3 } }":
    "Unknown key 'stes' in the variant 'a2c' of plan.yaml: did you mean 'steps'?",
  "environments: [E]\nvariants: { a2c: { steps: many } }":
    'Cannot use steps = "many" of the variant',
  "environments: [E]\nvariants: { a2c: {}, A2C: { algorithm: a2c } }":
    "both 'a2c' and 'A2C'",
  "environments: [E]\nvariants: { ../a2c: {} }":
    "Cannot use the variant '../a2c'",
  "environments: [E]\nvariants: { ..: {} }": "Cannot use the variant '..'",
  "environments: [E, E]\nvariants: { a2c: {} }": "with 'E' twice",
  "environments: [A/B-v0, A-B-v0]\nvariants: { a2c: {} }":
    "both 'A/B-v0' and 'A-B-v0'",
  [`${BASE}sedes: 3`]:
    "Unknown key 'sedes' in plan.yaml: did you mean 'seeds'?",
  [`${BASE}seeds: 0`]: "Cannot use seeds = 0",
  [`${BASE}seeds: -1`]: "Cannot use seeds = -1",
  [`${BASE}seeds: 1.5`]: "Cannot use seeds = 1.5",
  [`${BASE}seeds: []`]: "Cannot use seeds = []",
  [`${BASE}seeds: [3, 3]`]: "Cannot use the seeds of plan.yaml with '3' twice",
  "environments: [E]\nvariants: { a2c: { seeds: ten } }":
    "Cannot use seeds = \"ten\" of the variant 'a2c' of plan.yaml",
  [`${BASE}seeds: [a]`]: 'Cannot use seeds = ["a"]',
  [`${BASE}seeds: ten`]: 'Cannot use seeds = "ten"',
  [`${BASE}seeds: 9..3`]: 'Cannot use seeds = "9..3"',
  [`${BASE}seeds: 0..99999999`]: 'Cannot use seeds = "0..99999999"',
  [`${BASE}steps: .nan`]: "Cannot use steps = NaN",
  [`${BASE}episodes: 0`]: "Cannot use episodes = 0",
  [`${BASE}name: a/b`]: "Cannot use the name 'a/b'",
  [`${BASE}name: ..`]: "Cannot use the name '..'",
  [`${BASE}scores: { F: { low: 1 } }`]:
    "Unknown environment of scores in plan.yaml: 'F': expected E",
  [`${BASE}scores: { E: { lo: 1 } }`]:
    "Unknown key 'lo' in the scores of E: did you mean 'low'?",
  [`${BASE}scores: { E: { low: 3, high: 1 } }`]:
    "low is 3, expected less than high, 1",
  [`${BASE}scores: { E: { low: .inf } }`]: "Cannot use low = Infinity",
  [`${BASE}compare: [[a2c, sca]]`]:
    "Unknown variant of compare in plan.yaml: 'sca': did you mean 'sac'?",
  [`${BASE}compare: [[a2c]]`]: "Cannot compare [a2c]",
  [`${BASE}compare: [[a2c, a2c]]`]: "Cannot compare [a2c, a2c]",
  [`${BASE}compare: [a2c, sac]`]: "Cannot use compare",
};

for (const [text, message] of Object.entries(REFUSED)) {
  Deno.test(`a plan is refused in one line: ${JSON.stringify(text)}`, () => {
    const error = assertThrows(
      () => parsePlan(text, "plan.yaml", "plan"),
      UsageError,
      message,
    );
    assertEquals(error.message.includes("\n"), false);
  });
}

Deno.test("an experiment has the name of its file, in letters that a folder may have", () => {
  const named = (file: string) => parsePlan(BASE, file).name;
  const names = [
    ...["x/my plan.yaml", "größe.yaml", "Äpfel & Öl (2).yml", ".hidden.yaml"],
    ...["a.b.yaml", "αβγ-2.yaml", `${"x".repeat(120)}.yaml`],
  ].map(named);
  assertEquals(names, [
    ...["my-plan", "grosse", "Apfel-Ol-2", "hidden", "a.b", "2"],
    "x".repeat(100),
  ]);
  for (const file of ["实验.yaml", "..yaml", "?"]) {
    assertThrows(
      () => named(file),
      UsageError,
      `Cannot name a folder after ${file}: expected a name in the file, as in 'name: mine'`,
    );
  }
  assertEquals(parsePlan(`${BASE}name: mine`, "实验.yaml").name, "mine");
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (file) => {
    try {
      assertMatch(named(`${file}.yaml`), /^\w[\w.-]{0,99}$/);
    } catch (error) {
      assert(error instanceof UsageError, String(error));
    }
  }));
});

Deno.test("whatever a plan holds, it is read or refused in one line", () => {
  const any = fc.anything({ withNullPrototype: false });
  const keys = [
    "name",
    "environments",
    "seeds",
    "steps",
    "variants",
    "scores",
    "compare",
  ];
  fc.assert(fc.property(fc.constantFrom(...keys), any, (key, value) => {
    let text: string | undefined;
    try {
      text = JSON.stringify({
        environments: ["E"],
        variants: { a2c: {} },
        [key]: value,
      });
    } catch {
      return; // JSON has no such value.
    }
    try {
      parsePlan(text, "plan.yaml", "plan");
    } catch (error) {
      assertEquals([
        (error as Error).name,
        (error as Error).message.includes("\n"),
      ], ["UsageError", false]);
    }
  }));
});
