import { discrete, Env, register } from "@bellman/envs";

/** A shop that orders goods each day: what customers do not find is lost. */
class Shop extends Env<number, number> {
  observationSpace = discrete(6);
  actionSpace = discrete(3);
  private stock = 0;

  reset(options?: { seed?: number }) {
    this.seed(options);
    this.stock = 2;
    return this.stock;
  }

  step(order: number) {
    const goods = Math.min(5, this.stock + order);
    const demand = this.random.integer(4);
    const sold = Math.min(goods, demand);
    this.stock = goods - sold;
    return {
      observation: this.stock,
      reward: sold - 0.5 * order,
      terminated: false,
      truncated: false,
      info: {
        lost_sales: demand - sold,
        soldOut: this.stock === 0,
        day: "Monday",
      },
    };
  }
}

register({ id: "Shop-v0", maxEpisodeSteps: 7, make: () => new Shop() });
register({
  id: "CountingShop-v0",
  maxEpisodeSteps: 7,
  infoStatistics: ["lost_sales"],
  make: () => new Shop(),
});
