/**
 * What a person can get wrong on a command line: each gives one line that says
 * what was wrong and what was expected, word by word, ends with 2, and writes
 * nothing.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describeProperty, type PropertySchema } from "@bellman/agent";
import { ALGORITHMS } from "@bellman/runs/settings";
import { capture } from "../cli/testdata/capture.ts";
import { fullSchema } from "../lab/runs/settings/resolve.ts";
import { copyRun, filesUnder, runProcess } from "./runs.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-bad-lines-" });
const FOLDERS = ["folder", "folder.gif", "folder.onnx", "folder.svg", "full"];
for (const name of FOLDERS) Deno.mkdirSync(`${dir}/${name}`);

/** A module with an algorithm of one's own. */
const algorithm = (code: string) => `
import { registerAlgorithm } from "${
  import.meta.resolve("@bellman/runs/settings")
}";
import { a2c } from "${import.meta.resolve("@bellman/a2c")}";
import { registerNetwork } from "${import.meta.resolve("@bellman/policies")}";
${code}
`;
const FILES: Record<string, string | Uint8Array> = {
  "full/notes.txt": "",
  "file.txt": "hello\n",
  "sac.yaml": "algorithm: sac\nenv: Pendulum-v1\ntau: 0.01\n",
  "value.yaml": "algorithm: sac\nenv: Pendulum-v1\ncritics: value\n",
  "nokey.yaml": "learnign_rate: 3\n",
  "nested.yaml": "a2c:\n  lr: 3\n",
  "list.yaml": "- 1\n- 2\n",
  "bad.yaml": "numEnvs: [8\n",
  "tabs.yaml": "a:\n\tb: 3\n",
  "twice.yaml": "lr: 1\nlr: 2\n",
  "old.yaml": "lr: 1\nlearning_rate: 2\n",
  "empty-env.yaml": "env:\n",
  "circle.yaml": "lr: &a {b: *a}\n",
  "latin.yaml": Uint8Array.of(0x65, 0x6e, 0x76, 0x3a, 0x20, 0xff, 0xfe),
  "zoo.yml": `CartPole-v1:
  n_envs: 8
  clip_range: lin_0.2
Acrobot-v1:
  env_wrapper: gym.wrappers.Mystery
MountainCar-v0:
  policy_kwargs: dict(features_extractor_class=Big)
`,
  "again.ts": algorithm("registerAlgorithm(a2c);"),
  "broken.ts": algorithm("registerAlgorithm({ ...a2c,"),
  "throwing.ts": algorithm(`throw new Error("no luck");`),
  "network.ts": algorithm(`registerNetwork("mlp", () => null);`),
  "own.ts": algorithm(
    `registerAlgorithm({ ...a2c, meta: { ...a2c.meta, name: "bad-inputs-own", presets: {} } });`,
  ),
};
for (const [name, content] of Object.entries(FILES)) {
  const bytes = typeof content === "string"
    ? new TextEncoder().encode(content)
    : content;
  Deno.writeFileSync(`${dir}/${name}`, bytes);
}

/** A finished run of a few steps, trained once. */
const trained = await capture(
  ...["train", "--backend=cpu", "--steps=40", "--set=numEnvs=2", "--quiet"],
  ...["--set=evaluationEpisodes=1", `--out=${dir}/RUN`],
);
assertEquals(trained.code, 0, trained.err);

const copyOfRun = (name: string) => copyRun(`${dir}/RUN`, `${dir}/${name}`);

const corrupt = `${copyOfRun("corrupt")}/checkpoints`;
for (const { name } of Deno.readDirSync(corrupt)) {
  if (name.endsWith(".safetensors")) {
    Deno.truncateSync(`${corrupt}/${name}`, 100);
  }
}
Deno.removeSync(`${copyOfRun("no-checkpoints")}/checkpoints`, {
  recursive: true,
});
Deno.removeSync(`${copyOfRun("no-progress")}/progress.csv`);

/**
 * What is given and, indented, what is said: @ stands for the test's folder,
 * which holds FILES and RUN, a run that has ended; quotes hold a word together.
 * … stands for what depends on the machine.
 */
const LINES = String.raw`
train --set hiddenSizes=[1e6,1e6]
  Cannot train with these settings: their arrays are larger than memory (…); lower bufferSize, numSteps, hiddenSizes or numEnvs
train --name ../x
  Cannot use --name ../x: expected up to 100 letters, digits, '-', '_' and '.' that begin with a letter, a digit or '_'
train --name x --out runs/y
  Cannot use both --name and --out: --name is for a folder under runs/, give one of them
train --set hiddenSizes=[64,
  Cannot read the value of '--set hiddenSizes=[64,': expected a YAML value such as 0.5, linear or [64, 64]
train --set workers=2
  Cannot use workers: 2 with vectorization: sync: expected workers or subprocesses
train --set policyPlots=true
  Cannot draw policyPlots of a2c: it has no Q function of actions, expected policyPlots: false or an algorithm such as sac
train --set envModules=[https://example.com/env.ts]
  Cannot import https://example.com/env.ts, which envModules names: expected a file or a package of npm: or jsr:, not https:
train --set algorithm=a4c
  Unknown algorithm 'a4c' in '--set algorithm=a4c': did you mean 'a2c'?
train sac --set algorithm=a2c
  Cannot use both 'train sac' and '--set algorithm=a2c': give one algorithm
train a2c --set env=CartPole-v1 --env CartPole-v1
  Cannot use both '--env' and '--set env=CartPole-v1' in the command line: they are the same key, give one
train a2c --config @sac.yaml
  Cannot use both 'train a2c' and 'algorithm: sac' of @sac.yaml: give one algorithm
train --config @sac.yaml --set algorithm=a2c
  Cannot use both '--set algorithm=a2c' and 'algorithm: sac' of @sac.yaml: give one algorithm
train --config @folder
  Cannot read the configuration file @folder: it is a folder, expected a file
train --config @nokey.yaml
  Unknown key 'learnign_rate' in @nokey.yaml: did you mean 'learningRate'?
train --config @nested.yaml
  Unknown key 'a2c' in @nested.yaml: 'train ALGORITHM --help' lists the keys
train --config @tabs.yaml
  Cannot read @tabs.yaml as YAML: Cannot parse YAML: tab characters must not be used in indentation at line 2, column 1
train --config @twice.yaml
  Cannot read @twice.yaml as YAML: Cannot parse YAML: duplicated mapping key at line 2, column 1
train --config @old.yaml
  Cannot use both 'lr' and 'learning_rate' in @old.yaml: they are the same key, give one
train --config @sac.yaml --set numSteps=5
  Unknown key 'numSteps' in the command line: did you mean 'nSteps'?
train --preset Pendulum-v1-mixture
  Unknown preset 'Pendulum-v1-mixture' of a2c: it is one of sac-v1, as in 'train sac-v1 --preset Pendulum-v1-mixture'
train --preset Pong
  Unknown preset 'Pong' of a2c: expected one of CartPole-v1, CartPole-v0, Acrobot-v1, MountainCar-v0, MountainCarContinuous-v0, Pendulum-v1, ALE, baselines
train --out @file.txt
  Cannot create run @file.txt: @file.txt is a file, wanted a folder
train --out @full
  Cannot create run @full: the folder is not empty, wanted a new one
train --out @file.txt/run
  Cannot create run @file.txt/run: @file.txt is a file, wanted a folder
train --quiet=3
  Cannot use '--quiet=3': '--quiet' takes no value, leave it out
train --set =3
  Cannot read '--set =3': expected KEY=VALUE, as in '--set numEnvs=8'
train --set __proto__=1
  Unknown key '__proto__' in the command line: 'train ALGORITHM --help' lists the keys
train --no-quiet
  Unknown option '--no-quiet': did you mean '--quiet'?
train --resume
  Cannot read '--resume': expected a value, as in '--resume RUN'
train --resume @full
  Cannot open run @full: it has no config.yaml
train --resume @RUN a2c
  Cannot use 'a2c' with --resume: a run resumes with the configuration that it was started with
train --resume @RUN --out x
  Cannot use '--out' with --resume: a run resumes with the configuration that it was started with
train -x
  Unknown option '-x': '--help' lists the options
train A2C
  Unknown algorithm 'A2C': did you mean 'a2c'?
train sac-v1 --env CartPole-v1
  Cannot run SAC (2018) with actions of type discrete: expected box, or SAC, DQN or PPO for discrete ones
train sac --env Pendulum-v1 --set bufferSize=100
  Cannot run SAC with batchSize = 256: expected at most bufferSize, 100
train sac --env Pendulum-v1 --set bufferSize=1e13
  Cannot hold 10000000000000 transitions: lower bufferSize or make observations smaller (Cannot make a buffer of 10000000000000 rows: expected fewer than 2^31)
train sac --env Pendulum-v1 --set batchSize=1e8
  Cannot run SAC with batchSize = 100000000: expected at most bufferSize, 1000000
train sac --env Pendulum-v1 --set learningStarts=2000000
  Cannot run SAC with learningStarts = 2000000: expected at most bufferSize, 1000000
train --config @value.yaml
  Cannot use critics = "value" of @value.yaml: a value function is learned by sac-v1 (@bellman/sac-v1)
train sac --env Pendulum-v1 --set policy=mixture
  Cannot use policy = "mixture" of the command line: it is a setting of sac-v1 (@bellman/sac-v1)
train sac --env Pendulum-v1 --set target_update_interval=2000
  Cannot use target_update_interval = 2000 of the command line: it is gone; choose a smaller tau
train sac-v1 --env Pendulum-v1 --set policy=mixture --set reparameterize=true
  Cannot run SAC (2018) with policy: mixture and reparameterize: true: expected false, as the choice of a component has no gradient
train --resume @RUN --every 100
  Cannot use '--every' with --resume: a run resumes with the configuration that it was started with
train --config @latin.yaml
  Unknown environment '��': 'deno task list --all' shows those that there are; ids of Python's Gymnasium begin with gym:, as gym:Id-v0 or gym:module:Id-v0, those of PettingZoo's games with pz:, as pz:id_v0, of games in pages and programs with page: and program:, as page:http://127.0.0.1:5173/, and modules that register others are named in envModules, as --set envModules=[./FILE.ts]
train --config @empty-env.yaml
  Cannot use env = null of @empty-env.yaml: expected a text
train --set 'env: Pendulum-v1'
  Cannot read '--set env: Pendulum-v1': expected KEY=VALUE, as in '--set numEnvs=8'
train --env ''
  Cannot read '--env': expected a value, as in '--env ID'
train --env ' '
  Unknown environment ' ': 'deno task list --all' shows those that there are; ids of Python's Gymnasium begin with gym:, as gym:Id-v0 or gym:module:Id-v0, those of PettingZoo's games with pz:, as pz:id_v0, of games in pages and programs with page: and program:, as page:http://127.0.0.1:5173/, and modules that register others are named in envModules, as --set envModules=[./FILE.ts]
train --env cartpole
  Unknown environment 'cartpole': did you mean 'CartPole-v1'? There are CartPole-v0, CartPole-v1
train --env gym:
  Cannot use the environment 'gym:': expected a name of Gymnasium's, such as gym:LunarLander-v3
train --set envModules=[@none.ts]
  Cannot import @none.ts, which envModules names: Module not found "file://@none.ts".
train --set stopReward=5 --set evaluationInterval=0
  Cannot stop by stopReward with evaluationInterval = 0: expected the steps between evaluations
train --set patience=1 --set evaluation_interval=0
  Cannot stop by patience with evaluationInterval = 0: expected the steps between evaluations
train --set 'hiddenSizes=&a [*a]'
  Cannot read the value of '--set hiddenSizes=&a [*a]': expected a YAML value such as 0.5, linear or [64, 64]
train --config @circle.yaml
  Cannot read @circle.yaml as YAML: it has more than 1,000,000 values, counting those that its anchors repeat
train --set 'lr=0.1\nnumEnvs: 3'
  Cannot read the value of '--set lr=0.1 numEnvs: 3': expected a YAML value such as 0.5, linear or [64, 64]
train --quiet false
  Cannot use '--quiet false': '--quiet' takes no value, leave it out
train a2c now
  Cannot read 'now': expected one algorithm and options, as in 'train a2c --env CartPole-v1'
train --enw X
  Unknown option '--enw': did you mean '--env'?
train --seed 1 --seed 2
  Cannot use '--seed' 2 times: give it once
train --preset Acrobat-v1
  Unknown preset 'Acrobat-v1' of a2c: did you mean 'Acrobot-v1'?
train --preset CartPole-v1 --config @list.yaml
  Cannot use both --preset and --config: give one of them
train --config @none.yaml
  Cannot read the configuration file @none.yaml: there is no such file or folder
train --config @bad.yaml
  Cannot read @bad.yaml as YAML: Cannot parse YAML: unexpected end of the stream within a flow collection at line 2, column 1
train --set numEnvs
  Cannot read '--set numEnvs': expected KEY=VALUE, as in '--set numEnvs=8'
train --set seed=1 --seed 2
  Cannot use both '--seed' and '--set seed=1' in the command line: they are the same key, give one
train --set lr=1 --set learningRate=2
  Cannot use both '--set lr=1' and '--set learningRate=2' in the command line: they are the same key, give one
train --set network=cnn
  Cannot convolve inputs of shape [4]: images must be [height, width, channels]
train acer --set replayStart=30000
  Cannot run ACER with replayStart = 30000: expected at most bufferSize, 20000
train acer --set numSteps=7
  Cannot run ACER with bufferSize = 20000: expected a multiple of numSteps, 7
train acer --set network=lstm --set burnIn=20
  Cannot run ACER with burnIn = 20: expected less than numSteps, 20
train ppo --set minibatches=5
  Cannot run PPO with minibatches = 5 of 1024 steps (numEnvs = 8, numSteps = 128): expected a divisor of 1024
train ppo --set network=lstm --set sequenceLength=24
  Cannot run PPO with sequenceLength = 24 and numSteps = 128: expected a divisor of numSteps
train ppo --set network=lstm --set minibatches=16
  Cannot run PPO with minibatches = 16 of 8 sequences (numEnvs = 8, numSteps = 128): expected a divisor of 8
train ppo --set batch_size=64
  Unknown key 'batch_size' in the command line: an update learns from numSteps steps of each of numEnvs environments; 'minibatches' of ppo divide them
train a3c --workers 2000 --quiet
  Cannot run A3C with workers = 2000: expected an integer from 1 to 1024
train a3c --set numEnvs=4 --quiet
  Cannot train a3c with numEnvs: 4: expected 1, and as many workers
train a3c --set vectorization=workers --quiet
  Cannot train a3c with vectorization: workers: expected sync or subprocesses, as each worker has its environment
train a3c --set normalizeObservation=true --quiet
  Cannot train a3c with normalizeObservation: true: expected false, as each worker would have statistics of its own
train async-q --env Pendulum-v1 --quiet
  Cannot learn values of box actions: expected discrete actions, or the algorithm a3c
train --resume @RUN
  Cannot resume @RUN: it has run all of its 40 steps; more --steps prolong it
train --resume @corrupt
  Cannot load checkpoint @corrupt/checkpoints/step_000000040.safetensors: it is cut off after 100 bytes, expected at least …
train trpo
  Unknown algorithm 'trpo': it is not here; expected ppo or acktr, which learn from rollouts as well
train mine --help
  Cannot help with 'mine': expected one of a2c, acer, acktr, a3c, async-q, async-nstep-q, async-sarsa, dqn, ppo, sac, sac-v1, td3 or …
train a2d --help
  Cannot help with 'a2d': did you mean 'a2c'?
train a2c gama --help
  Cannot help with 'gama' of a2c: did you mean 'gamma'?
train a2c --set=algorithmModules=['@again.ts']
  Cannot import @again.ts, which algorithmModules names: Cannot register the algorithm 'a2c': there is one of that name (again.ts:5)
train broken --set=algorithmModules=['@broken.ts']
  Cannot import @broken.ts, which algorithmModules names: …
train throwing --set=algorithmModules=['@throwing.ts']
  Cannot import @throwing.ts, which algorithmModules names: no luck (throwing.ts:5)
train a2c --set=algorithmModules=['@network.ts']
  Cannot import @network.ts, which algorithmModules names: Cannot register the network 'mlp': there is one of that name (network.ts:5)
train a2c --set=algorithmModules=[https://example.com/a.ts]
  Cannot import https://example.com/a.ts, which algorithmModules names: expected a file or a package of npm: or jsr:, not https:
train bad-inputs-own --set=algorithmModules=['@own.ts'] --preset=CartPole-v1
  Unknown preset 'CartPole-v1' of bad-inputs-own: it is one of a2c, as in 'train a2c --preset CartPole-v1'
train --config @zoo.yml
  Cannot choose from the 3 environments of @zoo.yml: expected --env, as in --env CartPole-v1
train --config @zoo.yml --env=Pendulum-v1
  Cannot use @zoo.yml: it has no settings of Pendulum-v1; expected one of CartPole-v1, Acrobot-v1, MountainCar-v0
train --config @zoo.yml --env=CartPole-v1
  Cannot use @zoo.yml: it is for PPO (clip_range); expected 'train ppo'
train --config @zoo.yml --env=MountainCar-v0
  Cannot use policy_kwargs' features_extractor_class of @zoo.yml = "Big": no setting is like it; leave it out
train --resume @RUN --steps 40
  Cannot resume @RUN with --steps 40: expected more than its 40 steps
train --resume @RUN --steps 1e99
  Cannot use --steps 1e99: expected an integer from 1 to 1000000000000000
train --resume @RUN --init-from @RUN
  Cannot use '--init-from' with --resume: a run resumes with the configuration that it was started with
train --resume @RUN --print-config
  Cannot use '--print-config' with --resume: a run resumes with the configuration that it was started with
train --init-from @none
  Cannot open run @none: there is no such folder
train --env=Acrobot-v1 --init-from @RUN --quiet
  Cannot start from @RUN, step 2: its policy has pi/dense0/kernel [4,64], expected [6,64]; use the same spaces, network and normalization
train a3c --workers=1 --init-from @RUN --quiet
  Cannot start from the weights of another run with a3c: expected an algorithm of one agent, such as a2c
eval @RUN @RUN
  Cannot eval 2 runs: expected one run folder, as in 'eval runs/a2c-CartPole-v1-seed0'
eval @RUN --seed -1
  Cannot use --seed -1: expected an integer of at least 0
eval @RUN --checkpoint ''
  Cannot read '--checkpoint': expected a value, as in '--checkpoint WHICH'
eval @RUN --gif a.gif
  Unknown option '--gif': '--help' lists the options
eval @RUN --deterministic --stochastic
  Cannot use both --deterministic and --stochastic: give one of them
eval @file.txt
  Cannot open run @file.txt: it has no config.yaml
eval @none/../@none
  Cannot open run @none/../@none: there is no such folder
eval ''
  Cannot open the run '': expected a run folder, such as runs/a2c-CartPole-v1-seed0
eval @RUN --deterministic true
  Cannot use '--deterministic true': '--deterministic' takes no value, leave it out
eval
  Cannot eval 0 runs: expected one run folder, as in 'eval runs/a2c-CartPole-v1-seed0'
eval @RUN --checkpoint 7
  Cannot load the checkpoint of step 7: @RUN/checkpoints has 0, 2, 40
eval @corrupt
  Cannot load checkpoint @corrupt/checkpoints/step_000000040.safetensors: it is cut off after 100 bytes, expected at least …
eval @no-checkpoints
  Cannot load a checkpoint: @no-checkpoints/checkpoints has none
play
  Cannot play 0 runs: expected one run folder, as in 'play runs/a2c-CartPole-v1-seed0'
play @RUN --fps 0
  Cannot use --fps 0: expected an integer of at least 1
play @RUN --fps 101
  Cannot write a GIF of 101 pictures a second: expected at most 50; use --mp4 FILE, or a lower --fps with --every N, which looks as fast
play @RUN --width 0
  Cannot use --width 0: expected an integer from 1 to 8192
play @RUN --gif a.mp4
  Cannot write the video to a.mp4: expected a file that ends in .gif
play @RUN --gif @none/a.gif
  Cannot write the video to @none/a.gif: the folder @none is not there
play @RUN --gif @folder.gif
  Cannot write the video to @folder.gif: expected a file, this is a folder
play @RUN --mp4 a.gif
  Cannot write the video to a.gif: expected a file that ends in .mp4
play @RUN --png p --fps 5
  Cannot use --fps with --png: single pictures have no rate; leave it out
play @RUN --gif a.gif --live
  Cannot use more than one of --gif, --mp4, --png and --live: give one of them
play @RUN --png @file.txt
  Cannot write the pictures to @file.txt: expected a folder, this is a file
play @RUN --live
  Cannot play live: standard output is not a terminal; use --gif or --mp4 FILE
export @RUN --seed 3
  Unknown option '--seed': '--help' lists the options
export @RUN --out @folder.onnx
  Cannot write the policy to @folder.onnx: expected a file, this is a folder
export @RUN other
  Cannot export 2 runs: expected one run folder, as in 'export runs/a2c-CartPole-v1-seed0'
export @RUN --out @
  Cannot write the policy to @: expected a file that ends in .onnx
export @RUN --out /dev/stdout
  Cannot write the policy to /dev/stdout: expected a file that ends in .onnx
export @RUN --out @RUN/config.yaml
  Cannot write the policy to @RUN/config.yaml: expected a file that ends in .onnx
share @RUN
  Cannot share without --out: expected a new folder, as in '--out agent'
share --out @new
  Cannot share 0 runs: expected one run folder, as in 'share runs/a2c-CartPole-v1-seed0 --out agent'
share @none --out @new
  Cannot open run @none: there is no such folder
share @RUN --out @RUN
  Cannot share into @RUN: it is not empty, expected a new folder
share @RUN --out @RUN/config.yaml
  Cannot use the file @RUN/config.yaml: a part of its path is not a folder
share @RUN --out @new --name a/b
  Cannot share under the name a/b: expected up to 100 letters, digits, '-', '_' and '.'
share @RUN --out @new --license 'M I T'
  Cannot share with the license M I T: expected its name, such as MIT
share @RUN --out @new --check
  Cannot use --out with --check: it is for a folder that is made
share --check
  Cannot check 0 folders: expected at least one, as in 'share --check agent'
share --check @none
  Cannot check @none: expected the folder of a shared agent
eval zoo:a2c/CartPole-v2
  Unknown agent 'zoo:a2c/CartPole-v2': did you mean 'zoo:a2c/CartPole-v1'?
train --resume zoo:none
  Unknown agent 'zoo:none': expected one of …
plot @RUN --key
  Cannot read '--key': expected a value, as in '--key STATISTIC'
plot @RUN @none
  Cannot open run @none: there is no such folder
plot @RUN --out a.png
  Cannot plot to a.png: expected a file that ends in .svg or .html
plot @RUN --out @none/a.svg
  Cannot write the curves to @none/a.svg: the folder @none is not there
plot @RUN --out @folder.svg
  Cannot write the curves to @folder.svg: expected a file, this is a folder
plot @RUN --key step
  Cannot plot 'step' of @RUN: did you mean 'time/steps'?
plot @RUN --band sd
  Cannot use --band sd: expected one of ci, std, iqr, range, none
plot @RUN --x updates
  Cannot use --x updates: expected one of steps, time, episodes
plot @RUN --smooth -0.1
  Cannot use --smooth -0.1: expected a part of the curve from 0 to 0.5, such as 0.05
plot @RUN --threshold high
  Cannot use --threshold high: expected a number, such as 475
plot @RUN --treshold 475
  Unknown option '--treshold': did you mean '--threshold'?
plot @RUN --out @file.txt/a.svg
  Cannot write the curves to @file.txt/a.svg: the folder @file.txt cannot be written to
plot
  Cannot plot 0 runs: expected at least one run folder, as in 'plot runs/*'
plot @no-progress
  Cannot plot 'rollout/return_mean' of @no-progress: nothing has been logged yet
list all
  Cannot list 'all': did you mean 'list --all'?
list --all --jsn
  Unknown option '--jsn': did you mean '--json'?
list sac Pendulm-v1
  Cannot list 'Pendulm-v1': did you mean 'Pendulum-v1'?
list a2c CartPole-v1 now
  Cannot list 'now': expected a preset, an algorithm, or both, as in 'list a2c CartPole-v1'
list --set numEnvs=3
  Cannot use '--set numEnvs=3' with list: expected algorithmModules=[FILE.ts]
evla @RUN
  Unknown command 'evla': did you mean 'eval'?
Train
  Unknown command 'Train': did you mean 'train'?
--version
  Unknown command '--version': expected one of train, experiment, search, eval, play, record, league, export, plot, share, board, list
`;

/** Settings that were tried, with their schemas: algorithms share many. */
const seen = new Set<string>();

const CASES = LINES.replaceAll(/\n {2}/g, "\0").trim().split("\n")
  .map((it) => it.split("\0"));

function wordsOf(line: string): string[] {
  return [...line.replaceAll("\\n", "\n").matchAll(/'([^']*)'|(\S+)/g)]
    .map(([, quoted, plain]) => (plain ?? quoted).replace("@", `${dir}/`));
}

/** Runs without --out would begin here. */
function startedRuns(): number {
  try {
    return [...Deno.readDirSync("runs")].length;
  } catch {
    return 0;
  }
}

for (const [line, message] of CASES) {
  Deno.test(`one clear line: ${line}`, async () => {
    const before = [filesUnder(dir), startedRuns()];
    const { code, out, err } = await capture(...wordsOf(line));
    const [start, end] = message.split("…");
    const said = err.replaceAll(`${dir}/`, "@");
    if (end === undefined) assertEquals(said, `error: ${message}\n`);
    else {
      assert(said.startsWith(`error: ${start}`), said);
      assert(said.endsWith(`${end}\n`), said);
      assertEquals(said.trimEnd().split("\n").length, 1);
    }
    assertEquals([code, out], [2, ""]);
    assertEquals([filesUnder(dir), startedRuns()], before);
  });
}

/** Values that a setting refuses. */
function outside(property: PropertySchema): unknown[] {
  const { enum: names, anyOf, minimum, maximum } = property;
  if (names) return ["none of these"];
  const types = (anyOf ?? [property]).flatMap(({ type }) => type ?? []);
  const isNumber = types.includes("number") || types.includes("integer");
  const numbers = isNumber && !anyOf
    ? [
      ...minimum === undefined
        ? []
        : [minimum - Math.max(1, Math.abs(minimum))],
      ...maximum === undefined
        ? []
        : [maximum + Math.max(1, Math.abs(maximum))],
      ...property.exclusiveMinimum === undefined ? [] : [0],
      ...types.includes("integer") ? [0.5] : [],
      ...minimum === -1 && types.includes("integer") ? [0] : [],
      NaN,
    ]
    : [];
  const others: Record<string, unknown> = {
    string: "a text",
    boolean: true,
    number: 3,
    array: [[[]]],
    object: { no: { such: 1 } },
    null: null,
  };
  if (types.includes("integer")) delete others.number;
  for (const type of types) delete others[type];
  // One name is a list of it.
  if (property.items?.type === "string") delete others.string;
  // Each type but those that have others inside.
  if (types.includes("array")) delete others.object;
  return [...numbers, ...Object.values(others)];
}

for (const definition of ALGORITHMS) {
  Deno.test(`a setting of ${definition.meta.name} is told what its schema says`, async () => {
    const { properties } = fullSchema(definition);
    for (const [key, property] of Object.entries(properties)) {
      const text = JSON.stringify([key, property]);
      // Which algorithm is no setting of one.
      if (key === "algorithm" || seen.has(text)) continue;
      seen.add(text);
      const values = outside(property);
      // Another kind of value for each setting.
      for (const value of [values[seen.size % values.length]]) {
        const set = Number.isNaN(value) ? ".nan" : JSON.stringify(value);
        const shown = Number.isNaN(value) ? "NaN" : set;
        const { code, out, err } = await capture(
          ...[
            "train",
            definition.meta.name,
            `--set=${key}=${set}`,
            "--print-config",
          ],
        );
        const says =
          `error: Cannot use ${key} = ${shown} of the command line: ` +
          `expected ${describeProperty(property)}`;
        assert(err.startsWith(says), `${err}instead of\n${says}`);
        assertEquals([code, out, err.split("\n").length], [2, "", 2]);
      }
    }
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
    const run = copyOfRun(`folder-${i}`);
    await Deno.remove(`${run}/${name}`).catch(() => {});
    await Deno.mkdir(`${run}/${name}/inside`, { recursive: true });
    const before = filesUnder(run);
    const { code, err } = await capture("train", "--resume", run);
    const says = `${run}/${name} is a folder, expected a file; move it away`;
    assertEquals([code, err], [2, `error: Cannot resume ${run}: ${says}\n`]);
    assertEquals(filesUnder(run), before);
    await Deno.remove(run, { recursive: true });
  }
});

Deno.test("--debug adds where an error came from", async () => {
  const { code, err } = await capture("train", "a2d", "--debug");
  assertEquals(code, 2);
  assertStringIncludes(err, "resolveConfig");
});

Deno.test("the process exits with 2 and prints nothing to standard output", async () => {
  const args = ["train", "--env", "CartPol-v1"];
  const { code, out, err } = await runProcess(args);
  assertEquals([code, out, err], [
    2,
    "",
    "error: Unknown environment 'CartPol-v1': did you mean 'CartPole-v1'?\n",
  ]);
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
