"""Places the processes of hosts on a Ray cluster, for the learner that started this one:

    PYTHON -u driver.py ADDRESS OPTIONS       OPTIONS: {"code": "ship" | "here", "folder"}

Orders come on stdin and news go to stdout as frames: eight bytes of mark, the length in
four (little-endian), then the kind (one byte), the child and the number of its process
(four each) and JSON. What hosts and learner say to each other goes through connections
of their own. It follows the text of cluster.py.
"""

PROTOCOL = 1
MARK = bytes((0xF5, 0x42, 0x4C, 0x4D, 0x00, 0xFF, 0x1A, 0xFE))
START, KILL, WHY = 1, 2, 3
HELLO, STARTED, END, WAITING = 1, 2, 3, 4

# Seconds: for a host's connection to the learner; for the end of a process to be known;
# for a CPU, before it is called waiting; in which a node gets no hosts after it has lost
# one.
CONNECT, KNOW, WAIT, SUSPECT = 20, 1.2, 5, 60


class Host:
    """An actor of Ray with one process, whose input and output are a connection to the
    learner. (It travels by value, with the functions and numbers that it uses.)"""

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
                stdin=link, stdout=link, stderr=subprocess.PIPE, preexec_fn=bond())
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


def main():
    (source, sink), lock, options = take_pipes(), threading.Lock(), json.loads(sys.argv[2])

    def send(kind, child, process, data):
        body = struct.pack("<BII", kind, child, process) + json.dumps(data).encode()
        with lock:
            sink.write(MARK + struct.pack("<I", len(body)) + body)
            sink.flush()

    def read():
        while len(head := source.read(12)) == 12:
            body = source.read(struct.unpack_from("<I", head, 8)[0])
            driver.order(*struct.unpack_from("<BII", body), json.loads(body[9:]))

    driver = Driver(send, options["folder"] if options["code"] == "here" else None)
    ray, hello = join(read)
    send(HELLO, 0, 0, {"protocol": PROTOCOL, **hello})
    driver.run(ray)


main()
