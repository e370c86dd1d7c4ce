/** The steps of the workflow that releases. */
import { parse } from "@std/yaml";
import { ROOT } from "../tools/packages.ts";

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly { readonly run?: string }[] }>
  >;
}

/** Lists the commands of the workflow, in order. */
export function releaseCommands(): string[] {
  const path = `${ROOT}.github/workflows/release.yml`;
  const { jobs } = parse(Deno.readTextFileSync(path)) as Workflow;
  return Object.values(jobs)
    .flatMap(({ steps }) => steps)
    .flatMap(({ run }) => run === undefined ? [] : run.trim().split("\n"));
}

/**
 * Runs the workflow's step that publishes to a registry.
 *
 * @param registry Its name in the command.
 * @param env Variables that name a registry of one's own, and who publishes.
 * @returns What it prints to standard output.
 */
export async function release(
  registry: "jsr" | "npm",
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const commands = releaseCommands()
    .filter((it) =>
      it.startsWith("deno task release") && it.endsWith(registry)
    );
  if (commands.length !== 1) throw new Error(`steps: ${commands}`);
  const [, ...args] = commands[0].split(" ");
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: ROOT,
    env: { NO_COLOR: "1", ...env },
  }).output();
  const [out, err] = [stdout, stderr].map((it) => new TextDecoder().decode(it));
  if (!success) throw new Error(out + err);
  return out;
}
