import { assertEquals } from "@std/assert";
import type { ChildGroup } from "../workers/processes/child_group.ts";
import { FRAME_HEADER, writeFrameHeader } from "../workers/processes/frames.ts";
import { HostLine } from "./_gymnasium_hosts.ts";
import { HEAD } from "./_messages.ts";

/** A host that has ended: who sleeps until it answers is woken at once. */
function endedChildren(answer: Uint8Array): ChildGroup {
  return {
    openWakePipe: () => true,
    send: () => {},
    release: () => {},
    waitFor: () => [0],
    receive: () => answer,
    sleep: <T>(_: number, sleep: (hasEnded: () => boolean) => T): T =>
      sleep(() => true),
    end: () => ({ code: 0, prints: "" }),
  } as unknown as ChildGroup;
}

Deno.test("an answer that comes elsewhere is remembered until the next one", {
  ignore: Deno.build.os === "windows",
}, () => {
  const answer = new Uint8Array(HEAD);
  const line = new HostLine(endedChildren(answer), {
    group: 0,
    id: "Any-v0",
    isAlone: true,
  });
  const folder = Deno.makeTempDirSync();
  const paths = line.offerPipes().map((name) => `${folder}/${name}`);
  new Deno.Command("mkfifo", { args: paths }).outputSync();
  const host = Deno.openSync(paths[1], { read: true, write: true });
  line.takePipes(folder);
  Deno.removeSync(folder, { recursive: true });
  const elsewhere = new Uint8Array(FRAME_HEADER);
  writeFrameHeader(elsewhere, 0);
  for (let step = 0; step < 2; step++) {
    line.ask("step");
    // Not yet there.
    assertEquals(line.await(0), true);
    host.writeSync(elsewhere);
    for (const timeoutMs of [0, 0, 1_000]) {
      assertEquals(line.await(timeoutMs), undefined);
    }
    assertEquals(line.receive(), answer);
  }
  line.dropPipes();
  host.close();
});
