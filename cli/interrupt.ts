/**
 * A signal that Ctrl-C and SIGTERM raise once, so that a run can save itself or
 * clear up; a second Ctrl-C ends the process at once.
 *
 * @param onRaise Called when it is raised, before anything else is done.
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

/** How long signals wait at most, in ms. */
const LONGEST_WAIT = 250;

/**
 * A pause to await in a long loop, in which signals are heard: awaiting what is
 * there already does not let them in. Most of its calls return at once.
 */
export function breather(): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < LONGEST_WAIT) return;
    await new Promise((resolve) => setTimeout(resolve));
    last = performance.now();
  };
}
