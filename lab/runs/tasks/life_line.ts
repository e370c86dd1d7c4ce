/** Milliseconds from the request to stop until a process that has not ended is killed. */
const PATIENCE_MS = 9_000;

/**
 * A thread that reads standard input, even while the main one is busy. The end of
 * the input, after a request to stop, is a second Ctrl-C.
 */
const THREAD = `
const read = () => Deno.stdin.read(new Uint8Array(64));
const isLost = read().then((it) => it === null);
postMessage("held");
const wasLost = await isLost;
setTimeout(() => Deno.kill(Deno.pid, "SIGKILL"), ${PATIENCE_MS});
Deno.kill(Deno.pid, "SIGTERM");
if (!wasLost) {
  while (await read() !== null);
  Deno.kill(Deno.pid, "SIGKILL");
}`;

/**
 * Binds this process to the one that started it as a job: what is written to its
 * standard input asks it to stop, and so does the end of that input, as the other
 * process is gone then. It gets SIGTERM, by which a run saves itself, and is killed
 * nine seconds later, or at once where the other process ends after its request.
 *
 * @returns A promise of the moment from which on this holds.
 */
export function holdLifeLine(): Promise<void> {
  const url = `data:text/javascript,${encodeURIComponent(THREAD)}`;
  const thread = new Worker(url, { type: "module" });
  return new Promise((resolve) => thread.onmessage = () => resolve());
}
