import { assert, assertEquals } from "@std/assert";
import { capture } from "./capture.ts";

/**
 * Cuts one of two equal runs down to its first checkpoint, resumes it, and checks
 * that it ends as the other one.
 *
 * @param cut Folder of the run that is cut.
 * @param whole Folder of the other one.
 */
export async function resumeEqual(cut: string, whole: string): Promise<void> {
  // As if the run had been ended after its first checkpoint.
  const later = [...Deno.readDirSync(`${cut}/checkpoints`)]
    .map(({ name }) => name).filter((name) => name.startsWith("step"))
    .toSorted().slice(1);
  assert(later.length > 0);
  for (const name of later) await Deno.remove(`${cut}/checkpoints/${name}`);
  await Deno.remove(`${cut}/report.html`);
  const resumed = await capture("train", "--resume", cut, "--quiet");
  assertEquals(resumed.code, 0, resumed.err);
  for (const file of ["policy.onnx", "episodes.csv"]) {
    assertEquals(
      await Deno.readFile(`${cut}/${file}`),
      await Deno.readFile(`${whole}/${file}`),
    );
  }
}
