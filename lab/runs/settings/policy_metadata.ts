import packageConfig from "../deno.json" with { type: "json" };

/** Describes the run of an exported policy to those who open its file. */
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
