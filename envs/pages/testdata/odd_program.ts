/** A program that answers wrongly, in the way that its argument names. */
import { Host } from "@bellman/client";
import { Counter } from "../../../client/testdata/counter.ts";

type Answer = string | Uint8Array;

const longer = (answer: Answer, bytes: number): Answer => {
  if (typeof answer === "string") return answer;
  const all = new Uint8Array(Math.max(0, answer.length + bytes));
  all.set(answer.subarray(0, all.length));
  return all;
};

const BOX = { type: "box", shape: [2], high: 1, dtype: "float32" };

/** Changes of the text that opens the worlds. */
const OPENED: Record<string, (told: Record<string, unknown>) => unknown> = {
  protocol: (told) => ({ ...told, protocol: 2 }),
  spaceless: ({ actionSpace: _, ...told }) => told,
  spaces: (told) => ({ ...told, actionSpace: { type: "discrete", n: 0 } }),
  untyped: () => 3,
  bounds: (told) => ({ ...told, observationSpace: { ...BOX, low: null } }),
  huge: (told) => ({
    ...told,
    observationSpace: { ...BOX, low: 0, shape: [1e9, 1e9] },
  }),
  nvec: (told) => ({
    ...told,
    actionSpace: { type: "multiDiscrete", nvec: "33" },
  }),
  spec: (told) => ({ ...told, spec: { maxEpisodeSteps: -1 } }),
  constructor: () => (
    { type: "error", name: "constructor", message: "no ball" }
  ),
};

/** Changes of the answer to a step. */
const STEPPED: Record<string, (answer: Answer) => Answer | Answer[]> = {
  long: (answer) => longer(answer, 8),
  short: (answer) => longer(answer, -8),
  text: () => JSON.stringify({ type: "done" }),
  two: (answer) => [answer, answer],
  // An end whose last observation is missing.
  endless(answer) {
    (answer as Uint8Array)[25] = 1;
    return answer;
  },
};

const [kind] = Deno.args;
if (kind === "exit") Deno.exit(3);
if (kind !== "silent") {
  const fault = kind === "nan" ? kind : undefined;
  const made = {
    load: kind === "loadless" ? undefined : Counter.prototype.load,
  };
  const host = new Host(() => Object.assign(new Counter({ fault }), made));
  const socket = new WebSocket(Deno.env.get("BELLMAN_URL")!);
  socket.binaryType = "arraybuffer";
  socket.onmessage = async ({ data }) => {
    const answer = await host.answer(data);
    const isOpen = typeof data === "string" && data.includes('"open"');
    const isStep = typeof data !== "string";
    if (kind === "unsaved" && data.includes?.('"save"')) {
      return socket.send('{"type":"saved"}');
    }
    if (isOpen && kind === "json") return socket.send("hello");
    if (isOpen && kind === "binary") return socket.send(new Uint8Array(8));
    if (isOpen && OPENED[kind]) {
      const told = OPENED[kind](JSON.parse(answer as string));
      return socket.send(JSON.stringify(told));
    }
    const answers = isStep && STEPPED[kind] ? STEPPED[kind](answer) : answer;
    for (const it of [answers].flat()) socket.send(it as string);
  };
} else setTimeout(() => {}, 60_000);
