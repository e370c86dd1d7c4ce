/** Keeps the LICENSE of each package equal to the root's; `--check` only compares. */
import { packages, ROOT } from "./packages.ts";

const license = await Deno.readTextFile(`${ROOT}LICENSE`);
for (const { folder } of await packages()) {
  const path = `${ROOT}${folder}/LICENSE`;
  const current = await Deno.readTextFile(path).catch(() => "");
  if (current === license) continue;
  if (Deno.args.includes("--check")) {
    console.error(`${folder}/LICENSE differs from LICENSE`);
    Deno.exitCode = 1;
  } else {
    await Deno.writeTextFile(path, license);
    console.log(`wrote ${folder}/LICENSE`);
  }
}
