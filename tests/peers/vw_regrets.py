"""Totals of Vowpal Wabbit on the problems of bandit_problems.py: JSON.

Each action has features of its own: those of the context, crossed with its name.
"""
import numpy as np
from bandit_problems import table
from vowpalwabbit import Workspace


def runner(options):
    def run(seed, contexts, rewards, scores):
        vw = Workspace(f"--cb_explore_adf -q CA --quiet {options}")
        random = np.random.default_rng(seed)
        actions = range(rewards.shape[1])
        total = 0
        for t, x in enumerate(contexts):
            # The constant is Vowpal Wabbit's own.
            shared = "shared |C " + " ".join(
                f"{i}:{value:.6g}" for i, value in enumerate(x[1:]) if value != 0
            )
            pmf = np.array(vw.predict([shared] + [f"|A a{a}" for a in actions]))
            action = random.choice(len(pmf), p=pmf / pmf.sum())
            label = f"0:{-rewards[t, action]:.6g}:{pmf[action]:.6g} "
            vw.learn(
                [shared]
                + [f"{label if a == action else ''}|A a{a}" for a in actions]
            )
            total += scores[t, action]
        vw.finish()
        return total

    return run


table({
    "squareCB": runner("--squarecb"),
    "epsilon 0.02": runner("--epsilon 0.02 -l 5"),
})
