import { assertEquals } from "@std/assert";
import { SentGroups } from "./_sent_groups.ts";
import { fragile } from "./testdata/scripted_hosts.ts";

/** Three groups that were sent actions, in a world whose clock is set by hand. */
function scene() {
  const { hosts } = fragile(), sent = new SentGroups();
  const clock = { now: 0, ready: [] as number[] };
  hosts.waitFor = (groups, { count, timeoutMs }) => {
    const ready = clock.ready.filter((it) => groups.includes(it));
    if (ready.length < count) clock.now += timeoutMs;
    return ready;
  };
  const take = (count: number): readonly number[] =>
    sent.take(hosts, {
      lost: () => false,
      enough: (groups) =>
        groups.length < count ? undefined : groups.slice(0, count),
    });
  return { sent, clock, take };
}

/** Does something while `performance.now` tells the time of a clock. */
function atTimesOf(clock: { now: number }, act: () => void): void {
  const { now } = performance;
  performance.now = () => clock.now;
  try {
    act();
  } finally {
    performance.now = now;
  }
}

Deno.test("what is overdue comes first, however many others are ready", () => {
  const { sent, clock, take } = scene();
  atTimesOf(clock, () => {
    for (const group of [0, 1, 2]) sent.add(group, 1_000);
    clock.ready = [2, 1];
    for (let i = 0; i < 4; i++) {
      clock.now += 200;
      assertEquals(take(1), [2]);
      sent.add(2, 1_000);
    }
    clock.now += 200;
    assertEquals(take(1), [0]);
    assertEquals(sent.groups, [1, 2]);
  });
});

Deno.test("what ran out of time while nobody looked has it anew, once", () => {
  const { sent, clock, take } = scene();
  atTimesOf(clock, () => {
    sent.add(0, 1_000);
    sent.add(1, 1_000);
    // All were stopped for a minute, or the caller was busy.
    clock.now += 60_000;
    clock.ready = [1];
    assertEquals(take(1), [1]);
    clock.now += 999;
    sent.add(1, 1_000);
    assertEquals(take(1), [1]);
    clock.now += 60_000;
    clock.ready = [];
    assertEquals(take(1), [0]);
  });
});

Deno.test("what answered while nobody looked is not overdue", () => {
  const { sent, clock, take } = scene();
  atTimesOf(clock, () => {
    sent.add(0, 1_000);
    clock.now += 60_000;
    clock.ready = [0];
    assertEquals(take(1), [0]);
    assertEquals([sent.size, clock.now], [0, 60_000]);
  });
});
