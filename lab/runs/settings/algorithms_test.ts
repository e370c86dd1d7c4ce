import { asyncAlgorithms } from "@bellman/async";
import type { Algorithm } from "@bellman/agent";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { statisticTitle } from "@bellman/training";
import { capture } from "../../../cli/testdata/capture.ts";
import {
  ALGORITHMS,
  findAlgorithm,
  registerAlgorithm,
  takenName,
} from "./algorithms.ts";
import { assertRefused } from "../../../tests/testdata/refused.ts";

const a2c = findAlgorithm("a2c")!;
const { gamma, numSteps, hiddenSizes } = a2c.meta.schema.properties;
const dummy: Algorithm = {
  ...a2c,
  meta: {
    ...a2c.meta,
    name: "dummy",
    title: "Dummy",
    summary: "An algorithm of a test",
    schema: {
      properties: {
        ...a2c.meta.schema.properties,
        gamma: { ...gamma, default: 0.5, description: "Discount of a test." },
        numSteps: { ...numSteps, default: 3 },
        hiddenSizes: { ...hiddenSizes, default: [4] },
      },
    },
    presets: { "Dummy-preset": "env: Acrobot-v1" },
    runDefaults: { numEnvs: 2 },
  },
};
registerAlgorithm(dummy);

Deno.test("an algorithm is known by its definition alone", async () => {
  const help = (await capture("train", "all", "--help")).out;
  assertStringIncludes(
    help,
    "a2c, acer, acktr, a3c, async-q, async-nstep-q, async-sarsa, dqn, ppo, sac, sac-v1, td3, ddpg, bc, iql or dummy; default",
  );
  assertStringIncludes(help, "Keys of dummy; numEnvs is 2 by default:");
  assertStringIncludes(help, "Discount of a test.");
  const list = (await capture("list")).out;
  assertStringIncludes(list, "An algorithm of a test");
  assertStringIncludes(list, "Dummy-preset");

  const out = `${await Deno.makeTempDir({ prefix: "bellman-dummy-" })}/run`;
  const options = ["--preset=Dummy-preset", "--steps=30", "--set=gamma=0.4"];
  const small = ["--set=evaluationEpisodes=1", "--set=maxEpisodeSteps=5"];
  const trained = await capture(
    ...["train", "dummy", ...options, ...small, "--quiet", `--out=${out}`],
  );
  assertEquals(trained.err, "");
  assertEquals(trained.code, 0);
  const config = await Deno.readTextFile(`${out}/config.yaml`);
  for (const line of ["env: Acrobot-v1", "numEnvs: 2", "numSteps: 3"]) {
    assertStringIncludes(config, line);
  }
  const evaluated = await capture("eval", out, "--episodes=1");
  assertEquals(evaluated.code, 0, evaluated.err);
  assertStringIncludes(evaluated.out, "dummy on Acrobot-v1");
  await Deno.remove(out, { recursive: true });
});

Deno.test("no algorithm has a setting by a name of every run", () => {
  for (const { meta: { name, schema } } of ALGORITHMS) {
    assertEquals(takenName(schema), undefined, name);
  }
  const named = (key: string, alias?: string) =>
    takenName({ properties: { [key]: { type: "integer", alias } } });
  assertEquals(named("seed"), "seed");
  assertEquals(named("n_timesteps"), "n_timesteps");
  assertEquals(named("length", "mine, save_freq"), "save_freq");
  // Of PPO, for one, these are passes over a rollout.
  assertEquals(named("epochs", "n_epochs"), undefined);
});

Deno.test("a name is registered once", () => {
  assertRefused({
    "TypeError: Cannot register the algorithm 'dummy': there is one of that name":
      () => registerAlgorithm(dummy),
  });
  const cases = [
    ["two words", "expected a name of letters, digits, '-', '_' and '.'"],
    ["../up", "expected a name of letters, digits, '-', '_' and '.'"],
  ];
  for (const [name, says] of cases) {
    assertRefused({
      [`TypeError: Cannot register the algorithm '${name}': ${says}`]: () =>
        registerAlgorithm({ ...dummy, meta: { ...dummy.meta, name } }),
    });
  }
  const seed = { type: "integer", default: 3 };
  assertRefused({
    "TypeError: Cannot register the algorithm 'seeded': its setting 'seed' is one of every run":
      () =>
        registerAlgorithm({
          ...dummy,
          meta: {
            ...dummy.meta,
            name: "seeded",
            schema: { properties: { seed } },
          },
        }),
  });
  assertEquals(ALGORITHMS.map(({ meta }) => meta.name), [
    "a2c",
    "acer",
    "acktr",
    "a3c",
    "async-q",
    "async-nstep-q",
    "async-sarsa",
    "dqn",
    "ppo",
    "sac",
    "sac-v1",
    "td3",
    "ddpg",
    "bc",
    "iql",
    "dummy",
  ]);
});

Deno.test("statistics of algorithms have titles, told in the README of each", async () => {
  for (const { meta } of ALGORITHMS) {
    const { name, statistics = {} } = meta;
    if (name === "dummy" || Object.keys(statistics).length === 0) continue;
    const isAsync = asyncAlgorithms.some((it) => it.meta.name === name);
    const url = new URL(
      `../../../algorithms/${
        isAsync
          ? "async"
          : meta.learnsFromData
          ? "offline"
          : name.replace("-", "_")
      }/README.md`,
      import.meta.url,
    );
    const [, table] = (await Deno.readTextFile(url))
      .split("## Additional statistics\n");
    const rows = table.split("\n").filter((line) => line.startsWith("| `"))
      .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
    assertEquals(
      rows,
      Object.entries(statistics).map(([name, [title, ...aliases]]) => [
        `\`${name}\``,
        title,
        aliases.map((it) => `\`${it}\``).join(", "),
      ]),
    );
    for (const [key, [title]] of Object.entries(statistics)) {
      assertEquals(statisticTitle(key), title);
    }
  }
});
