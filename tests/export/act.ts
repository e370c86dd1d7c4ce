// deno-lint-ignore-file -- a program that stands alone, as a user would write it
/** The same as act.py, with nothing but ONNX Runtime's own package. */
import ort from "npm:onnxruntime-node@1.24.3";

const task = JSON.parse(await new Response(Deno.stdin.readable).text());
const session = await ort.InferenceSession.create(task.file);
const arrays = { float32: Float32Array, int32: Int32Array, uint8: Uint8Array };
let state: any;
const actions: number[][] = [];
for (const call of task.inputs) {
  const feed: Record<string, any> = {};
  for (const [name, it] of Object.entries<any>(call)) {
    const data = arrays[it.dtype as keyof typeof arrays].from(it.data);
    feed[name] = new ort.Tensor(it.dtype, data as any, it.shape);
  }
  if (state !== undefined) feed.state ??= state;
  const results = await session.run(feed);
  actions.push([...results.action.data as any].map(Number));
  state = results.next_state;
}
console.log(JSON.stringify({ actions }));
