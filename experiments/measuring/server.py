"""Run a server that loads the libraries once and forks a process for every measurement.

Importing the libraries takes a hundred times longer than solving a small problem. The server
imports nothing from the working directory, gives each library one thread, and has its own session.
It dies with the process that started it, and its children die with it.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

from experiments.measuring.orphans import end_with_parent, kill_groups
from experiments.measuring.outcome import Answer, Outcome
from wdro_cvx import WdroError

ROOT = Path(__file__).parents[2]
_BOOT = (
    "import sys; sys.path += [p for p in {path!r} if p not in sys.path]; "
    # Before any heavy import: the server must never outlive its parent.
    "import signal; from experiments.measuring.orphans import end_with_parent; "
    "end_with_parent({parent}, signal.SIGTERM); "
    "from experiments.measuring.server import serve; serve({control}, {preload!r})"
)
_THREADS = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1"
)
_STATUS = struct.Struct("ii")  # pid, exit code
_LONGEST_MESSAGE = 300

Task = Callable[[Any], Any]


class Server:
    """The client side: requests workers from the server and receives their exit codes."""

    def __init__(self, preload: Sequence[str]) -> None:
        self._control, theirs = socket.socketpair()
        self._codes: dict[int, int] = {}
        boot = _BOOT.format(
            path=_safe_path(), control=theirs.fileno(), parent=os.getpid(), preload=list(preload)
        )
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", boot], pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL, start_new_session=True,
                env={**os.environ, **_THREADS, "PYTHONSAFEPATH": "1"},
            )  # fmt: skip

    @property
    def alive(self) -> bool:
        """Whether the server is running."""
        return self.process.poll() is None

    def fork(self, log: Path | None) -> tuple[int, Connection]:
        """Start a worker; return its process id and the connection to it."""
        self._read_codes(block=False)
        ours, theirs = socket.socketpair()
        connection = Connection(ours.detach())
        try:
            with theirs:  # close our copy, or a lost server would go unnoticed
                socket.send_fds(self._control, [b"f"], [theirs.fileno()])
            connection.send(None if log is None else str(log))
            pid: int = connection.recv()
        except (OSError, EOFError):
            self.process.kill()
            self.process.wait()
            raise WdroError(
                "the process that starts measurements ended by itself. Measurements are saved; the "
                "same command resumes."
            ) from None
        return pid, connection

    def exit_code(self, pid: int) -> int | None:
        """Wait for a worker to end; return its exit code, or None if the server is gone."""
        while pid not in self._codes:
            if not self._read_codes(block=True):
                return None
        return self._codes.pop(pid)

    def _read_codes(self, block: bool) -> bool:
        """Read the exit codes of workers; return whether the server is running."""
        flags = socket.MSG_WAITALL if block else socket.MSG_DONTWAIT
        while True:
            try:
                data = self._control.recv(_STATUS.size, flags)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if len(data) < _STATUS.size:
                return False
            pid, code = _STATUS.unpack(data)
            self._codes[pid] = code
            if block:
                return True

    def close(self) -> None:
        """End the server."""
        self._control.close()
        self.process.kill()
        self.process.wait()


_SERVERS: dict[tuple[str, ...], Server] = {}


def server_with(*preload: str) -> Server:
    """Return the server that has loaded some modules, started if necessary."""
    server = _SERVERS.get(preload)
    if server is not None and not server.alive:
        server.close()
        server = None
    if server is None:
        server = _SERVERS[preload] = Server(preload)
    return server


def stop_servers() -> None:
    """End all servers that this process started."""
    while _SERVERS:
        _SERVERS.popitem()[1].close()


atexit.register(stop_servers)


def _safe_path() -> list[str]:
    """Return the import path without the working directory; an uninstalled checkout comes last."""
    here = Path.cwd().resolve()
    kept = [entry for entry in sys.path if entry and Path(entry).resolve() != here]
    return kept if _installed() else [*kept, str(ROOT)]


def _installed() -> bool:
    return any(
        (Path(entry) / "experiments" / "__init__.py").exists()
        for entry in sys.path
        if entry and Path(entry).resolve() != Path.cwd().resolve()
    )


# --- The server side: the code below runs in the server and its children. -----------------------


class _End:
    """Ends the server and everything that it started when the client is gone.

    The closed connection and the signal both call this, at about the same time. The second call
    must not end the server while the first is still killing processes.
    """

    def __init__(self, workers: set[int]) -> None:
        self.workers = workers
        self.begun = False

    def __call__(self, *_: object) -> None:
        if self.begun:
            return
        self.begun = True
        # List descendants first: one that left its group is found only through its worker.
        below = psutil.Process().children(recursive=True)
        kill_groups(self.workers)
        for process in below:
            with contextlib.suppress(psutil.Error):
                process.kill()
        os._exit(0)


def serve(control: int, preload: Sequence[str]) -> None:
    """Fork a worker for every request until the client is gone."""
    workers: set[int] = set()
    end = _End(workers)
    signal.signal(signal.SIGTERM, end)
    for name in preload:
        # If the import fails here (a script, a test), the worker reports the reason.
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    wake, waker = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker)
    with socket.socket(fileno=control) as line:
        while True:
            sources: list[Any] = [line, wake]
            ready = select.select(sources, [], [])[0]
            if wake in ready:
                os.read(wake, 4096)
                _report_ended(line, workers)
            if line in ready:
                data, handles = _request(line)
                if not data:
                    end()
                server = os.getpid()
                worker = os.fork()
                if worker == 0:
                    signal.set_wakeup_fd(-1)
                    line.close()
                    _work(Connection(handles[0]), server)
                workers.add(worker)
                os.close(handles[0])


def _request(line: socket.socket) -> tuple[bytes, list[int]]:
    try:
        data, handles, _, _ = socket.recv_fds(line, 1, 1)
    except ConnectionError:
        return b"", []
    return data, handles


def _report_ended(line: socket.socket, workers: set[int]) -> None:
    # Suppressed: no children are left, or the client is gone, which the next request reports.
    with contextlib.suppress(ChildProcessError, ConnectionError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            workers.discard(pid)
            line.sendall(_STATUS.pack(pid, os.waitstatus_to_exitcode(status)))


def _work(connection: Connection, server: int) -> None:
    """Run tasks until the client is gone; never return."""
    code = 1
    try:
        os.setsid()
        end_with_parent(server)
        for ours in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(ours, signal.SIG_DFL)
        log = connection.recv()
        if log is not None:
            handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(handle, 1)
            os.dup2(handle, 2)
        connection.send(os.getpid())
        while True:
            connection.send(_carry_out(connection.recv_bytes()))
    except (EOFError, OSError):  # the client is gone
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _carry_out(message: bytes) -> Answer:
    try:
        function, task = pickle.loads(message)
        value = function(task)
        pickle.dumps(value)  # if this fails, report it here
        return Answer(Outcome.OK, value)
    except MemoryError as reason:
        return Answer(Outcome.OUT_OF_MEMORY, message=str(reason) or "MemoryError")
    except WdroError as reason:
        return Answer(Outcome.FAILED, message=str(reason)[:_LONGEST_MESSAGE])
    except BaseException as reason:  # including SystemExit and KeyboardInterrupt from a plug-in
        traceback.print_exc()
        text = f"{type(reason).__name__}: {reason}"
        return Answer(Outcome.CRASH, message=text[:_LONGEST_MESSAGE])
