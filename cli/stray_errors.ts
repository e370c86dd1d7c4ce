/** Takes what was thrown where nothing could catch it. */
type StrayErrorHandler = (thrown: unknown) => void;

/** The newest one is told alone. */
const handlers: StrayErrorHandler[] = [];

function onRejection(event: PromiseRejectionEvent): void {
  event.preventDefault();
  handlers.at(-1)?.(event.reason);
}

function onError(event: ErrorEvent): void {
  event.preventDefault();
  handlers.at(-1)?.(event.error);
}

/** Waits until what was thrown so far is reported: between two turns of the event loop. */
export function strayErrorsHeard(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/**
 * Reports errors that nothing can catch, which would end the process in the
 * middle of whatever it does: rejections that nothing awaits, and what timers
 * throw. Environments of the user's own may leave such behind.
 *
 * @param handler Takes them, instead of the handler before, until released.
 * @returns Releases it.
 */
export function onStrayError(handler: StrayErrorHandler): () => void {
  if (handlers.length === 0) {
    globalThis.addEventListener("unhandledrejection", onRejection);
    globalThis.addEventListener("error", onError);
  }
  handlers.push(handler);
  return () => {
    handlers.splice(handlers.lastIndexOf(handler), 1);
    if (handlers.length > 0) return;
    globalThis.removeEventListener("unhandledrejection", onRejection);
    globalThis.removeEventListener("error", onError);
  };
}
