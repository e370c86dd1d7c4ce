/**
 * The files of the guides do through the command line what the guides say: an
 * algorithm of one file trains, resumes after a kill, evaluates, plays and
 * exports. Their code runs as examples, too.
 */
import { hasGymnasium } from "@bellman/envs/gymnasium";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { existsSync } from "node:fs";
import { KILLER, killMidway, remainsOf, runCommand } from "./runs.ts";
import { guideCode } from "./testdata/guide_code.ts";

const ROOT = new URL("../", import.meta.url).pathname;
// Inside of the workspace, where its packages have their names.
const dir = await Deno.makeTempDir({ dir: ROOT, prefix: ".examples-guides-" });
/** Folder of the runs: code beside a run needs a word. */
const runs = await Deno.makeTempDir({ prefix: "bellman-guides-" });
globalThis.addEventListener("unload", () => {
  for (const it of [dir, runs]) Deno.removeSync(it, { recursive: true });
});

/** Writes the first block of code of a guide below a text as a file. */
function writeCode(
  guide: string,
  below: string,
  name: string,
  [language, suffix]: [string, string] = ["ts", "ts"],
): string {
  const path = `${dir}/${name}.${suffix}`;
  Deno.writeTextFileSync(path, guideCode(guide, below, language));
  return path;
}

const room = writeCode("own_environment", "# Your own environment", "room");
const FILES = {
  "my-a2c": writeCode("own_algorithm", "## A2C", "my_a2c"),
  "my-dqn": writeCode("own_algorithm", "## DQN", "my_dqn"),
  "my-ppo": writeCode("own_algorithm", "## PPO", "my_ppo"),
  "my-td": writeCode("own_algorithm", "## A memory of your own", "my_td"),
};

/** Runs a command that must go well, and gives back what it prints. */
async function output(...args: string[]): Promise<string> {
  const { code, out, err } = await runCommand(args);
  assertEquals(code, 0, err);
  return out;
}

const LINES = { "my-a2c": 60, "my-dqn": 100, "my-ppo": 100, "my-td": 100 };

for (const [name, file] of Object.entries(FILES)) {
  Deno.test(`${name} of the guide does everything through the command line`, async () => {
    const lines = (await Deno.readTextFile(file)).trim().split("\n")
      .filter((line) =>
        line !== "" && !/^import|^ {2}\w+,$|^} from/.test(line)
      );
    const most = LINES[name as keyof typeof LINES];
    assert(lines.length <= most, `${lines.length} lines without imports`);
    const args = [
      ...[name, `--set=algorithmModules=[${file}, ${KILLER}]`],
      ...["--env=CartPole-v1", "--quiet", "--steps=6000"],
      ...["--set=checkpointInterval=1000", "--set=evaluationInterval=2000"],
      "--set=evaluationEpisodes=2",
    ];
    const killed = `${runs}/${name}-killed`, whole = `${runs}/${name}`;
    await killMidway([...args, `--out=${killed}`], 3500);
    await output("train", "--resume", killed, "--quiet");
    await output("train", ...args, `--out=${whole}`);
    assertEquals(remainsOf(killed), remainsOf(whole));
    assertStringIncludes(
      await Deno.readTextFile(`${whole}/report.html`),
      `${name} on CartPole-v1`,
    );

    const evaluated = await output("eval", whole, "--episodes=2");
    assertStringIncludes(evaluated, `${name} on CartPole-v1`);
    await output("play", whole, `--png=${whole}/pictures`, "--every=50");
    assert(existsSync(`${whole}/pictures`));
    await output("export", whole, `--out=${whole}/agent.onnx`);
    await output("plot", whole, `--out=${whole}/curve.svg`);

    const help = await output("train", name, args[1], "--help");
    assertStringIncludes(help, "learningRate");
    assertStringIncludes(await output("list", args[1]), name);
  });
}

/** Steps, and a mean return that CartPole-v1 has after them: at random it is 22. */
const LEARNED = {
  "my-a2c": { steps: 100_000, meanReturn: 400 },
  "my-dqn": { steps: 30_000, meanReturn: 180 },
  "my-ppo": { steps: 50_000, meanReturn: 450 },
};

for (const [name, { steps, meanReturn }] of Object.entries(LEARNED)) {
  Deno.test(`${name} of the guide learns`, async () => {
    const file = FILES[name as keyof typeof FILES],
      run = `${runs}/${name}-learns`;
    await output(
      ...["train", name, `--set=algorithmModules=[${file}]`, "--quiet"],
      ...["--env=CartPole-v1", `--steps=${steps}`, "--seed=0"],
      ...["--set=evaluationInterval=0", `--out=${run}`],
    );
    const result = JSON.parse(await output("eval", run, "--json"));
    assert(result.meanReturn > meanReturn, `${result.meanReturn}`);
  });
}

Deno.test("a network of the guide stands where a name does", async () => {
  const file = writeCode(
    "own_algorithm",
    "## A custom network",
    "fourier",
  );
  const run = `${runs}/fourier`;
  const args = [
    ...["train", "a2c", `--set=algorithmModules=[${file}]`, "--steps=2000"],
    ...["--quiet", "--preset=none", "--set=evaluationEpisodes=2"],
  ];
  await output(...args, "--set=network=fourier", `--out=${run}`);
  assertStringIncludes(await output("eval", run), "a2c on CartPole-v1");
  await output("export", run, `--out=${run}/agent.onnx`);
  const wrong = await runCommand([...args, "--set=network=furier"]);
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.err, "did you mean 'fourier'?");
});

Deno.test("the environment of the guide trains, plays and resumes", async () => {
  const run = `${runs}/room`;
  await output(
    ...["train", "a2c", "--env=Room-v0", `--set=envModules=[${room}]`],
    ...["--quiet", "--steps=2000", "--set=evaluationEpisodes=2"],
    `--out=${run}`,
  );
  await output("play", run, `--png=${run}/pictures`, "--every=10");
  assertStringIncludes(await output("eval", run), "a2c on Room-v0");
});

Deno.test({
  name:
    "Python's environment of the guide resumes after a kill, with its wrappers [Gymnasium]",
  ignore: !hasGymnasium(),
  fn: async () => {
    const section = "## Your own environment", guide = "python_environments";
    const walk = writeCode(guide, section, "walk", ["python", "py"]);
    const yaml = writeCode(guide, "In a configuration file", "walk", [
      "yaml",
      "yaml",
    ]);
    const text = await Deno.readTextFile(yaml);
    await Deno.writeTextFile(yaml, text.replace("./walk.py", walk));
    const args = [
      ...["a2c", `--config=${yaml}`, "--quiet", "--steps=6000"],
      ...["--set=checkpointInterval=500", "--set=evaluationEpisodes=2"],
      `--set=algorithmModules=[${KILLER}]`,
    ];
    const killed = `${runs}/walk-killed`, whole = `${runs}/walk`;
    await killMidway([...args, `--out=${killed}`], 2200);
    await output("train", "--resume", killed, "--quiet", "--trust");
    await output("train", ...args, `--out=${whole}`);
    assertEquals(remainsOf(killed), remainsOf(whole));
    const judged = await output("eval", whole, "--trust");
    assertStringIncludes(judged, "a2c on gym:Walk-v0");
    const narrow = [
      ...["train", "a2c", "--env=gym:Walk-v0", `--set=envModules=[${walk}]`],
      ...["--set=envKwargs={width: 3}", "--quiet", "--steps=100"],
      ...["--set=evaluationEpisodes=1", `--out=${runs}/narrow`],
    ];
    await output(...narrow);
  },
});

Deno.test("an environment that breaks its promises is refused before it is trained on", async () => {
  const broken = `${dir}/broken.ts`;
  const code = (await Deno.readTextFile(room))
    .replace("this.random.uniform() < this.slip", "Math.random() < 0.5")
    .replace(`"Room-v0"`, `"Broken-v0"`)
    .replace("checkEnv(new Room());", "");
  await Deno.writeTextFile(broken, code);
  const args = [
    ...["train", "--env=Broken-v0", `--set=envModules=[${broken}]`, "--quiet"],
    ...["--steps=100", "--set=evaluationEpisodes=1", `--out=${runs}/broken`],
  ];
  const { code: exit, err } = await runCommand(args);
  assertEquals([exit, err], [
    2,
    "error: Cannot train on Broken-v0, which is broken: the same seed and actions gave two different courses; --unchecked trains on it as it is\n",
  ]);
  assertEquals(existsSync(`${runs}/broken`), false);
  await output(...args, "--unchecked");
});
