/**
 * Does one thing with XLA in a separate process, which ends by itself:
 * `child.ts NAME`.
 */
import { alignedArray, openXla } from "../mod.ts";
import { ADD_TO_STATE, addAndMultiply } from "./programs.ts";

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Prints the sum of a state and a step. */
function add(client: ReturnType<typeof openXla>) {
  const state = alignedArray("f32", 4), step = alignedArray("f32", 4).fill(2);
  const call = client.compile(ADD_TO_STATE).bind([
    { array: state, use: "share" },
    { array: step, use: "borrow" },
  ]);
  call.run();
  print(state.join(" "));
}

const collectGarbage = async () => {
  (globalThis as unknown as { gc(): void }).gc();
  await new Promise((resolve) => setTimeout(resolve, 10));
};

const THINGS: Readonly<Record<string, () => void | Promise<void>>> = {
  /** Leaves all as it is. */
  leaves: () => add(openXla({ cache: false })),
  /** Closes the client. */
  closes: () => {
    using client = openXla({ cache: false });
    add(client);
  },
  /** Ends by an error that nothing catches but this. */
  fails: () => {
    try {
      openXla({ cache: false }).compile("nothing");
    } catch (error) {
      print((error as Error).message);
    }
  },
  /** Opens XLA and says what went wrong. */
  opens: () => {
    try {
      openXla({ cache: false });
    } catch (error) {
      print(`${(error as Error).name}: ${(error as Error).message}`);
    }
  },
  /** Forgets calls until they are collected. */
  forgets: async () => {
    const client = openXla({ cache: false });
    const program = client.compile(addAndMultiply(1 << 20));
    const array = alignedArray("f32", 1 << 20);
    for (let i = 0; i < 150; i++) {
      program.bind([{ array, use: "borrow" }, { array }]);
    }
    await collectGarbage();
    add(client);
  },
  /** Keeps a call alone, whose program, arrays and client are forgotten. */
  keeps: async () => {
    const state = alignedArray("f32", 4);
    const call = callOn(state);
    for (let i = 0; i < 3; i++) {
      await collectGarbage();
      call.run();
    }
    print(state.join(" "));
  },
};

/** Binds a state, and a step of 2. */
function callOn(state: Float32Array) {
  const client = openXla({ cache: false });
  return client.compile(ADD_TO_STATE).bind([
    { array: state, use: "share" },
    { array: alignedArray("f32", 4).fill(2), use: "borrow" },
  ]);
}

await THINGS[Deno.args[0]]();
