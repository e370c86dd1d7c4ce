const ROOT = new URL("../../", import.meta.url).pathname;

/**
 * A Python that has numpy: `BELLMAN_PYTHON`, one of the project's virtual
 * environments, or the system's.
 */
export function pythonWithNumpy(): string | undefined {
  const candidates = [
    Deno.env.get("BELLMAN_PYTHON"),
    `${ROOT}.venv/peers/bin/python`,
    `${ROOT}.venv/onnx/bin/python`,
    "python3",
  ];
  return candidates.find((path) => path !== undefined && imports(path));
}

function imports(python: string): boolean {
  try {
    const args = ["-c", "import numpy"];
    return new Deno.Command(python, { args }).outputSync().success;
  } catch {
    return false;
  }
}

/** Runs a script and gives what it prints, as JSON. */
export async function runNumpy(
  python: string,
  script: string,
  ...args: string[]
): Promise<unknown> {
  const { code, stdout, stderr } = await new Deno.Command(python, {
    args: ["-c", script, ...args],
  }).output();
  const decoder = new TextDecoder();
  if (code !== 0) throw new Error(decoder.decode(stderr));
  return JSON.parse(decoder.decode(stdout));
}
