/** A worker in a process: it counts by what its caller answers, and fails as it is told to. */
import { serveProcess } from "../../processes/serve_process.ts";

/** Data of the worker. */
export interface Remote {
  readonly worker: number;
  /** Number that it begins with. */
  readonly from: number;
  /** Address of a module in the code, which is imported. */
  readonly module: string;
  /** How the last one fails in its second step, at its first start; it need not. */
  readonly fails?: "throw" | "kill" | "hang" | "wrong";
  readonly start: number;
  /** Questions of a step, and the pause before each, in milliseconds. */
  readonly questions: number;
  readonly pauseMs: number;
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const FAIL = {
  throw: () => {
    throw new RangeError("it was told to");
  },
  kill: () => Deno.kill(Deno.pid, "SIGKILL"),
  hang: () => sleep(60_000),
  wrong: () => {},
};

if (import.meta.main) {
  serveProcess<Remote>(async (data, ask) => {
    const { worker, from, module, fails, start, questions, pauseMs } = data;
    await import(module);
    let count = from, steps = 0;
    const step = () => {
      const isWrong = ++steps === 2 && worker === 1 && start === 0;
      if (isWrong && fails) FAIL[fails]();
      for (let i = 0; i < questions; i++) {
        sleep(pauseMs);
        const more = isWrong && fails
          ? Uint8Array.of(255)
          : Uint8Array.of(worker);
        // In parts, which the caller sees as one.
        count += ask(more, Uint8Array.of(i))[0];
      }
      const episode = { return: 0, length: count, terminated: true };
      return { episodes: [{ env: worker, ...episode }] };
    };
    return {
      run(command) {
        if (command.type === "step") return step();
        if (command.type === "load") count = command.snapshot as number;
        return command.type === "save" ? { snapshot: count } : {};
      },
      close() {},
    };
  });
}
