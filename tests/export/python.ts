const ROOT = new URL("../../", import.meta.url).pathname;

/**
 * Finds a Python that has some modules, such as `"onnxruntime, gymnasium"`:
 * `BELLMAN_PYTHON`, or one of the project's virtual environments.
 */
export function pythonWith(modules: string): string | undefined {
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
