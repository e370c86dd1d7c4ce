// deno-lint-ignore-file no-console -- a child process that prints
/** A child of the tests: does what the first byte of each message says. */
import { frameOf, FrameReader } from "../frames.ts";

function answer(bytes: Uint8Array): void {
  const frame = frameOf(bytes);
  for (let at = 0; at < frame.length;) {
    at += Deno.stdout.writeSync(frame.subarray(at));
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function obey(message: Uint8Array): void {
  const [order, ...rest] = new TextDecoder().decode(message).split(" ");
  const number = Number(rest[0]);
  switch (order) {
    case "print":
      console.log(`stdout says ${rest.join(" ")}`);
      console.error(`stderr says ${rest.join(" ")}`);
      break;
    case "flood":
      console.error("x".repeat(number) + "the end");
      break;
    case "large":
      return answer(new Uint8Array(number).fill(7));
    case "twice":
      answer(message);
      break;
    case "sleep":
      sleep(number);
      break;
    case "throw":
      throw new Error("the child's own error");
    case "exit":
      Deno.exit(number);
  }
  answer(message);
}

const frames = new FrameReader({ message: obey, stray: () => Deno.exit(99) });
for await (const piece of Deno.stdin.readable) frames.read(piece);
if (Deno.args[0] === "stubborn") sleep(60_000);
