/** Prints the environments that packages register when they are imported. */
import { registeredIds } from "@bellman/envs";
import "@bellman/envs/mujoco";
import process from "node:process";

process.stdout.write(`${registeredIds().join(" ")}\n`);
