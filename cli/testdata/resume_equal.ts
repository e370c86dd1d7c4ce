import { assert, assertEquals } from "@std/assert";
import { leaveUnevaluated } from "../../tests/runs.ts";
import { capture } from "./capture.ts";

/**
 * Cuts one of two equal runs down to its first checkpoint, resumes it, and checks
 * that it ends as the other one.
 *
 * @param cut Folder of the run that is cut.
 * @param whole Folder of the other one.
 * @param options Words of the command that resumes.
 */
export async function resumeEqual(
  cut: string,
  whole: string,
  ...options: string[]
): Promise<void> {
  // As if the run had been ended after its first checkpoint.
  const later = [...Deno.readDirSync(`${cut}/checkpoints`)]
    .map(({ name }) => name).filter((name) => name.startsWith("step"))
    .toSorted().slice(1);
  assert(later.length > 0);
  for (const name of later) await Deno.remove(`${cut}/checkpoints/${name}`);
  leaveUnevaluated(cut);
  const resumed = await capture(
    ...["train", "--resume", cut, "--quiet", ...options],
  );
  assertEquals(resumed.code, 0, resumed.err);
  for (const file of ["policy.onnx", "episodes.csv"]) {
    assertEquals(
      await Deno.readFile(`${cut}/${file}`),
      await Deno.readFile(`${whole}/${file}`),
    );
  }
}
