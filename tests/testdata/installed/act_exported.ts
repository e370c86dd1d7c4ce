/** Prints the actions of an exported policy, which ONNX Runtime's own package runs. */
import { makeVec } from "@bellman/envs";
import process from "node:process";
import ort from "onnxruntime-node";

const session = await ort.InferenceSession.create(process.argv[2]);
const env = makeVec("CartPole-v1", { numEnvs: 1000 });
const first = env.reset({ seed: 3 }) as Float32Array;
const wide = first.map((it) => 20 * it);
const observation = new ort.Tensor("float32", wide, [1000, 4]);
const { action } = await session.run({ observation });
process.stdout.write(`actions: ${Array.from(action.data, Number).join("")}\n`);
