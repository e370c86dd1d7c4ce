/** Signals that end a run which saves itself first. */
const SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

/** How long the first signal may go unheard before that is told, in ms. */
const UNHEARD_MS = 1_000;
const UNHEARD =
  "\nThe run stops when its environment comes back; a second Ctrl-C ends it at once\n";

/**
 * Listens in a thread of its own, where signals are heard whatever the main
 * thread does: an environment may have it in an endless loop. The second signal
 * does what it does where nobody listens.
 */
const LISTENER = `
let isRaised = false, isHeard = false;
const stop = () => {
  for (const name of names) Deno.removeSignalListener(name, listeners[name]);
};
const hear = (name) => {
  if (isRaised) {
    // Shell and system both send it to what they leave: the second may not end the saving.
    if (name === "SIGHUP") return;
    stop();
    Deno.kill(Deno.pid, name);
    return;
  }
  isRaised = true;
  postMessage("raised");
  setTimeout(() => {
    if (isHeard) return;
    try {
      Deno.stderr.writeSync(new TextEncoder().encode(${
  JSON.stringify(UNHEARD)
}));
    } catch {
      // Nobody reads it.
    }
  }, ${UNHEARD_MS});
};
const names = ${JSON.stringify(SIGNALS)}, listeners = {};
for (const name of names) {
  Deno.addSignalListener(name, listeners[name] = () => hear(name));
}
onmessage = ({ data }) => {
  if (data === "heard") {
    isHeard = true;
    return;
  }
  stop();
  postMessage("stopped");
  close();
};
postMessage("listening");`;

/** A signal that was asked for, and what gives it back. */
export interface Interrupt {
  /** Aborted by the first signal. */
  signal: AbortSignal;
  /** Leaves signals to what they do by themselves. */
  release(): Promise<void>;
}

/**
 * Listens to Ctrl-C, SIGTERM and SIGHUP: the first one raises a signal, so that a
 * run can save itself or clear up; the second one ends the process at once, even
 * where an environment that hangs blocks the main thread.
 *
 * @param onRaise Called when it is raised, before anything else is done.
 * @returns The signal, once it listens.
 */
export async function interruptSignal(onRaise: () => void): Promise<Interrupt> {
  const controller = new AbortController();
  const listener = new Worker(
    `data:text/javascript,${encodeURIComponent(LISTENER)}`,
    { type: "module" },
  );
  const listening = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  listener.onmessage = ({ data }) => {
    if (data === "listening") return listening.resolve();
    if (data === "stopped") return stopped.resolve();
    listener.postMessage("heard");
    controller.abort();
    onRaise();
  };
  await listening.promise;
  let isReleased = false;
  const release = async () => {
    if (!isReleased) listener.postMessage("stop");
    isReleased = true;
    await stopped.promise;
  };
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
