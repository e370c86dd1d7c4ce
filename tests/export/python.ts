const ROOT = new URL("../../", import.meta.url).pathname;

/**
 * Finds a Python that has the package onnxruntime: `BELLMAN_PYTHON`, or one of
 * the project's virtual environments.
 *
 * @param modules What it must be able to import.
 */
export function pythonWithOnnxRuntime(
  modules: string = "onnxruntime",
): string | undefined {
  const candidates = [
    Deno.env.get("BELLMAN_PYTHON"),
    `${ROOT}.venv/onnx/bin/python`,
    `${ROOT}.venv/peers/bin/python`,
  ];
  return candidates.find((path) =>
    path !== undefined && imports(path, modules)
  );
}

function imports(python: string, modules: string): boolean {
  try {
    const args = ["-c", `import ${modules}`];
    return new Deno.Command(python, { args }).outputSync().success;
  } catch {
    return false;
  }
}
