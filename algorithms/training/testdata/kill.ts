/** Runs a script of this folder and kills it at a chosen moment. */

/** Text that the script printed, and whether it came to its end before it was killed. */
export interface KilledRun {
  output: string;
  completed: boolean;
}

/**
 * Starts a script, waits for the first thing it prints, and kills it with
 * SIGKILL some milliseconds later; with `Infinity` it is left to its end.
 */
export async function runAndKill(
  script: string,
  args: readonly string[],
  delay: number,
): Promise<KilledRun> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      new URL(script, import.meta.url).pathname,
      ...args,
    ],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const decoder = new TextDecoder();
  let output = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  for await (const chunk of child.stdout) {
    output += decoder.decode(chunk, { stream: true });
    if (timer === undefined && delay !== Infinity) {
      timer = setTimeout(() => {
        try {
          child.kill("SIGKILL");
        } catch {
          // It was quicker than the kill.
        }
      }, delay);
    }
  }
  const { code, signal } = await child.status;
  clearTimeout(timer);
  if (signal === null && code !== 0) throw new Error(`${script}: code ${code}`);
  return { output, completed: signal === null };
}
