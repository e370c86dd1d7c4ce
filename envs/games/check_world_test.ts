import type { RandomSource, StateTree, WorldStep } from "@bellman/types";
import { assert, assertThrows } from "@std/assert";
import { checkEnv, type EnvRegistry, makeWorld, register } from "@bellman/envs";
import {
  checkWorld,
  ConnectFour,
  type GameOptions,
  PaddleBall,
  Soccer,
  TicTacToe,
} from "./mod.ts";

Deno.test("the games keep their promises", () => {
  for (const Game of [ConnectFour, TicTacToe]) {
    checkWorld(new Game());
    checkWorld(new Game({ numEnvs: 5 }), { seed: 7 });
  }
  for (const maxEpisodeSteps of [1, 30, 500]) {
    const options = { numEnvs: 3, maxEpisodeSteps };
    checkWorld(new PaddleBall(options));
    checkWorld(new Soccer(options));
    checkWorld(new Soccer({ ...options, tackles: true }));
  }
});

/** A tic-tac-toe with one fault. */
type Fault = new (options: GameOptions) => TicTacToe;

function assertBroken(Game: Fault, problem: string): void {
  const error = assertThrows(
    () => checkWorld(new Game({ numEnvs: 2 })),
    Error,
    problem,
  );
  assert(/^The world is broken: .+$/.test(error.message));
}

/** Makes worlds whose steps are changed by a function. */
function withStep(
  change: (world: TicTacToe, step: WorldStep, which: Uint8Array) => void,
): Fault {
  return class extends TicTacToe {
    override step(
      actions: readonly Int32Array[],
      which: Uint8Array,
    ): WorldStep {
      const step = super.step(actions, which);
      change(this, step, which);
      return step;
    }
  };
}

Deno.test("faults of spaces and seats are named", () => {
  const withFacts = (facts: object): Fault =>
    class extends TicTacToe {
      constructor(options: GameOptions) {
        super(options);
        Object.assign(this, facts);
      }
    };
  assertBroken(
    withFacts({ seats: [{ name: "a" }, { name: "a" }] }),
    "its seats are [a,a], expected names that differ",
  );
  assertBroken(
    withFacts({ seats: [{ name: "a" }, { name: "b", role: "goalie" }] }),
    "seat b has role goalie, of which there are no spaces",
  );
  assertBroken(
    withFacts({ numEnvs: 0 }),
    "numEnvs is 0, expected a whole number of at least 1",
  );
  assertBroken(
    withFacts({ toAct: new Uint8Array(3) }),
    "toAct is not a Uint8Array of 4",
  );
  const { observationSpace, actionSpace } = new TicTacToe().roles.player;
  assertBroken(
    withFacts({ roles: { player: { observationSpace, actionSpace: {} } } }),
    "the actionSpace of player is none",
  );
  assertBroken(
    withFacts({
      roles: {
        player: {
          observationSpace: { ...observationSpace, high: 0 },
          actionSpace,
        },
      },
    }),
    "observation[",
  );
});

Deno.test("observations of another size are named, and not other faults", () => {
  assertBroken(
    class extends TicTacToe {
      override observe(seat: number) {
        const seen = super.observe(seat);
        return Uint8Array.of(...seen, 0, 0);
      }
    },
    "observe of seat first returned 38 numbers, expected 36 of 2 worlds",
  );
});

Deno.test("a check of an environment names that of worlds", () => {
  assertThrows(
    () => checkEnv(new TicTacToe() as never),
    TypeError,
    "expected checkWorld of @bellman/envs/games",
  );
});

Deno.test("faults of steps are named", () => {
  assertBroken(
    withStep((_, { rewards }, which) => {
      if (which[0] === 0) rewards[1] = 1;
    }),
    "seat second in world 0 has a reward or an end, but the world did not step",
  );
  assertBroken(
    withStep((_, { terminated }, which) => {
      if (which[1] === 0) terminated[2] = 1;
    }),
    "seat first in world 1 has a reward or an end, but the world did not step",
  );
  assertBroken(
    withStep((_, { rewards }) => rewards.fill(NaN)),
    "rewards has NaN, expected finite numbers",
  );
  assertBroken(
    withStep((_, { truncated }) => truncated[3] = 2),
    "truncated has 2, expected 0 and 1",
  );
  assertBroken(
    withStep((world, { terminated }) =>
      terminated.forEach((it, at) => it && (world.toAct[at] = 1))
    ),
    "is to act after its game has ended",
  );
  assertBroken(
    withStep((_, { terminated }) => {
      for (const at of [1, 3]) terminated[at] = 0;
    }),
    "was neither terminated nor truncated",
  );
  assertBroken(
    withStep((_, { terminated }, which) => {
      terminated[0] = which[0];
    }),
    "seat first in world 0",
  );
  assertBroken(
    class extends TicTacToe {
      override step(actions: readonly Int32Array[], which: Uint8Array) {
        return super.step(actions, which.fill(1));
      }
    },
    "step changed its actions or which",
  );
  assertBroken(
    class extends TicTacToe {
      override step(actions: readonly Int32Array[]) {
        return super.step(actions, Uint8Array.of(1, 1));
      }
    },
    "changed as others were stepped",
  );
});

Deno.test("faults of begin are named", () => {
  assertBroken(
    class extends TicTacToe {
      override begin(env: number, random: RandomSource) {
        super.begin(env, random);
        this.toAct.fill(0, 2 * env, 2 * env + 2);
      }
    },
    "no seat is to act in world 0 after begin",
  );
  assertBroken(
    class extends TicTacToe {
      override begin(env: number, random: RandomSource) {
        super.begin(0, random);
        super.begin(env, random);
      }
    },
    "world 0 changed as world 1 began a game",
  );
});

Deno.test("faults of views and masks are named", () => {
  let calls = 0;
  assertBroken(
    class extends TicTacToe {
      override observe(seat: number) {
        return super.observe(seat).fill(++calls % 2);
      }
    },
    "what seat first sees changed when it was asked for again",
  );
  assertBroken(
    class extends TicTacToe {
      override observe(seat: number) {
        return super.observe(seat).fill(7);
      }
    },
    "observation[0] of seat first in world 0 is 7, expected a number from 0 to 1",
  );
  const masked = (change: (masks: Uint8Array, seat: number) => Uint8Array) =>
    class extends TicTacToe {
      override actionMasks(seat: number) {
        return change(super.actionMasks(seat), seat);
      }
    };
  assertBroken(
    masked((masks) => masks.fill(1)),
    "the action mask of seat first in world 0 allows actions, but it is not to act",
  );
  assertBroken(
    masked((masks) => masks.fill(0)),
    "the action mask of seat first in world 0 is 0 for all 9 choices",
  );
  assertBroken(
    masked((masks) => masks.slice(1)),
    "the action masks of seat first is not a Uint8Array of 18",
  );
});

Deno.test("games that are not repeated are named", () => {
  let games = 0;
  assertBroken(
    class extends TicTacToe {
      override begin(env: number, random: RandomSource) {
        super.begin(env, random);
        if (++games % 7 === 0) {
          // Another seat begins.
          this.toAct.set([0, 1], 2 * env);
        }
      }
    },
    "the same streams and actions gave two different courses",
  );
  // It moves by the action of the seat that is not to act.
  assertBroken(
    class extends TicTacToe {
      override step(actions: readonly Int32Array[], which: Uint8Array) {
        const [first, second] = actions.map((it) => it.slice());
        which.forEach((it, env) => {
          if (it === 0) return;
          const seat = this.toAct[2 * env + 1];
          const other = [first, second][1 - seat][env];
          const mask = this.actionMasks(seat);
          if (mask[9 * env + other]) [first, second][seat][env] = other;
        });
        return super.step([first, second], which);
      }
    },
    "the same streams and actions gave two different courses (those of seats",
  );
});

Deno.test("faults of saved states are named", () => {
  const saved = (
    save: (state: Record<string, StateTree>, world: TicTacToe) => unknown,
  ): Fault =>
    class extends TicTacToe {
      override save(): StateTree {
        const state = super.save() as Record<string, StateTree>;
        return save(state, this) as StateTree;
      }
    };
  assertBroken(
    saved((state) => new Map(Object.entries(state))),
    "the snapshot is a Map",
  );
  assertBroken(
    saved((state, { toAct }) => ({ ...state, toAct })),
    "a saved state changed with later steps: it must be a copy",
  );
  assertBroken(
    class extends TicTacToe {
      override load() {}
    },
    "after a saved state was loaded, the seats see something else",
  );
  // What is hidden is not saved.
  assertBroken(
    class extends TicTacToe {
      #steps = 0;
      override begin(env: number, random: RandomSource) {
        if (env === 0) this.#steps = 0;
        super.begin(env, random);
      }
      override step(actions: readonly Int32Array[], which: Uint8Array) {
        const step = super.step(actions, which);
        if (which[0] === 1) step.rewards[0] = ++this.#steps % 5;
        if (this.toAct[0] + this.toAct[1] === 1) return step;
        step.rewards[0] = 0;
        return step;
      }
    },
    "after a saved state was loaded, the same actions gave another course",
  );
});

Deno.test("a picture of another size is named, and can be left out", () => {
  class Pale extends TicTacToe {
    override render() {
      return { width: 2, height: 2, data: new Uint8Array(3) };
    }
  }
  assertBroken(
    Pale,
    "its picture of 2 by 2 has 3 bytes, not 12",
  );
  checkWorld(new Pale(), { render: false });
  assertThrows(
    () => checkWorld(new TicTacToe(), { step: 3 } as object),
    TypeError,
    "did you mean 'steps'?",
  );
});

Deno.test("worlds made by name have seats, each of a role with spaces", () => {
  const { seats, roles } = new TicTacToe();
  const odd: [object, string][] = [
    [{ seats: [] }, "it has no seats"],
    [{ seats, roles: undefined }, "seat first has the role player"],
    [{ seats, roles: { player: {} } }, "seat first has the role player"],
    [
      { seats: [seats[0], { name: "cat", role: "cat" }], roles },
      "seat cat has the role cat",
    ],
  ];
  for (const [part, fault] of odd) {
    const registry: EnvRegistry = new Map();
    register({
      id: "Odd-v0",
      makeWorld: () => Object.assign(new TicTacToe(), part),
    }, { registry });
    assertThrows(
      () => makeWorld("Odd-v0", { numEnvs: 1, registry }),
      TypeError,
      `Cannot play TicTacToe: ${fault}, expected seats whose roles have`,
    );
  }
});
