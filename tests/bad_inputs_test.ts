/**
 * What a person can get wrong: each gives one clear line on standard error and
 * exit code 2, and leaves nothing half-written.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { run } from "@bellman/cli";

interface Outcome {
  code: number;
  err: string;
}

async function runQuietly(args: readonly string[]): Promise<Outcome> {
  let err = "";
  const code = await run(args, {
    out: () => {},
    err: (text) => err += text,
    outIsTerminal: false,
    errIsTerminal: false,
  });
  return { code, err };
}

const dir = await Deno.makeTempDir({ prefix: "bellman-bad-inputs-" });

function file(name: string, text: string): string {
  const path = `${dir}/${name}`;
  Deno.writeTextFileSync(path, text);
  return path;
}

/** A finished run of a few steps, trained once. */
const trained = `${dir}/trained`;
const SMALL = ["--backend", "cpu", "--steps", "40", "--set", "numEnvs=2"];
const SHORT_EVALUATION = ["--set", "evaluationEpisodes=1", "--quiet"];
await run(["train", ...SMALL, ...SHORT_EVALUATION, "--out", trained], {
  out: () => {},
  err: () => {},
  outIsTerminal: false,
  errIsTerminal: false,
});

async function copyOfRun(name: string): Promise<string> {
  const target = `${dir}/${name}`;
  await Deno.mkdir(`${target}/checkpoints`, { recursive: true });
  for (const sub of ["", "/checkpoints"]) {
    for await (const entry of Deno.readDir(trained + sub)) {
      if (!entry.isFile) continue;
      const path = `${sub}/${entry.name}`;
      await Deno.copyFile(trained + path, target + path);
    }
  }
  return target;
}

async function withCorruptCheckpoints(): Promise<string> {
  const target = await copyOfRun("corrupt");
  for await (const { name } of Deno.readDir(`${target}/checkpoints`)) {
    if (!name.endsWith(".safetensors")) continue;
    await Deno.truncate(`${target}/checkpoints/${name}`, 100);
  }
  return target;
}

async function withBrokenConfig(): Promise<string> {
  const target = await copyOfRun("broken-config");
  await Deno.writeTextFile(`${target}/config.yaml`, "algorithm: a2z\n");
  // The other copies of what the run began with.
  await Deno.remove(`${target}/config.sig`);
  await Deno.remove(`${target}/checkpoints`, { recursive: true });
  return target;
}

async function without(name: string, part: string): Promise<string> {
  const target = await copyOfRun(name);
  await Deno.remove(`${target}/${part}`, { recursive: true });
  return target;
}

const badYaml = file("bad.yaml", "numEnvs: [8\n");
const list = file("list.yaml", "- 1\n- 2\n");
const unknownKey = file("unknown.yaml", "env: CartPole-v1\nlerning_rate: 1\n");
const wrongType = file("type.yaml", "numEnvs: many\n");
const corrupt = await withCorruptCheckpoints();
const brokenConfig = await withBrokenConfig();
const noCheckpoints = await without("no-checkpoints", "checkpoints");
const noProgress = await without("no-progress", "progress.csv");

const CLI = import.meta.resolve("@bellman/cli");
const ENVS = import.meta.resolve("@bellman/envs");
const POLICIES = import.meta.resolve("@bellman/policies");
const A2C = import.meta.resolve("@bellman/a2c");

/** `--set` of a module with an algorithm of one's own. */
function algorithmModule(name: string, code: string): string {
  const text = `import { registerAlgorithm } from "${CLI}";
import { a2c } from "${A2C}";
import { registerNetwork } from "${POLICIES}";
${code}\n`;
  return `--set=algorithmModules=['${file(`${name}.ts`, text)}']`;
}

const nothing = algorithmModule("nothing", "");
const noEnvironment = file("no_environment.ts", "export class Room {}");
const again = algorithmModule("again", "registerAlgorithm(a2c);");
const spaced = algorithmModule(
  "spaced",
  `registerAlgorithm({ ...a2c, name: "my own" });`,
);
const seeded = algorithmModule(
  "seeded",
  `registerAlgorithm({ ...a2c, name: "seeded", schema: { properties: { seed: {} } } });`,
);
const broken = algorithmModule("broken", "registerAlgorithm({ ...a2c,");
const throwing = algorithmModule("throwing", `throw new Error("no luck");`);
const network = algorithmModule(
  "network",
  `registerNetwork("mlp", () => null);`,
);
const own = algorithmModule(
  "own",
  `registerAlgorithm({ ...a2c, name: "bad-inputs-own", presets: {} });`,
);
const unseeded = file(
  "unseeded.ts",
  `import { Env, box, discrete, register } from "${ENVS}";
class Unseeded extends Env {
  observationSpace = box({ low: 0, high: 1, shape: [1] });
  actionSpace = discrete(2);
  reset() {
    return Float32Array.of(Math.random());
  }
  step() {
    const observation = this.reset();
    return { observation, reward: 0, terminated: false, truncated: false };
  }
}
register({ id: "Unseeded-v0", maxEpisodeSteps: 9, make: () => new Unseeded() });
`,
);
const zoo = file(
  "zoo.yml",
  `CartPole-v1:
  n_envs: 8
  clip_range: lin_0.2
Acrobot-v1:
  env_wrapper: gym.wrappers.Mystery
MountainCar-v0:
  policy_kwargs: dict(features_extractor_class=Big)
`,
);

/** What is given, and what the line must say. */
const CASES: [args: string[], says: string][] = [
  [["trian"], "did you mean 'train'?"],
  [["train", "a2d"], "Unknown algorithm 'a2d': did you mean 'a2c'?"],
  [["train", "a2c", "now"], "Cannot read 'now'"],
  [["train", "--enw", "X"], "Unknown option '--enw': did you mean '--env'?"],
  [["train", "--env"], "expected a value, as in '--env ID'"],
  [["train", "--seed", "1", "--seed", "2"], "Cannot use '--seed' 2 times"],
  [["train", "--env", "CartPol-v1"], "did you mean 'CartPole-v1'?"],
  [["train", "--env", "CartPole"], "did you mean 'CartPole-v1'?"],
  [["train", "--preset", "Acrobat-v1"], "did you mean 'Acrobot-v1'?"],
  [
    ["train", "--preset", "CartPole-v1", "--config", list],
    "Cannot use both --preset and --config",
  ],
  [["train", "--config", `${dir}/none.yaml`], "there is no such file"],
  [["train", "--config", badYaml], "as YAML"],
  [["train", "--config", list], "expected a mapping"],
  [["train", "--config", unknownKey], "did you mean 'learning_rate'?"],
  [["train", "--config", wrongType], "expected an integer from 1 to 1048576"],
  [["train", "--set", "numEnvs=0"], "expected an integer from 1 to 1048576"],
  [["train", "--set", "lr=.nan"], "Cannot use lr = NaN"],
  [["train", "--set", "gamma=1.5"], "expected a number from 0 to 1"],
  [["train", "--set", "optimizer=adm"], "did you mean 'adam'?"],
  [["train", "--set", "numEnvs"], "expected KEY=VALUE"],
  [["train", "--set", "lr=1", "--set", "learningRate=2"], "the same key"],
  [["train", "--seed", "-1"], "Cannot use seed = -1"],
  [["train", "--steps", "1.5"], "Cannot use totalTimesteps = 1.5"],
  [["train", "--backend", "wsam"], "did you mean 'wasm'?"],
  [["train", "--engine", "onxx"], "did you mean 'onnx'?"],
  [["train", "--set", "threads=0"], "Cannot use threads = 0"],
  [["train", "--set", "network=cnn"], "images must be"],
  [
    ["train", "acer", "--set", "replayStart=30000"],
    "replayStart = 30000: expected at most bufferSize, 20000",
  ],
  [
    ["train", "acer", "--set", "numSteps=7"],
    "bufferSize = 20000: expected a multiple of numSteps, 7",
  ],
  [
    ["train", "acer", "--set", "network=lstm", "--set", "burnIn=20"],
    "burnIn = 20: expected less than numSteps, 20",
  ],
  [["train", "acer", "--set", "burnIn=2"], "expected a recurrent network"],
  [["train", "acer", "--set", "useSde=true"], "expected box actions"],
  [["train", "acer", "--set", "replayStorage=disk"], "expected memory or file"],
  [
    [
      ...["train", "acktr", "--set", "objective=separate"],
      ...["--set", "valueNetwork=shared"],
    ],
    "expected valueNetwork: separate",
  ],
  [["train", "acktr", "--set", "kfac_clip=0"], "expected a number above 0"],
  [["train", "acktr", "--set", "invert_every=0"], "expected an integer"],
  [["train", "acktr", "--set", "kfacForm=inverses"], "did you mean 'inverse'?"],
  [["train", "acktr", "--set", "damping=0"], "expected a number above 0"],
  [
    ["train", "acktr", "--set", "numEnvs=1", "--set", "numSteps=1"],
    "expected at least 2 steps for the factors of an update",
  ],
  [["train", "a3c", "--workers", "0"], "Cannot use workers = 0"],
  [["train", "a3c", "--workers", "2000"], "expected a whole number from 1 to"],
  [["train", "a3c", "--set", "numEnvs=4"], "1, and as many workers"],
  [
    ["train", "a3c", "--set", "vectorization=workers"],
    "expected sync or subprocesses",
  ],
  [
    ["train", "a3c", "--set", "normalizeObservation=true"],
    "each worker would have statistics of its own",
  ],
  [
    ["train", "async-q", "--env", "Pendulum-v1"],
    "expected discrete actions, or the algorithm a3c",
  ],
  [["train", ...SMALL, "--out", trained], "already holds a run"],
  [["train", "--resume", `${dir}/none`], "none"],
  [["train", "--resume", trained, "--seed", "1"], "Cannot use '--seed'"],
  [["train", "--resume", trained], "it has run all of its 40 steps"],
  [["train", "--resume", corrupt], "checkpoint"],
  [["train", "--resume", brokenConfig], "the algorithm 'a2z'"],
  [["eval"], "Cannot eval 0 runs"],
  [["eval", trained, "--episodes", "0"], "expected an integer of at least 1"],
  [
    ["eval", trained, "--checkpoint", "bset"],
    "expected best, latest or a step",
  ],
  [["eval", trained, "--checkpoint", "7"], "7"],
  [["eval", corrupt], "checkpoint"],
  [["eval", noCheckpoints], "checkpoint"],
  [["play", trained, "--gif", "a.gif", "--png", "b"], "give one of them"],
  [["play", trained, "--live"], "not a terminal"],
  [["export"], "Cannot export 0 runs"],
  [["export", trained, "--batch", "0"], "expected an integer of at least 1"],
  [["export", trained, "--out", `${dir}/none/a.onnx`], "none/a.onnx"],
  [["export", corrupt], "checkpoint"],
  [["plot"], "Cannot plot 0 runs"],
  [["plot", trained, "--key", "eprewmen"], "did you mean 'eprewmean'?"],
  [["plot", trained, "--out", `${dir}/curve.bmp`], "ends in .svg or .html"],
  [["plot", noProgress], "nothing has been logged yet"],
  [["list", "--jsn"], "did you mean '--json'?"],
  [["train", "ppo"], "Unknown algorithm 'ppo': it is not here; expected a2c"],
  [
    ["train", "--env", "LunarLander-v3"],
    "did you mean 'gym:LunarLander-v3', of Python's Gymnasium?",
  ],
  [["train", "ppo", "--help"], "Cannot help with 'ppo': expected one of a2c,"],
  [["train", "a2c", "gama", "--help"], "did you mean 'gamma'?"],
  [["train", "--env", "CartPol-v1", "--print-config"], "'CartPole-v1'?"],
  [["list", "sac", "Pendulm-v1"], "did you mean 'Pendulum-v1'?"],
  [["list", "a2c", "CartPole-v1", "now"], "Cannot list 'now': expected"],
  [["list", "--set", "numEnvs=3"], "expected algorithmModules=[FILE.ts]"],
  [
    ["train", "mine", nothing],
    "nothing.ts, which algorithmModules names, registers nothing: expected a call of registerAlgorithm, registerNetwork or registerLogger",
  ],
  [
    ["train", "--env=Room-v0", `--set=envModules=['${noEnvironment}']`],
    "no_environment.ts, which envModules names, registers nothing: expected a call of register",
  ],
  [["train", "a2c", again], "'a2c': there is one of that name"],
  [["train", "my-own", spaced], "expected a name of letters, digits,"],
  [["train", "seeded", seeded], "its setting 'seed' is one of every run"],
  [["train", "broken", broken], "which algorithmModules names: "],
  [["train", "throwing", throwing], "which algorithmModules names: no luck"],
  [["train", "a2c", network], "'mlp': there is one of that name"],
  [
    ["train", "a2c", "--set=algorithmModules=[https://example.com/a.ts]"],
    "which algorithmModules names: expected a file or a package",
  ],
  [
    ["train", "bad-inputs-own", own, "--preset=CartPole-v1"],
    "it is one of a2c, as in 'train a2c --preset CartPole-v1'",
  ],
  [
    ["train", "bad-inputs-own", own, "--set=gama=1"],
    "Unknown key 'gama' in the command line: did you mean 'gamma'?",
  ],
  [
    [
      ...["train", "--env=Unseeded-v0", `--set=envModules=['${unseeded}']`],
      "--quiet",
    ],
    "which is broken: the same seed and actions gave two different courses",
  ],
  [["train", "--config", zoo], "Cannot choose from the 3 environments of"],
  [
    ["train", "--config", zoo, "--env=Pendulum-v1"],
    "it has no settings of Pendulum-v1; expected one of CartPole-v1,",
  ],
  [
    ["train", "--config", zoo, "--env=CartPole-v1"],
    "it is for PPO (clip_range), which is not here",
  ],
  [
    ["train", "--config", zoo, "--env=Acrobot-v1"],
    "a module of envModules may wrap another",
  ],
  [
    ["train", "--config", zoo, "--env=MountainCar-v0"],
    "no setting is like it; leave it out",
  ],
  [
    ["train", "--resume", trained, "--steps", "40"],
    "expected more than its 40 steps",
  ],
  [
    ["train", "--resume", trained, "--steps", "1e99"],
    "Cannot use --steps 1e99",
  ],
  [
    ["train", "--resume", trained, "--init-from", trained],
    "Cannot use '--init-from' with --resume",
  ],
  [
    ["train", "--resume", trained, "--print-config"],
    "Cannot use '--print-config' with --resume",
  ],
  [["train", "--init-from", `${dir}/none`], "there is no such folder"],
  [["train", "--init-from", corrupt], "checkpoint"],
  [
    [...["train", "--env=Acrobot-v1", "--init-from", trained], "--quiet"],
    "use the same spaces and network",
  ],
  [
    ["train", "a3c", "--workers=1", "--init-from", trained, "--quiet"],
    "Cannot start from the weights of another run with a3c",
  ],
];

async function filesUnder(root: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(root)) {
    const path = `${root}/${entry.name}`;
    found.push(...(entry.isDirectory ? await filesUnder(path) : [path]));
  }
  return found.sort();
}

for (const [args, says] of CASES) {
  const shown = args.map((it) => it.replace(`${dir}/`, "")).join(" ");
  Deno.test(`one clear line: ${shown}`, async () => {
    const before = await filesUnder(dir);
    const { code, err } = await runQuietly(args);
    assertEquals(err.trimEnd().split("\n").length, 1, err);
    assertStringIncludes(err, says);
    assertEquals(err.startsWith("error: "), true);
    assertEquals(code, 2);
    assertEquals(await filesUnder(dir), before);
  });
}

Deno.test("a folder where a run's file belongs is one clear line", async () => {
  const names = [
    ...["report.html", "policy.onnx", "policy.onnx.tmp", "progress.csv"],
    ...["episodes.csv", "run.lock", "checkpoints/best.safetensors"],
    ...["checkpoints/step_000000040.safetensors"],
    ...["checkpoints/step_000000080.safetensors.tmp"],
  ];
  for (const [i, name] of names.entries()) {
    const run = await copyOfRun(`folder-${i}`);
    await Deno.remove(`${run}/report.html`);
    await Deno.remove(`${run}/${name}`).catch(() => {});
    await Deno.mkdir(`${run}/${name}/inside`, { recursive: true });
    const before = await filesUnder(run);
    const { code, err } = await runQuietly(["train", "--resume", run]);
    assertEquals([code, err], [
      2,
      `error: Cannot resume ${run}: ${run}/${name} is a folder, expected a file; move it away\n`,
    ]);
    assertEquals(await filesUnder(run), before);
    await Deno.remove(run, { recursive: true });
  }
});

Deno.test("--debug adds where an error came from", async () => {
  const { code, err } = await runQuietly(["train", "a2d", "--debug"]);
  assertEquals(code, 2);
  assertStringIncludes(err, "resolveConfig");
});

Deno.test("the process exits with 2 and prints nothing to standard output", async () => {
  const main = new URL("../cli/main.ts", import.meta.url).pathname;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", main, "train", "--env", "CartPol-v1"],
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  assertEquals(code, 2);
  assertEquals(decoder.decode(stdout), "");
  assertEquals(
    decoder.decode(stderr),
    "error: Unknown environment 'CartPol-v1': did you mean 'CartPole-v1'?\n",
  );
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
