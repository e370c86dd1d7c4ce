import type { ChildCommand } from "../workers/processes/child.ts";

/**
 * Runs a program that ends, with all that it started, when the pipe from its parent
 * closes, even where the parent was killed. A folder of its files goes with it, in which
 * what it started may write for a moment longer, and the one that a browser has elsewhere.
 */
const SCRIPT = `exec 3<&0 </dev/null
{
  read -r _ <&3
  kill -KILL $$
  if [ -n "$0" ]; then
    socket=$(readlink "$0/SingletonSocket") && rm -f "\${socket%/*}"/Singleton* &&
      rmdir "\${socket%/*}"
    rm -rf "$0"; sleep 0.5; rm -rf "$0"
  fi
  kill -KILL 0
} >/dev/null 2>&1 &
exec 3<&-
exec "$@"`;

/**
 * Makes the command of a program that does not outlive its parent.
 *
 * @param args The program and its arguments.
 * @param options Variables, and a folder that is removed at the end.
 */
export function tiedCommand(
  args: readonly string[],
  { folder = "", env }: { folder?: string; env?: ChildCommand["env"] } = {},
): ChildCommand {
  return {
    ...{ program: "/bin/sh", args: ["-c", SCRIPT, folder, ...args] },
    ...{ env, detached: true },
  };
}
