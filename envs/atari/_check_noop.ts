/** Throws unless action 0 does nothing, which steps without an action take. */
export function checkNoop([first]: readonly string[]): void {
  if (first === "NOOP") return;
  throw new TypeError(
    `Cannot take steps without an action as action 0 is ${first}: expected NOOP, as with fullActionSpace: true`,
  );
}
