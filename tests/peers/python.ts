// deno-lint-ignore-file no-console -- a program that prints
/** Which packages the peers need; torch is exact, as newer ones bring CUDA. */
const STEPS = [["torch==2.13.0"], ["stable-baselines3", "gymnasium"]];

async function run(command: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args })
    .output();
  if (success) return;
  const lines = new TextDecoder().decode(stderr).trim().split("\n");
  throw new Error(
    `Cannot set up the Python peers: ${command} ${args.join(" ")} failed: ${
      lines[lines.length - 1]
    }`,
  );
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

/**
 * A Python with the peers in a virtual environment under `.venv/peers`, made
 * when it is not there.
 */
export async function peersPython(root: string): Promise<string> {
  const folder = `${root}.venv/peers`;
  const python = `${folder}/bin/python`;
  const ready = `${folder}/.ready`;
  if (await exists(ready)) return python;
  console.error(`setting up the Python peers in ${folder}`);
  await run("python3", ["-m", "venv", folder]);
  for (const packages of STEPS) {
    await run(python, ["-m", "pip", "install", "-q", ...packages]);
  }
  await Deno.writeTextFile(ready, "");
  return python;
}
