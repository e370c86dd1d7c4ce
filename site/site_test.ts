/** The site but for its interfaces, in a real browser; `tests/long` has all of it. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { existsSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { type Ran, runDeno } from "../tests/testdata/run_deno.ts";
import { chromiumTest } from "../tests/testdata/run_page.ts";
import { testsWith } from "../tests/testdata/tests_with.ts";
import { LOCK, packages } from "../tests/tools/packages.ts";
import { documentsOf } from "./pages/documents.ts";
import { agentsOf } from "./pages/zoo.ts";
import { render } from "./pages/markdown.ts";
import { withRun } from "./playground/testdata/with_run.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-site-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(dir, { recursive: true }),
);
const site = `${dir}/site`;
let built: Promise<Ran> | undefined;

const main = (...args: string[]) =>
  runDeno([
    ...[LOCK, "--no-prompt", "-P=site"],
    new URL("main.ts", import.meta.url).pathname,
    ...args,
  ]);

/** Builds the site once. */
async function build(): Promise<void> {
  const { code, err } = await (built ??= main("--no-api", "--out", site));
  assertEquals([code, err], [0, ""]);
}

const textOf = async (address: string) => {
  await build();
  return Deno.readTextFileSync(`${site}/${address}`);
};

/** Does what a scenario of `testdata/drive.ts` says. */
async function drive<Value>(...scenario: string[]): Promise<Value> {
  await build();
  const program = new URL("testdata/drive.ts", import.meta.url).pathname;
  const { code, out, err } = await runDeno([
    LOCK,
    "-A",
    program,
    site,
    ...scenario,
  ]);
  assertEquals(code, 0, err);
  const { value, complaints = [] } = JSON.parse(out);
  assertEquals(complaints, []);
  return value;
}

const pagesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((it) => it.endsWith(".html"));

Deno.test("a text for language models has guides, packages and settings", async () => {
  const text = await textOf("llms.txt");
  assertStringIncludes(text, "# Bellman\n\n> Reinforcement learning for ");
  assertStringIncludes(text, "/guides/own_environment.html): ");
  assertStringIncludes(text, "[@bellman/a2c](");
  assertStringIncludes(text, "\n- totalTimesteps: ");
  assertStringIncludes(text, "\n- valueLearningRate: ");
  const addresses = [...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, it]) => it);
  assert(addresses.length > 30);
  for (const it of addresses) {
    assert(existsSync(site + it.replace("/bellman/", "/")), it);
  }
});

Deno.test("the front page says for whom it is, how to install, and has the README", async () => {
  const html = await textOf("index.html");
  const [hero, after] = html.split('<ul class="cards">');
  assertStringIncludes(
    hero,
    "<h1>Agents that learn, in your TypeScript project</h1>",
  );
  assertStringIncludes(hero, 'href="playground/index.html"');
  assertStringIncludes(hero, 'src="playground/CartPole-v1.png"');
  const text = hero.replaceAll(/<[^>]*>/g, "");
  for (
    const line of [
      "deno add jsr:@bellman/a2c jsr:@bellman/envs jsr:@bellman/training",
      "npm i --ignore-scripts @bellman/a2c @bellman/training koffi onnxruntime-node",
      "npx -y deno@2.9 task train",
    ]
  ) assertStringIncludes(text, line);
  const [cards, rest] = after.split("</ul>");
  for (const it of ["lunar_lander.gif", "pong.gif"]) {
    assertStringIncludes(cards, it);
  }
  assertStringIncludes(after, 'href="guides/own_algorithm.html"');
  assertStringIncludes(rest, 'href="zoo/index.html"');
});

Deno.test("the index of the interfaces leads to each module", async () => {
  const html = await textOf("api/index.html");
  for (const it of ["envs", "envs/atari", "training/worker"]) {
    assertStringIncludes(html, `href="${it}/index.html">@bellman/${it}</a>`);
  }
  assertStringIncludes(html, "<dd>Training in a worker");
});

Deno.test("a package and its interface lead to each other", async () => {
  const html = await textOf("envs/atari/index.html");
  assertStringIncludes(html, 'href="../../api/envs/atari/index.html"');
  const packages = await textOf("packages.html");
  assertStringIncludes(packages, 'href="algorithms/a2c/index.html"');
  assertStringIncludes(packages, 'href="api/a2c/index.html"');
});

Deno.test("a page that is not there has the links of the site's path", async () => {
  const html = await textOf("404.html");
  assertStringIncludes(html, 'href="/bellman/style.css"');
  assertEquals(html.match(/(href|src)="(?!\/bellman\/|data:|#)/g), null);
});

Deno.test("a guide's page is small, and has no style or program within", async () => {
  const packed = (address: string) =>
    textOf(address).then((it) => gzipSync(it, { level: 9 }).length);
  const shared = await packed("style.css") + await packed("search.js");
  for (const name of pagesOf(`${site}/guides`)) {
    const bytes = await packed(`guides/${name}`) + shared;
    assert(bytes <= 60_000, `guides/${name}: ${bytes} bytes`);
  }
  const script = await textOf("search.js");
  assertEquals(/innerHTML|outerHTML|document\.write/.exec(script), null);
});

Deno.test("wrong options are refused in a line, and nothing is written", async () => {
  const other = `${dir}/other`;
  await Deno.mkdir(other);
  await Deno.writeTextFile(`${other}/mine.txt`, "");
  const cases: [string[], string][] = [
    [
      ["--ot=x"],
      "error: Cannot use --ot=x: expected --out DIR, --base PATH, --repository URL, --check, --no-api or --words A,B\n",
    ],
    [
      ["--base", "bellman"],
      "error: Cannot use --base bellman: expected a path from / to /, such as /bellman/\n",
    ],
    [
      ["--repository", "bellman"],
      "error: Cannot use --repository bellman: expected an address, such as https://github.com/OWNER/bellman\n",
    ],
    [
      ["--out", other],
      `error: Cannot use --out ${other}: expected a new or empty folder, or an earlier site\n`,
    ],
  ];
  for (const [args, line] of cases) {
    assertEquals(await main(...args), { code: 2, out: "", err: line });
  }
  assertEquals(readdirSync(other), ["mine.txt"]);
});

chromiumTest(
  "pages ask nobody else, complain of nothing, and fit 360 pixels in the dark",
  async () => {
    await build();
    const pages = pagesOf(site);
    assert(pages.length > 50, `${pages.length} pages`);
    assertEquals(await drive("pages", JSON.stringify(pages)), []);
  },
);

chromiumTest("the search is used by keyboard, and loaded by it", async () => {
  assertEquals(await drive("search"), {
    before: false,
    after: true,
    alias: "entropyCoefficient",
    first: "Resuming",
    second: "Experiments",
    led: "/bellman/cli/index.html#resuming",
  });
});

chromiumTest("pages are read without scripts", async () => {
  assertEquals(await drive("plain"), {
    title: "Search hyperparameters",
    search: false,
  });
});

chromiumTest(
  "pages are read from a disk, but for search and playground",
  async () => {
    assertEquals(await drive("fromDisk"), {
      search:
        "Cannot search: it needs a web server, as pages from a disk load nothing",
      style: "sticky",
      playground:
        "Loading. This page needs scripts, from a web server: one from a disk may not load them.",
    });
  },
);

chromiumTest("two clicks on the front page, and an agent learns", async () => {
  const said = await drive<string>("learn");
  assert(said.startsWith("Training PPO on CartPole-v1"), said);
});

interface Live {
  state: string;
  shown: string;
  pictures: number;
  requested: string[];
}

chromiumTest(
  "an agent learns on the front page, plays on, and pauses",
  async () => {
    const { state, shown, pictures, requested } = await drive<Live>("live");
    assert(/^Learned in [\d,]+ steps, \d+ s/.test(state), state);
    assertEquals(shown, "Balances for 500 of 500 steps");
    assert(pictures > 3, `${pictures}`);
    // Neither the runtime of files nor the page of the playground.
    assertEquals(requested.filter((it) => it.startsWith("playground/")), [
      ...["CartPole-v1.png", "trainer.js", "tfjs-backend-wasm-simd.wasm"]
        .map((it) => `playground/${it}`),
    ]);
    const bytes = ["home.js", "playground/trainer.js"]
      .map((it) => gzipSync(Deno.readFileSync(`${site}/${it}`)).length)
      .reduce((sum, it) => sum + it);
    // With the games, which all environments bring along.
    assert(bytes < 385_000, `${bytes}`);
  },
);

chromiumTest(
  "nothing moves on the front page where motion is unwanted, unless asked for",
  async () => {
    assertEquals(await drive("still"), {
      before: [],
      said: "An agent learns here when you want it to: 0.5 MB.",
      after: "PPO is learning, in a worker of this page.",
    });
  },
);

chromiumTest("without scripts the front page has a still picture", async () => {
  assertEquals(await drive("frontPlain"), {
    picture: true,
    buttons: 0,
  });
});

interface Played {
  state: string;
  meanReturn: number;
}

chromiumTest(
  "the playground plays the policy that its address names",
  async () => {
    await build();
    await Deno.mkdir(`${site}/gym:agent`);
    const wanted = { env: "CartPole-v1", algorithm: "a2c" };
    await withRun(wanted, 2000, async (training) => {
      const policy = await training.policy();
      await Deno.writeFile(`${site}/gym:agent/policy.onnx`, policy);
    });
    const { state, meanReturn } = await drive<Played>(
      ...["policy", "../gym%3Aagent/policy.onnx", "16"],
    );
    assertEquals(state, "Opened · a2c · CartPole-v1 · Bellman 0.1.0");
    assert(meanReturn > 15, `${meanReturn}`);
  },
);

chromiumTest("a policy that is not there, or none, gets a line", async () => {
  const { code, out } = await (async () => {
    await build();
    const program = new URL("testdata/drive.ts", import.meta.url).pathname;
    const policies = ["none.onnx", "style.css"];
    return runDeno([LOCK, "-A", program, site, "noPolicy", ...policies]);
  })();
  assertEquals(code, 0);
  assertEquals(JSON.parse(out).value, [
    "Cannot load none.onnx: the server answers 404",
    "Cannot open style.css: it is no ONNX file",
  ]);
});

const all = documentsOf(await packages())
  .map((it) => ({ ...it, rendered: render(it.text, (link) => link) }));
const agents = agentsOf(all).filter(({ policy }) => policy !== undefined);
const zooTest = testsWith(
  "an agent in zoo/",
  agents.length > 0 && existsSync("/usr/bin/chromium"),
);

zooTest(
  "an agent of the zoo has in the playground the return of its card",
  async () => {
    const [{ policy, document: { head } }] = agents;
    const { mean, deviation } = Object(head).bellman.evaluation;
    const { meanReturn } = await drive<Played>("policy", `../${policy}`, "100");
    const error = 4 * deviation / Math.sqrt(100) + 0.01 * Math.abs(mean) + 0.1;
    assert(Math.abs(meanReturn - mean) <= error, `${meanReturn}, not ${mean}`);
  },
);
