// deno-lint-ignore-file no-console -- a program that prints
/**
 * Speed beside Python peers, in one run: `deno task bench:peers a2c [--json]`.
 * Both train CartPole-v1 with the same network on one thread, in turns.
 */
import { parseArgs } from "@std/cli";
import { peersPython } from "./python.ts";

const USAGE =
  "usage: deno task bench:peers a2c [--repeats N] [--steps N] [--json]";
const ROOT = new URL("../../", import.meta.url).pathname;
const BAR = 0.6;

function fail(message: string): never {
  console.error(message);
  Deno.exit(2);
}

/** Runs a program that prints a number last, on one core where possible. */
async function measure(command: string[]): Promise<number> {
  const pinned = Deno.build.os === "linux" && await hasTaskset()
    ? ["taskset", "-c", "0", ...command]
    : command;
  const [program, ...args] = pinned;
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd: ROOT,
    env: { OMP_NUM_THREADS: "1", MKL_NUM_THREADS: "1" },
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(decoder.decode(stderr));
  const lines = decoder.decode(stdout).trim().split("\n");
  return Number(lines[lines.length - 1]);
}

async function hasTaskset(): Promise<boolean> {
  return await new Deno.Command("taskset", { args: ["--version"] }).output()
    .then(({ success }) => success, () => false);
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

function wholeNumber(name: string, text: unknown): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  return fail(`Cannot use --${name} ${text}: expected a whole number above 0`);
}

async function main(): Promise<void> {
  const options = parseArgs(Deno.args, {
    string: ["repeats", "steps"],
    boolean: ["json"],
    default: { repeats: "5", steps: "48000" },
    unknown: (name: string) =>
      name.startsWith("-") ? fail(`Unknown option '${name}': ${USAGE}`) : true,
  });
  if (options._[0] !== "a2c") {
    fail(`Cannot bench '${options._[0] ?? ""}': expected a2c; ${USAGE}`);
  }
  const repeats = wholeNumber("repeats", options.repeats);
  const steps = wholeNumber("steps", options.steps);
  const python = await peersPython(ROOT);
  const task = { numEnvs: 16, numSteps: 5, warmup: 8000, steps };
  const ours: number[] = [], theirs: number[] = [];
  for (let seed = 0; seed < repeats; seed++) {
    const text = JSON.stringify({ ...task, seed });
    const script = "tests/peers/bellman_a2c.ts";
    ours.push(
      await measure([
        Deno.execPath(),
        "run",
        "--no-check",
        "-P=run",
        script,
        text,
      ]),
    );
    theirs.push(await measure([python, "tests/peers/sb3_a2c.py", text]));
    if (options.json) continue;
    console.log(
      `round ${seed + 1}: ours ${ours[seed].toFixed(0)}, stable-baselines3 ${
        theirs[seed].toFixed(0)
      } steps/s`,
    );
  }
  const ratios = ours.map((it, i) => it / theirs[i]);
  const ratio = median(ratios);
  const spread = Math.max(...ratios) - Math.min(...ratios);
  if (options.json) {
    console.log(JSON.stringify({
      bench: "a2c CartPole-v1 training, steps/s, 16 x 5, eager wasm",
      peer: "stable-baselines3 A2C, cpu, 1 thread",
      ours: median(ours),
      theirs: median(theirs),
      ratio,
      spread,
    }));
  } else {
    console.log(
      `ours / stable-baselines3 = ${ratio.toFixed(2)} (spread ${
        spread.toFixed(2)
      }), wanted at least ${BAR}`,
    );
  }
}

if (import.meta.main) await main();
