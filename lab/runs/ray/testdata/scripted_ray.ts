/** A cluster of Ray for tests, which is Python without Ray that follows a script. */
import { readVariable } from "@bellman/files/installed";

const SCRIPTED = new URL("./scripted_ray.py", import.meta.url).pathname;

/** A Python, which need not have Ray. */
export const PYTHON: string = readVariable("BELLMAN_PYTHON") || "python3";

/** True where there is one that runs on the systems of nodes. */
export const hasPython: boolean = Deno.build.os !== "windows" &&
  runs("import fcntl");

function runs(code: string): boolean {
  try {
    const command = new Deno.Command(PYTHON, { args: ["-c", code] });
    return command.outputSync().success;
  } catch {
    return false;
  }
}

/** What a cluster does: see `scripted_ray.py`. */
export interface ClusterScript {
  refusal?: string;
  cpus?: number[];
  open?: boolean;
  dies?: number[];
  stillborn?: boolean;
  full?: boolean;
  ends?: boolean;
}

let program: string | undefined;

/** Makes the program that stands in the place of Python, and a `deno` for nodes. */
export function scriptedPython(): string {
  if (program !== undefined) return program;
  const folder = Deno.makeTempDirSync({ prefix: "bellman-scripted-" });
  addEventListener(
    "unload",
    () => Deno.removeSync(folder, { recursive: true }),
  );
  Deno.symlinkSync(Deno.execPath(), `${folder}/deno`);
  program = `${folder}/python`;
  const lines = [
    "#!/bin/sh",
    `export PATH='${folder}':$PATH TMPDIR='${folder}'`,
    `exec '${PYTHON}' '${SCRIPTED}' "$@"`,
  ];
  Deno.writeTextFileSync(program, `${lines.join("\n")}\n`, { mode: 0o755 });
  return program;
}
