const ROOT = new URL("../../", import.meta.url).pathname;

/**
 * Pythons that may have numpy: `BELLMAN_PYTHON`, those of the project's virtual
 * environments, and the system's.
 */
function pythons(): string[] {
  return [
    Deno.env.get("BELLMAN_PYTHON"),
    `${ROOT}.venv/peers/bin/python`,
    `${ROOT}.venv/onnx/bin/python`,
    "python3",
  ].filter((path) => path !== undefined);
}

/** Finds a Python that has numpy. */
export function pythonWithNumpy(): string | undefined {
  return pythons().find(imports);
}

function imports(python: string): boolean {
  try {
    const args = ["-c", "import numpy"];
    return new Deno.Command(python, { args }).outputSync().success;
  } catch {
    return false;
  }
}

/** Runs a script and returns its output, parsed as JSON. */
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
