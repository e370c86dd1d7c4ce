/** Runs a program on a client of its own, for each number that it is sent. */
import { openXla } from "../open_xla.ts";
import { ADD_TO_STATE } from "./programs.ts";

const client = openXla({ cache: false });
const call = client.compile(ADD_TO_STATE).bind([
  { array: new Float32Array(4) },
  { array: new Float32Array(4).fill(1) },
]);

const scope = self as unknown as {
  onmessage: (message: MessageEvent<number>) => void;
  postMessage(value: unknown): void;
};
scope.onmessage = ({ data: times }) => {
  for (let i = 0; i < times; i++) call.run();
  scope.postMessage(call.read(0)[0]);
};
