"""Stands in for a Python with Ray: the program of its arguments gets a cluster of threads
here, which follows the script that it has for an address:

    refusal     the sentence that the cluster is refused with
    cpus        CPUs of its nodes, by default [2]
    open        true where it asks for no token
    dies        numbers of the actors that die, in the order of their start, once they have
                told of a checkpoint
    stillborn   true where all actors die at their start
    full        true where no node has a CPU left
    ends        true where the program itself dies with the first checkpoint
"""

import json, os, queue, re, sys, threading, types

text, address, options = sys.argv[-3:]
sys.argv = ["-c", address, options]
script = json.loads(address)
CLUSTER, RUNS = text.split('"""Files of a run', 1)
names = {"__name__": "__main__"}


class RayError(Exception):
    pass


class RayTaskError(RayError):
    pass


class Result:
    def __init__(self):
        self.done, self.value, self.error = threading.Event(), None, None


class Handle:
    """An actor, whose calls are carried out by a thread of its own."""

    count = 0

    def __init__(self, kind):
        self.number, self.dead = Handle.count, False
        Handle.count += 1
        self.actor, self.calls = kind(), queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def __getattr__(self, name):
        def remote(*args):
            result = Result()
            self.calls.put((name, args, result))
            return result

        return types.SimpleNamespace(remote=remote)

    def _work(self):
        self.dead = bool(script.get("stillborn"))
        while True:
            name, args, result = self.calls.get()
            if name == "place" and script.get("full"):
                continue
            if self.dead:
                result.error = RayError("The actor died because its node has died.")
            else:
                self._call(name, args, result)
            result.done.set()
            if name == "leave":
                return

    def _call(self, name, args, result):
        try:
            result.value = getattr(self.actor, name)(*args) if name != "leave" else None
        except Exception as error:
            result.error = RayTaskError(f"{type(error).__name__}: {error}")
        told = result.value.get("parts", ()) if isinstance(result.value, dict) else ()
        if any("step_" in name for name, *_ in told):
            if script.get("ends"):
                os._exit(1)
            if self.number in script.get("dies", []):
                self.kill()

    def kill(self):
        self.dead = True
        if hasattr(self.actor, "process"):
            self.actor.process.kill()


def wait(results, timeout):
    ready = results[0].done.wait(timeout)
    return (results, []) if ready else ([], results)


def get(result):
    result.done.wait()
    if result.error:
        raise result.error
    return result.value


def remote(**_):
    def make(kind):
        start = types.SimpleNamespace(remote=lambda: Handle(kind))
        return types.SimpleNamespace(options=lambda **_: start)

    return make


def join(read):
    if "refusal" in script:
        names["refuse"](script["refusal"])
    os.chdir(json.loads(options)["folder"])

    def listen():
        read()
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    cpus = sum(script.get("cpus", [2]))
    return ray, {"cpus": cpus, "scales": False, "secured": not script.get("open")}


def kill(handle):
    handle.kill()
    handle.leave.remote()


ray = types.ModuleType("ray")
ray.exceptions = types.SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)
ray.util = types.SimpleNamespace(get_node_ip_address=lambda: "10.0.0.7")
ray.nodes = lambda: [{"Alive": True, "NodeID": str(i), "Resources": {"CPU": it}} for i, it in enumerate(script.get("cpus", [2]))]
ray.get_runtime_context = lambda: types.SimpleNamespace(get_node_id=lambda: "0")
ray.wait, ray.get, ray.kill, ray.remote = wait, get, kill, remote
sys.modules["ray"] = ray

exec(CLUSTER, names)
names.update(join=join, count_queued=lambda _: 1)
exec(re.sub(r"\nmain\(\)\n$", "\n", f'"""Files of a run{RUNS}'), names)
names.update(PERIOD_S=0.1, LOOK_S=0.02, WAIT_S=0.1, PAUSE_S=0.1)
names["main"]()
