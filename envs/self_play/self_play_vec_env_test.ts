import {
  ConnectFour,
  PaddleBall,
  type Player,
  randomPlayer,
  scriptedPlayer,
  SelfPlayVecEnv,
  Soccer,
  TicTacToe,
} from "@bellman/envs/games";
import { SeededRandom } from "@bellman/envs";
import type {
  Actor,
  DiscreteSpace,
  StateTree,
  VecStep,
  World,
} from "@bellman/types";
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";

/** Chooses the k-th allowed action of each row. */
function allowed(masks: Uint8Array, rows: number, k = 0): Int32Array {
  const size = masks.length / rows;
  return Int32Array.from({ length: rows }, (_, row) => {
    const mask = masks.subarray(row * size, (row + 1) * size);
    const choices = [...mask.keys()].filter((it) => mask[it] === 1);
    return choices[k % choices.length];
  });
}

function copyOf(step: VecStep) {
  return structuredClone({
    observations: step.observations,
    rewards: step.rewards,
    terminated: step.terminated,
    truncated: step.truncated,
    actionMasks: step.actionMasks,
  });
}

/** A learner whose snapshots play the action that its number chooses, and count calls. */
class Numbered {
  number = 0;
  readonly calls: [number: number, rows: number][] = [];

  policy({ numEnvs = 1 }: { frozen?: boolean; numEnvs?: number } = {}): Actor {
    let own = this.number;
    return {
      numEnvs,
      act: (_, masks) => {
        this.calls.push([own, numEnvs]);
        return masks
          ? allowed(masks, numEnvs, own)
          : new Int32Array(numEnvs).fill(own);
      },
      save: () => ({ own }),
      load: (state) => {
        own = (state as { own: number }).own;
      },
    };
  }
}

Deno.test("a transition spans from a move of the learner to its next one", () => {
  const env = new SelfPlayVecEnv(new TicTacToe({ numEnvs: 1 }), {
    opponent: (world, { actions, which, seat }) => {
      // Takes the last free cell.
      const mask = world.actionMasks!(seat);
      if (which![0] === 1) (actions as Int32Array)[0] = mask.lastIndexOf(1);
    },
  });
  const seen = env.reset({ seed: 0 });
  assertEquals([...seen].reduce((a, b) => a + b), 0);
  let step = env.step(Int32Array.of(0));
  assertEquals([step.observations[0], step.observations[8 * 2 + 1]], [1, 1]);
  assertEquals([...env.actionMasks!], [0, 1, 1, 1, 1, 1, 1, 1, 0]);
  step = env.step(Int32Array.of(1));
  assertEquals([...step.rewards, ...step.terminated], [0, 0]);
  step = env.step(Int32Array.of(2));
  assertEquals([...step.rewards, ...step.terminated], [1, 1]);
  assertEquals([...step.finalObservations].filter((_, i) => i % 2 === 0), [
    ...[1, 1, 1, 0, 0, 0, 0, 0, 0],
  ]);
  // The next game begins with the other, as the learner has the second seat.
  const other = [...step.observations].filter((_, i) => i % 2 === 1);
  assertEquals(other, [0, 0, 0, 0, 0, 0, 0, 0, 1]);
});

Deno.test("an end by another's move is the learner's end", () => {
  const env = new SelfPlayVecEnv(new TicTacToe({ numEnvs: 1 }), {
    seat: "second",
    opponent: (_, { actions }) => {
      (actions as Int32Array)[0] = moves.shift()!;
    },
  });
  const moves = [0, 1, 2, 5];
  env.reset({ seed: 0 });
  env.step(Int32Array.of(3));
  const step = env.step(Int32Array.of(4));
  assertEquals([...step.rewards, ...step.terminated], [-1, 1]);
  // The opponent has begun the next game.
  assertEquals(moves, []);
});

const GAMES: Record<string, (numEnvs: number) => World> = {
  TicTacToe: (numEnvs) => new TicTacToe({ numEnvs }),
  ConnectFour: (numEnvs) => new ConnectFour({ numEnvs }),
  PaddleBall: (numEnvs) => new PaddleBall({ numEnvs, maxEpisodeSteps: 60 }),
  Soccer: (numEnvs) => new Soccer({ numEnvs, maxEpisodeSteps: 40 }),
  "Soccer with tackles": (numEnvs) =>
    new Soccer({ numEnvs, maxEpisodeSteps: 40, tackles: true }),
};

const PLAYERS: Record<string, (world: World) => Player> = {
  random: () => randomPlayer,
  scripted: scriptedPlayer,
};

/** Takes steps by a seeded stream, and returns what they gave. */
function playOn(env: SelfPlayVecEnv, random: SeededRandom, steps: number) {
  return Array.from({ length: steps }, () => {
    const { numEnvs } = env, masks = env.actionMasks;
    const { n } = env.actionSpace as DiscreteSpace;
    const actions = masks
      ? allowed(masks, numEnvs, random.integer(1000))
      : Int32Array.from({ length: numEnvs }, () => random.integer(n));
    return copyOf(env.step(actions));
  });
}

for (const [name, worldOf] of Object.entries(GAMES)) {
  for (const [player, playerOf] of Object.entries(PLAYERS)) {
    Deno.test(`${name} against the ${player} player is restored to the bit`, () => {
      const make = () => {
        const world = worldOf(4);
        return new SelfPlayVecEnv(world, {
          opponent: playerOf(world),
          openings: 2,
          randomMoves: 0.1,
        });
      };
      const env = make(), random = new SeededRandom(3);
      env.reset({ seed: 5 });
      playOn(env, random, 37);
      const state = structuredClone(env.save()), stream = random.save();
      const after = playOn(env, random, 120);
      assert(
        after.some((it) =>
          it.terminated.includes(1) || it.truncated.includes(1)
        ),
      );
      for (const other of [env, make()]) {
        other.load(state);
        random.load(stream);
        assertEquals(playOn(other, random, 120), after);
      }
    });
  }
}

Deno.test("rows of worlds that wait are those of each world alone", () => {
  // Players that draw nothing, so that a world's game does not depend on others.
  const last: Player = (world, { seat, actions, which }) => {
    const masks = world.actionMasks!(seat), size = masks.length / world.numEnvs;
    for (let row = 0; row < world.numEnvs; row++) {
      if (which![row] === 0) continue;
      const mask = masks.subarray(row * size, (row + 1) * size);
      (actions as Int32Array)[row] = mask.lastIndexOf(1);
    }
  };
  const make = (numEnvs: number) =>
    new SelfPlayVecEnv(new ConnectFour({ numEnvs }), { opponent: last });
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.nat(6), { minLength: 3, maxLength: 3 }), {
        minLength: 5,
        maxLength: 60,
      }),
      (moves) => {
        const together = make(3), alone = [0, 1, 2].map(() => make(1));
        together.reset({ seed: 0 });
        alone.forEach((it) => it.reset({ seed: 0 }));
        for (const choice of moves) {
          const masks = together.actionMasks!;
          const actions = Int32Array.from(
            choice,
            (k, row) => allowed(masks.subarray(7 * row, 7 * row + 7), 1, k)[0],
          );
          const step = together.step(actions);
          // Row 1 begins in the other seat.
          for (const row of [0, 2]) {
            const own = alone[row].step(actions.subarray(row, row + 1));
            assertEquals(own.rewards[0], step.rewards[row]);
            assertEquals(own.terminated[0], step.terminated[row]);
            assertEquals(
              own.observations,
              step.observations.subarray(84 * row, 84 * row + 84),
            );
          }
        }
      },
    ),
    { numRuns: 30 },
  );
});

Deno.test("snapshots are taken, drawn and given up by the learner's steps", () => {
  const learner = new Numbered();
  const env = new SelfPlayVecEnv(new ConnectFour({ numEnvs: 4 }), {
    window: 3,
    snapshotEvery: 40,
    swapEvery: 8,
    latest: 0.25,
    groups: 2,
  });
  env.play(learner);
  env.reset({ seed: 1 });
  assertEquals(env.ratings().snapshots.map((it) => it.steps), [0]);
  const random = new SeededRandom(0);
  for (let step = 1; step <= 100; step++) {
    learner.number = step;
    playOn(env, random, 1);
  }
  assertEquals(env.ratings().snapshots.map((it) => it.steps), [320, 360, 400]);
  const played = new Set(learner.calls.map(([number]) => number));
  // Taken after every tenth step, and at swaps as the newest.
  assert(played.size > 10, `${[...played]}`);
  assert([...played].every((it) => it % 2 === 0 || it === 0), `${[...played]}`);
  assert(learner.calls.every(([, rows]) => rows === 2));
  const age = env.statistics()["self_play/opponent_age"];
  assert(age >= 0 && age <= 80, `${age}`);
});

Deno.test("what a learner wins its opponents lose, and games against itself move nothing", () => {
  const world = new ConnectFour({ numEnvs: 8 });
  const rated = new SelfPlayVecEnv(world, { latest: 0, window: 1, groups: 1 });
  rated.play(new Numbered());
  rated.reset({ seed: 0 });
  // Column after column loses to nobody who plays the first allowed one.
  playOn(rated, new SeededRandom(1), 400);
  const { newest, snapshots: [{ rating }] } = rated.ratings();
  assertEquals(Math.round(newest + rating), 2400);
  assertNotEquals(newest, 1200);
  assert(newest > 1200 === rated.statistics()["self_play/win_rate"] > 0.5);
  const alone = new SelfPlayVecEnv(new ConnectFour({ numEnvs: 8 }), {
    latest: 1,
  });
  alone.play(new Numbered());
  alone.reset({ seed: 0 });
  playOn(alone, new SeededRandom(1), 400);
  assertEquals(alone.ratings().newest, 1200);
});

Deno.test("snapshots go on in a restored environment", () => {
  const options = {
    window: 3,
    snapshotEvery: 40,
    swapEvery: 8,
    groups: 2,
    randomMoves: 0.2,
  };
  const make = () => {
    const learner = new Numbered();
    const env = new SelfPlayVecEnv(new ConnectFour({ numEnvs: 4 }), options);
    return { learner, env };
  };
  const first = make(), random = new SeededRandom(4);
  first.env.play(first.learner);
  first.env.reset({ seed: 2 });
  const run = (
    { env, learner }: ReturnType<typeof make>,
    from: number,
    to: number,
  ) => {
    const steps = [];
    for (let step = from; step < to; step++) {
      learner.number = step;
      steps.push(...playOn(env, random, 1));
    }
    return [steps, env.ratings(), env.statistics()];
  };
  run(first, 0, 55);
  const state: StateTree = structuredClone(first.env.save());
  const stream = random.save(), after = run(first, 55, 150);
  for (const isLate of [false, true]) {
    const other = make();
    other.learner.number = 54;
    if (!isLate) other.env.play(other.learner);
    other.env.load(state);
    if (isLate) other.env.play(other.learner);
    random.load(stream);
    assertEquals(run(other, 55, 150), after);
  }
});

Deno.test("team mates are played by the newest policy", () => {
  const learner = new Numbered();
  const env = new SelfPlayVecEnv(new Soccer({ numEnvs: 2 }), {
    latest: 0,
    groups: 1,
    seat: "blue0",
    snapshotEvery: 1_000_000,
    swapEvery: 2,
  });
  env.play(learner);
  env.reset({ seed: 0 });
  learner.number = 4;
  env.step(new Int32Array(2)); // The newest policy is copied at the next swap.
  learner.calls.length = 0;
  env.step(new Int32Array(2));
  assertEquals(learner.calls.map(([number]) => number), [4, 0, 0]);
});

/** Three who all act at once; one that plays 1 is out, and the others go on. */
class LastOneIn extends PaddleBall {
  override readonly seats = ["a", "b", "c"].map((name) => ({ name }));
  override readonly toAct = new Uint8Array(3);
  begun = 0;

  override begin() {
    this.begun++;
    this.toAct.fill(1);
  }

  override step(actions: readonly Int32Array[]) {
    const result = {
      rewards: new Float64Array(3),
      terminated: new Uint8Array(3),
      truncated: new Uint8Array(3),
    };
    actions.forEach(([action], seat) => {
      if (this.toAct[seat] === 0 || action !== 1) return;
      this.toAct[seat] = 0;
      result.rewards[seat] = -2;
      result.terminated[seat] = 1;
    });
    return result;
  }

  override observe(seat: number) {
    return super.observe(seat % 2);
  }
}

Deno.test("a seat that is out ends its row, and its world starts again", () => {
  const world = new LastOneIn();
  const playing: number[] = [];
  const env = new SelfPlayVecEnv(world, {
    seat: "b",
    opponent: (_, { seat, actions }) => {
      playing.push(seat);
      (actions as Int32Array)[0] = seat === 0 ? 1 : 0;
    },
  });
  env.reset({ seed: 0 });
  let step = env.step(Int32Array.of(0)); // The first is out.
  assertEquals([...step.rewards, ...step.terminated, world.begun], [0, 0, 1]);
  step = env.step(Int32Array.of(1)); // The learner is, and the third would go on.
  assertEquals([...step.rewards, ...step.terminated, world.begun], [-2, 1, 2]);
  assertEquals(playing, [0, 2, 2]);
  assertEquals([...world.toAct], [1, 1, 1]);
});

Deno.test("openings are random moves of both, which lead to many positions", () => {
  const seenWith = (openings: number) => {
    const env = new SelfPlayVecEnv(new TicTacToe({ numEnvs: 64 }), {
      openings,
    });
    const seen = env.reset({ seed: 0 });
    return new Set(
      Array.from(
        { length: 64 },
        (_, i) => `${seen.subarray(18 * i, 18 * i + 18)}`,
      ),
    ).size;
  };
  // Rows of the second seat have seen the opponent's first move.
  assert(seenWith(0) <= 10);
  assert(seenWith(4) > 25);
});

Deno.test("illegal moves name seat, move and what is allowed; nothing is stepped", () => {
  const env = new SelfPlayVecEnv(new TicTacToe({ numEnvs: 1 }), {
    opponent: (_, { actions }) => (actions as Int32Array).fill(8),
  });
  env.reset({ seed: 0 });
  env.step(Int32Array.of(0));
  const before = env.save();
  assertThrows(
    () => env.step(Int32Array.of(8)),
    RangeError,
    "Cannot play 8 as first in world 0 of TicTacToe: expected one of 1, 2, 3, 4, 5, 6, 7",
  );
  assertEquals(env.save(), before);
});

const REFUSED: [options: object, message: string][] = [
  [{ latest: 1.5 }, "latest: 1.5: expected a probability from 0 to 1"],
  [{ randomMoves: -1 }, "randomMoves: -1: expected a probability"],
  [
    { groups: 3 },
    "in 3 groups of 4 worlds: expected groups that divide numEnvs",
  ],
  [{ window: 0 }, "window"],
  [{ swapEvery: 1.5 }, "swapEvery"],
  [{ openings: -1 }, "openings"],
  [
    { seat: "frist" },
    "Unknown seat 'frist' of TicTacToe: did you mean 'first'",
  ],
  [{ windw: 3 }, "did you mean 'window'"],
  [{ opponent: "random" }, "opponent"],
];

for (const [options, message] of REFUSED) {
  Deno.test(`options ${JSON.stringify(options)} are refused`, () => {
    const world = new TicTacToe({ numEnvs: 4 });
    const error = assertThrows(() => new SelfPlayVecEnv(world, options));
    assert(`${error}`.includes(message), `${error}`);
  });
}

Deno.test("a recurrent policy plays against another player", () => {
  const env = new SelfPlayVecEnv(new TicTacToe({ numEnvs: 4 }), {
    opponent: randomPlayer,
  });
  env.play(Object.assign(new Numbered(), { model: { stateSize: 8 } }));
  env.reset({ seed: 0 });
  assertEquals(playOn(env, new SeededRandom(0), 5).length, 5);
  assertEquals(env.ratings().snapshots, []);
});

Deno.test("a policy that is recurrent, or cannot be frozen, plays no games", () => {
  const env = new SelfPlayVecEnv(new TicTacToe({ numEnvs: 4 }));
  const learner = new Numbered();
  assertThrows(
    () => env.play(Object.assign(learner, { model: { stateSize: 8 } })),
    TypeError,
    "a recurrent policy",
  );
  assertThrows(
    () => env.play({ policy: () => ({ act: () => [] }) }),
    TypeError,
    "no save and load",
  );
});
