import { registerAtari } from "./atari_ids.ts";

registerAtari();
