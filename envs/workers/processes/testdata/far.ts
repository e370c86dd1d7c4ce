/** Children as another machine starts them: they connect by themselves. */

/** Where a child connects to, and what it says first. */
export interface FarOptions {
  readonly port: number;
  readonly secret: string;
}

/** True where {@linkcode startFar} works: its shell opens connections. */
export const CAN_START_FAR = Deno.build.os !== "windows";

/**
 * Gives a connection to `child.ts` as its input and output.
 *
 * @param options Port and secret.
 * @param args Arguments of the child.
 */
export function startFar(
  { port, secret }: FarOptions,
  ...args: string[]
): Deno.ChildProcess {
  const child = new URL("./child.ts", import.meta.url).pathname;
  const script = `
    exec 3<>/dev/tcp/127.0.0.1/${port} || exit 98
    printf %s ${secret} >&3
    exec "$@" <&3 >&3 3>&-`;
  const run = [Deno.execPath(), "run", "--no-check", "-q", child, ...args];
  return new Deno.Command("bash", {
    args: ["-c", script, "bash", ...run],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
}
