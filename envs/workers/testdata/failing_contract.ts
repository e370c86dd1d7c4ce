/** What comes of failures and bad input, wherever groups are hosted. */
import { assertEquals, assertThrows } from "@std/assert";
import { SeededRandom } from "../../random.ts";
import { randomActions } from "../../testdata/play.ts";
import { RecordEpisodeStatistics } from "../../wrappers/record_episode_statistics.ts";
import type { GroupSource } from "../group_source.ts";
import type { RestartEvent } from "../restarts.ts";
import { EpisodeWatch } from "./episode_watch.ts";
import {
  EPISODE_LENGTH,
  EXIT,
  GO,
  HANG,
  PROCESS_EXIT,
  THROW,
} from "./fragile_env.ts";
import { FRAGILE, type MakeHosted, using } from "./hosted_use.ts";
import { leavesNothing } from "./leftovers.ts";

/** What fails is replaced, and told once. */
export function testFailures(name: string, make: MakeHosted): void {
  const breaks = { THROW, EXIT, PROCESS_EXIT, HANG };
  for (const [how, action] of Object.entries(breaks)) {
    Deno.test(`${name}: a group is replaced after ${how}`, async () => {
      const events: RestartEvent[] = [];
      const options = {
        numEnvs: 5,
        groups: 2,
        stepTimeoutMs: 1_500,
        onRestart: (event: RestartEvent) => events.push(event),
      };
      await leavesNothing(() =>
        using(make(FRAGILE, options), (env) => {
          const watch = new EpisodeWatch(env.reset({ seed: 4 }), 5);
          for (let round = 0; round < 2; round++) {
            watch.see(env.step(new Int32Array(5)));
            const actions = Int32Array.of(GO, action, GO, GO, GO);
            assertEquals(watch.see(env.step(actions)), [0, 1, 2]);
            for (let i = 0; i < 12; i++) {
              assertEquals(watch.see(env.step(new Int32Array(5))), []);
            }
          }
          const reason = { [THROW]: "error", [HANG]: "timeout" }[action] ??
            "exit";
          assertEquals(events.map((it) => [it.host, it.error.reason]), [
            [0, reason],
            [0, reason],
          ]);
          if (action !== THROW) return;
          const [{ error }] = events;
          assertEquals(error.message, "the ball was lost");
          assertEquals(error.thrown, "RangeError");
          assertEquals(error.stack?.includes("fragile_env.ts"), true);
        })
      );
    });
  }

  Deno.test(`${name}: a host that dies over goals is replaced, and asked again`, async () => {
    const file = await Deno.makeTempFile();
    const module = import.meta.resolve("./mortal_goals.ts");
    const source = { module, options: { file } };
    const events: RestartEvent[] = [];
    const onRestart = (event: RestartEvent) => events.push(event);
    await leavesNothing(() =>
      using(make(source, { numEnvs: 2, groups: 1, onRestart }), (env) => {
        env.reset({ seed: 0 });
        const goals = [Uint8Array.of(0, 1, 1, 1), Uint8Array.of(0, 1, 0, 1)];
        for (let times = 0; times < 2; times++) {
          const rewards = env.computeReward!(goals[0], goals[1]);
          assertEquals(Array.from(rewards), [0, -1]);
        }
        assertEquals(events.map((it) => it.error.reason), ["exit"]);
        const { lost, truncated } = env.step(new Int32Array(2));
        assertEquals([lost, [...truncated]], [[0, 1], [1, 1]]);
        assertEquals(env.step(new Int32Array(2)).lost, undefined);
        assertEquals(events.length, 1);
      })
    );
  });

  Deno.test(`${name}: a broken episode is recorded once`, async () => {
    const onRestart = () => {};
    const inner = make(FRAGILE, { numEnvs: 2, groups: 2, onRestart });
    await using(new RecordEpisodeStatistics(inner), (env) => {
      env.reset({ seed: 0 });
      env.step(Int32Array.of(GO, GO));
      assertEquals(env.step(Int32Array.of(THROW, GO)).episodes, [
        { env: 0, return: 1, length: 2, terminated: false },
      ]);
      // Copy 0 restarted with the step that broke, two steps after copy 1.
      const recorded: number[][] = [];
      for (let step = 3; step <= EPISODE_LENGTH + 2; step++) {
        for (const it of env.step(Int32Array.of(GO, GO)).episodes ?? []) {
          recorded.push([step, it.env, it.length, it.terminated ? 1 : 0]);
        }
      }
      assertEquals(recorded, [
        [EPISODE_LENGTH, 1, EPISODE_LENGTH, 1],
        [EPISODE_LENGTH + 2, 0, EPISODE_LENGTH, 1],
      ]);
    });
  });

  Deno.test(`${name}: what keeps breaking is an error in the end`, async () => {
    const onRestart = () => {};
    const options = { numEnvs: 2, groups: 2, restarts: 2, onRestart };
    await leavesNothing(() =>
      using(make(FRAGILE, options), (env) => {
        env.reset({ seed: 0 });
        const actions = Int32Array.of(GO, EXIT);
        env.step(actions);
        env.step(actions);
        assertThrows(
          () => env.step(actions),
          Error,
          "Cannot go on with environment 1: it was restarted 2 times within 600 s, and now it",
        );
      })
    );
  });
}

/** What cannot be is refused, and breaks nothing. */
export function testBadInput(name: string, make: MakeHosted): void {
  Deno.test(`${name}: what cannot be made is one clear error`, async () => {
    const at = (path: string) => import.meta.resolve(path);
    const refused: [GroupSource, new () => Error, string][] = [
      [
        "CartPol-v1",
        RangeError,
        "Cannot start environment 0: Unknown environment 'CartPol-v1': did you mean 'CartPole-v1'?",
      ],
      [
        { module: at("./none_such.ts") },
        TypeError,
        "Cannot start environment 0: Module not found",
      ],
      [
        { module: at("./episode_watch.ts") },
        TypeError,
        "its default export is no function",
      ],
      [
        { id: "CartPole-v1", imports: ["@bellman/envs"] },
        TypeError,
        "Cannot import '@bellman/envs' in a host: expected an absolute URL, such as import.meta.resolve(\"@bellman/envs\")",
      ],
      [
        { id: "Chain-v0", kwargs: { length: () => 3 } },
        TypeError,
        "could not be cloned; expected plain data, and functions in a module",
      ],
    ];
    await leavesNothing(() => {
      for (const [source, kind, message] of refused) {
        assertThrows(
          () => make(source, { numEnvs: 2, groups: 2 }),
          kind,
          message,
        );
      }
    });
  });

  for (const aside of ["timer", "rejection"]) {
    Deno.test(`${name}: what a module throws beside (${aside}) is told`, async () => {
      const module = import.meta.resolve("./restless.ts");
      await leavesNothing(() => {
        assertThrows(
          () => make({ module, options: { aside } }, { numEnvs: 1, groups: 1 }),
          RangeError,
          `Cannot start environment 0: thrown in a ${aside}`,
        );
      });
    });
  }

  Deno.test(`${name}: bad actions break nothing`, async () => {
    await using(make("CartPole-v1", { numEnvs: 3, groups: 2 }), (env) => {
      env.reset({ seed: 0 });
      assertThrows(
        () => env.step(Int32Array.of(0, 1, 2)),
        RangeError,
        "Cannot take action 2",
      );
      const random = new SeededRandom(0);
      const { truncated } = env.step(randomActions(env, random));
      assertEquals([...truncated], [0, 0, 0]);
    });
  });
}
