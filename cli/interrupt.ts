/**
 * A signal that Ctrl-C and SIGTERM raise once, so that a run can save itself; a
 * second Ctrl-C ends the process at once.
 *
 * @param onRaise Called when it is raised, before anything is saved.
 */
export function interruptSignal(onRaise: () => void): {
  signal: AbortSignal;
  release: () => void;
} {
  const controller = new AbortController();
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT"]
    : ["SIGINT", "SIGTERM"];
  const release = () => {
    for (const name of signals) Deno.removeSignalListener(name, raise);
  };
  const raise = () => {
    controller.abort();
    release();
    onRaise();
  };
  for (const name of signals) Deno.addSignalListener(name, raise);
  return { signal: controller.signal, release };
}
