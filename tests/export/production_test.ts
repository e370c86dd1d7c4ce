/**
 * The programs of the guide "to production" act with a trained agent: in Python,
 * in Node and, of a page, with the runtime of pages.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { runCommand } from "../runs.ts";
import { pythonWith } from "./python.ts";

const GUIDE = new URL("../../docs/guides/to_production.md", import.meta.url);
const text = await Deno.readTextFile(GUIDE);
const dir = await Deno.makeTempDir({ prefix: "bellman-production-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(dir, { recursive: true }),
);

/** Trains and exports an agent, once. */
async function exportAgent(name: string, ...args: string[]): Promise<void> {
  const run = `${dir}/${name}`;
  const trained = await runCommand([
    ...["train", "a2c", "--env=CartPole-v1", "--quiet", `--out=${run}`],
    ...args,
  ]);
  assertEquals(trained.code, 0, trained.err);
  const file = `--out=${dir}/policy.onnx`;
  // The best agent is the first whose likeliest actions reach 500: by its
  // sampled ones it still falls now and then, the last one hardly.
  const flags = name === "sampled"
    ? ["--stochastic", "--checkpoint=latest"]
    : [];
  const { code, err } = await runCommand(["export", run, file, ...flags]);
  assertEquals(code, 0, err);
}

/** Writes the guide's code of a language into a file. */
function write(language: string, name: string): string {
  const block = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "ms");
  const path = `${dir}/${name}`;
  Deno.writeTextFileSync(path, block.exec(text)![1]);
  return path;
}

/** Runs a program in the folder of the file; gives what it prints. */
async function output(program: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd: dir,
  }).output();
  const [out, err] = [stdout, stderr]
    .map((it) => new TextDecoder().decode(it));
  assert(success, err);
  return out.trim();
}

const python = pythonWith("onnxruntime, gymnasium");
const SHORT = ["--steps=120000", "--set=evaluationEpisodes=4"];
const KINDS = {
  likeliest: SHORT,
  sampled: SHORT,
  recurrent: [
    ...["--steps=2000", "--preset=none", "--set=network=lstm"],
    ...["--set=lstmSize=16", "--set=evaluationEpisodes=2"],
  ],
};

for (const [name, args] of Object.entries(KINDS)) {
  Deno.test({
    name: `the guide's Python plays with a ${name} agent [onnxruntime]`,
    ignore: python === undefined,
    async fn() {
      await exportAgent(name, ...args);
      const lines = await output(python!, write("python", "play.py"));
      const found = /^CartPole-v1 NC\nreturn (\d+)$/.exec(lines);
      assert(found !== null, lines);
      const least = name === "recurrent" ? 8 : 150;
      assert(Number(found[1]) >= least, lines);
    },
  });
}

/** Folder of an npm package that Deno has downloaded. */
function packageFolder(name: string): string {
  const url = import.meta.resolve(`${name}/package.json`);
  return new URL(".", url).pathname.replace(/\/$/, "");
}

const hasNode = await new Deno.Command("node", { args: ["--version"] })
  .output().then(({ success }) => success, () => false);

Deno.test({
  name: "the guide's program for Node acts on two observations [node]",
  ignore: !hasNode,
  async fn() {
    await exportAgent("node", ...SHORT);
    await Deno.mkdir(`${dir}/node_modules`);
    const runtime = packageFolder("onnxruntime-node");
    for (const name of ["onnxruntime-node", "onnxruntime-common"]) {
      const from = runtime.replaceAll("onnxruntime-node", name);
      await Deno.symlink(from, `${dir}/node_modules/${name}`);
    }
    // Links are the packages: nothing is installed twice.
    const flags = ["--preserve-symlinks", "--preserve-symlinks-main"];
    assertEquals(await output("node", ...flags, write("js", "act.mjs")), "1 0");
  },
});

const WEB =
  /https:\/\/cdn\.jsdelivr\.net\/npm\/(onnxruntime-web@[\d.]+)\/\S+?(?=")/;
const [, web] = WEB.exec(text)!;
const deno = ["run", "-q", "-A", "--no-config", "--no-lock"];
const hasWeb = (await new Deno.Command(Deno.execPath(), {
  args: [...deno, "--cached-only", `data:text/javascript,import "npm:${web}"`],
  stderr: "null",
}).output()).success;

Deno.test({
  name: "the guide's page acts with the runtime of pages [onnxruntime-web]",
  ignore: !hasWeb,
  async fn() {
    await exportAgent("page", ...SHORT);
    const page = await Deno.readTextFile(write("html", "index.html"));
    const script = /<script type="module">\n(.*?)<\/script>/s.exec(page)![1];
    const shown = "globalThis.document = { querySelector: () => ({" +
      " set textContent(it) { console.log(it); } }) };\n";
    const path = `${dir}/page.mjs`;
    const code = shown + script.replace(WEB, `npm:${web}`);
    await Deno.writeTextFile(path, code);
    assertMatch(await output(Deno.execPath(), ...deno, path), /^Action: 1$/m);
  },
});
