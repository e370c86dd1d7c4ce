import process from "node:process";
import { elementCount, flattenedSize } from "@bellman/envs";
import { networkFor } from "@bellman/policies";
import type { Space } from "@bellman/types";
import type { ResolvedConfig } from "../config/resolve.ts";
import { UsageError } from "../terminal/errors.ts";
import type { EnvironmentSpaces } from "./environments.ts";

const BYTES: Readonly<Record<string, number>> = { float64: 8, uint8: 1 };

/** Returns the numbers that a network gets of a value, and the bytes that store it. */
function sizeOf(space: Space) {
  const size = space.type === "box" ? BYTES[space.dtype] ?? 4 : 4;
  return { numbers: flattenedSize(space), bytes: size * elementCount(space) };
}

/**
 * Bytes for each parameter at the peak: itself, its gradient, the optimizer's
 * moments, copies of the compiled graph, and its first values in float64.
 * Measured with two layers of 2,048 and 4,096 units.
 */
const PER_PARAMETER = 100;
/** Features that the networks for images end in. */
const IMAGE_FEATURES = 512;
/** Bytes of the activation of a unit for one row, with its gradient. */
const PER_ACTIVATION = 8;
/** Bytes of a step beside its observations: reward, ends, value, advantage. */
const PER_STEP = 48;

/** Rows of a segment beside those of its steps: the ends, and the frames before. */
const SEGMENT_ROWS = 5;
/** Bytes of a replay buffer in a file: what was read and is to be written. */
const FILE_BYTES = 2 ** 25;
/** Bytes of a transition in a file that stay in memory: its ends, its reward. */
const FLAG_BYTES = 6;

function layersOf(sizes: readonly number[]): number {
  return sizes.slice(1).reduce((sum, n, i) => sum + n * (sizes[i] + 1), 0);
}

/**
 * Estimates the memory of a run, in bytes by the keys that they follow: of an
 * actor-critic on rollouts, or of critics on replayed transitions.
 */
export function estimateMemory(
  config: ResolvedConfig,
  spaces: EnvironmentSpaces,
): Record<string, number> {
  const { numEnvs, network } = config;
  const observation = sizeOf(spaces.observationSpace);
  const action = sizeOf(spaces.actionSpace);
  const { hiddenSizes } = config;
  // An algorithm of one's own may mean something else by it.
  const hidden: number[] = Array.isArray(hiddenSizes) ? hiddenSizes : [];
  const numberOf = (key: string, fallback: number) =>
    typeof config[key] === "number" ? config[key] : fallback;
  const { observationSpace: space } = spaces;
  const named = network === "auto" && space.type === "box"
    ? networkFor(space.shape)
    : String(network);
  const isImage = named.startsWith("c");
  const features = isImage ? IMAGE_FEATURES : observation.numbers;
  const units = hidden.reduce((sum, n) => sum + n, 0) + features;
  const environments = { numEnvs: numEnvs * 8 * (observation.bytes + 512) };
  if (config.bufferSize === undefined) {
    const networks = config.valueNetwork === "separate" ? 2 : 1;
    const lstm = /lstm/.test(String(network)) ? numberOf("lstmSize", 0) : 0;
    const hiddenParameters = networks *
      layersOf([features, ...hidden, action.numbers]);
    const row = 2 * observation.bytes + action.bytes + PER_STEP +
      networks * (units + lstm) * PER_ACTIVATION;
    return {
      ...environments,
      hiddenSizes: lstm > 0 ? 0 : PER_PARAMETER * hiddenParameters,
      lstmSize: PER_PARAMETER * networks * 4 * lstm * (features + lstm + 1),
      numSteps: numEnvs * numberOf("numSteps", 1) * row,
    };
  }
  const components = config.policy === "mixture"
    ? numberOf("components", 1)
    : 1;
  const outputs = components * (2 * action.numbers + 1);
  const critics = 4 * layersOf([features + action.numbers, ...hidden, 1]);
  const body = layersOf([features, ...hidden]);
  const head = (hidden.at(-1) ?? features) * outputs;
  const isInFile = config.replayStorage === "file";
  const priority = config.replay === "uniform" ? 0 : 24;
  const transition = isInFile ? priority + FLAG_BYTES : priority + 8 +
    observation.bytes / (spaces.stackedFrames ?? 1) + 4 * action.numbers;
  // Segments are counted in steps of one environment, and have rows between them.
  const isSegments = typeof config.numSteps === "number";
  const steps = isSegments
    ? numEnvs * (1 + SEGMENT_ROWS / (config.numSteps as number))
    : 1;
  const rows = isInFile && isSegments ? 0 : numberOf("bufferSize", 0) * steps;
  return {
    ...environments,
    hiddenSizes: PER_PARAMETER / 2 * (critics + body),
    components: PER_PARAMETER / 2 * head,
    bufferSize: rows * transition + (isInFile ? FILE_BYTES : 0),
    // SAC's null is at most 256.
    batchSize: numberOf("batchSize", config.batchSize === null ? 256 : 0) *
      (2 * observation.bytes * numberOf("nSteps", 1) +
        5 * units * PER_ACTIVATION),
  };
}

/** Returns a round size of the replay buffer that fits into memory; 0 if none does. */
function fittingBuffer(
  config: ResolvedConfig,
  { bytes, free }: { bytes: number; free: number },
): number {
  const size = config.bufferSize as number * free / bytes;
  if (size < 1) return 0;
  const unit = 10 ** Math.max(Math.floor(Math.log10(size)) - 1, 0);
  const rows = config.numSteps === undefined ? 1 : config.numSteps as number;
  const most = Math.floor(Math.floor(size / unit) * unit / rows) * rows;
  const { learningStarts = 0, batchSize, replayStart = 0 } = config;
  const least = [learningStarts, batchSize ?? 0, replayStart] as number[];
  return most >= Math.max(...least) ? most : 0;
}

/** Returns the bytes that this machine lets a process have, if that is known. */
function machineMemory(): number | undefined {
  try {
    // A container's limit, where there is one.
    const limit = process.constrainedMemory() || Infinity;
    return Math.min(Deno.systemMemoryInfo().total, limit);
  } catch {
    // Not permitted, which is no reason not to train.
    return undefined;
  }
}

/** Bytes from which on a run reports its memory. */
const WORTH_SAYING = 2 * 2 ** 30;

function gibibytes(bytes: number): string {
  const value = bytes / 2 ** 30;
  return `${value < 100 ? value.toFixed(1) : Math.round(value)} GiB`;
}

/**
 * Checks that a run fits into the machine's memory, before it is allocated.
 *
 * @param config The configuration.
 * @param spaces Spaces of an observation and an action.
 * @param available Bytes of the machine.
 * @returns A line that the user should see, of a run that takes much.
 * @throws {UsageError} If it does not fit; the error names the key that takes most.
 */
export function checkMemory(
  config: ResolvedConfig,
  spaces: EnvironmentSpaces,
  available: number | undefined = machineMemory(),
): string | undefined {
  const uses = Object.entries(estimateMemory(config, spaces));
  const total = uses.reduce((sum, [, bytes]) => sum + bytes, 0);
  const [key, bytes] = uses.reduce((a, b) => b[1] > a[1] ? b : a);
  const value = `${key} = ${JSON.stringify(config[key])}`;
  if (available !== undefined && total > available) {
    const most = key === "bufferSize"
      ? fittingBuffer(config, { bytes, free: available - (total - bytes) })
      : 0;
    throw new UsageError(
      `Cannot train with ${value}: that takes about ${
        gibibytes(total)
      } of memory, expected at most the ${
        gibibytes(available)
      } of this machine${most > 0 ? `; --set bufferSize=${most} fits` : ""}`,
    );
  }
  if (total < WORTH_SAYING) return undefined;
  return `This run takes about ${
    gibibytes(total)
  } of memory, most of it for ${value}`;
}
