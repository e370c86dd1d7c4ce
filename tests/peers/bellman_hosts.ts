// deno-lint-ignore-file no-console -- a program that prints
/** Figures of `host_a2c.ts` in Deno, in the newest Node or in a page. */
import {
  bundle,
  installOnnxRuntime,
  nodes,
  runProgram,
} from "../testdata/run_node.ts";
import { copyWasm, inPage } from "../testdata/run_page.ts";
import { withFolder } from "../testdata/with_folder.ts";
import { type HostTask, measure } from "./host_a2c.ts";

const ENTRY = new URL("./host_a2c.ts", import.meta.url);
const WASM = new URL(
  ".",
  import.meta.resolve("@tensorflow/tfjs-backend-wasm"),
);

/** Bundles the program into a folder, and runs it there. */
const HOSTS: Readonly<
  Record<string, (task: HostTask, folder: string) => Promise<unknown>>
> = {
  deno: measure,

  async node(task, folder) {
    await bundle(ENTRY, `${folder}/main.mjs`);
    if (task.engine === "onnx") await installOnnxRuntime(folder);
    const code = `import("${folder}/main.mjs").then((it) => it.measure(${
      JSON.stringify({ ...task, wasmPaths: WASM })
    })).then((it) => console.log(JSON.stringify(it)))`;
    const ran = await runProgram(nodes.at(-1)!.path, ["-e", code]);
    if (ran.code !== 0) throw new Error(ran.err);
    return JSON.parse(ran.out);
  },

  async page(task, folder) {
    await bundle(ENTRY, `${folder}/main.js`, { platform: "browser" });
    await Deno.mkdir(`${folder}/wasm`);
    await copyWasm(WASM, `${folder}/wasm`);
    const given = JSON.stringify({ ...task, wasmPaths: "wasm" });
    const { values, complaints } = await inPage(
      folder,
      `import("/main.js").then((it) => it.measure(${given}))`,
    );
    if (complaints.length > 0) throw new Error(complaints.join("\n"));
    return values[0];
  },
};

const { host, ...task } = JSON.parse(Deno.args[0]);
await withFolder(async (folder) => {
  console.log(JSON.stringify(await HOSTS[host](task, folder)));
});
