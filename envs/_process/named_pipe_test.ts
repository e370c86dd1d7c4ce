import { assert, assertEquals } from "@std/assert";
import { FrameReader } from "./frame.ts";
import { NamedPipe } from "./named_pipe.ts";

Deno.test("short messages go through a named pipe, one after the other", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const folder = await Deno.makeTempDir(), path = `${folder}/pipe`;
  await new Deno.Command("mkfifo", { args: [path] }).output();
  const pipe = new NamedPipe(path);
  // A reader of its own: `cat` ends when the pipe is closed.
  const reader = new Deno.Command("cat", { args: [path], stdout: "piped" })
    .spawn();
  const messages: number[][] = [];
  let message = new Uint8Array(0);
  const frames = new FrameReader({
    begin: (length) => {
      message = new Uint8Array(length);
    },
    part: (bytes, at) => message.set(bytes, at),
    end: () => messages.push([...message]),
    stray: () => messages.push([-1]),
  });
  const longest = new Uint8Array(4084).fill(7);
  assert(pipe.send([Uint8Array.of(1, 2), new Uint8Array(0), Uint8Array.of(3)]));
  assert(pipe.send([]));
  assert(pipe.send([longest]));
  assert(!pipe.send([longest, Uint8Array.of(8)]));
  const output = reader.stdout.getReader();
  while (messages.length < 3) {
    const { value, done } = await output.read();
    if (done) break;
    await frames.read(value);
  }
  assertEquals(messages, [[1, 2, 3], [], [...longest]]);
  pipe.close();
  assertEquals((await output.read()).done, true);
  await reader.status;
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a named pipe that nobody reads does not block", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const folder = await Deno.makeTempDir(), path = `${folder}/pipe`;
  await new Deno.Command("mkfifo", { args: [path] }).output();
  const pipe = new NamedPipe(path);
  assert(pipe.send([new Uint8Array(4000)]));
  pipe.close();
  await Deno.remove(folder, { recursive: true });
});
