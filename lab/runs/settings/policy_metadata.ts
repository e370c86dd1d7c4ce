import packageConfig from "../deno.json" with { type: "json" };

/** Makes the metadata of an exported policy about its run. */
export function policyMetadata(
  { algorithm, env, frameStack }: {
    readonly algorithm: string;
    readonly env: string;
    readonly frameStack: number;
  },
): Record<string, string> {
  return {
    algorithm,
    environment: env,
    "frame stack": String(frameStack),
    version: `Bellman ${packageConfig.version}`,
  };
}
