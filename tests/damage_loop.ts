/** Damages copies of run folders, one after the other, and counts what came of it. */
import { SeededRandom } from "@bellman/envs";
import { parseArgs } from "@std/cli";
import { pick } from "./kills/draw_run.ts";
import { copyRun } from "./runs.ts";

/** A run that ended, and folders of it as kills left them. */
export interface Specimen {
  readonly name: string;
  readonly folders: readonly string[];
}

/** A way to damage run folders. */
export interface Damages<S extends Specimen, Outcome extends string> {
  /** Plural of what is damaged. */
  readonly name: string;
  /** Trains the runs that are damaged afterwards. */
  specimens(root: string, random: SeededRandom): Promise<S[]>;
  /** Damages a folder; says what was done. */
  damage(dir: string, random: SeededRandom, all: readonly S[]): string[];
  /** Resumes a damaged folder; throws where it came to nothing good. */
  judge(dir: string, specimen: S, from: string): Promise<Outcome>;
}

/** Damages that are done, and the seed that they are drawn with. */
export interface DamageOptions {
  readonly damages: number;
  readonly seed: number;
}

/** How many damages came to what, and those that came to nothing good. */
export interface Summary<Outcome extends string> {
  readonly outcomes: ReadonlyMap<Outcome, number>;
  readonly failures: readonly string[];
}

/** Damages so many folders. */
export async function damageEach<S extends Specimen, Outcome extends string>(
  kind: Damages<S, Outcome>,
  { damages, seed }: DamageOptions,
): Promise<Summary<Outcome>> {
  const root = await Deno.makeTempDir({ prefix: "bellman-damage-" });
  const random = new SeededRandom(seed);
  const outcomes = new Map<Outcome, number>();
  const failures: string[] = [];
  try {
    const all = await kind.specimens(root, random);
    for (let i = 0; i < damages; i++) {
      const specimen = pick(random, all), from = pick(random, specimen.folders);
      const dir = `${root}/damaged`;
      copyRun(from, dir);
      const done = kind.damage(dir, random, all);
      try {
        const outcome = await kind.judge(dir, specimen, from);
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

/** Damages as the command line says, prints what came of it, and exits. */
export async function damageByCommand<
  S extends Specimen,
  Outcome extends string,
>(kind: Damages<S, Outcome>): Promise<never> {
  const given = parseArgs(Deno.args, {
    string: ["damages", "seed"],
    default: { damages: "200", seed: "0" },
  });
  const damages = Number(given.damages), seed = Number(given.seed);
  const { outcomes, failures } = await damageEach(kind, { damages, seed });
  const lines = [...outcomes].sort(([, a], [, b]) => b - a)
    .map(([outcome, count]) => `${String(count).padStart(6)}  ${outcome}`);
  const text = [
    ...failures,
    `${damages} damaged ${kind.name} (seed ${seed}): ${failures.length} failures`,
    ...lines,
  ].join("\n");
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
  Deno.exit(failures.length === 0 ? 0 : 1);
}

/** True where two values are printed alike, all their parts included. */
export function isSame(a: unknown, b: unknown): boolean {
  return Deno.inspect(a, FULL) === Deno.inspect(b, FULL);
}

const FULL = {
  depth: 99,
  iterableLimit: Infinity,
  strAbbreviateSize: Infinity,
};
