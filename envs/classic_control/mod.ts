export * from "./cart_pole_env.ts";
export * from "./cart_pole_vec_env.ts";
export * from "./dynamics.ts";
export * from "./dynamics_env.ts";
export * from "./dynamics_vec_env.ts";
