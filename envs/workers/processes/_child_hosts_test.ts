import { assertEquals } from "@std/assert";
import { ChildHosts, type Children } from "./_child_hosts.ts";
import { HEAD, REQUEST } from "./host_messages.ts";

/** Groups whose commands have no data but their type. */
class PlainHosts extends ChildHosts {
  override encode(): Uint8Array[] {
    return [];
  }
  override decode(_group: number, data: Uint8Array) {
    return { snapshot: { said: data.slice() } };
  }
  override readRest() {
    return {};
  }
  override readFailure(): never {
    throw new Error("no failure is said here");
  }
}

Deno.test("groups may have children that were made elsewhere", () => {
  const calls: unknown[][] = [];
  const answer = new Uint8Array(HEAD + 2).fill(0).fill(7, HEAD);
  const children: Children = {
    start: (...args) => void calls.push(["start", ...args]),
    send: (child, ...parts) => void calls.push(["send", child, ...parts]),
    receive(...args) {
      calls.push(["receive", ...args]);
      return answer;
    },
    waitFor(...args) {
      calls.push(["waitFor", ...args]);
      return true;
    },
    end: () => undefined,
    pid: (child) => 100 + child,
    usePipes: () => {},
    close: () => void calls.push(["close"]),
  };
  const groups = [{ first: 0, numEnvs: 2 }, { first: 2, numEnvs: 1 }];
  const command = { program: "host" };
  const hosts = new PlainHosts(groups, {
    ...{ command, showPrints: false, resets: true },
    children: () => children,
  });
  hosts.start(1);
  hosts.begin(1, { type: "save" });
  assertEquals(hosts.waitFor([1], 50), true);
  assertEquals(hosts.finish(1), { snapshot: { said: Uint8Array.of(7, 7) } });
  assertEquals(hosts.pids(), [100, 101]);
  hosts.close();
  assertEquals(calls, [
    ["start", 1, command],
    ["send", 1, Uint8Array.of(REQUEST.save)],
    ["waitFor", [1], 50],
    ["receive", 1, 0],
    ["close"],
  ]);
});
