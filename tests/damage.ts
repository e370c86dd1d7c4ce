/**
 * Damages run folders at random and resumes them: each must end with the
 * unbroken run's numbers, or say in one line what is damaged beyond that.
 *
 *     deno run -A --no-check tests/damage.ts --damages 1000 --seed 1
 */
import { SeededRandom } from "@bellman/envs";
import { CheckpointStore, readEpisodes, readProgress } from "@bellman/training";
import {
  copyRun,
  type Ending,
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

/** A run that ended, and folders of it as kills left them. */
interface Specimen {
  name: string;
  whole: string;
  expected: Remains & { policy: Uint8Array };
  judged: string;
  /** The ended one among them. */
  folders: string[];
}

function remains(dir: string): Specimen["expected"] {
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
async function specimens(root: string): Promise<Specimen[]> {
  const made: Specimen[] = [];
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
function filesOf(dir: string): string[] {
  return [...Deno.readDirSync(dir)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesOf(`${dir}/${name}`) : [`${dir}/${name}`]
  ).sort();
}

/** Damages a file; says what was done. */
function damage(path: string, random: SeededRandom): string {
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
    if (/step_\d+\.safetensors$/.test(path)) damage(path, random);
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

const same = (a: unknown, b: unknown) =>
  Deno.inspect(a, FULL) === Deno.inspect(b, FULL);
const FULL = {
  depth: 99,
  iterableLimit: Infinity,
  strAbbreviateSize: Infinity,
};

/** Holds what a resume printed and left against the unbroken run; throws where they differ unsaid. */
function judge(
  dir: string,
  { code, err }: Ending,
  { before, specimen, hadReport }: {
    before: number[];
    specimen: Specimen;
    hadReport: boolean;
  },
): Outcome {
  const { expected } = specimen;
  const lines = err.trimEnd().split("\n");
  if (code === 2) {
    if (lines.length !== 1) throw new Error(`more than one line: ${err}`);
    if (before.length === 0) {
      return "refused in one line, as nothing good is left";
    }
    if (hadReport && /has run all of|has ended at/.test(err)) {
      if (!same(stateOf(dir, "latest"), expected.state)) {
        throw new Error("refused as ended with other numbers");
      }
      return "refused in one line, as it has ended";
    }
    throw new Error(`lost with good checkpoints ${before}: ${err}`);
  }
  if (code !== 0) throw new Error(`exit ${code}: ${err}`);
  if (!same(stateOf(dir, "latest"), expected.state)) {
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
  for (const part of ["best", "files", "policy"] as const) {
    if (!same(found[part], expected[part])) throw new Error(`another ${part}`);
  }
  return toldLogs.length > 0 || /tfevents\S* is damaged/.test(err)
    ? "the same numbers, a damaged log told"
    : "the same numbers";
}

/** Holds the evaluation of an ended run that was damaged against that of the whole one. */
async function judgeEval(dir: string, specimen: Specimen): Promise<void> {
  const hasCheckpoints = goodSteps(dir).length > 0;
  const { code, out, err } = await runCommand(["eval", dir]);
  const lines = err === "" ? 0 : err.trimEnd().split("\n").length;
  if (code === 2 && lines === 1 && !hasCheckpoints) return;
  if (code !== 0) throw new Error(`eval: exit ${code}: ${err}`);
  if (out.replaceAll(dir, specimen.whole) === specimen.judged) return;
  if (!err.includes("stands for it")) {
    throw new Error(`eval: another result, and nothing is said: ${out}${err}`);
  }
}

/** How many damages came to what, and those that came to nothing good. */
export interface Summary {
  outcomes: Map<Outcome, number>;
  failures: string[];
}

/** Damages so many folders, each in one place or, one time in five, in up to four. */
export async function damageRuns(
  { damages, seed }: { damages: number; seed: number },
): Promise<Summary> {
  const root = await Deno.makeTempDir({ prefix: "bellman-damage-" });
  const random = new SeededRandom(seed);
  const pick = <T>(items: readonly T[]): T =>
    items[Math.floor(random.uniform() * items.length)];
  const outcomes = new Map<Outcome, number>();
  const failures: string[] = [];
  try {
    const all = await specimens(root);
    for (let i = 0; i < damages; i++) {
      const specimen = pick(all);
      const from = pick(specimen.folders);
      const dir = `${root}/damaged`;
      copyRun(from, dir);
      const count = random.uniform() < 0.8 ? 1 : pick([2, 3, 4]);
      const done: string[] = [];
      if (random.uniform() < 0.05) {
        damageNumbered(dir, random);
        done.push("all numbered checkpoints damaged");
      }
      for (let k = 0; k < count; k++) {
        done.push(damage(pick(filesOf(dir)), random));
      }
      const hadReport = filesOf(dir).includes(`${dir}/report.html`);
      try {
        if (from === specimen.whole) await judgeEval(dir, specimen);
        const before = goodSteps(dir);
        const ending = await train(["--resume", dir, "--quiet"]);
        const outcome = judge(dir, ending, { before, specimen, hadReport });
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      } catch (error) {
        const what = `${from.replace(root, "")} of ${specimen.name}`;
        failures.push(
          `${i}: ${what}: ${done.join("; ")}: ${(error as Error).message}`,
        );
      }
      await Deno.remove(dir, { recursive: true });
    }
    return { outcomes, failures };
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

if (import.meta.main) {
  const option = (name: string, fallback: number) => {
    const at = Deno.args.indexOf(`--${name}`);
    return at < 0 ? fallback : Number(Deno.args[at + 1]);
  };
  const damages = option("damages", 1000);
  const seed = option("seed", 0);
  const { outcomes, failures } = await damageRuns({ damages, seed });
  const lines = [...outcomes].sort(([, a], [, b]) => b - a)
    .map(([outcome, count]) => `${String(count).padStart(6)}  ${outcome}`);
  const text = [
    ...failures,
    `${damages} damaged run folders (seed ${seed}): ${failures.length} failures`,
    ...lines,
  ].join("\n");
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
  Deno.exit(failures.length === 0 ? 0 : 1);
}
