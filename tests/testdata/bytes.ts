/** Prints what is made of text in hexadecimal and base64, the same on Deno and Node. */
import process from "node:process";
import { ProgramBuilder } from "../../compute/stablehlo/program_builder.ts";
import { FRAME_MARK } from "../../envs/workers/processes/frames.ts";
import { NTSC, PAL } from "../../envs/atari/emulator/palettes.ts";
import { ScreenKernel } from "../../envs/atari/preprocess/_screen_preprocessor.ts";

const builder = new ProgramBuilder();
builder.constant(Float32Array.of(1, -2), { shape: [2], dtype: "float32" });
const kernel = new ScreenKernel();
kernel.gray.forEach((_, i, gray) => gray[i] = i % 251);
kernel.resize();
process.stdout.write(JSON.stringify({
  program: builder.text,
  mark: [...FRAME_MARK],
  colors: [...NTSC.rgb.slice(0, 60), ...PAL.gray],
  frame: [...kernel.frame.slice(0, 100)],
}));
