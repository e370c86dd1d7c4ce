import { assert, assertEquals, assertMatch } from "@std/assert";
import { testsWith } from "../testdata/tests_with.ts";
import { LearnerProcess, type Line } from "./testdata/learner_process.ts";
import {
  canCluster,
  cluster,
  hostProcesses,
  named,
  nodeOf,
  parentOf,
  processesOf,
  signal,
} from "./testdata/machines.ts";

const test = testsWith("Ray and network namespaces", canCluster);

/** Waits for some time, in milliseconds. */
function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

let isUp = false;

/** Makes the cluster, or one anew that a fault has broken. */
function ready(): void {
  if (!isUp) {
    cluster("down");
    cluster("up", "3");
  }
  isUp = true;
}

if (canCluster) addEventListener("unload", () => cluster("down"));

/** Checks that no process of a learner is left on any machine. */
async function assertQuiet(): Promise<void> {
  const left = () => [...hostProcesses(), ...named(0, "deno")];
  for (let tries = 0; tries < 50 && left().length > 0; tries++) {
    await delay(100);
  }
  assertEquals(left(), []);
}

/** Checks that no step of a group was lost or executed twice. */
function assertExact(
  { executed, consumed, lostGroups, cutOff }: Line,
  groups: number,
): void {
  assertEquals([lostGroups, cutOff], [groups, 4 * groups]);
  // What was on its way when it was lost may have been executed.
  assert(executed! >= consumed!, `${executed} of ${consumed}`);
  assert(executed! <= consumed! + groups, `${executed} of ${consumed}`);
}

interface Fault {
  what: string;
  /** Does it, to the host of the first group. */
  act: (host: number, learner: LearnerProcess) => void;
  notice: RegExp;
  /** Groups that are lost with it. */
  groups?: number;
  /** True where the cluster is not the same afterwards. */
  breaks?: boolean;
}

const FAULTS: readonly Fault[] = [
  {
    what: "the process is killed",
    act: (host) => signal([host]),
    notice: /: its process was ended by SIGKILL$/,
  },
  {
    what: "the actor is killed",
    act: (host) => signal([parentOf(host)]),
    notice: /: the actor died$/,
  },
  {
    what: "the process is stopped",
    act: (host) => signal([host], "SIGSTOP"),
    notice: /: it gave no answer within 3000 ms$/,
  },
  {
    what: "the driver is killed",
    act: (_, learner) => signal([learner.processes().driver]),
    notice: /: it was lost with Ray's driver$/,
    groups: 2,
  },
  {
    what: "Ray's daemon of the node is killed",
    act: (host) => signal(named(nodeOf(host), "raylet")),
    notice:
      /: (its connection was closed|its node (was lost|cannot be reached))$/,
    breaks: true,
  },
  {
    what: "the node is stopped",
    act: (host) => signal(processesOf(nodeOf(host)), "SIGSTOP"),
    notice: /: it gave no answer within 3000 ms$/,
    breaks: true,
  },
  {
    what: "the node's cable is cut",
    act: (host) => void cluster("cut", String(nodeOf(host))),
    notice: /: it gave no answer within 3000 ms$/,
    breaks: true,
  },
];

for (const { what, act, notice, groups = 1, breaks = false } of FAULTS) {
  test(`${what}: its episodes end once, and all goes on`, async () => {
    ready();
    {
      await using learner = new LearnerProcess();
      const { hosts } = await learner.line("hosts");
      await delay(300);
      // Of the next test, too, should this one fail.
      if (breaks) isUp = false;
      act(hosts![0], learner);
      const lost = () => learner.lines.flatMap((it) => it.lost ?? []);
      await learner.until(() => lost().length >= 4 * groups);
      await delay(300);
      assertExact(await learner.stop(), groups);
      const notices = learner.lines.flatMap((it) => it.notice ?? []);
      assertEquals(notices.length, groups);
      notices.forEach((it) => assertMatch(it, notice));
    }
    ready();
    await assertQuiet();
  });
}

test("steps go on while the head is away", async () => {
  ready();
  {
    await using learner = new LearnerProcess();
    await learner.line("hosts");
    isUp = false;
    signal(named(0, "gcs_server"));
    await delay(3000);
    const counts = await learner.stop();
    assertExact(counts, 0);
    assertEquals(learner.lines.filter((it) => it.notice ?? it.ended), []);
    assert(counts.steps! > 50);
  }
  ready();
  await assertQuiet();
});

test("hosts that get no CPU are told of, and more than there are is refused", async () => {
  ready();
  await using first = new LearnerProcess();
  await first.line("hosts");
  await using second = new LearnerProcess();
  await second.line("hosts");
  await using third = new LearnerProcess();
  const { notice } = await third.line("notice");
  assertEquals(
    notice,
    "Waiting for 2 CPUs: the cluster has 4, all in use",
  );
  await first.stop();
  await third.line("hosts");
});

test("a learner that is killed leaves nothing on any machine", async () => {
  ready();
  await using learner = new LearnerProcess();
  const { hosts } = await learner.line("hosts");
  assertEquals(hosts!.length, 2);
  signal([learner.processes().learner]);
  await assertQuiet();
});
