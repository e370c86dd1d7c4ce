import { assert, assertEquals } from "@std/assert";
import { FRAME_HEADER, frameOf, FrameReader } from "./frames.ts";
import { AnswerPipe, NamedPipe, WAKE, WHOLE_WRITE } from "./named_pipes.ts";
import { ChildGroup } from "./child_group.ts";

const test = (name: string, run: () => Promise<void>) =>
  Deno.test(name, { ignore: Deno.build.os === "windows" }, run);

async function withPipe(
  use: (path: string) => void | Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir(), path = `${folder}/pipe`;
  await new Deno.Command("mkfifo", { args: [path] }).output();
  await use(path);
  await Deno.remove(folder, { recursive: true });
}

test("short messages go through a named pipe, one after the other", () =>
  withPipe(async (path) => {
    const pipe = new NamedPipe(path);
    // A reader of its own: `cat` ends when the pipe is closed.
    const reader = new Deno.Command("cat", { args: [path], stdout: "piped" })
      .spawn();
    const messages: number[][] = [];
    const frames = new FrameReader({
      message: (bytes) => messages.push([...bytes]),
      stray: () => messages.push([-1]),
    });
    const longest = new Uint8Array(4084).fill(7);
    assert(pipe.send(frameOf(Uint8Array.of(1, 2, 3))));
    assert(pipe.send(frameOf()));
    assert(pipe.send(frameOf(longest)));
    assert(!pipe.send(frameOf(longest, Uint8Array.of(8))));
    const output = reader.stdout.getReader();
    while (messages.length < 3) {
      const { value, done } = await output.read();
      if (done) break;
      frames.read(value);
    }
    assertEquals(messages, [[1, 2, 3], [], [...longest]]);
    pipe.close();
    assertEquals((await output.read()).done, true);
    await reader.status;
  }));

test("a named pipe that nobody reads does not block", () =>
  withPipe((path) => {
    const pipe = new NamedPipe(path);
    assert(pipe.send(frameOf(new Uint8Array(4000))));
    pipe.close();
  }));

function frame(...bytes: number[]): Uint8Array {
  return frameOf(Uint8Array.from(bytes));
}

test("answers come one after the other, rings in between do not count", () =>
  withPipe((path) => {
    const pipe = new AnswerPipe(path);
    const writer = Deno.openSync(path, { write: true });
    const never = () => false;
    const next = () => {
      const answer = pipe.receive(never);
      return answer instanceof Uint8Array ? [...answer] : answer;
    };
    const longest = new Array(WHOLE_WRITE - FRAME_HEADER).fill(7);
    for (
      const bytes of [
        WAKE,
        frame(1, 2),
        WAKE,
        WAKE,
        frame(3),
        frame(),
        frame(...longest),
        frame(...longest),
      ]
    ) writer.writeSync(bytes);
    assertEquals(next(), [1, 2]);
    assertEquals(next(), [3]);
    assertEquals(next(), null);
    assertEquals(next(), longest);
    assertEquals(next(), longest);
    writer.writeSync(frame(9).subarray(0, 5));
    writer.writeSync(frame(9).subarray(5));
    assertEquals(next(), [9]);
    writer.close();
    pipe.close();
  }));

test("a ring lets a sleeper see that it is over", () =>
  withPipe((path) => {
    const pipe = new AnswerPipe(path);
    const writer = Deno.openSync(path, { write: true });
    writer.writeSync(WAKE);
    let asked = 0;
    assertEquals(pipe.receive(() => asked++ > 0), undefined);
    assertEquals(asked, 2);
    writer.close();
    pipe.close();
  }));

for (
  const [how, script, hasEnded] of [
    ["ends", "sleep 0.3", true],
    ["stays silent", "sleep 30", false],
  ] as const
) {
  test(`a caller that sleeps in a pipe is woken when the child ${how}`, () =>
    withPipe((path) => {
      const group = new ChildGroup({ graceMs: 0 });
      group.start(0, { program: "sh", args: ["-c", script] });
      let used: string[] = [];
      // The pipe to it leads nowhere.
      group.usePipes(0, [path, path], (paths) => used = paths);
      assertEquals(used, [path, path]);
      const timeoutMs = hasEnded ? 60_000 : 300;
      assertEquals(group.waitFor([0], timeoutMs), hasEnded);
      assertEquals(group.end(0) !== undefined, hasEnded);
      group.close();
    }));
}

test("an answer that comes elsewhere is remembered until the next one", () =>
  withPipe((input) =>
    withPipe((output) => {
      const group = new ChildGroup();
      // What comes through the pipe goes back the other way.
      group.start(0, { program: "cat", args: [input] });
      group.usePipes(0, [input, output], () => {});
      const host = Deno.openSync(output, { read: true, write: true });
      for (let step = 0; step < 2; step++) {
        group.send(0, Uint8Array.of(step));
        // Nothing has said where it comes.
        assertEquals(group.waitFor([0], 0), false);
        host.writeSync(frameOf());
        for (const timeoutMs of [20_000, 0, 1_000]) {
          assertEquals(group.waitFor([0], timeoutMs), true);
        }
        assertEquals(group.receive(0), Uint8Array.of(step));
      }
      group.close();
      host.close();
    })
  ));
