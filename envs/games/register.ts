import { register } from "../registry/registry.ts";
import { ConnectFour, TicTacToe } from "./grid_games.ts";
import { PaddleBall } from "./paddle_ball.ts";
import { Soccer } from "./soccer.ts";

register({
  id: "TicTacToe-v0",
  makeWorld: ({ kwargs, ...options }) =>
    new TicTacToe({ ...kwargs, ...options }),
});
register({
  id: "ConnectFour-v0",
  makeWorld: ({ kwargs, ...options }) =>
    new ConnectFour({ ...kwargs, ...options }),
});
register({
  id: "PaddleBall-v0",
  maxEpisodeSteps: 1000,
  makeWorld: ({ kwargs, ...options }) =>
    new PaddleBall({ ...kwargs, ...options }),
});
register({
  id: "Soccer-v0",
  maxEpisodeSteps: 300,
  makeWorld: ({ kwargs, ...options }) => new Soccer({ ...kwargs, ...options }),
});
