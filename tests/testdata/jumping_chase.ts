import { register } from "@bellman/envs";
import { Chase } from "../../envs/pages/testdata/chase.ts";

register({ id: "JumpingChase-v0", make: () => new Chase() });
