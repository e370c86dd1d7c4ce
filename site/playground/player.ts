/** Module worker that plays a policy: only with it ONNX Runtime is loaded. */
import * as ort from "npm:onnxruntime-web@1.30.0/wasm";
import { checkPolicy, type OpenPolicy, Playing } from "./playing.ts";
import { readMetadata } from "./policy_file.ts";
import type { PlayerReport, PlayerRequest } from "./protocol.ts";

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = {
  wasm: new URL("./ort-wasm-simd-threaded.wasm", import.meta.url).href,
};
// What is wrong with a file is said in the page.
ort.env.logLevel = "fatal";

/** Milliseconds between two reports where the pace is not the environment's. */
const INTERVAL = 50;

let policy: OpenPolicy | undefined;
let playing: Playing | undefined;
/** Number of the present stretch; 0 while it is paused. */
let stretch = 0, stretches = 0;
let isPaced = true;

function report(message: PlayerReport): void {
  postMessage(message);
}

function reportError(error: unknown): void {
  stretch = 0;
  report({
    type: "error",
    message: error instanceof Error ? error.message : String(error),
  });
}

/** Opens a file, which nobody has checked. */
async function open(bytes: Uint8Array): Promise<OpenPolicy> {
  const metadata = readMetadata(bytes);
  let session: ort.InferenceSession;
  try {
    session = await ort.InferenceSession.create(bytes, {
      executionProviders: ["wasm"],
      logSeverityLevel: 4,
    });
  } catch (error) {
    const [reason] = String((error as Error).message ?? error).split("\n");
    throw new SyntaxError(`ONNX Runtime cannot load it: ${reason}`);
  }
  const opened = { session, metadata };
  checkPolicy(opened);
  return opened;
}

/** Plays until a pause, and reports at the pace. */
async function play(playing: Playing): Promise<void> {
  const mine = stretch = ++stretches;
  const interval = isPaced ? 1000 / playing.framesPerSecond : INTERVAL;
  while (stretch === mine) {
    const begin = performance.now(), actions: number[] = [];
    do actions.push(...await playing.step()); while (
      !isPaced && performance.now() - begin < interval
    );
    const { steps, returns } = playing;
    report({
      type: "played",
      step: steps,
      episodes: returns.length,
      meanReturn: returns.reduce((sum, it) => sum + it, 0) / returns.length,
      actions,
      pictures: playing.draw(),
    });
    const rest = interval - (performance.now() - begin);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, rest)));
  }
}

async function answer(request: PlayerRequest): Promise<void> {
  if (request.type === "open") {
    stretch = 0;
    await policy?.session.release();
    policy = playing = undefined;
    try {
      policy = await open(request.bytes);
    } catch (error) {
      const { message } = error as Error;
      throw new SyntaxError(`Cannot open ${request.name}: ${message}`);
    }
    report({ type: "opened", metadata: policy.metadata });
  } else if (request.type === "play" && policy !== undefined) {
    isPaced = request.isPaced;
    playing = new Playing(ort, policy, request);
    await play(playing);
  } else if (request.type === "pause") stretch = 0;
  else if (request.type === "resume" && playing && stretch === 0) {
    await play(playing);
  }
}

addEventListener("message", ({ data }: MessageEvent<PlayerRequest>) => {
  answer(data).catch(reportError);
});
