import type { GroupCommand } from "../group_hosts.ts";
import { deserialize } from "./host_messages.ts";
import { relocate } from "../_relocate.ts";
import type { WorkerProgram } from "../threads/serve_worker.ts";

/**
 * Sends a question to the caller and waits for what it says to it, while a command
 * other than `open` is carried out. The parts of the question are joined.
 */
export type Ask = (
  ...question: readonly Uint8Array[]
) => Uint8Array<ArrayBuffer>;

/** First request: what the program is made of. */
export interface ProcessOpening {
  readonly data: unknown;
  /** Address of a folder of the caller, of which there is a copy here. */
  readonly root?: string;
}

/**
 * Carries out the commands of a `WorkerPool` in a process that another machine may
 * have started: the module that is its program calls it. The caller's side is
 * `RayWorkers` of `@bellman/envs/ray`.
 *
 * @param make Makes what carries out the commands, of the caller's data, in which
 * addresses and paths are those of the code here; its second argument asks the caller.
 * It is not to be awaited in the module, which the environment may import, too.
 *
 * @example
 * ```ts
 * import { serveProcess } from "@bellman/envs/workers";
 *
 * if (import.meta.main && Deno.args.length > 0) {
 *   serveProcess<{ from: number }>(({ from }) => {
 *     let steps = from;
 *     return {
 *       run({ type }) {
 *         if (type === "step") steps++;
 *         return type === "save" ? { snapshot: steps } : {};
 *       },
 *       close: () => {},
 *     };
 *   });
 * }
 * ```
 */
export async function serveProcess<Data>(
  make: (data: Data, ask: Ask) => WorkerProgram | Promise<WorkerProgram>,
): Promise<never> {
  // It takes this process's input, which no other program is to lose.
  const { answer, ask, code, serveRequests } = await import(
    "./_process_side.ts"
  );
  let program: WorkerProgram | undefined;
  const open = async ({ data, root }: ProcessOpening) => {
    program = await make(relocate(data as Data, root, code), ask);
    return program.run({ type: "open" });
  };
  return await serveRequests(async (request) => {
    const given = deserialize<GroupCommand | ProcessOpening>(request);
    answer("data" in given ? await open(given) : program!.run(given));
  }, () => program?.close());
}
