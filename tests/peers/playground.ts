// deno-lint-ignore-file no-console -- a program that prints
/** How soon the playground trains and answers, in a browser. */
import { LOCK } from "../tools/packages.ts";
import { fileURLToPath } from "node:url";
import { buildPlayground } from "../../site/playground/build.ts";
import { runDeno } from "../testdata/run_deno.ts";
import { withFolder } from "../testdata/with_folder.ts";

const DRIVE = fileURLToPath(
  new URL("../../site/playground/testdata/drive.ts", import.meta.url),
);

await withFolder(async (folder) => {
  await buildPlayground(folder);
  const { code, out, err } = await runDeno([
    ...[LOCK, "--allow-all", DRIVE, folder, "answers"],
    Deno.args[0],
  ]);
  if (code !== 0) throw new Error(err);
  const { value, complaints } = JSON.parse(out);
  if (complaints.length > 0) throw new Error(complaints.join("\n"));
  console.log(JSON.stringify(value));
});
