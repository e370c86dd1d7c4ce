/** Games that a person plays in an exported page. */
import type { Agent } from "@bellman/agent";
import { paramsFromArrays } from "@bellman/compute";
import { SeededRandom } from "@bellman/envs";
import { ConnectFour } from "@bellman/envs/games";
import { loadRun } from "@bellman/runs";
import * as tf from "@tensorflow/tfjs";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { capture } from "../cli/testdata/capture.ts";
import { trainWell } from "./runs.ts";
import { guideCode } from "./testdata/guide_code.ts";
import { runDeno } from "./testdata/run_deno.ts";
import { bundle } from "./testdata/run_node.ts";
import { chromiumTest, inPage } from "./testdata/run_page.ts";
import { ROOT } from "./tools/packages.ts";

// In the workspace, where modules find the packages by their names.
const root = await Deno.makeTempDir({ dir: ROOT, prefix: ".examples-game-" });
Deno.test.afterAll(() => Deno.remove(root, { recursive: true }));

/** Trains a small agent of a game; returns the run's folder. */
async function trained(env: string, ...more: string[]): Promise<string> {
  const dir = `${root}/${env}`;
  await trainWell([
    ...["ppo", `--env=${env}`, "--preset=none", "--quiet", `--out=${dir}`],
    ...["--steps=2048", "--set=numEnvs=8", "--set=numSteps=32"],
    ...["--set=hiddenSizes=[16]", "--set=evaluationInterval=0", ...more],
  ]);
  return dir;
}

let first: Promise<string> | undefined;

/** Folder of a run of ConnectFour-v0 that is trained once. */
const connectFour = () => first ??= trained("ConnectFour-v0");

/** Plays one game: of the moves that are allowed, each time another one. */
const PLAY = `(async () => {
  const status = () => document.querySelector("[role=status]").textContent;
  const buttons = [...document.querySelectorAll("[data-move]")];
  const odds = (kind) => buttons.map((it) =>
    Number(it.querySelector(kind).style.getPropertyValue("--p")));
  const allowed = () =>
    buttons.filter((it) => it.getAttribute("aria-disabled") === "false");
  const settled = async () => {
    while (/thinks/.test(status())) await new Promise((it) => setTimeout(it, 20));
  };
  const turns = [];
  await settled();
  for (let i = 1; /Your move/.test(status()); i++) {
    const [hint, moves] = [odds(".hint"), allowed()];
    const own = moves[3 * i % moves.length];
    if (i % 2) own.click();
    else dispatchEvent(new KeyboardEvent("keydown", { key: own.dataset.move }));
    const isThinking = /thinks/.test(status());
    const agent = odds(".agent");
    await settled();
    const other = isThinking ? Number(/played (\\d+)/.exec(status())[1]) : null;
    turns.push({ own: Number(own.dataset.move), hint, other, agent });
  }
  const { width, height } = document.querySelector("canvas");
  return { turns, status: status(), picture: [width, height],
    seat: document.querySelector("select").selectedOptions[0].textContent };
})()`;

/** What a person did and saw in each turn. */
interface Played {
  readonly turns: readonly {
    own: number;
    hint: number[];
    other: number | null;
    agent: number[];
  }[];
  readonly status: string;
  readonly seat: string;
  readonly picture: [width: number, height: number];
}

/** Plays a game in a page from the disk. */
async function playIn(page: string, before = "0"): Promise<Played> {
  const { values, complaints } = await inPage(page, before, PLAY);
  assertEquals(complaints, []);
  return values[1] as Played;
}

chromiumTest(
  "a person clicks columns and sees the agent's probabilities",
  async () => {
    const run = await connectFour(), page = `${root}/connect.html`;
    const { code, err } = await runDeno(["export", run, "--page", page], {
      command: "task",
      cwd: ROOT,
    });
    assertEquals([code, err], [0, ""]);
    const { turns, status, picture } = await playIn(page);

    const loaded = await loadRun(run), agent = loaded.agent as Agent;
    const world = new ConnectFour(), which = Uint8Array.of(1);
    world.begin(0, new SeededRandom(0));
    let last: ArrayLike<number> = [];
    const assertShown = (shown: number[]) => {
      const seat = world.toAct.indexOf(1);
      const scaled = new Float32Array(84);
      loaded.normalization.observations!.apply(world.observe(seat), scaled);
      const { policy } = agent.model.apply(
        paramsFromArrays(agent.params),
        agent.model.encode(tf.tensor(scaled, [1, 6, 7, 2])),
        { actionMasks: tf.tensor(world.actionMasks(seat), [1, 7]) },
      );
      const expected = tf.softmax(policy).dataSync();
      shown.forEach((it, i) => assertAlmostEquals(it, expected[i], 1e-5));
      return expected;
    };
    const move = (action: number) => {
      const actions = [Int32Array.of(action), Int32Array.of(action)];
      last = world.step(actions, which).rewards;
    };
    for (const { own, hint, other, agent } of turns) {
      assertShown(hint);
      move(own);
      if (other === null) continue;
      const expected = assertShown(agent);
      assertEquals(other, expected.indexOf(Math.max(...expected)));
      move(other);
    }
    assert(turns.length > 3 && !world.toAct.includes(1));
    const ending = last[0] > 0
      ? "You won"
      : last[0] < 0
      ? "You lost"
      : "A draw";
    assertEquals(status.split(". ").at(-1), ending);
    assertEquals(picture, [832, 713]);
    loaded.close();
  },
);

/** Trains the guide's game; returns the run's folder. */
async function trainedNim(more = ""): Promise<string> {
  const code = guideCode("self_play", "## A game of your own");
  const file = `${root}/nim${more.length}.ts`;
  const own = code.slice(
    code.indexOf("class Nim"),
    code.indexOf("checkWorld("),
  );
  const [call] = /^register\(.*$/m.exec(code)!;
  await Deno.writeTextFile(
    file,
    `${more}import { box, discrete, register } from "@bellman/envs";
import type { RandomSource, StateTree, World } from "@bellman/types";
${own}${call.replace("Nim-v0", `Nim${more.length}-v0`)}\n`,
  );
  return await trained(`Nim${more.length}-v0`, `--set=envModules=[${file}]`);
}

chromiumTest(
  "a game of one's own has a row of buttons, and other seats",
  async () => {
    const run = await trainedNim(), page = `${root}/nim.html`;
    const { code, err } = await capture(
      "export",
      run,
      "--page",
      page,
      "--trust",
    );
    assertEquals([code, err.includes("The run imports file:")], [0, true]);
    const { turns, status, picture, seat } = await playIn(
      page,
      `(() => {
      const seats = document.querySelector("select");
      seats.value = "1";
      seats.dispatchEvent(new Event("change"));
    })()`,
    );
    const [{ agent, hint }] = turns;
    for (const odds of [agent, hint]) {
      assertEquals(odds.length, 3);
      assertAlmostEquals(odds.reduce((sum, it) => sum + it), 1, 1e-5);
    }
    assert(/You (won|lost)$/.test(status), status);
    assertEquals([...picture, seat], [21, 8, "second"]);
  },
);

chromiumTest(
  "the guide's page of one's own plays the second seat",
  async () => {
    const run = await connectFour(), page = `${root}/page`;
    await Deno.mkdir(page);
    await Deno.writeTextFile(
      `${root}/page.js`,
      guideCode("self_play", "With a bundler of your own", "js"),
    );
    const source = new URL(`file://${root}/page.js`);
    await bundle(source, `${page}/page.js`, { platform: "browser" });
    await Deno.writeTextFile(
      `${page}/index.html`,
      `<!DOCTYPE html><title>Game</title><link rel="icon" href="data:,">
<main></main><script type="module" src="page.js"></script>`,
    );
    await capture(
      ...["export", run, "--probabilities", `--out=${page}/policy.onnx`],
    );
    const { turns, status, seat } = await playIn(
      page,
      `(async () => {
      while (!document.querySelector("[role=status]")) {
        await new Promise((it) => setTimeout(it, 20));
      }
    })()`,
    );
    assert(
      turns.length > 3 && /(You won|You lost|A draw)$/.test(status),
      status,
    );
    assertAlmostEquals(turns[0].hint.reduce((sum, it) => sum + it), 1, 1e-5);
    assertEquals(seat, "second");
  },
);

Deno.test("what cannot be played in a page is one line, and nothing is written", async () => {
  const agents = {
    poles: ["--env=CartPole-v1"],
    pendulum: ["--env=Pendulum-v1"],
    board: ["--env=TicTacToe-v0", "--set=opponents={groups: 1}"],
  };
  for (const [name, args] of Object.entries(agents)) {
    await trainWell([
      ...["a2c", ...args, "--quiet", "--preset=none", "--steps=64"],
      ...["--set=numEnvs=2", "--set=evaluationInterval=0"],
      `--out=${root}/${name}`,
    ]);
  }
  const cases: [args: string[], line: string][] = [
    [
      ["poles", "--page", "it.html"],
      "Cannot make worlds of CartPole-v1, which has one seat: expected a game, such as ConnectFour-v0",
    ],
    [
      ["pendulum", "--page", "it.html"],
      "Cannot export probabilities of box actions: expected discrete actions",
    ],
    [
      ["board", "--page", "it.htm"],
      "Cannot write the page to it.htm: expected a file that ends in .html",
    ],
    [
      ["board", "--page", `${root}/none/it.html`],
      `Cannot write the page to ${root}/none/it.html: the folder ${root}/none is not there`,
    ],
    [
      ["board", "--page", `${root}/there.html`],
      `Cannot write the page to ${root}/there.html: it is there already, expected another file`,
    ],
    [
      ["board", "--page", "it.html", "--out", "it.onnx"],
      "Cannot use both --page and --out: give one of them",
    ],
    [
      ["board", "--page", "it.html", "--batch", "1"],
      "Cannot use both --page and --batch: give one of them",
    ],
  ];
  await Deno.writeTextFile(`${root}/there.html`, "");
  const before = [...Deno.readDirSync(root)].length;
  for (const [[name, ...args], line] of cases) {
    const own = args.map((it) => it === "it.html" ? `${root}/it.html` : it);
    const { code, err } = await capture("export", `${root}/${name}`, ...own);
    assertEquals([code, err.trim().split("\n").at(-1)], [2, `error: ${line}`]);
  }
  assertEquals([...Deno.readDirSync(root)].length, before);
});

chromiumTest(
  "texts of a game cannot end or hide the page's script",
  async () => {
    const text = "<!--<script></script>";
    const run = await trainedNim(
      `Object.assign(globalThis, { own: "${text}" });\n`,
    );
    const page = `${root}/texts.html`;
    const { code, err } = await capture(
      "export",
      run,
      "--page",
      page,
      "--trust",
    );
    assertEquals(code, 0, err);
    const status = "document.querySelector('[role=status]').textContent";
    const { values, complaints } = await inPage(page, "own", status);
    assertEquals(complaints, []);
    assertEquals(values, [text, "Your move"]);
  },
);

Deno.test("a game that pages cannot load is one line", async () => {
  const run = await trainedNim('import "node:fs";\n');
  const { code, err } = await capture(
    ...["export", run, "--page", `${root}/unloaded.html`, "--trust"],
  );
  const line =
    "error: Cannot write a page of Nim18-v0: it imports node:fs, which no page has";
  assertEquals([code, err.trim().split("\n").at(-1)], [2, line]);
});
