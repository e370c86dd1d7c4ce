/** Hosts of the tests: each is a `child.ts`, which gets the texts of commands. */
import { HostFailure } from "../../host_failure.ts";
import { ChildProcess } from "../child.ts";
import { frameOf } from "../frames.ts";
import { serveHosts } from "../host_thread.ts";

/** What a host is started with. */
export interface PlainHost {
  readonly args: readonly string[];
  /** What it is told first. */
  readonly text: string;
}

export function main(): void {
  serveHosts<PlainHost>(({ args, text }, { side, aside }) => {
    const child = new ChildProcess({ program: Deno.execPath(), args });
    return {
      get pid() {
        return child.pid;
      },
      async run(command) {
        if (command.type === "reset") {
          setTimeout(() => {
            throw new RangeError("thrown in the thread");
          });
          return await new Promise(() => {});
        }
        aside?.postMessage(command.type);
        side.beat();
        const said = command.type === "load" ? String(command.snapshot) : text;
        const answer = await child.ask(frameOf(new TextEncoder().encode(said)));
        if (answer.length === 0) throw new HostFailure("error", "it is empty");
        return () => ({ snapshot: new TextDecoder().decode(answer) });
      },
      close: (isBusy) => child.close(isBusy),
    };
  });
}
