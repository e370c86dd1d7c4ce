"""Totals of MABWiser's LinUCB on the problems of bandit_problems.py: JSON.

It learns the first row with the first action, as it must have learned before it decides.
"""
from bandit_problems import table
from mabwiser.mab import MAB, LearningPolicy


def lin_ucb(seed, contexts, rewards, scores):
    actions = rewards.shape[1]
    policy = LearningPolicy.LinUCB(alpha=0.25, l2_lambda=1)
    mab = MAB(arms=list(range(actions)), learning_policy=policy)
    mab.fit([0], [rewards[0, 0]], contexts[:1])
    total = scores[0, 0]
    for t in range(1, len(contexts)):
        x = contexts[t : t + 1]
        action = mab.predict(x)
        mab.partial_fit([action], [rewards[t, action]], x)
        total += scores[t, action]
    return total


table({"LinUCB 0.25": lin_ucb})
