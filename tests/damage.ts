/**
 * Damages run folders at random and resumes them: each must end with the
 * unbroken run's numbers, or say in one line what is damaged beyond that.
 *
 *     deno run -P=run --no-check tests/damage.ts --damages 1000 --seed 1
 */
import type { SeededRandom } from "@bellman/envs";
import type { Captured } from "../cli/testdata/capture.ts";
import { CheckpointStore, readEpisodes, readProgress } from "@bellman/training";
import {
  damageByCommand,
  type Damages,
  isSame,
  type Specimen,
} from "./damage_loop.ts";
import { pick } from "./kills/draw_run.ts";
import {
  copyRun,
  leaveUnevaluated,
  logsOf,
  type Remains,
  remainsOf,
  runCommand,
  stateOf,
  train,
  trainProcess,
  trainWell,
} from "./runs.ts";

const RUNS: Record<string, string[]> = {
  "a2c, a best one that is soon too old to be kept": [
    "--env=CartPole-v1",
    "--steps=1500",
    "--set=hiddenSizes=[8]",
    "--set=learningRate=0.5",
    "--set=evaluationInterval=250",
    "--set=checkpointInterval=100",
  ],
  "a2c, stopped early, scaled observations": [
    "--env=CartPole-v1",
    "--steps=9000",
    "--set=hiddenSizes=[8]",
    "--set=normalizeObservation=true",
    "--set=stopReward=80",
    "--set=evaluationInterval=300",
    "--set=checkpointInterval=300",
  ],
  "sac with prioritized replay": [
    "sac",
    "--env=Pendulum-v1",
    "--steps=360",
    "--set=hiddenSizes=[8]",
    "--set=batchSize=8",
    "--set=learningStarts=50",
    "--set=bufferSize=300",
    "--set=replay=proportional",
    "--set=evaluationInterval=120",
    "--set=checkpointInterval=60",
  ],
};

interface RunSpecimen extends Specimen {
  /** The ended one among its folders. */
  readonly whole: string;
  readonly expected: Remains & { policy: Uint8Array };
  readonly judged: string;
}

function remains(dir: string): RunSpecimen["expected"] {
  const policy = Deno.readFileSync(`${dir}/policy.onnx`);
  return { ...remainsOf(dir), policy };
}

/** Starts a run and kills it once it has so many checkpoints. */
async function killAfter(args: string[], dir: string, count: number) {
  const child = trainProcess([...args, "--out", dir]).spawn();
  const drained = [child.stdout.cancel(), child.stderr.cancel()];
  let isOver = false;
  child.status.then(() => isOver = true);
  const seen = new Set<string>();
  while (!isOver && seen.size < count) {
    await new Promise((done) => setTimeout(done, 2));
    try {
      for (const { name } of Deno.readDirSync(`${dir}/checkpoints`)) {
        if (/^step.*safetensors$/.test(name)) seen.add(name);
      }
    } catch {
      // There is no folder yet.
    }
  }
  if (!isOver) child.kill("SIGKILL");
  await child.status;
  await Promise.all(drained);
}

/** Trains the runs that are damaged afterwards. */
async function specimens(root: string): Promise<RunSpecimen[]> {
  const made: RunSpecimen[] = [];
  for (const [name, variant] of Object.entries(RUNS)) {
    const dir = `${root}/${made.length}`;
    Deno.mkdirSync(dir);
    const args = [
      ...variant,
      "--set=evaluationEpisodes=2",
      "--set=logInterval=10",
      "--quiet",
    ];
    const whole = `${dir}/whole`;
    await trainWell([...args, "--out", whole]);
    const judged = (await runCommand(["eval", whole])).out;
    // Killed in its last evaluation, and on the way there.
    const ending = `${dir}/ending`;
    copyRun(whole, ending);
    leaveUnevaluated(ending);
    Deno.removeSync(`${ending}/report.html`);
    const killed = [3, 5].map((count) => ({ count, dir: `${dir}/${count}` }));
    for (const { count, dir } of killed) await killAfter(args, dir, count);
    made.push({
      name,
      whole,
      expected: remains(whole),
      judged,
      folders: [whole, ending, ...killed.map(({ dir }) => dir)],
    });
  }
  return made;
}

/** Every file below a folder. */
export function filesOf(dir: string): string[] {
  return [...Deno.readDirSync(dir)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesOf(`${dir}/${name}`) : [`${dir}/${name}`]
  ).sort();
}

/** Damages a file; says what was done. */
export function damageFile(path: string, random: SeededRandom): string {
  const kind = random.uniform();
  const name = path.split("/").at(-1);
  const bytes = Deno.readFileSync(path);
  if (kind < 0.2 || bytes.length === 0) {
    Deno.removeSync(path);
    return `${name} deleted`;
  }
  if (kind < 0.4) {
    const length = Math.floor(random.uniform() * bytes.length);
    Deno.truncateSync(path, length);
    return `${name} cut to ${length} of ${bytes.length} bytes`;
  }
  const bits = Array.from(
    { length: kind < 0.8 ? 1 : 8 },
    () => Math.floor(random.uniform() * 8 * bytes.length),
  );
  for (const bit of bits) bytes[bit >> 3] ^= 1 << (bit & 7);
  Deno.writeFileSync(path, bytes);
  return `bits ${bits} of ${name} flipped`;
}

/** Damages every numbered checkpoint. */
function damageNumbered(dir: string, random: SeededRandom): void {
  for (const path of filesOf(dir)) {
    if (/step_\d+\.safetensors$/.test(path)) damageFile(path, random);
  }
}

/** What a damage came to. */
export type Outcome =
  | "the same numbers"
  | "the same numbers, a damaged log told"
  | "the same numbers but the best policy's, which is told to be lost"
  | "refused in one line, as it has ended"
  | "refused in one line, as nothing good is left";

/** The steps of the checkpoints that can be loaded, the best one included. */
function goodSteps(dir: string): number[] {
  const store = new CheckpointStore(`${dir}/checkpoints`);
  const steps = store.list().checkpoints.map(({ step }) => step);
  return [...steps, "best" as const].flatMap((which) => {
    try {
      return store.load(which).step;
    } catch {
      return [];
    }
  });
}

/** Holds what a resume printed and left against the unbroken run; throws where they differ unsaid. */
function compare(
  dir: string,
  { code, err }: Captured,
  { before, specimen, hadEnded }: {
    before: number[];
    specimen: RunSpecimen;
    hadEnded: boolean;
  },
): Outcome {
  const { expected } = specimen;
  const lines = err.trimEnd().split("\n");
  if (code === 2) {
    if (lines.length !== 1) throw new Error(`more than one line: ${err}`);
    if (before.length === 0) {
      return "refused in one line, as nothing good is left";
    }
    if (hadEnded && /has run all of|has ended at/.test(err)) {
      if (!isSame(stateOf(dir, "latest"), expected.state)) {
        throw new Error("refused as ended with other numbers");
      }
      return "refused in one line, as it has ended";
    }
    throw new Error(`lost with good checkpoints ${before}: ${err}`);
  }
  if (code !== 0) throw new Error(`exit ${code}: ${err}`);
  if (!isSame(stateOf(dir, "latest"), expected.state)) {
    throw new Error("another state");
  }
  const logs = logsOf(dir);
  const names = ["progress", "episodes"] as const;
  const toldLogs = names.filter((name) => err.includes(`${name}.csv is `));
  for (const name of names) {
    if (logs[name] === expected[name] || toldLogs.includes(name)) continue;
    throw new Error(`another ${name}.csv, and nothing is said`);
  }
  // Also a damaged log goes on as one that programs can read.
  readProgress(`${dir}/progress.csv`);
  readEpisodes(`${dir}/episodes.csv`);
  if (/the best policy, of step \d+, is lost/.test(err)) {
    return "the same numbers but the best policy's, which is told to be lost";
  }
  const found = remains(dir);
  for (const part of ["best", "files", "policy", "record"] as const) {
    // Without one, it is made of the log.
    if (part === "record" && toldLogs.includes("progress")) continue;
    if (!isSame(found[part], expected[part])) {
      throw new Error(`another ${part}`);
    }
  }
  return toldLogs.length > 0
    ? "the same numbers, a damaged log told"
    : "the same numbers";
}

/** Holds the evaluation of an ended run that was damaged against that of the whole one. */
async function judgeEval(dir: string, specimen: RunSpecimen): Promise<void> {
  const hasCheckpoints = goodSteps(dir).length > 0;
  const { code, out, err } = await runCommand(["eval", dir]);
  const lines = err === "" ? 0 : err.trimEnd().split("\n").length;
  if (code === 2 && lines === 1 && !hasCheckpoints) return;
  if (code !== 0) throw new Error(`eval: exit ${code}: ${err}`);
  if (out.replaceAll(dir, specimen.whole) === specimen.judged) return;
  if (!err.includes("is used instead")) {
    throw new Error(`eval: another result, and nothing is said: ${out}${err}`);
  }
}

/** Damages a folder in one place or, one time in five, in up to four. */
function damage(dir: string, random: SeededRandom): string[] {
  const count = random.uniform() < 0.8 ? 1 : pick(random, [2, 3, 4]);
  const done: string[] = [];
  if (random.uniform() < 0.05) {
    damageNumbered(dir, random);
    done.push("all numbered checkpoints damaged");
  }
  for (let k = 0; k < count; k++) {
    done.push(damageFile(pick(random, filesOf(dir)), random));
  }
  return done;
}

async function judge(
  dir: string,
  specimen: RunSpecimen,
  from: string,
): Promise<Outcome> {
  const hadEnded = from === specimen.whole;
  if (hadEnded) await judgeEval(dir, specimen);
  const before = goodSteps(dir);
  const ending = await train(["--resume", dir, "--quiet"]);
  return compare(dir, ending, { before, specimen, hadEnded });
}

/** Damages of all files of run folders. */
export const RUN_DAMAGES: Damages<RunSpecimen, Outcome> = {
  name: "run folders",
  specimens,
  damage,
  judge,
};

if (import.meta.main) await damageByCommand(RUN_DAMAGES);
