"""Runs one function for the gateway: the Python half of the conversation in exec/conversation.rs.

Started as `python3 -I -c <this text>`. Says hello back, waits for a complete payload, and only then forks the process
in which the tool runs; this one stays outside, watches stdin for a kill line and passes the result on.
"""
import json
import os
import select
import signal
import sys

RUNNER = globals()


def read_line():
    """One line of stdin, and not a byte more."""
    line = bytearray()
    while True:
        byte = os.read(0, 1)
        if not byte:
            os._exit(97)  # cut short: run nothing
        if byte == b"\n":
            return bytes(line)
        line += byte


def read_exactly(length):
    data = bytearray()
    while len(data) < length:
        piece = os.read(0, min(1 << 20, length - len(data)))
        if not piece:
            os._exit(97)
        data += piece
    return bytes(data)


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


def set_limits(limits):
    import resource
    for name, (soft, hard) in limits.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        try:
            resource.setrlimit(kind, (soft, hard))
        except (ValueError, OSError):
            pass  # the surroundings are tighter: theirs holds


# The tool's process


def load_source(source):
    import linecache
    import types
    module = types.ModuleType("__tool__")
    module.__file__ = "<tool>"
    sys.modules["__tool__"] = module
    linecache.cache["<tool>"] = (len(source), None, source.splitlines(True), "<tool>")
    exec(compile(source, "<tool>", "exec"), module.__dict__)
    main = module.__dict__.get("main")
    if not callable(main):
        raise SystemExit("the source defines no function main")
    return main


def load_function(path):
    import importlib
    name, colon, rest = path.partition(":")
    if colon:
        target, attributes = importlib.import_module(name), rest.split(".")
    else:
        target, attributes = import_longest(path.split("."))
    for attribute in attributes:
        try:
            target = getattr(target, attribute)
        except AttributeError:
            raise SystemExit(f"{path}: {getattr(target, '__name__', target)!s} has no {attribute!r}") from None
    if not callable(target):
        raise SystemExit(f"{path} is not a function")
    return target


def import_longest(parts):
    """The longest prefix of a dotted path that is a module, and what is left of the path."""
    import importlib
    for count in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:count])
        try:
            return importlib.import_module(name), parts[count:]
        except ModuleNotFoundError as error:
            missing = error.name or ""
            if count == 1 or not (name == missing or name.startswith(missing + ".")):
                raise
    raise SystemExit(f"{'.'.join(parts)}: not a path to a function, write package.module:function")


def takes_context(function):
    """Whether the function has a parameter named context."""
    code = getattr(function, "__code__", None)
    if code is not None and not hasattr(function, "__wrapped__"):
        return "context" in code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    import inspect
    try:
        parameter = inspect.signature(function).parameters.get("context")
    except (TypeError, ValueError):
        return False
    return parameter is not None and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)


async def awaited(value):
    return await value


def call(function, params):
    value = function(**params)
    if hasattr(value, "__await__"):
        import asyncio
        value = asyncio.run(awaited(value))
    return value


def encode(value, what):
    try:
        return json.dumps(value, default=str, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    except ValueError as error:
        if "JSON compliant" in str(error):
            raise SystemExit(f"{what} contains NaN or Infinity, for which JSON has no form: use None or a str") from None
        raise SystemExit(f"{what} can't be written as JSON: {error}") from None
    except (TypeError, RecursionError) as error:
        raise SystemExit(f"{what} can't be written as JSON: {error}") from None


def snapshot(context):
    """JSON text of every value. Values are compared as text: to Python, 1 equals True."""
    texts = {}
    for name, value in context.items():
        if not isinstance(name, str):
            raise SystemExit(f"a name in context must be a str, not {name!r}")
        texts[name] = encode(value, f"context[{name!r}]")
    return texts


def changes(before, after):
    written = b",".join(
        encode(name, "a name in context") + b":" + text for name, text in after.items() if before.get(name) != text
    )
    deleted = encode([name for name in before if name not in after], "a name in context")
    return b'{"set":{' + written + b'},"deleted":' + deleted + b"}"


def report(error):
    """Prints the traceback from the tool's first own frame on."""
    import traceback
    frames = error.__traceback__
    while frames and is_machinery(frames.tb_frame):
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames)


def is_machinery(frame):
    module = frame.f_globals.get("__name__") or ""
    return frame.f_globals is RUNNER or module.split(".")[0] in ("asyncio", "importlib", "_frozen_importlib",
                                                                 "_frozen_importlib_external")


def run_tool(document, pipe):
    """Runs the tool and returns its exit code; a result goes through the pipe, after its length."""
    os.environ.update(document["env"])
    set_limits(document["limits"])
    sys.path[:0] = document["path"]
    sys.argv = [document["name"]]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # a kill loses no line
    context, code, value = document["context"], 0, b"null"
    before = snapshot(context)
    try:
        if document["source"] is not None:
            function = load_source(document["source"])
        else:
            function = load_function(document["function"])
        params = document["params"]
        if "context" not in params and takes_context(function):
            params["context"] = context
        value = encode(call(function, params), "the result")
    except SystemExit as end:
        code = exit_code(end)
    except BaseException as error:
        report(error)
        code = 1
    try:
        if code == 0:
            changed = changes(before, snapshot(context))
            write_all(pipe, b"%d %d\n" % (len(value), len(changed)) + value + changed)
    except SystemExit as end:
        code = exit_code(end)
    return code


def exit_code(end):
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 255
    print(end.code, file=sys.stderr)
    return 1


def tool_process(document, pipe):
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    code = 1
    try:
        code = run_tool(document, pipe)
        import atexit
        atexit._run_exitfuncs()
    except BaseException as error:
        report(error)
        code = code or 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                code = code or 1
        os._exit(code)


# The runner's own process


class Watch:
    """The runner while the tool runs: reads its result, obeys kill lines, notices its end."""

    def __init__(self, pid, result, hangup):
        self.pid, self.result, self.hangup = pid, result, hangup
        self.status, self.data, self.line, self.goodbye = None, bytearray(), bytearray(), False
        wake, wake_end = os.pipe()
        for fd in (result, wake, wake_end):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
        self.wake = wake
        self.poll = select.poll()
        for fd in (0, result, wake):
            self.poll.register(fd, select.POLLIN)

    def until_exit(self):
        self.reap()  # it may have ended before the handler was there
        while self.status is None:
            for fd, _ in self.poll.poll():
                if fd == 0:
                    self.read_command()
                elif fd == self.result:
                    self.read_result()
                else:
                    self.drain(self.wake)
            self.reap()
        self.read_result()  # all that the tool itself wrote is in the pipe by now

    def until_bye(self):
        while not self.goodbye:
            select.select([0], [], [])
            self.read_command()

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)  # as PID 1 also the orphans
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.pid:
                self.status = status

    def read_command(self):
        data = os.read(0, 4096)
        if not data:
            self.goodbye = True
            self.poll.unregister(0)
            if self.hangup == "kill":
                self.kill()
            return
        *lines, rest = (bytes(self.line) + data).split(b"\n")
        self.line = bytearray(rest)
        for line in lines:
            if line == b"kill":
                self.kill()
            else:
                self.goodbye = True

    def kill(self):
        if self.status is not None:
            return
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except OSError:
            os.kill(self.pid, signal.SIGKILL)  # not yet a session of its own

    def read_result(self):
        """Reads what there is. Doesn't wait for the end: a grandchild may hold the pipe."""
        if self.result is None:
            return
        while True:
            try:
                piece = os.read(self.result, 1 << 16)
            except BlockingIOError:
                return
            if not piece:
                self.poll.unregister(self.result)
                self.result = None
                return
            self.data += piece

    @staticmethod
    def drain(fd):
        try:
            os.read(fd, 512)
        except BlockingIOError:
            pass

    def parts(self):
        """The result and the changes, or nothing if the tool ended before it had written both."""
        header, newline, body = bytes(self.data).partition(b"\n")
        lengths = [int(number) for number in header.split()] if newline else []
        if len(lengths) != 2 or len(body) < sum(lengths):
            return None, None
        return body[:lengths[0]], body[lengths[0]:sum(lengths)]


def main():
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))  # as PID 1 it would be ignored
    write_all(2, read_line() + b"\n")
    if read_line() != b"go":
        os._exit(97)
    marker, length = read_line().split()
    document = json.loads(read_exactly(int(length)))
    if document["tag"] is not None:
        set_limits({"RLIMIT_RSS": (document["tag"], document["tag"])})
    result, pipe = os.pipe()
    pid = os.fork()
    if pid == 0:
        del marker
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.close(result)
        tool_process(document, pipe)
    os.close(pipe)
    hangup = document["hangup"]
    del document
    watch = Watch(pid, result, hangup)
    watch.until_exit()
    code = os.waitstatus_to_exitcode(watch.status)
    value, changed = watch.parts() if code == 0 else (None, None)
    if value is not None:
        write_all(1, marker + b"r\n" + value)
    write_all(1, marker + b"x\n")
    if changed is not None:
        write_all(2, marker + b"j\n" + changed)
    write_all(2, marker + b"x %d\n" % code)
    watch.until_bye()
    os._exit(code & 255)


main()
