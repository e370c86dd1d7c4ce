"""What the programs have in common that join a Ray cluster: each of them follows this text.
One that cannot begin says why in the last line of stderr, and ends with code 2.
"""

import sys

# Before anything else is imported: not from the folder that this happens to run in.
sys.path[:] = filter(None, sys.path)
import ctypes, json, os, platform, queue, re, secrets, shutil, signal, socket, struct
import subprocess, threading, time, traceback

OLDEST_RAY = "2.52"  # The first with tokens and labels of nodes.
NOT_SHIPPED = [".git", ".venv", "node_modules", "/pictures", "/runs", "/experiments", "/searches"]
LOCAL_STORE = 1 << 27  # Bytes for objects of Ray, of which there are hardly any.

# Seconds: for a connection to the head, and for its answer; for a node to be ended.
REACH, ANSWER, LEAVE = 5, 20, 20


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


def _join(address, code, folder):
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


def bond():
    """Makes what has Linux end a process with this one, or rather with the thread that
    starts it, which is Ray's main one. Elsewhere the process looks for itself."""
    if not sys.platform.startswith("linux"):
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()
    return lambda: prctl(1, signal.SIGKILL) or os.getppid() == parent or os._exit(1)


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


def take_pipes():
    """Returns stdin and stdout, and keeps what is printed from here on out of them."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return source, sink


def join(read):
    """Joins the cluster that the first argument names; the second one has `code` and
    `folder`. Returns the module `ray`, and what there is to say of the cluster. `read` is
    called on a thread of its own: at its end the other side has left, and so this process
    ends. (And Ray ends all actors with it.)"""
    options, started = json.loads(sys.argv[2]), queue.SimpleQueue()

    def listen():
        read()
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
        ray, secured, session = _join(address, options["code"], options["folder"])
        hello = {"ray": ray.__version__, "python": platform.python_version(), "scales": may_scale(ray),
                 "address": ray.util.get_node_ip_address(), "secured": secured, **size(ray)}
    except Exception as error:
        traceback.print_exc()
        why = " ".join(str(error.__cause__ or error).split()).partition(" For more information")[0][:500]
        refuse(f"Cannot join the Ray cluster at {address}: {why}")
    ignore_signals()  # Ray has set its own.
    started.put((ray, session))
    return ray, hello
