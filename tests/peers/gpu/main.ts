// deno-lint-ignore-file no-console -- a program that prints
/**
 * Speed on a GPU, beside JAX and PyTorch: `deno task bench:gpu`. It prints a
 * table in Markdown with the device's name.
 *
 * A machine without Deno takes an archive that `--pack FILE` makes: with Deno
 * itself, this program in one file, the fixtures and the Python peers. There,
 * `tar -xzf FILE && ./bench_gpu/run` is all. Python 3 with jax, its CUDA plugin,
 * optax and torch has to be there.
 */
import { parseArgs } from "@std/cli";
import { runInside } from "./inside.ts";
import { pack } from "./pack.ts";
import { findPeers, type Peers } from "./peers_python.ts";

const USAGE = "usage: deno task bench:gpu [PART...] [--device cuda|cpu] " +
  "[--python PATH] [--smoke] | --pack FILE";

/** Who computes: a program of ours, or a file of Python. */
type Who = "ours" | "jax" | "torch";

/** One line of the table. */
interface Row {
  readonly what: string;
  readonly unit: "steps/s" | "ms";
  readonly programs: Partial<Record<Who, string>>;
  readonly task: object;
}

const A2C = {
  ours: "a2c",
  jax: "jax_whole_a2c.py",
  torch: "torch_whole_a2c.py",
};
const SAC = {
  ours: "sac",
  jax: "jax_sac_update.py",
  torch: "torch_sac_update.py",
};
const NATURE = {
  ours: "nature",
  jax: "jax_nature_a2c.py",
  torch: "torch_nature_a2c.py",
};
const PPO = { ours: "ppo", jax: "jax_whole_ppo.py" };
const DQN = { ours: "dqn", jax: "jax_dqn_update.py" };
const TD3 = { ours: "td3", jax: "jax_td3_update.py" };

/** PPO's loop, 4 epochs of 4 minibatches a rollout, of some environments. */
function ppoOf(numEnvs: number, numSteps: number, repeats: number): Row {
  return {
    what: `PPO, loop=device, ${numEnvs.toLocaleString("en-US")} environments`,
    unit: "steps/s",
    programs: PPO,
    task: { numEnvs, numSteps, steps: numEnvs * numSteps * 4, repeats },
  };
}

/** A2C's loop, 5 steps an update, of some environments. */
function loopOf(numEnvs: number, updates: number, repeats: number): Row {
  return {
    what: `A2C, loop=device, ${numEnvs.toLocaleString("en-US")} environments`,
    unit: "steps/s",
    programs: A2C,
    task: { numEnvs, numSteps: 5, steps: numEnvs * 5 * updates, repeats },
  };
}

function natureOf(rows: number, repeats: number): Row {
  return {
    what: `A2C's update of the Nature CNN, ${rows} frames`,
    unit: "ms",
    programs: NATURE,
    task: { rows, repeats },
  };
}

/** An update of dense layers. */
function updateOf(
  name: string,
  programs: Row["programs"],
  batch: number,
): Record<"full" | "smoke", Row[]> {
  const row = (repeats: number): Row => ({
    what: `${name}'s update, 256-256, batch ${batch}`,
    unit: "ms",
    programs,
    task: { repeats },
  });
  return { full: [row(500)], smoke: [row(3)] };
}

/** Rows of each part, in full and so small that they only show that they run. */
const PARTS: Readonly<Record<string, Record<"full" | "smoke", Row[]>>> = {
  a2c: {
    full: [256, 1024, 4096, 16_384, 65_536].map((it) => loopOf(it, 100, 6)),
    smoke: [loopOf(16, 4, 3)],
  },
  ppo: { full: [ppoOf(1024, 128, 3)], smoke: [ppoOf(64, 64, 3)] },
  sac: updateOf("SAC", SAC, 256),
  dqn: updateOf("DQN", DQN, 64),
  td3: updateOf("TD3", TD3, 256),
  nature: {
    full: [natureOf(80, 200), natureOf(640, 100)],
    smoke: [natureOf(8, 2)],
  },
};
const FIXTURES = "fixtures";

/** Products of float32 in float32, as ours are. */
const PRECISE = { JAX_DEFAULT_MATMUL_PRECISION: "highest" };

const short = (value: number) =>
  value >= 1000
    ? Math.round(value).toLocaleString("en-US")
    : String(Number(value.toPrecision(3)));

function fail(message: string): never {
  console.error(message);
  Deno.exit(2);
}

/** Runs a program; the last line that it prints is its result. */
async function resultOf(
  [program, ...args]: string[],
  env: Record<string, string> = {},
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args,
    env,
  }).output();
  const [out, err] = [stdout, stderr].map((it) =>
    new TextDecoder().decode(it).trim()
  );
  if (!success) throw new Error(err.split("\n").at(-1) || `${program} failed`);
  return out.split("\n").at(-1)!;
}

/** Runs a program of ours in a separate process. */
function runOurs(name: string, args: string[], peers: Peers): Promise<string> {
  const self = new URL(import.meta.url).pathname;
  return resultOf(
    [Deno.execPath(), "run", "-q", "--no-check", "-A", self, ...args],
    { ...peers.plugin, BELLMAN_BENCH_PROGRAM: name },
  );
}

/** Runs one who takes part; the figure, or why there is none. */
async function measure(
  who: Who,
  { programs: { [who]: program }, task }: Row,
  peers: Peers,
): Promise<number | string> {
  const { device: platform, python, missing } = peers;
  const given = JSON.stringify({
    compile: false,
    ...task,
    platform,
    engine: "xla",
    send: true,
  });
  try {
    if (who !== "ours" && missing[who]) return missing[who];
    const file = new URL(`../${program}`, import.meta.url).pathname;
    const line = who === "ours"
      ? await runOurs(program!, [given], peers)
      : await resultOf([python!, file, given], PRECISE);
    const printed = JSON.parse(line);
    return typeof printed === "number" ? printed : printed.update_ms;
  } catch (error) {
    return (error as Error).message.split("\n")[0];
  }
}

/** Times as fast as another, in our favour above 1. */
function ratioOf(unit: Row["unit"], ours: unknown, theirs: unknown): string {
  if (typeof ours !== "number" || typeof theirs !== "number") return "-";
  return (unit === "ms" ? theirs / ours : ours / theirs).toFixed(2);
}

/** Fixtures of the original implementations; one says that they can be run. */
const REFERENCE = { full: "reference", smoke: "reference/sac_logprobs.json" };

/** Runs fixtures by XLA; returns true where every one passed. */
async function runFixtures(
  size: keyof typeof REFERENCE,
  peers: Peers,
): Promise<boolean> {
  const path = new URL(`../../${REFERENCE[size]}`, import.meta.url).pathname;
  const args = [path, "--engine", "xla", "--backend", "cpu"];
  try {
    await runOurs(FIXTURES, args, peers);
    console.log(`All fixtures of ${REFERENCE[size]} pass on the device.\n`);
    return true;
  } catch (error) {
    console.log(`Fixtures: ${(error as Error).message}\n`);
    return false;
  }
}

/** Prints the table; returns false where a figure of ours is missing. */
async function printTable(rows: readonly Row[], peers: Peers) {
  const { jax, torch } = peers.versions;
  console.log(
    `| ${peers.name} | unit | ours | JAX ${jax} | as fast | PyTorch ${torch} | as fast |
| --- | --- | --- | --- | --- | --- | --- |`,
  );
  const problems: string[] = [];
  for (const row of rows) {
    const made = {} as Record<Who, unknown>;
    for (const who of Object.keys(row.programs) as Who[]) {
      made[who] = await measure(who, row, peers);
      if (typeof made[who] === "string") {
        problems.push(`${who}, ${row.what}: ${made[who]}`);
      }
    }
    const cell = (it: unknown) => typeof it === "number" ? short(it) : "-";
    const { unit } = row, { ours, jax, torch } = made;
    const cells = [row.what, unit, cell(ours), cell(jax)]
      .concat(ratioOf(unit, ours, jax), cell(torch))
      .concat(ratioOf(unit, ours, torch));
    console.log(`| ${cells.join(" | ")} |`);
  }
  if (problems.length > 0) console.log(`\n${problems.join("\n")}`);
  return !problems.some((it) => it.startsWith("ours, "));
}

async function main(): Promise<void> {
  const { _: named, ...options } = parseArgs(Deno.args, {
    string: ["device", "python", "pack"],
    boolean: ["smoke"],
    default: { device: "cuda" },
    unknown: (name: string) =>
      name.startsWith("-") ? fail(`Unknown option '${name}': ${USAGE}`) : true,
  });
  if (options.pack) return await pack(String(options.pack));
  const parts = named.length > 0
    ? named.map(String)
    : [FIXTURES, ...Object.keys(PARTS)];
  const unknown = parts.find((it) =>
    it !== FIXTURES && !Object.hasOwn(PARTS, it)
  );
  if (unknown !== undefined) {
    const all = [FIXTURES, ...Object.keys(PARTS)].join(", ");
    fail(`Cannot bench '${unknown}': expected ${all}`);
  }
  const { device } = options;
  if (device !== "cuda" && device !== "cpu") {
    fail(`Cannot bench --device ${device}: expected cuda or cpu`);
  }
  const peers = await findPeers(device, options.python as string).catch((
    error,
  ) => fail((error as Error).message));
  const size = options.smoke ? "smoke" : "full";
  const isWhole = !parts.includes(FIXTURES) || await runFixtures(size, peers);
  const rows = parts.flatMap((it) => PARTS[it]?.[size] ?? []);
  const isMeasured = rows.length === 0 || await printTable(rows, peers);
  Deno.exitCode = isWhole && isMeasured ? 0 : 1;
}

const program = Deno.env.get("BELLMAN_BENCH_PROGRAM");
if (program !== undefined) await runInside(program);
else if (import.meta.main) await main();
