const ROOT = new URL("../../", import.meta.url).pathname;

/** Prints the library that came with numpy, where there is one. */
const PRINT =
  "import glob, numpy; print(*glob.glob(numpy.__path__[0] + '.libs/*openblas*'))";

/**
 * Finds the OpenBLAS of a Python's numpy: `BELLMAN_PYTHON`, one of the project's
 * virtual environments, or the system's.
 */
export function numpyOpenBlas(): string | undefined {
  const candidates = [
    Deno.env.get("BELLMAN_PYTHON"),
    `${ROOT}.venv/peers/bin/python`,
    `${ROOT}.venv/onnx/bin/python`,
    "python3",
  ];
  for (const python of candidates) {
    const path = python === undefined ? "" : printedBy(python);
    if (path !== "") return path;
  }
}

function printedBy(python: string): string {
  try {
    const command = new Deno.Command(python, { args: ["-c", PRINT] });
    return new TextDecoder().decode(command.outputSync().stdout).trim();
  } catch {
    return "";
  }
}
