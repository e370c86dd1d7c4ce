/**
 * Saves a large buffer again and again to the given path, until it is killed.
 * All numbers of one save are the same, and of the next one more.
 */
import { saveBuffer } from "../buffer_file.ts";

const numbers = new Float64Array(4 << 20);
const buffer = {
  save: () => ({ numbers: numbers.map((n) => n + 1) }),
  load() {},
};
for (;;) {
  await saveBuffer(buffer, Deno.args[0]);
  numbers.fill(numbers[0] + 1);
}
