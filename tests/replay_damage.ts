/**
 * Damages replay buffers in files at random and resumes their runs. Each must end
 * with the unbroken run's numbers, or say in one line that it went on with an
 * empty replay buffer; none is lost while a checkpoint can be loaded:
 *
 *     deno run -P=run --no-check tests/replay_damage.ts --damages 200 --seed 1
 */
import type { SeededRandom } from "@bellman/envs";
import { CheckpointStore } from "@bellman/training";
import {
  damageByCommand,
  type Damages,
  isSame,
  type Specimen,
} from "./damage_loop.ts";
import { pick } from "./kills/draw_run.ts";
import { type Ended, runCli } from "./kills/process.ts";
import { hasRows, savedRows } from "./rows.ts";
import { type Remains, remainsOf, train, trainWell } from "./runs.ts";

const SHARED = [
  ...["--set=hiddenSizes=[8]", "--set=replayStorage=file"],
  ...["--set=evaluationEpisodes=2", "--set=evaluationInterval=300"],
  ...["--set=checkpointInterval=150", "--quiet"],
];

/** Runs whose buffers are overwritten some times. */
const RUNS: Record<string, string[]> = {
  acer: [
    ...["acer", "--env=CartPole-v1", "--set=numEnvs=2", "--steps=900"],
    ...["--set=bufferSize=200", "--set=replayStart=40"],
  ],
  "acer, recurrent, by priorities": [
    ...["acer", "--env=CartPole-v1", "--set=numEnvs=1", "--steps=900"],
    ...["--set=network=lstm", "--set=lstmSize=8", "--set=replay=proportional"],
    ...["--set=bufferSize=4000", "--set=replayStart=40"],
  ],
  sac: [
    ...["sac", "--env=Pendulum-v1", "--preset=none", "--steps=900"],
    ...["--set=bufferSize=400", "--set=learningStarts=100"],
    ...["--set=batchSize=8", "--set=trainFrequency=4"],
  ],
  "sac, discrete, by ranks": [
    ...["sac", "--env=CartPole-v1", "--preset=none", "--steps=900"],
    ...["--set=bufferSize=5000", "--set=learningStarts=100"],
    ...["--set=batchSize=8", "--set=trainFrequency=4", "--set=nSteps=3"],
    "--set=replay=rank",
  ],
};

interface ReplaySpecimen extends Specimen {
  readonly expected: Remains;
}

async function specimens(root: string, random: SeededRandom) {
  const made: ReplaySpecimen[] = [];
  for (const [name, own] of Object.entries(RUNS)) {
    const dir = `${root}/${made.length}`, args = [...own, ...SHARED];
    Deno.mkdirSync(dir);
    await trainWell([...args, `--out=${dir}/whole`]);
    const folders: string[] = [];
    for (const moment of KILLS) {
      const folder = `${dir}/${folders.length}`;
      const nth = 3 + random.integer(4);
      const order = { folder, nth, ...moment };
      const ended = await runCli(["train", ...args, `--out=${folder}`], order);
      if (wasKilled(ended)) folders.push(folder);
    }
    if (folders.length === 0) throw new Error(`${name}: nothing was killed`);
    made.push({ name, expected: remainsOf(`${dir}/whole`), folders });
  }
  return made;
}

const SAVING = "checkpoints/step_#.safetensors";

/** Between the rows of a save and the checkpoint, after it, and in the midst of rows. */
const KILLS = [
  { key: "sync replay.rows", moment: "after" },
  { key: `rename ${SAVING}`, moment: "before" },
  { key: `rename ${SAVING}`, moment: "after" },
  { key: "write replay.rows", moment: "half" },
] as const;

function wasKilled({ signal, hung }: Ended): boolean {
  return signal === "SIGKILL" && !hung;
}

/** Ways to damage a file of rows; each says what it did. */
const DAMAGES: Record<
  string,
  (path: string, random: SeededRandom, all: readonly Specimen[]) => string
> = {
  bits(path, random) {
    const count = pick(random, [1, 1, 1, 8]);
    const bits = Array.from(
      { length: count },
      () => random.integer(8 * Deno.statSync(path).size),
    );
    change(path, (bytes) => {
      for (const bit of bits) bytes[bit >> 3] ^= 1 << (bit & 7);
    });
    return `bits ${bits}`;
  },
  zeros(path, random) {
    const pages = Math.ceil(Deno.statSync(path).size / 4096);
    const first = 4096 * random.integer(pages);
    change(path, (bytes) => bytes.fill(0, first, first + 4096));
    return `zeros from ${first} on`;
  },
  swapped(path, random) {
    const pages = Math.ceil(Deno.statSync(path).size / 4096);
    const [a, b] = [0, 0].map(() => 4096 * random.integer(pages));
    change(path, (bytes) => {
      const kept = bytes.slice(a, a + 4096);
      bytes.copyWithin(a, b, b + 4096);
      bytes.set(kept.subarray(0, bytes.length - b), b);
    });
    return `pages at ${a} and ${b} swapped`;
  },
  cut(path, random) {
    const { size } = Deno.statSync(path);
    const length = random.integer(size);
    Deno.truncateSync(path, length);
    return `cut to ${length} of ${size} bytes`;
  },
  deleted(path) {
    Deno.removeSync(path);
    return "deleted";
  },
  "another run's"(path, random, all) {
    const { folders, name } = pick(random, all);
    const other = pick(random, folders);
    const file = path.slice(path.lastIndexOf("/"));
    try {
      Deno.copyFileSync(`${other}${file}`, path);
    } catch {
      return `nothing, as ${name} has no ${file}`;
    }
    return `${file} of ${name} in its place`;
  },
};

function change(path: string, act: (bytes: Uint8Array) => void): void {
  const bytes = Deno.readFileSync(path);
  act(bytes);
  Deno.writeFileSync(path, bytes);
}

/** Files of a run beside its checkpoints that hold a replay buffer. */
function replayFiles(dir: string): string[] {
  return [...Deno.readDirSync(dir)].map(({ name }) => `${dir}/${name}`)
    .filter((path) => /\/replay\.[^/]*$/.test(path)).sort();
}

/** Numbered checkpoints of a run. */
function checkpointFiles(dir: string): string[] {
  return [...Deno.readDirSync(`${dir}/checkpoints`)].map(({ name }) => name)
    .filter((name) => /^step_\d+\.safetensors$/.test(name)).sort()
    .map((name) => `${dir}/checkpoints/${name}`);
}

/** Exchanges the newest two checkpoints. */
function swapped(checkpoints: readonly string[]): string {
  const [a, b] = checkpoints.slice(-2);
  Deno.renameSync(a, `${a}.kept`);
  Deno.renameSync(b, a);
  Deno.renameSync(`${a}.kept`, b);
  return "newest two checkpoints swapped";
}

/** What a damage came to. */
export type ReplayOutcome =
  | "the same numbers"
  | "the same numbers from an older checkpoint, which is told"
  | "an empty replay buffer, which is told"
  | "refused in one line, as no checkpoint is left";

/** Steps of the checkpoints whose rows the file has, as they were. */
function stepsWithRows(dir: string): number[] {
  let file = new Uint8Array(0);
  try {
    file = Deno.readFileSync(`${dir}/replay.rows`);
  } catch {
    // Then it has none.
  }
  const { checkpoints, best } = new CheckpointStore(`${dir}/checkpoints`)
    .list();
  return [...checkpoints, ...best ? [best] : []].flatMap(({ best, step }) => {
    try {
      const rows = savedRows(dir, best ? "best" : step);
      const isFilled = rows?.places.some((place) => place >= 0);
      return isFilled && hasRows(file, rows!) ? [step] : [];
    } catch {
      return []; // It is damaged itself.
    }
  });
}

function hasCheckpoint(dir: string): boolean {
  try {
    new CheckpointStore(`${dir}/checkpoints`).load("latest");
    return true;
  } catch {
    return false;
  }
}

/** Resumes a damaged run; throws where it is lost, or other rows are learned from in silence. */
async function judge(
  dir: string,
  { expected }: ReplaySpecimen,
): Promise<ReplayOutcome> {
  const steps = stepsWithRows(dir), isLoadable = hasCheckpoint(dir);
  const { code, err } = await train(["--resume", dir, "--quiet"]);
  const lines = err === "" ? [] : err.trimEnd().split("\n");
  if (code === 2 && lines.length === 1 && !isLoadable) {
    return "refused in one line, as no checkpoint is left";
  }
  if (code !== 0) throw new Error(`lost: exit ${code}: ${err}`);
  const emptied = lines.filter((it) => it.endsWith("an empty replay buffer"));
  if (emptied.length > 0) {
    if (emptied.length > 1) throw new Error(`said more than once: ${err}`);
    if (steps.length > 0) throw new Error(`lost: the rows of ${steps}: ${err}`);
    return "an empty replay buffer, which is told";
  }
  const found = remainsOf(dir);
  if (!isSame(found, expected)) {
    throw new Error(`silent: other numbers, and nothing is said: ${err}`);
  }
  return lines.length === 0
    ? "the same numbers"
    : "the same numbers from an older checkpoint, which is told";
}

/** Damages a file of rows, one time in four the latest checkpoint as well. */
function damage(
  dir: string,
  random: SeededRandom,
  all: readonly Specimen[],
): string[] {
  const done: string[] = [];
  const checkpoints = checkpointFiles(dir);
  if (random.uniform() < 0.25 && checkpoints.length > 1) {
    const newest = checkpoints.at(-1)!;
    done.push(`newest checkpoint: ${DAMAGES.bits(newest, random, all)}`);
  }
  if (random.uniform() < 0.1 && checkpoints.length > 1) {
    done.push(swapped(checkpoints));
  }
  const path = pick(random, replayFiles(dir));
  const kind = pick(random, Object.keys(DAMAGES));
  const what = DAMAGES[kind](path, random, all);
  return [...done, `${path.slice(dir.length + 1)}: ${what}`];
}

/** Damages of replay buffers in files. */
export const REPLAY_DAMAGES: Damages<ReplaySpecimen, ReplayOutcome> = {
  name: "replay files",
  specimens,
  damage,
  judge,
};

if (import.meta.main) await damageByCommand(REPLAY_DAMAGES);
