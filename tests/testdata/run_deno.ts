/** What a program printed and returned. */
export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** Runs Deno in a separate process, unchecked and quiet. */
export async function runDeno(
  args: readonly string[],
  { command = "run", env, ...options }:
    & Omit<Deno.CommandOptions, "args">
    & { command?: "run" | "eval" | "task" | "check" } = {},
): Promise<Ran> {
  const runs = command === "run" || command === "eval";
  const flags = runs ? ["-q", "--no-check"] : ["-q"];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [command, ...flags, ...args],
    env: { NO_COLOR: "1", ...env },
    ...options,
  }).output();
  const [out, err] = [stdout, stderr].map((it) => new TextDecoder().decode(it));
  return { code, out, err };
}
