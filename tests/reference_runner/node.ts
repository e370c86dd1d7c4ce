import {
  bundle,
  installOnnxRuntime,
  linkPackage,
  nodes,
} from "../testdata/run_node.ts";
import { withFolder } from "../testdata/with_folder.ts";

/** Runs fixtures in the newest Node; returns the exit code. */
export async function runInNode(
  { dir, backend, engine }: { dir: string; backend: string; engine: string },
): Promise<number> {
  const node = nodes.at(-1);
  if (node === undefined) throw new Error("Cannot find Node: npx has none");
  let status = 1;
  await withFolder(async (folder) => {
    const entry = new URL("./main.ts", import.meta.url);
    await bundle(entry, `${folder}/main.mjs`);
    if (engine === "onnx") await installOnnxRuntime(folder);
    await linkPackage(
      folder,
      "@tensorflow/tfjs-backend-wasm",
      "@tensorflow/tfjs-backend-wasm/package.json",
    );
    const options = ["--backend", backend, "--engine", engine];
    const code = `import("${folder}/main.mjs").then((it) => it.main())`;
    const args = ["-e", code, "reference", dir, ...options];
    ({ code: status } = await new Deno.Command(node.path, { args }).spawn()
      .status);
  });
  return status;
}
