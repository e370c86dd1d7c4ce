/**
 * Makes `deno.jsr.json`, the configuration that the release uses: `deno.json`
 * without the links that stand in for `jsr:@std/*` where only npm is reachable.
 * `--check` only says whether the file is current.
 */
import { ROOT } from "./packages.ts";

const { links: _, ...config } = JSON.parse(
  await Deno.readTextFile(`${ROOT}deno.json`),
);
const text = JSON.stringify(config, null, 2) + "\n";
const path = `${ROOT}deno.jsr.json`;
const current = await Deno.readTextFile(path).catch(() => "");
if (JSON.stringify(config) !== JSON.stringify(JSON.parse(current || "null"))) {
  if (Deno.args.includes("--check")) {
    console.error(
      "deno.jsr.json is not current: run 'deno task release:config'",
    );
    Deno.exit(1);
  }
  await Deno.writeTextFile(path, text);
  console.log("wrote deno.jsr.json");
}
