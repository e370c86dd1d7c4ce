/** Counts the bytes that this process has read so far, on Linux. */
export function bytesRead(): number {
  const { stdout } = new Deno.Command("cat", {
    args: [`/proc/${Deno.pid}/io`],
  }).outputSync();
  return Number(/^rchar: (\d+)$/m.exec(new TextDecoder().decode(stdout))![1]);
}
