/**
 * Damages shared folders at random: `share --check` must find each damage, and no
 * command may crash over it.
 *
 *     deno run -P=run --no-check tests/share_damage.ts --damages 1000 --seed 1
 */
import type { SeededRandom } from "@bellman/envs";
import { damageFile, filesOf } from "./damage.ts";
import { damageByCommand, type Damages, type Specimen } from "./damage_loop.ts";
import { pick } from "./kills/draw_run.ts";
import { runCommand, trainWell } from "./runs.ts";

const RUNS: Readonly<Record<string, readonly string[]>> = {
  "a2c": ["--env=CartPole-v1", "--set=normalizeObservation=true"],
  "acer, recurrent": ["acer", "--env=CartPole-v1", "--set=network=lstm"],
  "sac": ["sac", "--env=Pendulum-v1", "--set=learningStarts=50"],
};

/** Trains small agents and shares them. */
async function specimens(root: string): Promise<Specimen[]> {
  const made: Specimen[] = [];
  for (const [name, variant] of Object.entries(RUNS)) {
    const run = `${root}/run-${made.length}`;
    await trainWell([
      ...variant,
      "--steps=200",
      "--set=hiddenSizes=[8]",
      "--set=evaluationEpisodes=2",
      "--set=maxEpisodeSteps=20",
      "--quiet",
      `--out=${run}`,
    ]);
    const shared = `${root}/shared-${made.length}`;
    const { code, err } = await runCommand(["share", run, "--out", shared]);
    if (code !== 0) throw new Error(err);
    made.push({ name, folders: [shared] });
  }
  return made;
}

/** What a damage came to. */
type Outcome = "found, and agents play on" | "found, and nothing plays";

/** Fails unless the damage is found; `eval` may do without the file. */
async function judge(dir: string): Promise<Outcome> {
  const { code, out, err } = await runCommand(["share", "--check", dir]);
  const isFound = code === 1 && out.startsWith(`${dir}: `) && err === "" &&
    !out.includes("holds what it claims");
  if (!isFound) {
    throw new Error(`share --check ended with ${code}: ${out}${err}`);
  }
  const played = await runCommand(["eval", dir, "--episodes=1"]);
  if (played.code === 0) return "found, and agents play on";
  const lines = played.err.trimEnd().split("\n");
  const isLine = /^error: Cannot /.test(lines.at(-1)!);
  if (played.code === 2 && isLine) return "found, and nothing plays";
  throw new Error(`eval ended with ${played.code}: ${played.err}`);
}

/** Damages of single files of shared folders. */
export const SHARE_DAMAGES: Damages<Specimen, Outcome> = {
  name: "shared folders",
  specimens,
  damage: (dir: string, random: SeededRandom) => [
    damageFile(pick(random, filesOf(dir)), random),
  ],
  judge,
};

if (import.meta.main) await damageByCommand(SHARE_DAMAGES);
