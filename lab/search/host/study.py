"""Draws trials with Optuna for a search whose record is kept elsewhere: a request is
a line of JSON, and so is its reply. The study lies in memory, and each request brings
the events since the one before, or all of them after a start."""

import collections, hashlib, json, os, signal, sys, warnings

# Requests and replies keep these streams to themselves: what else is printed goes to
# standard error, and nothing else reads.
requests = os.fdopen(os.dup(0), encoding="utf-8")
replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
# Ctrl-C is for whom the requests are from, whose end ends this.
signal.signal(signal.SIGINT, signal.SIG_IGN)
# Nothing is imported from the folder that this happens to run in.
sys.path[:] = filter(None, sys.path)
warnings.filterwarnings("ignore")


class Search:
    def __init__(self, space, sampler, seed):
        from optuna import create_study, distributions as kinds, logging

        logging.set_verbosity(logging.ERROR)
        makers = {
            "float": kinds.FloatDistribution,
            "int": kinds.IntDistribution,
            "choice": kinds.CategoricalDistribution,
        }
        self.space = {name: makers[it.pop("kind")](**it) for name, it in space.items()}
        self.kind, self.seed = sampler, seed
        self.study = create_study(direction="maximize")
        # Optuna's trials by their numbers here: the first one may lie outside the space.
        self.trials = {}
        self.steps = collections.Counter()

    def sampler(self, number):
        """Makes a sampler whose random numbers depend on the trial alone."""
        from optuna.samplers import CmaEsSampler, TPESampler

        digest = hashlib.sha256(f"{self.seed} {number}".encode()).digest()
        seed = int.from_bytes(digest[:4], "little")
        if self.kind == "cmaes":
            return CmaEsSampler(seed=seed, warn_independent_sampling=False)
        return TPESampler(seed=seed, multivariate=True, constant_liar=True)

    def draw(self, number):
        self.study.sampler = self.sampler(number)
        self.trials[number] = self.study.ask(self.space)
        return self.trials[number].params

    def add(self, number, params):
        """Adds a trial that was drawn before. CMA-ES keeps its state with the trials,
        so that it draws them again."""
        from optuna.trial import Trial, TrialState, create_trial

        if self.kind == "cmaes" and number > 0:
            if self.draw(number) == params:
                return
            self.study.tell(self.trials[number], state=TrialState.FAIL)
        trial = create_trial(
            state=TrialState.RUNNING, params=params, distributions=self.space
        )
        self.study.add_trial(trial)
        added = self.study.get_trials(deepcopy=False)[-1]
        self.trials[number] = Trial(self.study, added._trial_id)

    def take(self, op, trial, params=None, value=None, state=None):
        from optuna.trial import TrialState

        if op == "ask":
            if params is not None and trial not in self.trials:
                self.add(trial, params)
        elif trial in self.trials:
            its = self.trials[trial]
            if op == "report":
                its.report(value, self.steps[trial])
                self.steps[trial] += 1
            else:
                states = {"complete": TrialState.COMPLETE, "pruned": TrialState.PRUNED}
                self.study.tell(its, value, state=states.get(state, TrialState.FAIL))

    def importances(self):
        from optuna.importance import PedAnovaImportanceEvaluator
        from optuna.importance import get_param_importances

        return get_param_importances(self.study, evaluator=PedAnovaImportanceEvaluator())

    def export(self, name, path):
        from optuna import copy_study, create_study
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        journal = JournalStorage(JournalFileBackend(path))
        study = create_study(study_name=name, storage=journal, direction="maximize")
        study.add_trials(self.study.get_trials(deepcopy=False))


def answer(request):
    global search
    import optuna

    for event in request["events"]:
        search.take(**event)
    if request["op"] == "open":
        search = Search(request["space"], request["sampler"], request["seed"])
        search.sampler(0)  # CMA-ES is a package of its own.
        return optuna.__version__
    return getattr(search, request["op"])(*request["arguments"])


for line in requests:
    request = json.loads(line)
    reply = {"reply": request["id"]}
    try:
        reply["value"] = answer(request)
    except Exception as error:
        reply["error"] = f"{type(error).__name__}: {error}"
    # On a line of its own, whatever was printed before this began.
    print("\n" + json.dumps(reply), file=replies, flush=True)
