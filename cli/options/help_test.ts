import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { capture } from "../testdata/capture.ts";
import { ALGORITHMS } from "@bellman/runs/settings";
import { configHelp, trainHelp } from "./help.ts";

Deno.test("the help of a configuration tells names, values and defaults", () => {
  const discounted = {
    properties: {
      gamma: {
        type: "number",
        minimum: 0,
        maximum: 1,
        default: 0.99,
        description: "Discount of a step.",
        alias: "discount",
      },
    },
  };
  assertEquals(
    configHelp("Keys:", discounted),
    `Keys:
  gamma (also discount)
      Discount of a step.
      a number from 0 to 1; default 0.99
`,
  );
});

/** Rows and columns of a screen. */
const [ROWS, COLUMNS] = [60, 120];

Deno.test("the help of train, and of each algorithm, is at most a screen", async () => {
  for (const words of [[], ...ALGORITHMS.map(({ meta }) => [meta.name])]) {
    const { code, out } = words.length === 0
      ? await capture("train", "--help")
      : { code: 0, out: trainHelp(words) };
    assertEquals(code, 0);
    const lines = out.trimEnd().split("\n");
    assert(lines.length <= ROWS, `${words}: ${lines.length} lines`);
    const wide = lines.find((line) => line.length > COLUMNS);
    assertEquals(wide, undefined);
  }
});

Deno.test("the help of an algorithm is its settings, that of a key the key", () => {
  const help = trainHelp(["a2c"]);
  assertStringIncludes(help, "a2c: Advantage actor-critic");
  assertStringIncludes(help, "\n  entropyCoefficient = ");
  assert(!help.includes("targetEntropy"));
  assertStringIncludes(
    trainHelp(["a2c", "ent_coef"]),
    "Setting of a2c:\n  entropyCoefficient (also ent_coef",
  );
  assertStringIncludes(trainHelp(["seed"]), "Setting of a run:\n  seed\n");
  assertStringIncludes(trainHelp(["run"]), "\n  totalTimesteps = 200000");
  const all = trainHelp(["all"]);
  for (const { meta: { name } } of ALGORITHMS) {
    assertStringIncludes(all, `Keys of ${name}`);
  }
  assert(!trainHelp(["sac", "all"]).includes("Keys of a2c"));
});

Deno.test("help as JSON has the options and the schemas of settings", async () => {
  const help = async (...words: string[]) => {
    const { code, out } = await capture("train", ...words, "--help", "--json");
    assertEquals(code, 0);
    return JSON.parse(out);
  };
  const { options, run, algorithms } = await help();
  assert(options.some(({ name }: { name: string }) => name === "resume"));
  assertEquals(run.properties.totalTimesteps.default, 200_000);
  assertEquals(algorithms.length, ALGORITHMS.length);
  const { algorithms: [ppo, ...others] } = await help("ppo");
  assertEquals([ppo.name, others.length], ["ppo", 0]);
  assertEquals(ppo.schema.properties.gamma.type, "number");
  assertStringIncludes(ppo.presets["CartPole-v1"], "env: CartPole-v1");
  const { code, err } = await capture("train", "pppo", "--help", "--json");
  assertEquals(code, 2);
  assertStringIncludes(err, "did you mean 'ppo'?");
  assertEquals((await capture("train", "ppo", "--json")).code, 2);
});
