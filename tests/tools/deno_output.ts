import { LOCK, ROOT } from "./packages.ts";

/**
 * Runs a command of Deno in the root.
 *
 * @param args The command and its arguments, such as `["doc", "--json", path]`.
 * @returns What it prints to standard output.
 * @throws {Error} If it fails; the message is what it prints to standard error.
 */
export async function denoOutput(
  [command, ...args]: readonly string[],
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [command, LOCK, ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(decoder.decode(stderr));
  return decoder.decode(stdout);
}
