import { assert, assertEquals } from "@std/assert";
import { runCommand } from "../runs.ts";
import { guideCode } from "./guide_code.ts";

/**
 * Runs the command lines below a text of a guide, which must go well, in a folder of
 * their own.
 *
 * @returns Mean return of each trained run's best agent, by its last name.
 */
export async function runGuide(
  guide: string,
  below: string,
  dir: string,
): Promise<Record<string, number>> {
  const lines = guideCode(guide, below, "sh").trim().split("\n");
  const here = (word: string) =>
    /^(runs\/.+|demo|swings|mix)$/.test(word) ? `${dir}/${word}` : word;
  const returns: Record<string, number> = {};
  for (const line of lines) {
    const [deno, task, ...words] = line.replace(/#.*/, "").trim().split(/\s+/);
    assertEquals([deno, task], ["deno", "task"], line);
    const args = words.map(here);
    const { code, err } = await runCommand(args);
    assertEquals(code, 0, err);
    if (args[0] !== "train") continue;
    const run = args[args.indexOf("--out") + 1];
    const judged = await runCommand(["eval", run, "--json"]);
    returns[run.split("/").at(-1)!] = JSON.parse(judged.out).meanReturn;
  }
  assert(Object.keys(returns).length > 0);
  return returns;
}
