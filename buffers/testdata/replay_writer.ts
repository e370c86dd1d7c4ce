/// <reference lib="deno.worker" />
/** A worker that writes steps to a shared buffer as fast as it can. */
import type { SharedReplay } from "../replay/options.ts";
import { ReplayBuffer } from "../replay/replay_buffer.ts";
import { writtenStep } from "./written_step.ts";

self.onmessage = (
  { data: { memory, steps } }: MessageEvent<
    { memory: SharedReplay; steps: number }
  >,
) => {
  const buffer = ReplayBuffer.attach(memory);
  for (let step = 0; step < steps; step++) {
    buffer.add(writtenStep(memory.writer, step, buffer.numEnvs));
  }
  self.postMessage("done");
};
