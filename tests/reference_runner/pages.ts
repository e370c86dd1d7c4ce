import { Host } from "@bellman/client";
import { Counter } from "../../client/testdata/counter.ts";
import { checkEach, type Comparison } from "./comparison.ts";

interface Message {
  text?: Record<string, unknown>;
  hex?: string;
}

interface Transcript {
  messages: { trainer: Message; page: Message }[];
}

interface Wrong {
  trainer: { text?: string; hex?: string };
  page: { name: string };
}

const worlds = () => new Host((kwargs) => new Counter(kwargs));

/** Sends a message; returns the answer as the fixture has it. */
async function ask(host: Host, { text, hex }: Message): Promise<Message> {
  const answer = await host.answer(
    hex === undefined ? JSON.stringify(text) : Uint8Array.fromHex(hex),
  );
  if (answer instanceof Uint8Array) return { hex: answer.toHex() };
  const { stack: _, ...told } = JSON.parse(answer);
  return { text: told };
}

async function transcript(
  { messages }: Transcript,
  comparison: Comparison,
): Promise<void> {
  const host = worlds();
  // What worlds save is the client's own affair.
  let saved: unknown;
  for (const [i, { trainer, page }] of messages.entries()) {
    const { text } = trainer;
    const answer = await ask(
      host,
      text?.type === "load" ? { text: { ...text, worlds: saved } } : trainer,
    );
    if (answer.text?.type === "saved") {
      saved = answer.text.worlds;
      equal(comparison, `message ${i}`, "saved", page.text?.type);
    } else equal(comparison, `message ${i}`, answer, page);
  }
}

/** Data as one text, whatever the order of keys. */
function sorted(data: unknown): string {
  return JSON.stringify(
    data,
    (_, it) =>
      it !== null && typeof it === "object" && !Array.isArray(it)
        ? Object.fromEntries(
          Object.entries(it).sort(([a], [b]) => a < b ? -1 : 1),
        )
        : it,
  );
}

function equal(
  comparison: Comparison,
  name: string,
  found: unknown,
  expected: unknown,
): void {
  comparison.that(
    `${name}: ${sorted(found)}, expected ${sorted(expected)}`,
    sorted(found) === sorted(expected),
  );
}

const OPEN = { type: "open", protocol: 1, numEnvs: 2, first: 0, kwargs: {} };
const UP = { hex: "0300000000000000" + "0200000001000000" };

async function wrong(
  { trainer: { text, hex }, page }: Wrong,
  comparison: Comparison,
): Promise<void> {
  const [host, other] = [worlds(), worlds()];
  for (const it of [host, other]) {
    await ask(it, { text: OPEN });
    await ask(it, { text: { type: "reset", seeds: [0, 2] } });
  }
  const told = await ask(host, text ? { text: JSON.parse(text) } : { hex });
  equal(comparison, "type", told.text?.type, "error");
  equal(comparison, "class", told.text?.name, page.name);
  // Nothing else changes.
  equal(comparison, "step", await ask(host, UP), await ask(other, UP));
}

export const runner = checkEach({ transcripts: transcript, wrong });
