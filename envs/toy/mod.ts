export * from "./bandit_env.ts";
export * from "./chain_env.ts";
export * from "./identity_env.ts";
export * from "./toy_env.ts";
