/** A Python with the packages that tests compare against, in a virtual environment that is made once per machine. */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const packages = [
  "numpy",
  "safetensors",
  "tensorboard",
  "setuptools<81",
  "minari[hdf5]==0.5.4",
];

export interface Python {
  /** Path of the interpreter; empty where there is none. */
  readonly path: string;
  /** Why there is none. */
  readonly missing?: string;
}

let prepared: Promise<Python> | undefined;

/** Makes the environment, or says why it cannot. */
export function preparePython(): Promise<Python> {
  return prepared ??= prepare();
}

/** Runs a script and gives what it prints, as JSON. */
export async function runPython(
  python: Python,
  script: string,
  ...args: string[]
): Promise<unknown> {
  const { code, stdout, stderr } = await run(python.path, [
    "-c",
    script,
    ...args,
  ]);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

async function prepare(): Promise<Python> {
  const dir = join(tmpdir(), "bellman-tests-python-2");
  const path = join(dir, "bin", "python3");
  const ready = join(dir, "ready");
  if (existsSync(ready)) return { path };
  const steps: [string, string[]][] = [
    ["python3", ["-m", "venv", dir]],
    [path, ["-m", "pip", "install", "--quiet", ...packages]],
  ];
  for (const [command, args] of steps) {
    const { code, stderr } = await run(command, args).catch((error) => ({
      code: 1,
      stderr: String(error),
    }));
    if (code !== 0) {
      const reason = stderr.trim().split("\n").at(-1);
      const missing = `${command} ${args.slice(0, 3).join(" ")}: ${reason}`;
      // deno-lint-ignore no-console
      console.warn(`Comparisons with Python are left out: ${missing}`);
      return { path: "", missing };
    }
  }
  await Deno.writeTextFile(ready, "");
  return { path };
}

async function run(
  command: string,
  args: string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const output = await new Deno.Command(command, {
    args,
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  return {
    code: output.code,
    stdout: decoder.decode(output.stdout),
    stderr: decoder.decode(output.stderr),
  };
}
