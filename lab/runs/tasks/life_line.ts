/** Milliseconds from a request to stop until the process is killed. */
const PATIENCE_MS = 9_000;

/**
 * Worker that reads standard input, even if the main thread is busy. The end of the
 * input after a request to stop acts as a second Ctrl-C.
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
 * Ties this process to the one that started it as a job: input on its standard input,
 * or the end of that input when the other process is gone, asks it to stop. It then
 * gets SIGTERM, on which a run saves itself, and is killed nine seconds later, or at
 * once if the other process ends after its request.
 *
 * @returns A promise that resolves when this is in effect.
 */
export function holdLifeLine(): Promise<void> {
  const url = `data:text/javascript,${encodeURIComponent(THREAD)}`;
  const thread = new Worker(url, { type: "module" });
  return new Promise((resolve) => thread.onmessage = () => resolve());
}
