const ROOT = new URL("../../", import.meta.url).pathname;

/**
 * A Python that has the package onnxruntime: `BELLMAN_PYTHON`, or one of the
 * project's virtual environments.
 */
export function pythonWithOnnxRuntime(): string | undefined {
  const candidates = [
    Deno.env.get("BELLMAN_PYTHON"),
    `${ROOT}.venv/onnx/bin/python`,
    `${ROOT}.venv/peers/bin/python`,
  ];
  return candidates.find((path) => path !== undefined && imports(path));
}

function imports(python: string): boolean {
  try {
    const args = ["-c", "import onnxruntime"];
    return new Deno.Command(python, { args }).outputSync().success;
  } catch {
    return false;
  }
}
