import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { leaveUnevaluated } from "../tests/runs.ts";
import { capture } from "./testdata/capture.ts";
import { runDeno } from "../tests/testdata/run_deno.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-cli-" });
const SMALL = ["--backend", "wasm", "--steps", "400", "--set", "numEnvs=4"];

/** Trains a few steps into a folder. */
async function train(name: string, ...more: string[]): Promise<string> {
  const out = `${dir}/${name}`;
  const outcome = await capture("train", ...SMALL, ...more, "--out", out);
  assertEquals(outcome.code, 0, outcome.err);
  return out;
}

const first = await train("seed0");
const second = await train("seed1", "--seed", "1");

Deno.test("the package's entry is the program where it is the main module", async () => {
  const entry = new URL("mod.ts", import.meta.url).pathname;
  const ran = await runDeno(["--allow-read", entry, "list", "a2c"]);
  const { out, err, code } = await capture("list", "a2c");
  assertEquals(ran, { out, err, code });
});

Deno.test("train leaves everything that a run folder holds", async () => {
  const names: string[] = [];
  for await (const entry of Deno.readDir(first)) names.push(entry.name);
  const wanted = [
    "checkpoints",
    "config.yaml",
    "episodes.csv",
    "policy.onnx",
    "progress.csv",
    "report.html",
    "run.json",
  ];
  for (const name of wanted) assert(names.includes(name), name);
  assert(names.some((name) => name.startsWith("events.out.tfevents.")));
  const report = await Deno.readTextFile(`${first}/report.html`);
  assertStringIncludes(report, "<svg");
  assertStringIncludes(report, "CartPole-v1");
});

Deno.test("train says what it does and what came of it", async () => {
  const out = `${dir}/said`;
  const outcome = await capture("train", ...SMALL, "--out", out);
  assertStringIncludes(outcome.out, "Training a2c on CartPole-v1: 400 steps");
  assertStringIncludes(outcome.out, "Engine: eager, by TensorFlow.js, on wasm");
  assertStringIncludes(outcome.out, "\nSettings: preset CartPole-v1\n");
  assertMatch(outcome.out, /^Evaluation at step 400: return [\d.]+ ± /m);
  assertMatch(outcome.out, /Best agent \(step \d+\), deterministic: /);
  assertStringIncludes(outcome.out, `Run folder: ${out}`);
  assertStringIncludes(outcome.err, "400/400 steps");
});

Deno.test("train says which given settings do nothing beside the others", async () => {
  const idle = async (...args: string[]) => {
    const out = await Deno.makeTempDir({ dir });
    const given = ["--steps=40", "--quiet", "--set=evaluationEpisodes=2"];
    const { code, err } = await capture(
      ...["train", ...args, ...given, "--backend=cpu", `--out=${out}/run`],
    );
    assertEquals(code, 0, err);
    return err.split("\n").filter((line) => line.includes("does nothing"));
  };
  const why = "with separate objectives no loss is weighed against another";
  assertEquals(await idle("a2c", "--preset=none", "--set=vf_coef=0.7"), [
    `valueCoefficient does nothing here: ${why}, and valueLearningRate is the value's`,
  ]);
  assertEquals(await idle("acktr", "--set=valueCoefficient=0.7"), [
    `valueCoefficient does nothing here: ${why}, and valueLearningRate is the value's`,
  ]);
  // Spaces count, too.
  assertEquals(await idle("ppo", "--set=log_std_init=-1"), [
    "initialLogStd does nothing here: only box actions have a log standard deviation",
  ]);
  const shared = ["a2c", "--preset=baselines"];
  assertEquals(await idle(...shared, "--set=valueLearningRate=0.1"), [
    "valueLearningRate does nothing here: one step for both losses has learningRate",
  ]);
  assertEquals(await idle(...shared, "--set=valueCoefficient=0.7"), []);
  assertEquals(await idle("a2c", "--preset=none"), []);
  const lstm = ["a2c", "--preset=none", "--set=network=lstm"];
  assertEquals(await idle(...lstm, "--set=hiddenSizes=[32]"), [
    "hiddenSizes does nothing here: the network lstm has no other layers",
  ]);
  assertEquals(await idle(...lstm, "--set=activation=relu"), [
    "activation does nothing here: the network lstm has no other layers",
  ]);
  assertEquals(
    await idle(...lstm, "--set=hiddenSizes=[64, 64]", "--set=lstmSize=8"),
    [],
  );
  // The file of a run has all settings, most of them at their defaults.
  const run = `${dir}/whole`;
  const first = await capture(
    ...["train", "a2c", "--preset=none", "--steps=40", "--quiet"],
    ...["--set=evaluationEpisodes=2", `--out=${run}`],
  );
  assertEquals(first.code, 0, first.err);
  const again = `--config=${run}/config.yaml`;
  assertEquals(await idle(again), []);
  assertEquals(await idle(again, "--set=valueCoefficient=0.7"), [
    `valueCoefficient does nothing here: ${why}, and valueLearningRate is the value's`,
  ]);
});

Deno.test("values of actions are evaluated greedily, which is said", async () => {
  const run = `${dir}/greedy`;
  const train = await capture(
    ...["train", "async-q", "--env=CartPole-v1", "--steps=40", "--backend=cpu"],
    ...["--set=evaluationDeterministic=false", "--set=evaluationEpisodes=2"],
    ...["--workers=1", `--out=${run}`],
  );
  assertEquals(train.code, 0, train.err);
  assertMatch(train.out, /^Last agent \(step \d+\), greedy: /m);
  assertStringIncludes(
    train.err,
    "evaluationDeterministic: false does nothing here: async-q has nothing to sample, evaluations take the best action",
  );
  const evaluated = await capture("eval", run, "--stochastic", "--episodes=2");
  assertMatch(evaluated.out, /^async-q on CartPole-v1, step \d+, greedy: /);
  assertStringIncludes(
    evaluated.err,
    "--stochastic does nothing here: async-q has nothing to sample, and takes the best action",
  );
  const { out } = await capture("eval", run, "--episodes=2", "--json");
  assertEquals(JSON.parse(out).kind, "greedy");
});

Deno.test("train says that it takes the defaults, and how to print them", async () => {
  const bare = async (...args: string[]) => {
    const out = `${dir}/bare${args.length}`;
    const given = ["train", ...args, "--steps=40", "--out", out];
    return (await capture(...given, "--set=numEnvs=2")).out;
  };
  assertStringIncludes(
    await bare("--env=Chain-v0", "--backend=cpu"),
    "\nSettings: defaults of a2c, which has no preset for Chain-v0; --print-config prints them\n",
  );
  assertStringIncludes(
    await bare("--preset=none"),
    "\nSettings: defaults of a2c; --print-config prints them\n",
  );
});

Deno.test("train judges the last and the best agent on the same episodes", async () => {
  const out = `${dir}/judged`;
  const short = ["--set=evaluationInterval=80", "--set=evaluationEpisodes=5"];
  const outcome = await capture("train", ...SMALL, ...short, "--out", out);
  const report = await Deno.readTextFile(`${out}/report.html`);
  const told: string[] = [];
  for (const [name, which] of [["Last", "latest"], ["Best", "best"]]) {
    const judged = await capture(
      ...["eval", out, "--checkpoint", which, "--seed", "20000", "--json"],
    );
    const { step, meanReturn, stdReturn } = JSON.parse(judged.out);
    const [mean, std] = [meanReturn, stdReturn]
      .map((it) => String(Math.round(it * 100) / 100));
    told.push(
      `${name} agent (step ${step}), deterministic: ${mean} ± ${std} over 5 episodes\n`,
    );
    assertStringIncludes(outcome.out, told.at(-1)!);
    assertStringIncludes(report, `<th>${name} agent (step ${step})</th>`);
  }
  // Another step's, and other figures: the two are told apart.
  assert(told[0].replace("Last", "Best").slice(5) !== told[1].slice(5));
  const exported = `${dir}/judged.onnx`;
  await capture("export", out, "--checkpoint", "best", "--out", exported);
  assertEquals(
    await Deno.readFile(`${out}/policy.onnx`),
    await Deno.readFile(exported),
  );
});

/** The program where ONNX Runtime may not be loaded. */
const NO_FFI = [
  ...["--deny-ffi", "--no-prompt", "--allow-read", "--allow-write"],
  ...[
    "--allow-env",
    "--allow-sys",
    new URL("main.ts", import.meta.url).pathname,
  ],
];

Deno.test("train compiles by default; a compiled agent also acts eagerly", async () => {
  const out = `${dir}/compiled`;
  const trained = await capture("train", "--steps", "400", "--out", out);
  assertStringIncludes(trained.out, "Engine: compiled, by ONNX Runtime ");
  const config = await Deno.readTextFile(`${out}/config.yaml`);
  assertStringIncludes(config, "engine: onnx");
  const evaluated = await capture("eval", out, "--episodes", "2");
  assertEquals(evaluated.code, 0, evaluated.err);
  const denied = await runDeno([...NO_FFI, "eval", out, "--episodes", "2"]);
  assertEquals(denied, {
    code: 0,
    out: evaluated.out,
    err:
      "Not compiled, 10 to 30 times slower: ONNX Runtime needs --allow-ffi\n",
  });
});

Deno.test("train works where ONNX Runtime may not be loaded, and says so", async () => {
  const train = (...more: string[]) =>
    runDeno([...NO_FFI, "train", "--steps", "400", "--quiet", ...more]);
  const fallen = await train("--out", `${dir}/denied`);
  assertEquals(fallen.code, 0, fallen.err);
  assertStringIncludes(fallen.err, "Not compiled, 10 to 30 times slower: ");
  assertStringIncludes(fallen.out, "Best agent");
  const asked = await train("--engine", "onnx", "--out", `${dir}/asked`);
  assertEquals(asked.code, 2);
  assertStringIncludes(
    asked.err,
    "Cannot use the engine 'onnx': ONNX Runtime needs --allow-ffi",
  );
});

Deno.test("export writes the best agent to a file of one's own", async () => {
  const path = `${dir}/agent.onnx`;
  const { code, out } = await capture("export", first, "--out", path);
  assertEquals(code, 0);
  assertStringIncludes(out, `wrote ${path}`);
  assertEquals(
    await Deno.readFile(path),
    await Deno.readFile(`${first}/policy.onnx`),
  );
});

Deno.test("the same seed gives the same run, another seed another", async () => {
  const again = await train("again");
  const episodes = (run: string) => Deno.readTextFile(`${run}/episodes.csv`);
  assertEquals(await episodes(again), await episodes(first));
  assert(await episodes(second) !== await episodes(first));
});

Deno.test("runs that start in the same second have a folder each", async () => {
  const cwd = `${dir}/parallel`;
  await Deno.mkdir(cwd);
  const main = new URL("main.ts", import.meta.url).pathname;
  const args = [
    ...["-A", main, "train", "--quiet", "--backend", "cpu", "--steps", "40"],
    ...["--set", "evaluationEpisodes=1"],
  ];
  const runs = Array.from({ length: 6 }, () => runDeno(args, { cwd }));
  for (const { code, err } of await Promise.all(runs)) {
    assertEquals(code, 0, err);
  }
  const folders = [...Deno.readDirSync(`${cwd}/runs`)].map((it) => it.name);
  assertEquals(folders.length, 6);
  for (const name of folders) {
    assert((await Deno.stat(`${cwd}/runs/${name}/report.html`)).isFile);
  }
});

Deno.test("a config.yaml starts a run of its own algorithm", async () => {
  const sac = `${dir}/sac`;
  const tiny = [
    ...["--set", "algorithm=sac", "--env", "Pendulum-v1", "--steps", "40"],
    ...["--set", "hiddenSizes=[8]", "--set", "evaluationEpisodes=1"],
  ];
  const first = await capture("train", ...tiny, "--out", sac);
  assertStringIncludes(first.out, "Training sac on Pendulum-v1: 40 steps");
  const config = `${sac}/config.yaml`;
  const out = `${dir}/sac-again`;
  const { code } = await capture("train", "--config", config, "--out", out);
  assertEquals(code, 0);
  assertEquals(
    await Deno.readTextFile(`${out}/episodes.csv`),
    await Deno.readTextFile(`${sac}/episodes.csv`),
  );
});

Deno.test("a run that was stopped in its last evaluation is finished", async () => {
  const run = await train("unfinished");
  leaveUnevaluated(run);
  const { code, out } = await capture("train", "--resume", run);
  assertEquals(code, 0);
  assertMatch(out, /Best agent/);
  assert((await Deno.stat(`${run}/report.html`)).isFile);
  const again = await capture("train", "--resume", run);
  assertEquals(again.code, 2);
});

Deno.test("a run that diverges stops, names the statistic, keeps a checkpoint", async () => {
  const out = `${dir}/diverged`;
  const { code, err } = await capture(
    "train",
    "--env=Pendulum-v1",
    "--backend=wasm",
    "--steps=2000",
    "--set=lr=1e30",
    "--set=maxGradNorm=null",
    "--set=useSde=false",
    "--quiet",
    `--out=${out}`,
  );
  assertEquals(code, 1);
  assertMatch(
    err,
    /^error: \w+ became (NaN|-?Infinity) at step [\d,]+ .*last good checkpoint is .*\.safetensors\n$/,
  );
  const last = err.match(/checkpoint is (\S+)/)![1];
  assert((await Deno.stat(last)).isFile);
});

Deno.test("eval plays the requested episodes, the same each time", async () => {
  const once = await capture("eval", first, "--episodes", "3", "--json");
  const twice = await capture("eval", first, "--episodes", "3", "--json");
  assertEquals(once, twice);
  const result = JSON.parse(once.out);
  assertEquals(result.returns.length, 3);
  assertEquals(result.kind, "deterministic");
  for (const [seed, isDefault] of [[30_000, true], [0, false]] as const) {
    const asked = ["--episodes", "3", "--json", "--seed", `${seed}`];
    const named = await capture("eval", first, ...asked);
    assertEquals(named.out === once.out, isDefault, `seed ${seed}`);
  }
  const stochastic = await capture("eval", first, "--stochastic");
  assertMatch(stochastic.out, /stochastic: [\d.]+ ± [\d.]+ over 20 episodes/);
});

Deno.test("eval, play and policies choose actions as the run was evaluated", async () => {
  const out = `${dir}/sampled`;
  const short = ["--steps=1600", "--set=evaluationDeterministic=false"];
  assertEquals((await capture("train", ...short, "--out", out)).code, 0);
  const kindOf = async (...options: string[]) => {
    const { out: text } = await capture("eval", out, "--json", ...options);
    return JSON.parse(text).kind;
  };
  assertEquals(await kindOf(), "stochastic");
  assertEquals(await kindOf("--deterministic"), "deterministic");
  const path = `${dir}/sampled.onnx`;
  assertEquals((await capture("export", out, "--out", path)).code, 0);
  assertEquals(
    await Deno.readFile(path),
    await Deno.readFile(`${out}/policy.onnx`),
  );
});

Deno.test("plot averages the seeds of one configuration", async () => {
  const out = `${dir}/curve.svg`;
  const { code } = await capture("plot", first, second, "--out", out);
  assertEquals(code, 0);
  const svg = await Deno.readTextFile(out);
  assertStringIncludes(svg, "a2c CartPole-v1");
  assert(!svg.includes("seed="));
  const html = `${dir}/curve.html`;
  await capture("plot", first, "--key", "value_loss", "--out", html);
  assertStringIncludes(await Deno.readTextFile(html), "<!doctype html>");
});

Deno.test("list names algorithms, environments and presets", async () => {
  const { out } = await capture("list");
  for (const name of ["a2c", "Pendulum-v1", "at most 500 steps"]) {
    assertStringIncludes(out, name);
  }
  const listing = JSON.parse((await capture("list", "--json")).out);
  assert(listing.presets.length >= 6);
});

Deno.test("-h is --help", async () => {
  for (const command of [[], ["train"], ["list"]]) {
    const { code, out } = await capture(...command, "-h");
    assertEquals(code, 0);
    assertEquals(out, (await capture(...command, "--help")).out);
  }
});

Deno.test("help comes from the configuration's types", async () => {
  assertStringIncludes((await capture("--help")).out, "Commands:");
  const { code, out } = await capture("train", "all", "--help");
  assertEquals(code, 0);
  const { out: brief } = await capture("train", "--help");
  assertStringIncludes(brief, "--preset NAME");
  assertStringIncludes(out, "entropyCoefficient (also ent_coef");
  assertStringIncludes(out, "Number of parallel environments.");
  const range = "an integer from 1 to 1048576, at most 4096 with loop: host";
  assertStringIncludes(out.replace(/\s+/g, " "), `${range}; default 8`);
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});

Deno.test("'list' prints presets by name, of one algorithm or of all", async () => {
  const one = await capture("list", "a2c", "CartPole-v1");
  assertEquals([one.code, one.err], [0, ""]);
  assertStringIncludes(one.out, "# train a2c --preset CartPole-v1\n");
  assertStringIncludes(one.out, "\nenv: CartPole-v1\n");
  const all = await capture("list", "ALE/Breakout-v5");
  for (const name of ["a2c", "acer", "acktr"]) {
    assertStringIncludes(all.out, `# train ${name} --preset ALE\n`);
  }
  const { presets } = JSON.parse((await capture("list", "sac", "--json")).out);
  assertEquals(presets.every((it: Preset) => it.algorithm === "sac"), true);
});

interface Preset {
  algorithm: string;
}

Deno.test("--print-config prints a file that --config takes", async () => {
  const args = ["--set=gamma=0.5", "--steps=30", "--seed=4"];
  const { code, out, err } = await capture(
    ...["train", "a2c", "--env=Acrobot-v1", ...args, "--print-config"],
  );
  assertEquals([code, err], [0, ""]);
  assertEquals(out.split("\n")[0], "# a2c on Acrobot-v1: preset Acrobot-v1");
  for (const line of ["gamma: 0.5", "totalTimesteps: 30", "seed: 4"]) {
    assertStringIncludes(out, `\n${line}\n`);
  }
  const file = await Deno.makeTempFile({ suffix: ".yaml" });
  await Deno.writeTextFile(file, out);
  const again = await capture("train", `--config=${file}`, "--print-config");
  assertEquals(again.out.split("\n").slice(1), out.split("\n").slice(1));
  const wrong = await capture("train", "--env=CartPol-v1", "--print-config");
  assertEquals([wrong.code, wrong.out], [2, ""]);
  await Deno.remove(file);
});
