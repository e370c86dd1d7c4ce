import { LostRowsError } from "@bellman/buffers/storage";
import { RandomStream } from "@bellman/compute";
import { actorCritic } from "@bellman/policies";
import type { StateTree } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import {
  type Arrays,
  type Progress,
  type Sample,
  Sequences,
  type SequencesOptions,
} from "./mod.ts";
import { buildContext } from "../../tests/testdata/build_context.ts";

const NUM_ENVS = 2;
const OPTIONS: SequencesOptions = {
  numSteps: 3,
  bufferSize: 9,
  replayStart: 3,
  replayRatio: 2,
};
const START: Progress = { steps: 0, updates: 0, fraction: 0 };

type Cuts = readonly (readonly [terminated: number, truncated: number])[];

/** A memory of two environments, and all that it was told. */
class Collected {
  readonly memory: Sequences;
  time = 0;
  starts = Float32Array.of(1, 1);

  constructor(
    options: Partial<SequencesOptions> = {},
    readonly network: "mlp" | "lstm" = "mlp",
  ) {
    const observationSpace = {
      type: "box",
      shape: [1],
      low: -1e9,
      high: 1e9,
      dtype: "float32",
    } as const;
    const context = buildContext({
      observationSpace,
      actionSpace: { type: "discrete", n: 2 },
      numEnvs: NUM_ENVS,
    });
    const policy = actorCritic({
      ...context,
      network,
      networkOptions: { lstmSize: 1 },
    });
    this.memory = new Sequences(context, policy, { ...OPTIONS, ...options });
  }

  /** Takes a step: observation t of environment 1 is 100 + t, the last one t + 0.5. */
  step(cuts: Cuts): void {
    const at = (time: number) => Float32Array.of(time, 100 + time);
    const time = this.time++;
    const ends = (kind: 0 | 1) => Uint8Array.from(cuts, (it) => it[kind]);
    const [terminated, truncated] = [ends(0), ends(1)];
    const memory = Float32Array.from(
      this.network === "lstm" ? [time, time, -time, -time] : [],
    );
    this.memory.add({
      observations: at(time),
      inputs: at(time),
      actions: Int32Array.of(time % 2, 1),
      recorded: { behaviour: Float32Array.of(time, 0, 0, time) },
      state: memory,
      starts: this.starts,
      nextState: memory,
      step: {
        observations: at(time + 1),
        finalObservations: at(time + 0.5),
        rewards: Float64Array.of(10 + time, 20 + time),
        terminated,
        truncated,
      },
    });
    this.starts = Float32Array.from(terminated, (it, i) => it | truncated[i]);
  }

  steps(...cuts: Cuts[]): void {
    for (const it of cuts) this.step(it);
  }

  sample(
    random = new RandomStream(1),
  ): Omit<Sample, "batch"> & { batch: Arrays } {
    const { batch, stats } = this.memory.sample(random, START);
    return { batch: batch as Arrays, stats };
  }

  draw(random?: RandomStream): Arrays {
    return this.sample(random).batch;
  }
}

const ON: Cuts = [[0, 0], [0, 0]];
const CUT: Cuts = [[0, 1], [0, 0]];

Deno.test("a new segment has a row for each step and the one after", () => {
  const it = new Collected({}, "lstm");
  it.steps(ON, [[1, 0], [0, 0]], ON);
  const { observations, actions, rewards, terminated, taken, ...rest } = it
    .draw();
  assertEquals([...observations], [
    ...[0, 1, 2, 3, 0],
    ...[100, 101, 102, 103, 0],
  ]);
  assertEquals([...actions], [0, 1, 0, 0, 0, 1, 1, 1, 0, 0]);
  assertEquals([...rewards].slice(0, 3), [10, 11, 12]);
  assertEquals([...terminated].slice(0, 5), [0, 1, 0, 0, 0]);
  assertEquals([...taken].slice(5), [1, 1, 1, 0, 0]);
  assertEquals([...rest.masks].slice(0, 5), [1, 0, 1, 0, 0]);
  assertEquals([...rest.behaviour].slice(0, 6), [
    ...[0, 0, 1, 0, 2, 0],
  ]);
});

Deno.test("an episode that is cut short has a row with its last observation", () => {
  const it = new Collected({}, "lstm");
  it.steps(ON, CUT, ON);
  const { observations, terminated, taken, masks } = it.draw();
  assertEquals([...observations].slice(0, 5), [
    0,
    1,
    1.5,
    2,
    3,
  ]);
  assertEquals([...taken].slice(0, 5), [1, 1, 0, 1, 0]);
  assertEquals([...masks].slice(0, 5), [1, 0, 0, 1, 0]);
  assertEquals([...terminated].slice(0, 5), [0, 0, 0, 0, 0]);
});

Deno.test("the last step of another episode that is cut is its last observation", () => {
  const it = new Collected();
  it.steps(CUT, CUT, ON);
  const other = new Collected();
  other.memory.load(it.memory.save());
  for (const { batch, stats } of [it.sample(), other.sample()]) {
    const { observations, taken } = batch;
    assertEquals([...observations].slice(0, 5), [0, 0.5, 1, 2, 3]);
    assertEquals([...taken].slice(0, 5), [1, 0, 0, 1, 0]);
    assertEquals(stats, { steps_dropped: 1 });
  }
  it.steps(ON, ON, ON);
  assertEquals(it.sample().stats, { steps_dropped: 1 });
});

Deno.test("nothing follows a cut in the last step, so that it needs no other row", () => {
  const it = new Collected();
  it.steps(CUT, ON, CUT);
  const { batch: { observations, taken }, stats } = it.sample();
  assertEquals([...observations].slice(0, 5), [0, 0.5, 1, 2, 2.5]);
  assertEquals([...taken].slice(0, 5), [1, 0, 1, 1, 0]);
  assertEquals(stats, undefined);
});

Deno.test("any cuts that a segment has rows for are exact", () => {
  for (let cuts = 0; cuts < 8; cuts++) {
    const it = new Collected({ truncationsPerSegment: 3 }, "lstm");
    const steps = [0, 1, 2].map((step) => cuts >> step & 1);
    it.steps(...steps.map((cut) => cut ? CUT : ON));
    const { batch: { observations, taken, masks }, stats } = it.sample();
    const rows = steps.flatMap((cut, time) =>
      cut ? [[time, 1], [time + 0.5, 0]] : [[time, 1]]
    ).concat([[3, 0]]);
    const starts = steps.flatMap((cut, time) => {
      const start = time === 0 || steps[time - 1] ? 1 : 0;
      return cut ? [start, 0] : [start];
    }).concat(steps[2]);
    assertEquals(
      rows.map((_, i) => [observations[i], taken[i]]),
      rows,
    );
    assertEquals([...masks].slice(0, rows.length), starts);
    assertEquals(stats, undefined);
  }
});

Deno.test("bootstrapTruncated: false takes a cut for an end", () => {
  const it = new Collected({ bootstrapTruncated: false });
  it.steps(ON, CUT, ON);
  const { observations, terminated, taken } = it.draw();
  assertEquals([...observations].slice(0, 4), [0, 1, 2, 3]);
  assertEquals([...taken].slice(0, 5), [1, 1, 1, 0, 0]);
  assertEquals([...terminated].slice(0, 5), [0, 1, 0, 0, 0]);
});

Deno.test("segments start from the state when acting, or from zeros", () => {
  const states = (["stored", "zeros"] as const).map((initialState) => {
    const it = new Collected({ initialState }, "lstm");
    it.steps(ON, ON, ON);
    it.draw();
    it.steps(ON, ON, ON);
    return [...it.draw().state];
  });
  assertEquals(states, [[3, 3, -3, -3], [0, 0, -0, -0]]);
});

Deno.test("new segments come first, then those of each environment by chance", () => {
  const it = new Collected();
  const random = new RandomStream(3);
  const firsts = new Set<string>();
  let replays = 0;
  for (let round = 0; round < 200; round++) {
    it.steps(ON, ON, ON);
    const due = it.memory.ready(START, random);
    assert(due >= 1);
    replays += due - 1;
    for (let update = 0; update < due; update++) {
      const { observations } = it.draw(random);
      const [first, other] = [observations[0], observations[5] - 100];
      if (update === 0) assertEquals(first, 3 * round);
      // The newest three segments are kept, and environments stay apart.
      assert(first >= 3 * (round - 2) && first <= 3 * round);
      if (update > 0) firsts.add(`${first / 3 - round},${other / 3 - round}`);
    }
    assertEquals(it.memory.ready(START, random), 0);
  }
  assertAlmostEquals(replays / 200, OPTIONS.replayRatio, 0.3);
  assertEquals(firsts.size, 9);
  assertEquals(it.memory.store!.buffer.length, 3);
});

Deno.test("nothing is replayed before replayStart, nor without replay", () => {
  const random = new RandomStream(1);
  const early = new Collected({ replayStart: 9, replayRatio: 50 });
  const without = new Collected({ replayRatio: 0 });
  for (let round = 0; round < 3; round++) {
    for (const it of [early, without]) {
      it.steps(ON, ON, ON);
      const due = it.memory.ready(START, random);
      assertEquals(due === 1, it === without || round < 2);
      it.draw();
    }
  }
  assertEquals(without.memory.store, undefined);
});

Deno.test("the first rows of replayed segments only warm up", () => {
  const it = new Collected({ burnIn: 2 }, "lstm");
  it.steps(ON, ON, ON);
  const taken = () => [...it.draw().taken].slice(0, 5);
  assertEquals(taken(), [1, 1, 1, 0, 0]);
  assertEquals(taken(), [0, 0, 1, 0, 0]);
});

Deno.test("by priorities, segments with large errors come more often and weigh less", () => {
  for (const replay of ["proportional", "rank"] as const) {
    const options = { replay, priorityAlpha: 1, priorityBeta: 1 };
    const it = new Collected({ ...options, replayRatio: 40 });
    assertEquals(it.memory.batch.weights, {
      shape: [NUM_ENVS],
      dtype: "float32",
    });
    const random = new RandomStream(3);
    /** Errors of the segments of a batch: that of observation 0 is large. */
    const learn = () => {
      const { observations, weights } = it.draw(random);
      const errors = [0, 5].map((row) => observations[row] === 0 ? 3 : 0.5);
      it.memory.setPriorities(Float32Array.from(errors));
      return { errors, weights: [...weights] };
    };
    it.steps(ON, ON, ON);
    assertEquals(learn(), { errors: [3, 0.5], weights: [1, 1] });
    let large = 0;
    for (let i = 0; i < 400; i++) {
      const { errors, weights } = learn();
      large += errors.filter((error) => error === 3).length;
      const isMixed = errors.includes(0.5);
      const least = replay === "rank" ? 1 / 2 : isMixed ? 0.5 / 3 : 1;
      errors.forEach((error, k) =>
        assertAlmostEquals(weights[k], error === 0.5 ? 1 : least, 1e-5)
      );
    }
    assertAlmostEquals(large / 800, replay === "rank" ? 2 / 3 : 6 / 7, 0.03);
  }
});

Deno.test("the weights' exponent rises to 1, and priorities are saved", () => {
  const options = { replay: "proportional", priorityAlpha: 1 } as const;
  const make = () => new Collected({ ...options, priorityBeta: 0.5 });
  const [it, other] = [make(), make()];
  it.steps(ON, ON, ON);
  it.draw();
  it.memory.setPriorities(Float32Array.of(1, 0.25));
  other.memory.load(it.memory.save());
  for (const [fraction, beta] of [[0, 0.5], [0.5, 0.75], [1, 1]]) {
    const draw = ({ memory }: Collected) =>
      memory.sample(new RandomStream(8), { ...START, fraction })
        .batch as Arrays;
    const { weights, observations } = draw(it);
    assertEquals(draw(other).weights, weights);
    const ratios = [0, 5].map((row) => observations[row] === 0 ? 0.25 : 1);
    ratios.forEach((ratio, k) =>
      assertAlmostEquals(
        weights[k],
        (ratio / Math.max(...ratios)) ** beta,
        1e-5,
      )
    );
  }
});

Deno.test("a saved memory goes on in the middle of a segment", () => {
  const [original, other] = [
    new Collected({}, "lstm"),
    new Collected({}, "lstm"),
  ];
  original.steps(CUT, ON, ON);
  original.draw();
  original.steps(ON, CUT);
  other.steps(ON, ON);
  other.memory.load(original.memory.save());
  Object.assign(other, { time: original.time, starts: original.starts });
  for (const it of [original, other]) it.step(ON);
  assertEquals(
    other.memory.save(),
    original.memory.save(),
  );
  for (let update = 0; update < 3; update++) {
    assertEquals(
      structuredClone(other.draw()),
      structuredClone(original.draw()),
    );
  }
});

Deno.test("segments in a file are drawn as those in memory", async () => {
  const path = await Deno.makeTempFile({ prefix: "bellman-segments-" });
  await Deno.remove(path);
  const inFile = { replayStorage: "file", replay: "rank" } as const;
  const inMemory = new Collected({ replay: "rank" }, "lstm");
  let file = new Collected(inFile, "lstm");
  file.memory.store!.open(path);
  const random = new RandomStream(2);
  const states: StateTree[] = [];
  for (let round = 0; round < 8; round++) {
    [inMemory, file].forEach((it) => it.steps(ON, CUT, ON));
    for (let update = 0; update < 3; update++) {
      const seed = random.integer(1000);
      const [wanted, found] = [inMemory, file].map((it) => {
        const batch = structuredClone(it.draw(new RandomStream(seed)));
        const errors = Float32Array.of(1 + round, 1 / (1 + update));
        it.memory.setPriorities(errors);
        return batch;
      });
      assertEquals(found, wanted);
    }
    states.push(file.memory.save());
    if (round !== 5) continue;
    // A process that died: others open the file.
    file.memory.store!.close();
    const { time, starts } = file;
    file = new Collected(inFile, "lstm");
    file.memory.store!.open(path);
    file.memory.load(states[round]);
    Object.assign(file, { time, starts });
  }
  // The segments of two saves are there, older ones are lost.
  file.memory.load(states[6]);
  assertThrows(() => file.memory.load(states[1]), LostRowsError, path);
  file.memory.load(states[7]);
  file.step(ON);
  file.memory.store!.close();
  await Deno.remove(path);
});

Deno.test("without its file an agent acts, but collects nothing", () => {
  const it = new Collected({ replayStorage: "file" });
  const message = "Cannot keep segments in a file: expected openReplay()";
  assertThrows(() => it.step(ON), TypeError, message);
  const state = new Collected().memory.save();
  it.memory.load(state);
  assertEquals(it.memory.save(), state); // nothing of it is lost
  const without = new Collected({ replayStorage: "file", replayRatio: 0 });
  without.step(ON); // nothing is kept
});

Deno.test("what lies in a file that was closed is not saved as nothing", async () => {
  const path = await Deno.makeTempFile({ prefix: "bellman-segments-" });
  await Deno.remove(path);
  const { memory } = new Collected({ replayStorage: "file" });
  const state = memory.save(); // nothing was collected
  memory.load(state);
  memory.store!.open(path);
  memory.store!.close();
  const message = "Cannot keep segments in a file: expected openReplay()";
  assertThrows(() => memory.save(), TypeError, message);
  memory.load(state);
  assertEquals(memory.save(), state);
  await Deno.remove(path);
});

Deno.test("without its segments an agent collects new ones first", () => {
  const it = new Collected({ saveReplay: false });
  it.steps(ON, ON, ON);
  it.memory.load(it.memory.save());
  assertEquals(it.memory.store!.buffer.length, 0);
});

Deno.test("frames are kept once each, and drawn as the stacks that were seen", () => {
  const stackedFrames = 3, numSteps = 4, numEnvs = 2;
  const observationSpace = {
    type: "box",
    shape: [2, stackedFrames],
    low: 0,
    high: 255,
    dtype: "uint8",
  } as const;
  const context = buildContext({
    observationSpace,
    actionSpace: { type: "discrete", n: 2 },
    numEnvs,
    stackedFrames,
  });
  const policy = actorCritic({ ...context, network: "mlp" });
  const memory = new Sequences(context, policy, {
    ...OPTIONS,
    numSteps,
    bufferSize: 3 * numSteps,
  });
  const random = new RandomStream(7);
  const frame = () => [random.integer(256), random.integer(256)];
  /** Frames of each environment, oldest first. */
  const seen = Array.from({ length: numEnvs }, () => {
    const first = frame();
    return [first, first, first];
  });
  const encode = (stacks: number[][][]) =>
    Uint8Array.from(
      stacks.flatMap((it) =>
        [0, 1].flatMap((pixel) => it.map((f) => f[pixel]))
      ),
    );
  const rowsOf = (batch: Arrays) =>
    Array.from({ length: numEnvs }, (_, env) => {
      const size = 6 * (numSteps + 2);
      const { observations } = batch;
      // The last row has no observation where no episode was cut.
      return String(observations.slice(env * size, (env + 1) * size - 6));
    });
  let starts = Float32Array.of(1, 1);
  const known: string[][] = [];
  for (let round = 0; round < 40; round++) {
    for (let step = 0; step < numSteps; step++) {
      const observations = encode(seen);
      const draw = (chance: number) =>
        Uint8Array.from(seen, () => +(random.uniform() < chance));
      const [terminated, truncated] = [draw(0.2), draw(0.1)];
      seen.forEach((it) => it.push(frame()) && it.shift());
      const finalObservations = encode(seen);
      seen.forEach((it, env) => {
        if (terminated[env] || truncated[env]) it.fill(frame());
      });
      memory.add({
        observations,
        inputs: observations,
        actions: new Int32Array(numEnvs),
        recorded: { behaviour: new Float32Array(2 * numEnvs) },
        state: new Float32Array(0),
        starts,
        step: {
          observations: encode(seen),
          finalObservations,
          rewards: new Float64Array(numEnvs),
          terminated,
          truncated,
        },
      });
      starts = Float32Array.from(terminated, (it, i) => it | truncated[i]);
    }
    known.push(rowsOf(memory.sample(random, START).batch as Arrays));
    for (let update = 0; update < 4; update++) {
      const drawn = rowsOf(memory.sample(random, START).batch as Arrays);
      drawn.forEach((it, env) =>
        assert(known.slice(-3).some((kept) => kept[env] === it))
      );
    }
  }
});
