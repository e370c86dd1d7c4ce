"""Makes runs on a Ray cluster, for the command that started this one:

    PYTHON -u runs.py ADDRESS OPTIONS    OPTIONS: {"code", "folder", "cpus", "program", "args", "deno"}

Orders come on stdin and news go to stdout, JSON in a line each, with the number of the
run: it is started, stopped (it saves itself) or killed, and its own lines, its losses and
its end are told. Its folder here is as it was on the node some seconds ago, and begins or
resumes the run. This text follows those of cluster.py and run_files.py.
"""

import contextlib, errno

# Seconds: between copies of files; for news; for a CPU; for a run to save itself, and for its
# node to say so; before it is placed again; without runs on a node that was lost.
PERIOD_S, LOOK_S, WAIT_S, SAVE_S, LEFT_S, PAUSE_S, SUSPECT_S = 5, 1, 5, 12, 20, 5, 60
MOST_LOST = 4  # Times without a checkpoint between them.


class Run:
    """An actor of Ray that makes a run on its node. (It travels by value, functions too.)"""

    def place(self):
        import ray
        self.address, (self.made, self.lock) = ray.util.get_node_ip_address(), make_folder()
        self.dir = os.path.join(self.made, "run")
        return ray.get_runtime_context().get_node_id()

    def take(self, parts):
        change(self.dir, parts)

    def start(self, task, options):
        """Starts the process; returns why there is none."""
        folder = options["folder"] if options["code"] == "here" else os.getcwd()
        args = [*(it.replace("{code}", folder) for it in options["args"]), json.dumps({**task, "dir": self.dir})]
        try:
            has = subprocess.run([options["program"], "--version"], capture_output=True, text=True).stdout.split()[1]
            if has != options["deno"]:
                return f"node {self.address} has deno {has}, expected {options['deno']} as here"
            self.process = subprocess.Popen(
                [options["program"], *args], cwd=folder, env={**os.environ, "NO_COLOR": "1"}, preexec_fn=bond(),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as error:
            what = "a program 'deno'" if os.path.isdir(folder) else f"the folder '{folder}'"
            return f"node {self.address} cannot use {what}: {error.strerror.lower()}"
        self.lines, self.prints, self.how, self.killed_at = queue.SimpleQueue(), b"", None, float("inf")
        self.readers = [threading.Thread(target=it, daemon=True) for it in (self._keep_lines, self._keep_prints)]
        [it.start() for it in self.readers]
        self.news = self._follow()

    def _keep_lines(self):
        for line in self.process.stdout:
            self.lines.put(line.decode(errors="replace").rstrip("\n"))

    def _keep_prints(self):
        for piece in iter(lambda: os.read(self.process.stderr.fileno(), 65536), b""):
            self.prints = (self.prints + piece)[-65536:]

    def more(self, how):
        """Waits a second at most for news; `how` the run is to end, once that is known."""
        if how != self.how and self.process.poll() is None:
            self.how, self.killed_at = how, time.monotonic() + (SAVE_S if how == "stop" else 0)
            if how == "stop":
                with contextlib.suppress(OSError):  # It may just have ended.
                    os.write(self.process.stdin.fileno(), b"stop\n")
        news = next(self.news)
        return {**news, "lines": [self.lines.get() for _ in range(self.lines.qsize())]}

    def _follow(self):
        """Yields news: parts of files, what was removed, and the end, behind all others."""
        seen, due, ended = files_of(self.dir), 0, False
        while not ended:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(LOOK_S)
            ended = self.process.poll() is not None
            if not ended and time.monotonic() > self.killed_at:
                self.process.kill()
            if not ended and time.monotonic() < due:
                yield {}
                continue
            due, found = time.monotonic() + PERIOD_S, files_of(self.dir)
            changed = changes_of(seen, found, is_last=ended)
            parts = parts_of(self.dir, changed)
            while some := some_of(parts):
                yield {"parts": some}
            end = {"end": self._end()} if ended else {}
            yield {"removed": [it for it in seen if it not in found], **end}
            seen = {it: found[it] if it in changed else seen.get(it) for it in found}

    def _end(self):
        [it.join(0.3) for it in self.readers]  # Children of the process may hold its pipes.
        shutil.rmtree(self.made, ignore_errors=True)
        prints, code = self.prints.decode(errors="replace"), self.process.returncode
        if "--cached-only" in prints:
            prints = f"node {self.address} lacks modules in the cache of its Deno: run 'deno cache lab/runs/tasks/run_job.ts' there"
        name = signal.Signals(-code).name if code < 0 else None
        return {"code": 128 - code if name else code, "signal": name, "prints": prints.replace(self.dir, "{dir}")}


class Runs:
    """Carries out orders, on a thread for each run."""

    def __init__(self, ray, send, options):
        self.ray, self.send, self.options, self.told, self.runs, self.suspects = ray, send, options, False, {}, {}
        self.remote = ray.remote(num_cpus=options["cpus"], max_restarts=0, max_task_retries=0)(Run)

    def order(self, order):
        if "start" in order:
            self.runs[order["run"]] = {"how": None, "left": float("inf"), **order}
            threading.Thread(target=self._make, args=(self.runs[order["run"]],), daemon=True).start()
        elif run := self.runs.get(order["run"]):
            run.update(how=order["how"], left=time.monotonic() + LEFT_S)

    def _make(self, run):
        """Makes a run, on one node after the other as long as it gets on."""
        run["lost"], end = 0, None
        while end is None:
            run["actor"], run["node"] = self.remote.options(scheduling_strategy="SPREAD", **self._elsewhere()).remote(), None
            try:
                end = self._follow(run)
            except self.ray.exceptions.RayError as error:
                is_own = isinstance(error, self.ray.exceptions.RayTaskError)  # Such as of a disk that is full.
                why = f"its node had {str(error).strip().splitlines()[-1]}" if is_own else describe_loss(error)
                end = {"prints": why} if "cannot get the code" in why else self._lose(run, why)
            except OSError as error:  # Of files here.
                end = {"problem": errno.errorcode.get(error.errno), "prints": str(error)}
            self.ray.kill(run["actor"])
        drop_parts(run["start"]["dir"])
        self.runs.pop(run["run"])
        self.send({"run": run["run"], "end": {"code": 1, "signal": None, **end}})

    def _lose(self, run, why):
        run["lost"] += 1
        if run["node"] and why.startswith("its node"):
            self.suspects[run["node"]] = time.monotonic()
        if run["lost"] >= MOST_LOST:
            return {"prints": f"it was lost {MOST_LOST} times without progress, and now {why}"}
        self.send({"run": run["run"], "lost": why})
        until = time.monotonic() + PAUSE_S * (run["lost"] - 1 if run["node"] else run["lost"])
        while time.monotonic() < until and not run["how"]:
            time.sleep(0.1)
        return {"code": 143, "prints": why} if run["how"] else None

    def _elsewhere(self):
        """Options that keep a run off nodes that were lost just now, whether Ray knows of
        that or not, as long as there are others."""
        bad = [it for it, at in [*self.suspects.items()] if time.monotonic() - at < SUSPECT_S]
        good = [it for it in self.ray.nodes() if it["Alive"] and it["NodeID"] not in bad
                and it["Resources"].get("CPU", 0) >= self.options["cpus"]]
        return {"label_selector": {"ray.io/node-id": f"!in({','.join(bad)})"}} if bad and good else {}

    def _follow(self, run):
        """Returns the end of a run that a node makes; none where that is no more."""
        actor, dir, since = run["actor"], run["start"]["dir"], time.monotonic()
        placed = actor.place.remote()
        while not self.ray.wait([placed], timeout=LOOK_S)[0]:
            if run["how"]:
                return {"code": 143}
            if not self.told and time.monotonic() - since > WAIT_S and count_queued(self.ray):
                self.told = True
                self.send({"waiting": self.options["cpus"], **size(self.ray)})
        run["node"] = self.ray.get(placed)
        self.told, parts = False, parts_of(dir, files_of(dir))
        while some := some_of(parts):
            self._get(run, actor.take.remote(some))
        news = {}
        if why := self._get(run, actor.start.remote(run["start"], self.options)):
            return {"prints": why}
        while "end" not in news:
            news = self._get(run, actor.more.remote(run["how"]))
            parts, removed = news.get("parts", ()), news.get("removed", ())
            change(dir, parts, removed)
            if any(it[0].startswith(CHECKPOINTS) for it in parts):
                run["lost"] = 0
            if parts or news["lines"]:
                self.send({"run": run["run"], "files": len(parts), "lines": news["lines"]})
        return news["end"]

    def _get(self, run, result):
        """Waits for a result of a node, but not for long once the run is to end."""
        while not self.ray.wait([result], timeout=LOOK_S)[0]:
            if time.monotonic() > run["left"]:
                raise self.ray.exceptions.RayError("its node gives no answer")
        return self.ray.get(result)


def main():
    (source, sink), lock, options = take_pipes(), threading.Lock(), json.loads(sys.argv[2])

    def send(news):
        with lock:
            sink.write(json.dumps(news).encode() + b"\n")
            sink.flush()

    ray, hello = join(lambda: [runs.order(json.loads(line)) for line in source])
    runs, cpus = Runs(ray, send, options), [it["Resources"].get("CPU", 0) for it in ray.nodes() if it["Alive"]]
    send({**hello, "most": max(cpus), "places": sum(int(it // options["cpus"]) for it in cpus)})
    threading.Event().wait()


main()
