/** Settings that SAC had in earlier versions, with their defaults. */
export const FORMER = {
  critics: "twin_q",
  targetUpdateInterval: 1,
  policy: "gaussian",
  components: 4,
  reparameterize: null,
  actionPrior: "uniform",
  policyRegularization: 0.001,
  haarnojaPolicyLoss: false,
  haarnojaMixtureGradient: false,
};
