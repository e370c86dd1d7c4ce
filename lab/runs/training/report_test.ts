import { createRunFolder } from "../folder/run_folder.ts";
import { assert, assertEquals } from "@std/assert";
import { runDeno } from "../../../tests/testdata/run_deno.ts";

/** Episodes of a long run, and megabytes of a heap that holds few of them. */
const EPISODES = 1_000_000;
const HEAP = 200;

/** Writes the report of a run that has ended. */
const REPORT = `
  import { resolveConfig } from ${link("../settings/resolve.ts")};
  import { writeReport } from ${link("./report.ts")};
  import { RunFolder } from "@bellman/runs";
  const config = resolveConfig("a2c", { entries: [] });
  const observationSpace = { type: "discrete", n: 2 };
  const environments = { training: {}, spaces: { observationSpace } };
  await writeReport({
    setup: { config, environments, engine: "none" },
    folder: new RunFolder(Deno.args[0]),
    io: { err: (text) => { throw new Error(text) } },
  }, {
    result: {
      ...{ step: 1, updates: 1, episodes: 1, meanReturn: 1, elapsedSeconds: 1 },
      stopReason: "completed",
    },
  });
`;

const PLOT = `
  import { run } from ${link("../../../cli/command_line.ts")};
  Deno.exit(await run(["plot", Deno.args[0], "--x", "episodes"]));
`;

Deno.test("the report and curves of a million episodes take little memory", async () => {
  const dir = await Deno.makeTempDir();
  const folder = createRunFolder(`${dir}/run`, {
    configText: "algorithm: a2c\nenv: CartPole-v1\n",
  });
  await Deno.writeTextFile(
    folder.progressPath,
    "time/steps,rollout/return_mean\n1000,20\n2000,30\n",
  );
  await Deno.writeTextFile(
    folder.episodesPath,
    "step,env,return,length,terminated,life_returns\n" +
      "1500,0,21.5,21,1,\n".repeat(EPISODES),
  );
  for (const [name, script] of Object.entries({ REPORT, PLOT })) {
    const main = `${dir}/${name}.ts`;
    await Deno.writeTextFile(main, script);
    const { code, err } = await runDeno([
      ...[
        "-A",
        `--config=${CONFIG}`,
        `--v8-flags=--max-old-space-size=${HEAP}`,
      ],
      ...[main, folder.dir],
    ]);
    assert(code === 0, name + err.slice(0, 500));
  }
  const html = await Deno.readTextFile(folder.reportPath);
  const dots = html.match(/<circle/g)!.length;
  // Every 667th of them, in two sizes; signs and single points of curves beside.
  assert(dots >= 2 * 1500 && dots < 3100, `${dots} dots`);
  const svg = await Deno.readTextFile(`${folder.dir}/rollout-return_mean.svg`);
  assertEquals(svg.includes("Episodes of training"), true);
  await Deno.remove(dir, { recursive: true });
});

const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;

function link(module: string): string {
  return JSON.stringify(import.meta.resolve(module));
}
