/** The board in a real browser, beside real runs. */
import { assert, assertEquals } from "@std/assert";
import { gzipSync } from "node:zlib";
import files from "../lab/board/page/texts.json" with { type: "json" };
import { runDeno } from "./testdata/run_deno.ts";
import { LOCK } from "./tools/packages.ts";
import { chromiumTest } from "./testdata/run_page.ts";
import { withFolder } from "./testdata/with_folder.ts";
import { runProcess } from "./runs.ts";

Deno.test("the page is small, and makes no markup of texts", () => {
  const packed = Object.values(files)
    .map((text) => gzipSync(text, { level: 9 }).length);
  const bytes = packed.reduce((sum, it) => sum + it);
  assert(bytes <= 90_000, `${bytes} bytes`);
  const markup =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/i;
  const page = new URL("../lab/board/page/", import.meta.url);
  for (const { name } of Deno.readDirSync(page)) {
    if (!/\.tsx?$/.test(name)) continue;
    const text = Deno.readTextFileSync(new URL(name, page));
    assertEquals(markup.exec(text), null, name);
  }
});

/** Does what a scenario of `testdata/drive_board.ts` says. */
async function drive<Value>(scenario: string, folder: string): Promise<Value> {
  const program = new URL("testdata/drive_board.ts", import.meta.url).pathname;
  const { code, out, err } = await runDeno([
    LOCK,
    "-A",
    program,
    scenario,
    folder,
  ]);
  assertEquals(code, 0, err);
  const { value, complaints } = JSON.parse(out);
  assertEquals(complaints, []);
  return value;
}

const HEAD = "time/steps,train/policy_loss,rollout/return_mean\n";

/** Writes a run as a process that has ended leaves it. */
async function writeRun(
  dir: string,
  { config, rows = 20 }: { config: string; rows?: number },
): Promise<void> {
  await Deno.mkdir(dir, { recursive: true });
  const lines = Array.from(
    { length: rows },
    (_, i) => `${1000 * (i + 1)},${1 / (i + 1)},${i}\n`,
  );
  await Deno.writeTextFile(`${dir}/config.yaml`, config);
  await Deno.writeTextFile(`${dir}/progress.csv`, HEAD + lines.join(""));
}

/** Writes six runs: two learning rates with three seeds each. */
async function writeRuns(folder: string): Promise<void> {
  for (let i = 0; i < 6; i++) {
    await writeRun(`${folder}/run-${i}`, {
      config: `algorithm: a2c\nenv: CartPole-v1\nseed: ${
        i % 3
      }\nlearningRate: ${i % 2 === 0 ? 0.01 : 0.003}\ntotalTimesteps: 20000\n`,
    });
  }
}

/** Writes a search of two trials. */
async function writeSearch(folder: string): Promise<void> {
  for (const trial of [0, 1]) {
    await writeRun(`${folder}/trials/${trial}`, {
      config: `algorithm: a2c\nenv: CartPole-v1\ngamma: 0.9${trial}\n`,
    });
  }
  await Deno.writeTextFile(`${folder}/trials.jsonl`, "");
  await Deno.writeTextFile(`${folder}/search.html`, "<h1>Search</h1>");
}

chromiumTest(
  "a run is seen from its start to its end, killed, and resumed without a double step",
  () =>
    withFolder(async (folder) => {
      assertEquals(await drive("training", folder), {
        code: 0,
        isWhole: true,
        atKill: true,
        isJoined: true,
        isRising: true,
        last: 350_000,
      });
    }),
);

chromiumTest(
  "each tab gets a new row, and asks for nothing while it is hidden",
  () =>
    withFolder(async (folder) => {
      await writeRuns(folder);
      assertEquals(await drive("tabs", folder), { whileHidden: 0 });
    }),
);

const PLAN = `environments: [CartPole-v1, Acrobot-v1]
seeds: 1
steps: 2000
episodes: 1
variants:
  slow: { algorithm: a2c, set: { learningRate: 0.001 } }
  fast: { algorithm: a2c, set: { learningRate: 0.01 } }
`;

chromiumTest(
  "runs, a run, an experiment of four cells and a search are the same after a reload",
  () =>
    withFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/plan.yaml`, PLAN);
      const { code, err } = await runProcess(
        ["experiment", `${folder}/plan.yaml`, "--out", `${folder}/all/plan`],
      );
      assertEquals(code, 0, err);
      await writeRuns(`${folder}/all`);
      await writeSearch(`${folder}/all/search`);
      const same = { runs: true, run: true, plan: true, search: true };
      assertEquals(await drive("views", `${folder}/all`), {
        found: same,
        rows: 5,
        filter: "learningRate=0.01",
        cells: [true, true],
      });
    }),
);

chromiumTest(
  "the board is used by keyboard, on 360 pixels, in the dark",
  () =>
    withFolder(async (folder) => {
      await writeRuns(folder);
      const { at, sort, ...rest } = await drive<Record<string, string>>(
        "keyboard",
        folder,
      );
      assert(/^At [\d,.]+ \(environment steps\)$/.test(at), at);
      assertEquals(sort, "#/runs?filter=run-2&sort=name&hidden=state");
      assertEquals(rest as unknown, {
        title: "run-2 · Bellman board",
        unlabelled: 0,
        wide: 0,
        ground: "rgb(14, 16, 19)",
      });
    }),
);

chromiumTest(
  "markup in somebody else's run stays text",
  () =>
    withFolder(async (folder) => {
      const markup = "<img src=x onerror=pwned=1><script>pwned=1<\/script>";
      const name = `a'"<b>&\u202e`;
      await writeRun(`${folder}/${name}`, {
        config: `algorithm: ${JSON.stringify(markup)}\nenv: ${
          JSON.stringify(markup)
        }\nseed: 0\n`,
      });
      assertEquals(await drive("hostile", folder), {
        name,
        dialogs: 0,
        scripts: 1,
        images: 0,
        styles: 0,
        isRun: false,
        hasText: true,
      });
    }),
);
