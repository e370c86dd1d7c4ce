"""Places the processes of hosts on a Ray cluster, for the learner that started this one:

    PYTHON -u driver.py ADDRESS OPTIONS       OPTIONS: {"code": "ship" | "here", "folder"}

Orders come on stdin and news go to stdout as frames: eight bytes of mark, the length in
four (little-endian), then the kind (one byte), the child and the number of its process
(four each) and JSON. What hosts and learner say to each other goes through connections
of their own. A driver that cannot begin says why in the last line of stderr, and ends
with code 2.
"""

import sys

# Before anything else is imported: not from the folder that this happens to run in.
sys.path[:] = filter(None, sys.path)
import ctypes, json, os, platform, queue, re, secrets, shutil, signal, socket, struct
import subprocess, threading, time, traceback

PROTOCOL = 1
MARK = bytes((0xF5, 0x42, 0x4C, 0x4D, 0x00, 0xFF, 0x1A, 0xFE))
START, KILL, WHY = 1, 2, 3
HELLO, STARTED, END, WAITING = 1, 2, 3, 4

OLDEST_RAY = "2.52"  # The first with tokens and labels of nodes.
NOT_SHIPPED = [".git", ".venv", "node_modules", "/pictures", "runs", "/experiments", "/searches"]
LOCAL_STORE = 1 << 27  # Bytes for objects of Ray, of which there are hardly any.

# Seconds: for a connection to the head, and for its answer; for a host's connection to
# the learner; for the end of a process to be known; for a CPU, before it is called
# waiting; in which a node gets no hosts after it has lost one; for a node to be ended.
REACH, ANSWER, CONNECT, KNOW, WAIT, SUSPECT, LEAVE = 5, 20, 20, 1.2, 5, 60, 20


class Host:
    """An actor of Ray with one process, whose input and output are a connection to the
    learner. (It travels by value: of this file it has modules and numbers only.)"""

    def place(self):
        import ray

        self.raylet, self.address = os.getppid(), ray.util.get_node_ip_address()
        return {"address": self.address, "id": ray.get_runtime_context().get_node_id()}

    def start(self, order, folder):
        """Starts the process: what STARTED tells, or why there is none."""
        program, where = order["program"], (order["host"], order["port"])
        if program == "{python}":
            program = os.environ.get("BELLMAN_PYTHON") or "python3"
        unlike = self.unlike(program, order.get("version"), folder, order.get("commit"))
        if unlike:
            return {"failure": f"node {self.address} {unlike}"}
        folder = folder or os.getcwd()
        try:
            link = socket.create_connection(where, CONNECT)
            link.settimeout(None)
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link.sendall(order["secret"].encode())
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            return {"failure": f"node {self.address} cannot reach {where[0]}:{where[1]}: {why}"}
        parent = str(os.getpid())
        arguments = [parent if it == "{parent}" else it.replace("{code}", folder) for it in order["args"]]
        try:
            self.process = subprocess.Popen(
                [program, *arguments], cwd=folder, env={**os.environ, **order["env"]},
                stdin=link, stdout=link, stderr=subprocess.PIPE, preexec_fn=self._bond())
        except OSError as error:
            why = f"cannot run '{program}': {error.strerror}"
            if not os.path.isdir(folder):
                why = f"has no folder '{folder}'"
            elif isinstance(error, FileNotFoundError):
                why = f"has no program '{program}'"
            return {"failure": f"node {self.address} {why}"}
        finally:
            link.close()
        self.prints = b""
        self.keeper = threading.Thread(target=self._keep, daemon=True)
        self.keeper.start()
        return {"pid": self.process.pid, "node": self.address}

    def unlike(self, program, version, folder, commit):
        """Says in what this node is not as the learner, whose program has a version and
        whose folder, if the node has one of its own, a commit."""
        own = self.ask("git", "-C", folder, "rev-parse", "HEAD") if folder and commit else ""
        if own and own != commit:
            return f"has commit {own[:10]} in '{folder}', but the learner {commit[:10]}"
        said = self.ask(program, "--version") if version else ""
        if said and not f"{said} ".startswith(f"{version} "):
            return f"has {said.split(' (')[0]}, but the learner {version}"

    @staticmethod
    def ask(*command):
        """Returns the first line that a program says, if it can be run."""
        try:
            return subprocess.run(command, capture_output=True, text=True).stdout.partition("\n")[0]
        except OSError:
            return ""

    def _bond(self):
        """Makes what has Linux end the process with this one, or rather with the thread
        that starts it, which is Ray's main one. Elsewhere the process looks for itself."""
        if not sys.platform.startswith("linux"):
            return None
        prctl, parent = ctypes.CDLL(None).prctl, os.getpid()
        return lambda: prctl(1, signal.SIGKILL) or os.getppid() == parent or os._exit(1)

    def _keep(self):
        for piece in iter(lambda: os.read(self.process.stderr.fileno(), 65536), b""):
            self.prints = (self.prints + piece)[-65536:]

    def end(self):
        """Waits for the end of the process: what END tells."""
        code = self.process.wait()
        self.keeper.join(0.3)  # Its own children may go on holding its stderr.
        if os.getppid() != self.raylet:  # Ray ends all processes of a node that lost it.
            how = {"failure": "its node was lost"}
        elif code >= 0:
            how = {"code": code}
        else:
            name = next((it.name for it in signal.Signals if it == -code), f"signal {-code}")
            how = {"signal": name}
        return {**how, "prints": self.prints.decode(errors="replace")}


class Placed:
    """What the driver knows of a host."""

    def __init__(self, child, process):
        self.child, self.process, self.since = child, process, time.monotonic()
        self.actor, self.place, self.over = None, {}, False


class Driver:
    """Carries out orders. What may block while the head is away is a task of the main
    thread; orders come on a thread of their own, and news on those of Ray."""

    def __init__(self, send, folder):
        self.send, self.folder, self.ray, self.remote = send, folder, None, None
        self.commit = Host.ask("git", "-C", folder, "rev-parse", "HEAD") if folder else ""
        self.tasks, self.lock = queue.SimpleQueue(), threading.Lock()
        self.hosts, self.suspects = {}, {}

    def run(self, ray):
        self.ray = ray
        self.remote = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(Host)
        threading.Thread(target=self._watch, daemon=True).start()
        while True:
            task = self.tasks.get()
            try:
                task()
            except Exception:  # Such as the head that is away; the learner has its patience.
                traceback.print_exc()

    def order(self, kind, child, process, data):
        host = self.hosts.get(process)
        if kind == START and host is None:
            host = self.hosts[process] = Placed(child, process)
            self.tasks.put(lambda: self._start(host, data))
        elif kind == KILL and host:
            self._end(host, {"failure": "it was given up"})
        elif kind == WHY and host:
            closed = {"failure": "its connection was closed"}
            threading.Timer(KNOW, self._end, (host, closed)).start()

    def _start(self, host, order):
        if host.over:
            return
        host.actor = self.remote.options(scheduling_strategy="SPREAD", **self._elsewhere()).remote()
        actor, started = host.actor, lambda news: self._tell(STARTED, host, news)
        self._then(host, actor.place.remote(), host.place.update)
        self._then(host, actor.start.remote({**order, "commit": self.commit}, self.folder), started)
        self._then(host, actor.end.remote(), lambda news: self._end(host, news))

    def _then(self, host, result, take):
        def done(future):
            error = future.exception()
            if host.over:
                return
            news = {"failure": describe_loss(error)} if error else future.result()
            self._end(host, news) if "failure" in news else take(news)

        result.future().add_done_callback(done)

    def _tell(self, kind, host, news):
        self.send(kind, host.child, host.process, news)

    def _end(self, host, news):
        """Tells the end of a host, once, and gives its CPU back."""
        with self.lock:
            if host.over:
                return
            host.over = True
        del self.hosts[host.process]
        if "failure" in news and host.place:
            self.suspects[host.place["id"]] = time.monotonic()
        node = {"node": host.place["address"]} if host.place else {}
        self._tell(END, host, {"prints": "", **node, **news})
        self.tasks.put(lambda: host.actor and self.ray.kill(host.actor))

    def _elsewhere(self):
        """Options that keep a host off nodes that lost one just now, as long as there is
        room for it on others."""
        now = time.monotonic()
        bad = [node for node, at in [*self.suspects.items()] if now - at < SUSPECT]
        if not bad:
            return {}
        room = sum(it["Resources"].get("CPU", 0) for it in self.ray.nodes()
                   if it["Alive"] and it["NodeID"] not in bad)
        # With the new one, and others that have no place yet.
        hosts = sum(it.place.get("id") not in bad for it in [*self.hosts.values()])
        return {"label_selector": {"ray.io/node-id": f"!in({','.join(bad)})"}} if room >= hosts else {}

    def _watch(self):
        """Tells that hosts wait for a CPU, once for a time of waiting."""
        told = False
        while True:
            time.sleep(0.5)
            before = time.monotonic() - WAIT
            late = sum(not it.place and it.since < before for it in [*self.hosts.values()])
            try:
                queued = count_queued(self.ray) if late and not told else 0
                if queued > 0:
                    free = self.ray.available_resources().get("CPU", 0)
                    self.send(WAITING, 0, 0, {"wanted": min(late, queued), "free": free, **size(self.ray)})
                told = late > 0 and (told or queued > 0)
            except Exception:
                traceback.print_exc()


def size(ray):
    nodes = [it for it in ray.nodes() if it["Alive"]]
    return {"cpus": sum(it["Resources"].get("CPU", 0) for it in nodes), "nodes": len(nodes)}


def status_of(ray):
    from ray.autoscaler.v2.sdk import get_cluster_status

    return get_cluster_status(ray.get_runtime_context().gcs_address)


def count_queued(ray):
    """Counts what no node has granted a CPU. (An actor that has one may still start.)"""
    demands = status_of(ray).resource_demands.ray_task_actor_demand
    return sum(it.count for demand in demands for it in demand.bundles_by_count if it.bundle.get("CPU"))


def may_scale(ray):
    """Tells whether an autoscaler may add nodes: it names the types of those there are,
    where Ray by itself gives each one its number."""
    status = status_of(ray)
    nodes = status.active_nodes + status.idle_nodes
    return any(it.ray_node_type_name != f"node_{it.node_id}" for it in nodes)


def describe_loss(error):
    """Says in a clause why an actor is no more."""
    kind, text = type(error).__name__, " ".join(str(error).split())
    print(f"Lost: {kind}: {text}", file=sys.stderr)
    if kind == "RuntimeEnvSetupError":
        return f"its node cannot get the code: {text[:500]}"
    if kind == "ActorUnavailableError":
        return "its node cannot be reached"
    if "running low on memory" in text:
        return "its node ran out of memory"
    return "its node was lost" if "its node has died" in text else "the actor died"


def refuse(sentence):
    print(f"\n{sentence}", file=sys.stderr, flush=True)
    os._exit(2)


def find_cluster(address):
    """Finds the address to give to Ray, where something listens."""
    if address == "auto":
        address = os.environ.get("RAY_ADDRESS", "")
        if address in ("", "auto"):
            refuse("Cannot find a Ray cluster by 'auto': RAY_ADDRESS has no address.")
    if address == "local":
        return address
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 65536:
        refuse(f"Cannot use '{address}' as the address of a Ray cluster: it is HOST:PORT of the head,"
               " such as 10.0.0.1:6379, or 'auto' or 'local'.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACH).close()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        refuse(f"Cannot reach the Ray cluster at {address}: {why}.")
    return address


def import_ray():
    python, install = sys.executable, f"{sys.executable} -m pip install 'ray>={OLDEST_RAY}'"
    try:
        import ray
    except ImportError as error:
        refuse(f"Cannot import ray in {python} ({error}): install it by `{install}`.")
    numbers = [[*map(int, it.split(".")[:2])] for it in (ray.__version__, OLDEST_RAY)]
    if numbers[0] < numbers[1]:
        refuse(f"Cannot use ray {ray.__version__} of {python}, which has no tokens or labels of nodes:"
               f" update it by `{install}`.")
    return ray


def ask_head(ray, address):
    """Asks the head whether this machine may join, as `ray.init` takes up to 60 s to find
    out, and then says less. Returns whether the cluster asks for tokens."""
    from ray._raylet import AuthenticationTokenLoader, Config, GcsClient

    cannot, refused = f"Cannot join the Ray cluster at {address}: ", ray.exceptions.AuthenticationError
    late = threading.Timer(ANSWER, refuse, (f"{cannot}what listens there does not answer as Ray does.",))
    late.start()
    mode = os.environ.get("RAY_AUTH_MODE", "disabled")

    def connect(mode):
        os.environ["RAY_AUTH_MODE"] = mode
        Config.initialize("")
        # Without a token Ray would end this process here.
        if mode == "token" and not AuthenticationTokenLoader.instance().has_token():
            raise refused("no token")
        return GcsClient(address=address)

    try:
        connect("disabled")
        secured = False
    except refused:
        secured = True
    try:
        head = connect(mode)
    except refused as error:
        have = "RAY_AUTH_TOKEN or the file ~/.ray/auth_token"
        if mode != "token":
            refuse(f"{cannot}it asks for a token; set RAY_AUTH_MODE=token, and put its token into {have}.")
        if re.search("no token|find an authentication token|TOKEN_PATH is set", str(error)):
            refuse(f"{cannot}RAY_AUTH_MODE is 'token', but there is no token in {have}.")
        refuse(f"{cannot}it refuses the token that RAY_AUTH_MODE=token takes from {have}.")
    if mode == "token" and not secured:  # Then this process would refuse the nodes.
        refuse(f"{cannot}RAY_AUTH_MODE is 'token' here, but it runs without tokens; set that on its nodes too.")
    found = json.loads(head.internal_kv_get(b"CLUSTER_METADATA", b"cluster", timeout=ANSWER) or b"{}")
    late.cancel()
    theirs, mine = found.get("ray_version", ray.__version__), ray.__version__
    if theirs != mine:
        refuse(f"{cannot}it has ray {theirs}, but {sys.executable} has ray {mine}; change this one by"
               f" `{sys.executable} -m pip install ray=={theirs}`.")
    mine = platform.python_version()
    theirs = found.get("python_version", mine)
    minor = ".".join(theirs.split(".")[:2])
    if not mine.startswith(f"{minor}."):
        refuse(f"{cannot}it has Python {theirs}, but {sys.executable} is Python {mine}; name one that is"
               f" {minor} in BELLMAN_RAY_PYTHON.")
    if not ray._private.services.find_gcs_addresses():  # Of the processes here.
        refuse(f"{cannot}this machine is no node of it; run"
               f" `ray start --address={address} --num-cpus=0` here.")
    return secured


def join(address, code, folder):
    """Returns the module `ray`, whether tokens are asked for, and Ray's folder here."""
    ray = import_ray()
    secured = address == "local" or ask_head(ray, address)
    settings = {}
    if address == "local":
        settings.update(include_dashboard=False, object_store_memory=LOCAL_STORE)
    if code == "ship":
        if not os.path.isdir(folder):
            refuse(f"Cannot ship '{folder}' to the cluster: there is no such folder.")
        settings["runtime_env"] = {"working_dir": folder, "excludes": NOT_SHIPPED}
    context = ray.init(address=address, namespace=f"bellman-{secrets.token_hex(8)}",
                       log_to_driver=False, logging_level="error", **settings)
    return ray, secured, context.address_info["session_dir"]


def ignore_signals():
    """Leaves it to the learner what a signal to all of its processes means. (Not by
    SIG_IGN, which a node that is started here would inherit.)"""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: None)


def end_node(started):
    """Ends the node that this process starts, once it has, with its folder."""
    try:
        ray, folder = started.get(timeout=LEAVE)
    except queue.Empty:
        return
    import psutil  # Ray brings it along.

    processes = psutil.Process().children(recursive=True)
    end = threading.Thread(target=ray.shutdown, daemon=True)
    end.start()
    end.join(LEAVE)
    for process in processes:  # Some of Ray's own would go on for half a minute.
        try:
            process.kill()
        except psutil.Error:
            pass
    shutil.rmtree(folder, ignore_errors=True)


def main():
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    lock, started = threading.Lock(), queue.SimpleQueue()
    options = json.loads(sys.argv[2])
    code, folder = options["code"], options["folder"]

    def send(kind, child, process, data):
        body = struct.pack("<BII", kind, child, process) + json.dumps(data).encode()
        with lock:
            sink.write(MARK + struct.pack("<I", len(body)) + body)
            sink.flush()

    driver = Driver(send, folder if code == "here" else None)

    def listen():
        while len(head := source.read(12)) == 12:
            body = source.read(struct.unpack_from("<I", head, 8)[0])
            driver.order(*struct.unpack_from("<BII", body), json.loads(body[9:]))
        # The learner has left. Ray ends all actors with this process.
        if address == "local":
            end_node(started)
        os._exit(0)

    ignore_signals()
    address = find_cluster(sys.argv[1])
    threading.Thread(target=listen, daemon=True).start()
    if address == "local":
        # In this environment, as arguments can be read by everyone.
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    # Else a call after the end of Ray starts or joins a cluster of its own choice.
    os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"
    # Pythons that differ in their third number understand each other.
    os.environ.setdefault("RAY_DEFAULT_PYTHON_VERSION_MATCH_LEVEL", "minor")
    try:
        ray, secured, session = join(address, code, folder)
        hello = {"protocol": PROTOCOL, "ray": ray.__version__, "python": platform.python_version(),
                 "address": ray.util.get_node_ip_address(), "scales": may_scale(ray), "secured": secured,
                 **size(ray)}
    except Exception as error:
        traceback.print_exc()
        why = " ".join(str(error.__cause__ or error).split()).partition(" For more information")[0][:500]
        refuse(f"Cannot join the Ray cluster at {address}: {why}")
    ignore_signals()  # Ray has set its own.
    started.put((ray, session))
    send(HELLO, 0, 0, hello)
    driver.run(ray)


if __name__ == "__main__":
    main()
