/**
 * Command lines with a mistake: each gives one line that says what was wrong
 * and what was expected, word by word, ends with 2, and writes nothing.
 */
import { assert, assertEquals } from "@std/assert";
import { capture } from "../cli/testdata/capture.ts";

const dir = await Deno.makeTempDir({ prefix: "bellman-bad-lines-" });

for (
  const name of ["folder", "folder.gif", "folder.onnx", "folder.svg", "full"]
) {
  Deno.mkdirSync(`${dir}/${name}`);
}
const FILES: Record<string, string | Uint8Array> = {
  "full/notes.txt": "",
  "file.txt": "hello\n",
  "sac.yaml": "algorithm: sac\nenv: Pendulum-v1\ncritics: value\n",
  "nokey.yaml": "learnign_rate: 3\n",
  "nested.yaml": "a2c:\n  lr: 3\n",
  "number.yaml": "3\n",
  "tabs.yaml": "a:\n\tb: 3\n",
  "twice.yaml": "lr: 1\nlr: 2\n",
  "old.yaml": "lr: 1\nlearning_rate: 2\n",
  "empty-env.yaml": "env:\n",
  "float.yaml": "numEnvs: 2.5\n",
  "circle.yaml": "lr: &a {b: *a}\n",
  "latin.yaml": Uint8Array.of(0x65, 0x6e, 0x76, 0x3a, 0x20, 0xff, 0xfe),
};
for (const [name, content] of Object.entries(FILES)) {
  const bytes = typeof content === "string"
    ? new TextEncoder().encode(content)
    : content;
  Deno.writeFileSync(`${dir}/${name}`, bytes);
}
const trained = await capture(
  ...["train", "--backend=cpu", "--steps=40", "--set=numEnvs=2", "--quiet"],
  ...["--set=evaluationEpisodes=1", `--out=${dir}/RUN`],
);
assertEquals(trained.code, 0, trained.err);

/**
 * What is given and what is said: @ stands for the test's folder, which holds
 * FILES and RUN, a run that has ended; quotes hold a word together. … stands
 * for what depends on the machine.
 */
const CASES: [line: string, message: string][] = [
  [
    "train --steps 1e30",
    "Cannot use totalTimesteps = 1e+30 of the command line: expected an integer from 1 to 1000000000000000",
  ],
  [
    "train --steps 0",
    "Cannot use totalTimesteps = 0 of the command line: expected an integer from 1 to 1000000000000000",
  ],
  [
    "train --steps many",
    'Cannot use totalTimesteps = "many" of the command line: expected an integer from 1 to 1000000000000000',
  ],
  [
    "train --steps -5",
    "Cannot use totalTimesteps = -5 of the command line: expected an integer from 1 to 1000000000000000",
  ],
  [
    "train --steps [1,2]",
    "Cannot use totalTimesteps = [1,2] of the command line: expected an integer from 1 to 1000000000000000",
  ],
  [
    "train --steps 9007199254740993",
    "Cannot use totalTimesteps = 9007199254740992 of the command line: expected an integer from 1 to 1000000000000000",
  ],
  [
    "train --steps .inf",
    "Cannot use totalTimesteps = Infinity of the command line: expected an integer from 1 to 1000000000000000",
  ],
  [
    "train --seed 4294967296",
    "Cannot use seed = 4294967296 of the command line: expected an integer from 0 to 4294967295",
  ],
  [
    "train --seed 1.5",
    "Cannot use seed = 1.5 of the command line: expected an integer from 0 to 4294967295",
  ],
  [
    "train --seed abc",
    'Cannot use seed = "abc" of the command line: expected an integer from 0 to 4294967295',
  ],
  [
    "train --seed null",
    "Cannot use seed = null of the command line: expected an integer from 0 to 4294967295",
  ],
  [
    "train --set numSteps=1e12",
    "Cannot use numSteps = 1000000000000 of the command line: expected an integer from 1 to 100000000",
  ],
  [
    "train --set numSteps=1e8",
    "Cannot train with numSteps = 100000000: that takes … of this machine",
  ],
  [
    "train --set numSteps=0",
    "Cannot use numSteps = 0 of the command line: expected an integer from 1 to 100000000",
  ],
  [
    "train --set numSteps=-5",
    "Cannot use numSteps = -5 of the command line: expected an integer from 1 to 100000000",
  ],
  [
    "train --set hiddenSizes=[1e9]",
    "Cannot use hiddenSizes = [1000000000] of the command line: expected a list of at most 100, each an integer from 1 to 1000000",
  ],
  [
    "train --set hiddenSizes=[1e6,1e6]",
    "Cannot train with hiddenSizes = [1000000,1000000]: that takes … of this machine",
  ],
  [
    "train --name ../x",
    "Cannot use --name ../x: expected up to 100 letters, digits, '-', '_' and '.' that begin with a letter, a digit or '_'",
  ],
  [
    "train --name x --out runs/y",
    "Cannot use both --name and --out: --name is for a folder under runs/, give one of them",
  ],
  [
    "train --set hiddenSizes=64",
    "Cannot use hiddenSizes = 64 of the command line: expected a list of at most 100, each an integer from 1 to 1000000, as in [64, 64]",
  ],
  [
    "train --set hiddenSizes=[64,0]",
    "Cannot use hiddenSizes = [64,0] of the command line: expected a list of at most 100, each an integer from 1 to 1000000",
  ],
  [
    "train --set hiddenSizes=[64,2.5]",
    "Cannot use hiddenSizes = [64,2.5] of the command line: expected a list of at most 100, each an integer from 1 to 1000000",
  ],
  [
    "train --set hiddenSizes=[64,",
    "Cannot read the value of '--set hiddenSizes=[64,': expected a YAML value such as 0.5, linear or [64, 64]",
  ],
  [
    "train --set learningRate=1e300",
    "Cannot use learningRate = 1e+300 of the command line: expected a number above 0 and at most 1e+30",
  ],
  [
    "train --set learningRate=0",
    "Cannot use learningRate = 0 of the command line: expected a number above 0 and at most 1e+30",
  ],
  [
    "train --set learningRate=-1",
    "Cannot use learningRate = -1 of the command line: expected a number above 0 and at most 1e+30",
  ],
  [
    "train --set learningRate=.inf",
    "Cannot use learningRate = Infinity of the command line: expected a number above 0 and at most 1e+30",
  ],
  [
    "train --set learningRate=fast",
    'Cannot use learningRate = "fast" of the command line: expected a number above 0 and at most 1e+30',
  ],
  [
    "train --set learningRate=true",
    "Cannot use learningRate = true of the command line: expected a number above 0 and at most 1e+30",
  ],
  [
    "train --set learningRateSchedule=linaer",
    "Cannot use learningRateSchedule = \"linaer\" of the command line: expected constant, linear, double_linear_con, middle_drop, double_middle_drop, cosine or exponential; did you mean 'linear'?",
  ],
  [
    "train --set valueLearningRate=0",
    "Cannot use valueLearningRate = 0 of the command line: expected a number above 0 and at most 1e+30 or null",
  ],
  [
    "train --set maxGradNorm=0",
    "Cannot use maxGradNorm = 0 of the command line: expected a number above 0 and at most 1e+30 or null",
  ],
  [
    "train --set maxGradNorm=1e40",
    "Cannot use maxGradNorm = 1e+40 of the command line: expected a number above 0 and at most 1e+30 or null",
  ],
  [
    "train --set rmspropEpsilon=0",
    "Cannot use rmspropEpsilon = 0 of the command line: expected a number above 0 and at most 1e+30",
  ],
  [
    "train --set rmspropDecay=2",
    "Cannot use rmspropDecay = 2 of the command line: expected a number from 0 to 1",
  ],
  [
    "train --set gaeLambda=-0.1",
    "Cannot use gaeLambda = -0.1 of the command line: expected a number from 0 to 1",
  ],
  [
    "train --set gamma=1.0001",
    "Cannot use gamma = 1.0001 of the command line: expected a number from 0 to 1",
  ],
  [
    "train --set valueCoefficient=-1",
    "Cannot use valueCoefficient = -1 of the command line: expected a number from 0 to 1e+30",
  ],
  [
    "train --set entropyCoefficient=.nan",
    "Cannot use entropyCoefficient = NaN of the command line: expected a number from 0 to 1e+30",
  ],
  [
    "train --set initialLogStd=1e300",
    "Cannot use initialLogStd = 1e+300 of the command line: expected a number from -80 to 80",
  ],
  [
    "train --set activation=relu6",
    "Cannot use activation = \"relu6\" of the command line: expected tanh, relu, elu, selu, leaky_relu, sigmoid, softplus, silu or linear; did you mean 'relu'?",
  ],
  [
    "train --set network=mpl",
    "Cannot use network = \"mpl\" of the command line: expected auto, mlp, cnn, cnn_32, cnn_2013, cnn_small, conv_only, lstm, lnlstm, cnn_lstm or cnn_lnlstm; did you mean 'mlp'?",
  ],
  [
    "train --set network=lstm --set lstmSize=0",
    "Cannot use lstmSize = 0 of the command line: expected an integer from 1 to 1000000",
  ],
  [
    "train --set network=lstm --set lstmSize=1e6",
    "Cannot train with lstmSize = 1000000: that takes … of this machine",
  ],
  [
    "train --set valueNetwork=both",
    'Cannot use valueNetwork = "both" of the command line: expected shared or separate',
  ],
  [
    "train --set objective=shred",
    "Cannot use objective = \"shred\" of the command line: expected shared, separate or null; did you mean 'shared'?",
  ],
  [
    "train --set useSde=true",
    "Cannot use state-dependent exploration for discrete actions: it is for box actions",
  ],
  [
    "train --set sdeSampleFrequency=0",
    "Cannot run A2C with sdeSampleFrequency = 0: expected a whole number of at least 1",
  ],
  [
    "train --set sdeSampleFrequency=-2",
    "Cannot use sdeSampleFrequency = -2 of the command line: expected an integer from -1 to 1000000000000000",
  ],
  [
    "train --set numEnvs=0",
    "Cannot use numEnvs = 0 of the command line: expected an integer from 1 to 1048576, at most 4096 with loop: host",
  ],
  [
    "train --set numEnvs=4097",
    "Cannot use numEnvs = 4097: expected an integer from 1 to 1048576, at most 4096 with loop: host",
  ],
  [
    "train --set numEnvs=1e6",
    "Cannot use numEnvs = 1000000: expected an integer from 1 to 1048576, at most 4096 with loop: host",
  ],
  [
    "train --set workers=0 --set vectorization=workers",
    "Cannot use workers = 0 of the command line: expected an integer from 1 to 4096 or null",
  ],
  [
    "train --set workers=2",
    "Cannot use workers: 2 with vectorization: sync: expected workers or subprocesses",
  ],
  [
    "train --set vectorization=threads",
    'Cannot use vectorization = "threads" of the command line: expected sync, workers or subprocesses',
  ],
  [
    "train --set stepTimeout=0",
    "Cannot use stepTimeout = 0 of the command line: expected a number above 0 and at most 1000000",
  ],
  [
    "train --set stepTimeout=1e12",
    "Cannot use stepTimeout = 1000000000000 of the command line: expected a number above 0 and at most 1000000",
  ],
  [
    "train --set maxEpisodeSteps=0",
    "Cannot use maxEpisodeSteps = 0 of the command line: expected an integer from 1 to 1000000000000000 or null",
  ],
  [
    "train --set frameStack=0",
    "Cannot use frameStack = 0 of the command line: expected an integer from 1 to 1024",
  ],
  [
    "train --set frameStack=1e9",
    "Cannot use frameStack = 1000000000 of the command line: expected an integer from 1 to 1024",
  ],
  [
    "train --set frameStack=2.5",
    "Cannot use frameStack = 2.5 of the command line: expected an integer from 1 to 1024",
  ],
  [
    "train --set threads=1e9",
    "Cannot use threads = 1000000000 of the command line: expected an integer from 1 to 1024 or null",
  ],
  [
    "train --set logInterval=0",
    "Cannot use logInterval = 0 of the command line: expected an integer from 1 to 1000000000000000 or null",
  ],
  [
    "train --set evaluationInterval=-1",
    "Cannot use evaluationInterval = -1 of the command line: expected an integer from 0 to 1000000000000000 or null",
  ],
  [
    "train --set evaluationEpisodes=0",
    "Cannot use evaluationEpisodes = 0 of the command line: expected an integer from 1 to 1000000",
  ],
  [
    "train --set evaluationEpisodes=1e9",
    "Cannot use evaluationEpisodes = 1000000000 of the command line: expected an integer from 1 to 1000000",
  ],
  [
    "train --set checkpointInterval=-1",
    "Cannot use checkpointInterval = -1 of the command line: expected an integer from 0 to 1000000000000000",
  ],
  [
    "train --set checkpointInterval=0.5",
    "Cannot use checkpointInterval = 0.5 of the command line: expected an integer from 0 to 1000000000000000",
  ],
  [
    "train --set keepCheckpoints=0",
    "Cannot use keepCheckpoints = 0 of the command line: expected an integer from 1 to 1000000",
  ],
  [
    "train --set patience=0",
    "Cannot use patience = 0 of the command line: expected an integer from 1 to 1000000000000000 or null",
  ],
  [
    "train --set maxSeconds=0",
    "Cannot use maxSeconds = 0 of the command line: expected a number above 0 and at most 1000000000 or null",
  ],
  [
    "train --set maxSeconds=forever",
    'Cannot use maxSeconds = "forever" of the command line: expected a number above 0 and at most 1000000000 or null',
  ],
  [
    "train --set stopReward=.nan",
    "Cannot use stopReward = NaN of the command line: expected a number from -1e+300 to 1e+300 or null",
  ],
  [
    "train --set clipReward=maybe",
    'Cannot use clipReward = "maybe" of the command line: expected true or false',
  ],
  [
    "train --set policyPlots=true",
    "Cannot draw policyPlots of a2c: it has no Q function of actions, expected policyPlots: false or an algorithm such as sac",
  ],
  [
    "train --set envKwargs=[1]",
    "Cannot use envKwargs = [1] of the command line: expected a mapping",
  ],
  [
    "train --set envKwargs=gravity",
    'Cannot use envKwargs = "gravity" of the command line: expected a mapping',
  ],
  [
    "train --set envModules=./my_env.ts",
    'Cannot use envModules = "./my_env.ts" of the command line: expected a list, each a text',
  ],
  [
    "train --set envModules=[3]",
    "Cannot use envModules = [3] of the command line: expected a list, each a text",
  ],
  [
    "train --set envModules=[data:text/javascript,1]",
    'Cannot use envModules = ["data:text/javascript",1] of the command line: expected a list, each a text',
  ],
  [
    "train --set envModules=[https://example.com/env.ts]",
    "Cannot import https://example.com/env.ts, which envModules names: expected a file or a package of npm: or jsr:, not https:",
  ],
  [
    "train --set env=3",
    "Cannot use env = 3 of the command line: expected a text",
  ],
  [
    "train --set algorithm=a4c",
    "Unknown algorithm 'a4c' in '--set algorithm=a4c': did you mean 'a2c'?",
  ],
  [
    "train sac --set algorithm=a2c",
    "Cannot use both 'train sac' and '--set algorithm=a2c': give one algorithm",
  ],
  [
    "train a2c --set env=CartPole-v1 --env CartPole-v1",
    "Cannot use both '--env' and '--set env=CartPole-v1' in the command line: they are the same key, give one",
  ],
  [
    "train a2c --config @sac.yaml",
    "Cannot use both 'train a2c' and 'algorithm: sac' of @sac.yaml: give one algorithm",
  ],
  [
    "train --config @sac.yaml --set algorithm=a2c",
    "Cannot use both '--set algorithm=a2c' and 'algorithm: sac' of @sac.yaml: give one algorithm",
  ],
  [
    "train --config @folder",
    "Cannot read the configuration file @folder: it is a folder, expected a file",
  ],
  [
    "train --config @nokey.yaml",
    "Unknown key 'learnign_rate' in @nokey.yaml: did you mean 'learningRate'?",
  ],
  [
    "train --config @nested.yaml",
    "Unknown key 'a2c' in @nested.yaml: 'train ALGORITHM --help' lists the keys",
  ],
  [
    "train --config @number.yaml",
    "Cannot read @number.yaml: expected a mapping of keys to values, such as 'numEnvs: 8'",
  ],
  [
    "train --config @tabs.yaml",
    "Cannot read @tabs.yaml as YAML: Cannot parse YAML: tab characters must not be used in indentation at line 2, column 1",
  ],
  [
    "train --config @twice.yaml",
    "Cannot read @twice.yaml as YAML: Cannot parse YAML: duplicated mapping key at line 2, column 1",
  ],
  [
    "train --config @old.yaml",
    "Cannot use both 'lr' and 'learning_rate' in @old.yaml: they are the same key, give one",
  ],
  [
    "train --config @sac.yaml --set numSteps=5",
    "Unknown key 'numSteps' in the command line: did you mean 'nSteps'?",
  ],
  [
    "train --preset Pendulum-v1-value",
    "Unknown preset 'Pendulum-v1-value' of a2c: it is one of sac, as in 'train sac --preset Pendulum-v1-value'",
  ],
  [
    "train --preset Pong",
    "Unknown preset 'Pong' of a2c: expected one of CartPole-v1, CartPole-v0, Acrobot-v1, MountainCar-v0, MountainCarContinuous-v0, Pendulum-v1, ALE, baselines",
  ],
  [
    "train --preset ''",
    "Cannot read '--preset': expected a value, as in '--preset NAME'",
  ],
  [
    "train --out ''",
    "Cannot read '--out': expected a value, as in '--out DIR'",
  ],
  [
    "train --out @file.txt",
    "Cannot create run @file.txt: @file.txt is a file, wanted a folder",
  ],
  [
    "train --out @full",
    "Cannot create run @full: the folder is not empty, wanted a new one",
  ],
  [
    "train --out @file.txt/run",
    "Cannot create run @file.txt/run: @file.txt is a file, wanted a folder",
  ],
  [
    "train --trust",
    "Cannot use '--trust' without --resume or --init-from: a new run imports what its options name",
  ],
  [
    "train --quiet=3",
    "Cannot use '--quiet=3': '--quiet' takes no value, leave it out",
  ],
  [
    "train --set ''",
    "Cannot read '--set': expected a value, as in '--set KEY=VALUE'",
  ],
  [
    "train --set =3",
    "Cannot read '--set =3': expected KEY=VALUE, as in '--set numEnvs=8'",
  ],
  [
    "train --set ' =3'",
    "Cannot read '--set  =3': expected KEY=VALUE, as in '--set numEnvs=8'",
  ],
  [
    "train --set lr=",
    "Cannot use lr = null of the command line: expected a number above 0 and at most 1e+30",
  ],
  [
    "train --set nonsense=1",
    "Unknown key 'nonsense' in the command line: 'train ALGORITHM --help' lists the keys",
  ],
  [
    "train --set __proto__=1",
    "Unknown key '__proto__' in the command line: 'train ALGORITHM --help' lists the keys",
  ],
  [
    "train --set constructor=1",
    "Unknown key 'constructor' in the command line: 'train ALGORITHM --help' lists the keys",
  ],
  [
    "train --no-quiet",
    "Unknown option '--no-quiet': did you mean '--quiet'?",
  ],
  [
    "train --resume",
    "Cannot read '--resume': expected a value, as in '--resume RUN'",
  ],
  [
    "train --resume @file.txt",
    "Cannot open run @file.txt: it has no config.yaml",
  ],
  ["train --resume @full", "Cannot open run @full: it has no config.yaml"],
  [
    "train --resume @RUN a2c",
    "Cannot use 'a2c' with --resume: a run resumes with the configuration that it was started with",
  ],
  [
    "train --resume @RUN --out x",
    "Cannot use '--out' with --resume: a run resumes with the configuration that it was started with",
  ],
  [
    "train --resume @RUN --set lr=1",
    "Cannot use '--set' with --resume: a run resumes with the configuration that it was started with",
  ],
  [
    "train --resume @RUN --preset CartPole-v1",
    "Cannot use '--preset' with --resume: a run resumes with the configuration that it was started with",
  ],
  ["train -x", "Unknown option '-x': '--help' lists the options"],
  [
    "train -",
    "Unknown algorithm '-': expected one of a2c, acer, acktr, a3c, async-q, async-nstep-q, async-sarsa, sac",
  ],
  ["train ---env X", "Unknown option '---env': did you mean '--env'?"],
  ["train A2C", "Unknown algorithm 'A2C': did you mean 'a2c'?"],
  [
    "train sac --env CartPole-v1 --set critics=value",
    "Cannot run SAC with critics: value and discrete actions: expected box actions",
  ],
  [
    "train sac --env Pendulum-v1 --set bufferSize=100",
    "Cannot run SAC with batchSize = 256: expected at most bufferSize, 100",
  ],
  [
    "train sac --env Pendulum-v1 --set bufferSize=0",
    "Cannot use bufferSize = 0 of the command line: expected an integer from 1 to 1000000000000000",
  ],
  [
    "train sac --env Pendulum-v1 --set bufferSize=1e13",
    "Cannot train with bufferSize = 10000000000000: that takes … fits",
  ],
  [
    "train sac --env Pendulum-v1 --set batchSize=0",
    "Cannot use batchSize = 0 of the command line: expected an integer from 1 to 100000000 or null",
  ],
  [
    "train sac --env Pendulum-v1 --set batchSize=1e8",
    "Cannot train with batchSize = 100000000: that takes … of this machine",
  ],
  [
    "train sac --env Pendulum-v1 --set learningStarts=2000000",
    "Cannot run SAC with learningStarts = 2000000: expected at most bufferSize, 1000000",
  ],
  [
    "train sac --env Pendulum-v1 --set tau=0",
    "Cannot use tau = 0 of the command line: expected a number above 0 and at most 1",
  ],
  [
    "train sac --env Pendulum-v1 --set tau=1.5",
    "Cannot use tau = 1.5 of the command line: expected a number above 0 and at most 1",
  ],
  [
    "train sac --env Pendulum-v1 --set policy=mixture",
    "Cannot run SAC with policy: mixture and critics: twin_q: expected critics: value, as the choice of a component has no gradient",
  ],
  [
    "train sac --env Pendulum-v1 --set policy=mixture --set critics=value --set reparameterize=true",
    "Cannot run SAC with policy: mixture and reparameterize: true: expected false, as the choice of a component has no gradient",
  ],
  [
    "train sac --env Pendulum-v1 --set critics=value --set temperature=0.1",
    "Cannot run SAC with temperature and critics: value: expected rewardScale, which stands in its place",
  ],
  [
    "train sac --env Pendulum-v1 --set sharedFrames=3",
    "Unknown key 'sharedFrames' in the command line: 'train ALGORITHM --help' lists the keys",
  ],
  [
    "train sac --env Pendulum-v1 --set gradientSteps=0",
    "Cannot run SAC with gradientSteps = 0: expected a whole number of at least 1",
  ],
  [
    "train sac --env Pendulum-v1 --set replay=ranked",
    "Cannot use replay = \"ranked\" of the command line: expected uniform, proportional or rank; did you mean 'rank'?",
  ],
  [
    "train sac --env Pendulum-v1 --set nSteps=0",
    "Cannot use nSteps = 0 of the command line: expected an integer from 1 to 1000000",
  ],
  [
    "train sac --env Pendulum-v1 --set priorityBeta=2",
    "Cannot use priorityBeta = 2 of the command line: expected a number from 0 to 1",
  ],
  [
    "train sac --env Pendulum-v1 --set rewardScale=1e300",
    "Cannot use rewardScale = 1e+300 of the command line: expected a number above 0 and at most 1e+30",
  ],
  [
    "train sac --env Pendulum-v1 --set network=lstm",
    'Cannot use network = "lstm" of the command line: expected auto, mlp, cnn, cnn_2013, cnn_small or conv_only',
  ],
  [
    "train sac --env Pendulum-v1 --set targetEntropy=.inf",
    "Cannot use targetEntropy = Infinity of the command line: expected a number from -1e+30 to 1e+30 or null",
  ],
  [
    "eval @RUN @RUN",
    "Cannot eval 2 runs: expected one run folder, as in 'eval runs/a2c-CartPole-v1-seed0'",
  ],
  [
    "eval @RUN --seed -1",
    "Cannot use --seed -1: expected an integer of at least 0",
  ],
  [
    "eval @RUN --seed 1e99",
    "Cannot use --seed 1e99: expected an integer of at least 0",
  ],
  [
    "eval @RUN --episodes 1.5",
    "Cannot use --episodes 1.5: expected an integer of at least 1",
  ],
  [
    "eval @RUN --episodes many",
    "Cannot use --episodes many: expected an integer of at least 1",
  ],
  [
    "eval @RUN --checkpoint -1",
    "Cannot use --checkpoint -1: expected best, latest or a step",
  ],
  [
    "eval @RUN --checkpoint ''",
    "Cannot read '--checkpoint': expected a value, as in '--checkpoint WHICH'",
  ],
  [
    "eval @RUN --checkpoint 1e99",
    "Cannot use --checkpoint 1e99: expected best, latest or a step",
  ],
  [
    "eval @RUN --gif a.gif",
    "Unknown option '--gif': '--help' lists the options",
  ],
  [
    "eval @RUN --deterministic --stochastic",
    "Cannot use both --deterministic and --stochastic: give one of them",
  ],
  ["eval @file.txt", "Cannot open run @file.txt: it has no config.yaml"],
  [
    "eval @none/../@none",
    "Cannot open run @none/../@none: there is no such folder",
  ],
  [
    "eval ''",
    "Cannot open the run '': expected a run folder, such as runs/a2c-CartPole-v1-seed0",
  ],
  [
    "play",
    "Cannot play 0 runs: expected one run folder, as in 'play runs/a2c-CartPole-v1-seed0'",
  ],
  [
    "play @RUN --fps 0",
    "Cannot use --fps 0: expected an integer of at least 1",
  ],
  [
    "play @RUN --fps 101",
    "Cannot write a GIF of 101 pictures a second: expected at most 50; use --mp4 FILE, or a lower --fps with --every N, which looks as fast",
  ],
  [
    "play @RUN --every 0",
    "Cannot use --every 0: expected an integer of at least 1",
  ],
  [
    "play @RUN --width 0",
    "Cannot use --width 0: expected an integer from 1 to 8192",
  ],
  [
    "play @RUN --width 9000",
    "Cannot use --width 9000: expected an integer from 1 to 8192",
  ],
  [
    "play @RUN --height x",
    "Cannot use --height x: expected an integer from 1 to 8192",
  ],
  [
    "play @RUN --gif a.mp4",
    "Cannot write the video to a.mp4: expected a file that ends in .gif",
  ],
  [
    "play @RUN --gif @none/a.gif",
    "Cannot write the video to @none/a.gif: the folder @none is not there",
  ],
  [
    "play @RUN --gif @folder.gif",
    "Cannot write the video to @folder.gif: expected a file, this is a folder",
  ],
  [
    "play @RUN --mp4 a.gif",
    "Cannot write the video to a.gif: expected a file that ends in .mp4",
  ],
  [
    "play @RUN --png p --fps 5",
    "Cannot use --fps with --png: single pictures have no rate; leave it out",
  ],
  [
    "play @RUN --gif a.gif --live",
    "Cannot use more than one of --gif, --mp4, --png and --live: give one of them",
  ],
  [
    "play @RUN --episodes 0",
    "Cannot use --episodes 0: expected an integer of at least 1",
  ],
  [
    "play @RUN --png @file.txt",
    "Cannot write the pictures to @file.txt: expected a folder, this is a file",
  ],
  [
    "export @RUN --seed 3",
    "Unknown option '--seed': '--help' lists the options",
  ],
  [
    "export @RUN --out @folder.onnx",
    "Cannot write the policy to @folder.onnx: expected a file, this is a folder",
  ],
  [
    "export @RUN --batch 1.5",
    "Cannot use --batch 1.5: expected an integer of at least 1",
  ],
  [
    "export @RUN --batch 1e99",
    "Cannot use --batch 1e99: expected an integer of at least 1",
  ],
  [
    "export @RUN --checkpoint last",
    "Cannot use --checkpoint last: expected best, latest or a step",
  ],
  [
    "export @RUN other",
    "Cannot export 2 runs: expected one run folder, as in 'export runs/a2c-CartPole-v1-seed0'",
  ],
  [
    "plot @RUN --key",
    "Cannot read '--key': expected a value, as in '--key STATISTIC'",
  ],
  [
    "plot @RUN --key ''",
    "Cannot read '--key': expected a value, as in '--key STATISTIC'",
  ],
  ["plot @RUN @none", "Cannot open run @none: there is no such folder"],
  [
    "plot @RUN --out a.png",
    "Cannot plot to a.png: expected a file that ends in .svg or .html",
  ],
  [
    "plot @RUN --out @none/a.svg",
    "Cannot write the curves to @none/a.svg: the folder @none is not there",
  ],
  [
    "plot @RUN --out @folder.svg",
    "Cannot write the curves to @folder.svg: expected a file, this is a folder",
  ],
  [
    "plot @RUN --key step",
    "Cannot plot 'step' of @RUN: did you mean 'time/steps'?",
  ],
  ["plot @file.txt", "Cannot open run @file.txt: it has no config.yaml"],
  [
    "plot @RUN --band sd",
    "Cannot use --band sd: expected one of ci, std, iqr, range, none",
  ],
  [
    "plot @RUN --band",
    "Cannot read '--band': expected a value, as in '--band BAND'",
  ],
  [
    "plot @RUN --x updates",
    "Cannot use --x updates: expected one of steps, time, episodes",
  ],
  [
    "plot @RUN --smooth 10",
    "Cannot use --smooth 10: expected a part of the curve from 0 to 0.5, such as 0.05",
  ],
  [
    "plot @RUN --smooth much",
    "Cannot use --smooth much: expected a part of the curve from 0 to 0.5, such as 0.05",
  ],
  [
    "plot @RUN --threshold high",
    "Cannot use --threshold high: expected a number, such as 475",
  ],
  [
    "plot @RUN --treshold 475",
    "Unknown option '--treshold': did you mean '--threshold'?",
  ],
  [
    "play @RUN --every 0",
    "Cannot use --every 0: expected an integer of at least 1",
  ],
  [
    "play @RUN --every 1.5",
    "Cannot use --every 1.5: expected an integer of at least 1",
  ],
  [
    "play @RUN --fps 0",
    "Cannot use --fps 0: expected an integer of at least 1",
  ],
  [
    "play @RUN --width 0",
    "Cannot use --width 0: expected an integer from 1 to 8192",
  ],
  [
    "play @RUN --height 9000",
    "Cannot use --height 9000: expected an integer from 1 to 8192",
  ],
  [
    "play @RUN --no-caption=yes",
    "Cannot use '--no-caption=yes': '--no-caption' takes no value, leave it out",
  ],
  [
    "train --every many",
    'Cannot use videoInterval = "many" of the command line: expected an integer from 0 to 1000000000000000',
  ],
  [
    "train --every -5",
    "Cannot use videoInterval = -5 of the command line: expected an integer from 0 to 1000000000000000",
  ],
  [
    "train --every 2.5",
    "Cannot use videoInterval = 2.5 of the command line: expected an integer from 0 to 1000000000000000",
  ],
  [
    "train --resume @RUN --every 100",
    "Cannot use '--every' with --resume: a run resumes with the configuration that it was started with",
  ],
  ["list all", "Cannot list 'all': did you mean 'list --all'?"],
  ["list --all --jsn", "Unknown option '--jsn': did you mean '--json'?"],
  [
    "list --json=1",
    "Cannot use '--json=1': '--json' takes no value, leave it out",
  ],
  ["evla @RUN", "Unknown command 'evla': did you mean 'eval'?"],
  ["Train", "Unknown command 'Train': did you mean 'train'?"],
  [
    "--version",
    "Unknown command '--version': expected one of train, eval, play, export, plot, list",
  ],
  [
    "-v",
    "Unknown command '-v': expected one of train, eval, play, export, plot, list",
  ],
  [
    "''",
    "Unknown command '': expected one of train, eval, play, export, plot, list",
  ],
  [
    "train --set hiddenSizes=[-64]",
    "Cannot use hiddenSizes = [-64] of the command line: expected a list of at most 100, each an integer from 1 to 1000000",
  ],
  [
    "train --config @latin.yaml",
    "Unknown environment '��': 'deno task list --all' shows those that there are; ids of Python's Gymnasium begin with gym:, as gym:Id-v0 or gym:module:Id-v0, and modules that register others are named in envModules",
  ],
  [
    "train --config @empty-env.yaml",
    "Cannot use env = null of @empty-env.yaml: expected a text",
  ],
  [
    "train --config @float.yaml",
    "Cannot use numEnvs = 2.5 of @float.yaml: expected an integer from 1 to 1048576, at most 4096 with loop: host",
  ],
  [
    "train --set lr=1e-3e",
    'Cannot use lr = "1e-3e" of the command line: expected a number above 0 and at most 1e+30',
  ],
  [
    "train --set 'env: Pendulum-v1'",
    "Cannot read '--set env: Pendulum-v1': expected KEY=VALUE, as in '--set numEnvs=8'",
  ],
  [
    "play @RUN --live",
    "Cannot play live: standard output is not a terminal; use --gif or --mp4 FILE",
  ],
  [
    "play @RUN --seed 1.5",
    "Cannot use --seed 1.5: expected an integer of at least 0",
  ],
  [
    "play @RUN --checkpoint worst",
    "Cannot use --checkpoint worst: expected best, latest or a step",
  ],
  [
    "export @RUN --out @none/deep/p.onnx",
    "Cannot write the policy to @none/deep/p.onnx: the folder @none/deep is not there",
  ],
  [
    "plot @RUN --out @file.txt/a.svg",
    "Cannot write the curves to @file.txt/a.svg: the folder @file.txt cannot be written to",
  ],
  [
    "train --resume @RUN --backend wasm",
    "Cannot use '--backend' with --resume: a run resumes with the configuration that it was started with",
  ],
  [
    "train --resume @RUN --trust=yes",
    "Cannot use '--trust=yes': '--trust' takes no value, leave it out",
  ],
  [
    "eval @RUN --json=1",
    "Cannot use '--json=1': '--json' takes no value, leave it out",
  ],
  ["train --env ''", "Cannot read '--env': expected a value, as in '--env ID'"],
  [
    "train --env ' '",
    "Unknown environment ' ': 'deno task list --all' shows those that there are; ids of Python's Gymnasium begin with gym:, as gym:Id-v0 or gym:module:Id-v0, and modules that register others are named in envModules",
  ],
  [
    "train --env cartpole",
    "Unknown environment 'cartpole': did you mean 'CartPole-v1'? There are CartPole-v0, CartPole-v1",
  ],
  [
    "train --env gym:",
    "Cannot use the environment 'gym:': expected a name of Gymnasium's, such as gym:LunarLander-v3",
  ],
  [
    "train --set envModules=[@none.ts]",
    'Cannot import @none.ts, which envModules names: Module not found "file://@none.ts".',
  ],
  [
    "train --set envModules=['']",
    "Cannot import '', which envModules names: expected a file or a package of npm: or jsr:",
  ],
  [
    "train --engine tensorflow",
    'Cannot use engine = "tensorflow" of the command line: expected auto, onnx, xla or eager',
  ],
  [
    "train --backend gpu",
    "Cannot use backend = \"gpu\" of the command line: expected auto, tensorflow, wasm or cpu; did you mean 'cpu'?",
  ],
  [
    "train --set bufferSize=5",
    "Unknown key 'bufferSize' in the command line: 'train ALGORITHM --help' lists the keys",
  ],
  [
    "train --set nsteps=0",
    "Cannot use nsteps = 0 of the command line: expected an integer from 1 to 100000000",
  ],
  [
    "train --set n_envs=0",
    "Cannot use n_envs = 0 of the command line: expected an integer from 1 to 1048576, at most 4096 with loop: host",
  ],
  [
    "train --set stopReward=5 --set evaluationInterval=0",
    "Cannot stop by stopReward with evaluationInterval = 0: expected the steps between evaluations",
  ],
  [
    "train --set patience=1 --set evaluation_interval=0",
    "Cannot stop by patience with evaluationInterval = 0: expected the steps between evaluations",
  ],
  [
    "train --set 'hiddenSizes=&a [*a]'",
    "Cannot read the value of '--set hiddenSizes=&a [*a]': expected a YAML value such as 0.5, linear or [64, 64]",
  ],
  [
    "train --config @circle.yaml",
    "Cannot read @circle.yaml as YAML: it has more than 1,000,000 values, counting those that its anchors repeat",
  ],
  [
    "train --set 'lr=0.1\nnumEnvs: 3'",
    "Cannot read the value of '--set lr=0.1 numEnvs: 3': expected a YAML value such as 0.5, linear or [64, 64]",
  ],
  [
    "train --quiet false",
    "Cannot use '--quiet false': '--quiet' takes no value, leave it out",
  ],
  [
    "eval @RUN --deterministic true",
    "Cannot use '--deterministic true': '--deterministic' takes no value, leave it out",
  ],
  [
    "export @RUN --out @RUN/config.yaml",
    "Cannot write the policy to @RUN/config.yaml: expected a file that ends in .onnx",
  ],
  [
    "train --set ent_coef=-1",
    "Cannot use ent_coef = -1 of the command line: expected a number from 0 to 1e+30",
  ],
];

function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)]
    .map(([, quoted, plain]) => (plain ?? quoted).replace("@", `${dir}/`));
}

function filesUnder(root: string): string[] {
  return [...Deno.readDirSync(root)].flatMap(({ name, isDirectory }) => {
    const path = `${root}/${name}`;
    const own = `${path} ${Deno.statSync(path).mtime?.getTime()}`;
    return isDirectory ? [own, ...filesUnder(path)] : [own];
  }).sort();
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

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
