//! Python tools.

use std::path::Path;
use std::time::Duration;

use mcc_catalog::seam::Ending;
use serde_json::{Value, json};

use super::Harness;
use super::run::{function, python, text};

/// What is returned is the result, as JSON.
pub async fn python_result(harness: &dyn Harness) {
    let executor = harness.executor();
    let source = "def main(a, b=2, *, c): return {'sum': a + b, 'c': c, 'n': None, 't': (1, 2.5, True), 'u': 'ä\\u2028'}";
    let result = python(source, json!({"a": 40, "c": ["x", {"y": null}]})).result(&*executor).await;
    let expected =
        json!({"sum": 42, "c": ["x", {"y": null}], "n": null, "t": [1, 2.5, true], "u": "ä\u{2028}"});
    assert_eq!(result, expected);
    assert_eq!(python("def main(): pass", json!({})).result(&*executor).await, Value::Null);
    assert_eq!(python("def main(): return '5'", json!({})).result(&*executor).await, json!("5"));
    // What JSON has no form for becomes text.
    let source = "import datetime\ndef main(): return [datetime.date(2026, 1, 2), {1: 'k'}]";
    assert_eq!(python(source, json!({})).result(&*executor).await, json!(["2026-01-02", {"1": "k"}]));
    // Lone surrogates can't be written.
    assert_eq!(python("def main(): return '\\ud800x'", json!({})).result(&*executor).await, json!("?x"));
}

/// Prints are output, not result.
pub async fn python_prints_stay_apart(harness: &dyn Harness) {
    let source = "import os, sys\nprint('at import')\ndef main():\n print('out'); print('err', file=sys.stderr)\n \
                  os.write(1, b'raw\\xff'); os.system('echo child')\n return 'result'";
    let outcome = python(source, json!({})).on(&*harness.executor()).await;
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert_eq!(outcome.stdout.head, b"at import\nout\nraw\xffchild\n");
    assert_eq!(outcome.stderr.head, b"err\n");
    assert_eq!(outcome.result.unwrap().head, b"\"result\"");
}

/// Async functions and whatever else can be awaited.
pub async fn python_async(harness: &dyn Harness) {
    let executor = harness.executor();
    let source = "import asyncio\nasync def main(n):\n await asyncio.sleep(0.01)\n return n + 1";
    assert_eq!(python(source, json!({"n": 1})).result(&*executor).await, json!(2));
    let source = "async def inner(): return 'awaited'\ndef main(): return inner()";
    assert_eq!(python(source, json!({})).result(&*executor).await, json!("awaited"));
    let outcome = python("async def main():\n raise ValueError('late')", json!({})).on(&*executor).await;
    assert_eq!(outcome.ending, Ending::Exited(1));
    let report = text(&outcome.stderr);
    assert!(
        report.starts_with("Traceback (most recent call last):\n  File \"<tool>\", line 2, in main\n"),
        "{report}"
    );
}

fn write_package(folder: &Path) {
    let package = folder.join("pack/inner");
    fs_err::create_dir_all(&package).unwrap();
    fs_err::write(folder.join("pack/__init__.py"), "def top(): return 'top'\n").unwrap();
    fs_err::write(package.join("__init__.py"), "").unwrap();
    let module = "class Tools:\n    @staticmethod\n    def add(a, b): return a + b\n\
                  class Call:\n    def __call__(self, context): return sorted(context)\n\
                  call = Call()\n\
                  def fail(): raise KeyError('k')\n\
                  value = 3\n";
    fs_err::write(package.join("tools.py"), module).unwrap();
    fs_err::write(package.join("broken.py"), "import no_such_module\n").unwrap();
}

/// Functions by import path, with a colon or without.
pub async fn python_by_import(harness: &dyn Harness) {
    let executor = harness.executor();
    let folder = tempfile::tempdir().unwrap();
    write_package(folder.path());
    let path = || folder.path().to_owned();
    let sum = json!({"a": 1, "b": 2});
    for name in ["pack.inner.tools:Tools.add", "pack.inner.tools.Tools.add"] {
        assert_eq!(function(name, sum.clone(), path()).result(&*executor).await, json!(3));
    }
    assert_eq!(function("pack:top", json!({}), path()).result(&*executor).await, json!("top"));
    let called = function("pack.inner.tools:call", json!({}), path()).session(json!({"b": 1, "a": 2}));
    assert_eq!(called.result(&*executor).await, json!(["a", "b"]));
    // Relative to the folder of the manifest, and that folder itself.
    for relative in ["pack", "."] {
        let name = if relative == "." { "pack.inner.tools:Tools.add" } else { "inner.tools:Tools.add" };
        let run = function(name, sum.clone(), relative.into()).folder(path());
        assert_eq!(run.result(&*executor).await, json!(3));
    }
    for (name, code, expected) in [
        ("pack.inner.tools:none", 1, "pack.inner.tools:none: pack.inner.tools has no 'none'"),
        ("pack.inner.tools:value", 1, "pack.inner.tools:value is not a function"),
        ("no_such_pack:f", 1, "ModuleNotFoundError: No module named 'no_such_pack'"),
        ("no_such_pack.f", 1, "ModuleNotFoundError: No module named 'no_such_pack'"),
        ("pack.inner.broken.f", 1, "ModuleNotFoundError: No module named 'no_such_module'"),
        ("pack.inner.tools:fail", 1, "KeyError: 'k'"),
    ] {
        let outcome = function(name, json!({}), path()).on(&*executor).await;
        let report = text(&outcome.stderr);
        assert_eq!(outcome.ending, Ending::Exited(code));
        assert!(report.trim_end().ends_with(expected), "{name}: {report}");
        assert!(!report.contains("<string>") && !report.contains("importlib"), "{name}: {report}");
    }
}

/// What a tool does to `context` is written back as a difference.
pub async fn python_context(harness: &dyn Harness) {
    let source = "def main(context):\n context['new'] = {'k': [1]}\n context['list'].append(2)\n context['one'] = True\n \
                  del context['gone']\n context['same'] = 's'\n return sorted(context)";
    let session = json!({"list": [1], "one": 1, "gone": "g", "same": "s"});
    let outcome = python(source, json!({})).session(session).on(&*harness.executor()).await;
    assert_eq!(outcome.ending, Ending::Exited(0), "{}", text(&outcome.stderr));
    assert_eq!(Value::Object(outcome.session.set), json!({"list": [1, 2], "one": true, "new": {"k": [1]}}));
    assert_eq!(outcome.session.deleted, ["gone"]);
    assert_eq!(outcome.result.unwrap().head, br#"["list", "new", "one", "same"]"#);
    // Nothing is written back by a tool that fails, or that looks only.
    for source in ["def main(context):\n context['a'] = 1\n raise ValueError", "def main(context): return 1"]
    {
        let outcome = python(source, json!({})).session(json!({"x": 1})).on(&*harness.executor()).await;
        assert!(outcome.session.is_empty());
    }
}

/// `context` is handed in only where it is a parameter; a parameter of the Tool with that name is the Tool's.
pub async fn python_context_only_as_parameter(harness: &dyn Harness) {
    let executor = harness.executor();
    let session = json!({"secret": 1});
    let source = "def main(**rest): return rest";
    assert_eq!(python(source, json!({})).session(session.clone()).result(&*executor).await, json!({}));
    let source = "def main(context): return context";
    let run = python(source, json!({"context": "mine"})).session(session.clone());
    assert_eq!(run.result(&*executor).await, json!("mine"));
    let source = "import functools\ndef keep(f):\n @functools.wraps(f)\n def g(*a, **k): return f(*a, **k)\n return g\n\
                  @keep\ndef main(*, context): return context";
    assert_eq!(python(source, json!({})).session(session.clone()).result(&*executor).await, session);
}

/// Tracebacks show the tool's frames and no others.
pub async fn python_tracebacks(harness: &dyn Harness) {
    let executor = harness.executor();
    for (source, expected) in [
        (
            "def main():\n    helper()\ndef helper():\n    raise ValueError('bad')",
            "Traceback (most recent call last):\n  File \"<tool>\", line 2, in main\n    helper()\n  \
             File \"<tool>\", line 4, in helper\n    raise ValueError('bad')\nValueError: bad\n",
        ),
        (
            "1 / 0\ndef main(): pass",
            "Traceback (most recent call last):\n  File \"<tool>\", line 1, in <module>\n    1 / 0\n    ~~^~~\n\
             ZeroDivisionError: division by zero\n",
        ),
        (
            "def main(:",
            "  File \"<tool>\", line 1\n    def main(:\n             ^\nSyntaxError: invalid syntax\n",
        ),
        ("x = 1", "the source defines no function main\n"),
        ("def main(a): pass", "TypeError: main() missing 1 required positional argument: 'a'\n"),
    ] {
        let outcome = python(source, json!({})).on(&*executor).await;
        assert_eq!(outcome.ending, Ending::Exited(1));
        // Python 3.11 and later mark columns.
        let unmarked = |report: &str| {
            let marks =
                |line: &&str| !line.trim().is_empty() && line.trim().trim_matches(['~', '^']).is_empty();
            report.lines().filter(|line| !marks(line)).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(unmarked(&text(&outcome.stderr)), unmarked(expected));
        assert_eq!(outcome.result, None);
    }
}

/// A result that can't be written says so.
pub async fn python_bad_results(harness: &dyn Harness) {
    let executor = harness.executor();
    for (source, expected) in [
        ("def main(): return float('nan')", "the result contains NaN or Infinity"),
        (
            "def main():\n x = []\n x.append(x)\n return x",
            "the result can't be written as JSON: Circular reference",
        ),
        ("def main(): return {(1, 2): 3}", "the result can't be written as JSON: keys must be str"),
        ("def main(context): context['x'] = float('inf')", "context['x'] contains NaN or Infinity"),
        ("def main(context): context[1] = 2", "a name in context must be a str, not 1"),
    ] {
        let outcome = python(source, json!({})).on(&*executor).await;
        assert_eq!(outcome.ending, Ending::Exited(1));
        let report = text(&outcome.stderr);
        assert!(report.starts_with(expected) && report.lines().count() == 1, "{report}");
        assert_eq!((outcome.result, outcome.session.is_empty()), (None, true));
    }
}

/// A tool may exit as any program.
pub async fn python_exits(harness: &dyn Harness) {
    let executor = harness.executor();
    for (statement, code, message) in [
        ("sys.exit(3)", 3, ""),
        ("sys.exit('said')", 1, "said\n"),
        ("os._exit(4)", 4, ""),
        ("sys.exit(-1)", 255, ""),
        ("quit_ = sys.exit(256 + 5)", 5, ""),
    ] {
        let source = format!("import os, sys\ndef main():\n print('before')\n {statement}");
        let outcome = python(&source, json!({})).on(&*executor).await;
        assert_eq!(outcome.ending, Ending::Exited(code), "{statement}");
        assert_eq!(
            (text(&outcome.stdout), text(&outcome.stderr)),
            ("before\n".to_owned(), message.to_owned())
        );
    }
    let outcome = python("import sys\ndef main(): sys.exit()", json!({})).on(&*executor).await;
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert_eq!(outcome.result.unwrap().head, b"null");
    let outcome = python("import os\ndef main(): os._exit(0)", json!({})).on(&*executor).await;
    assert_eq!((outcome.ending, outcome.result), (Ending::Exited(0), None));
}

/// Death by a signal is told with certainty.
pub async fn python_signals(harness: &dyn Harness) {
    for (name, number) in [("SIGKILL", 9), ("SIGSEGV", 11), ("SIGTERM", 15), ("SIGHUP", 1), ("SIGPIPE", 13)] {
        let source = format!(
            "import os, signal\ndef main():\n signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n \
             os.kill(os.getpid(), signal.{name})"
        );
        let outcome = python(&source, json!({})).on(&*harness.executor()).await;
        assert_eq!(outcome.ending, Ending::Signaled(number));
    }
    let outcome = python("import sys\ndef main(): sys.exit(137)", json!({})).on(&*harness.executor()).await;
    assert_eq!(outcome.ending, Ending::Signaled(9));
}

/// At the time limit the tool and its children go, and what was printed is kept.
pub async fn python_time_out(harness: &dyn Harness) {
    let limit = Duration::from_secs(2);
    let source = "import subprocess\ndef main():\n print('begun')\n \
                  subprocess.Popen(['sleep', '8151.25'], start_new_session=True)\n subprocess.run(['sleep', '8151.25'])";
    let outcome = python(source, json!({})).timeout(limit).on(&*harness.executor()).await;
    assert_eq!(outcome.ending, Ending::TimedOut(limit));
    assert_eq!(outcome.stdout.head, b"begun\n");
    harness.expect_gone("8151.25").await;
}

/// A grandchild that keeps every stream and pipe open doesn't hold up the answer, and doesn't outlive it.
pub async fn python_grandchild_holds_everything(harness: &dyn Harness) {
    let source = "import os\ndef main():\n if os.fork() == 0:\n  os.setsid()\n  os.execvp('sleep', ['sleep', '8152.25'])\n \
                  for fd in range(3, 20):\n  try: os.set_inheritable(fd, True)\n  except OSError: pass\n \
                  if os.fork() == 0: os.execvp('sleep', ['sleep', '8152.25'])\n return 'here'";
    assert_eq!(python(source, json!({})).result(&*harness.executor()).await, json!("here"));
    harness.expect_gone("8152.25").await;
}

/// Five megabytes in and out.
pub async fn python_large_data(harness: &dyn Harness) {
    let value = "é\n\"".repeat(1_250_000);
    let source = "def main(x):\n print(x, end='')\n return x";
    let run = python(source, json!({ "x": value })).limits(|limits| limits.output_bytes = 20_000_000);
    let outcome = run.on(&*harness.executor()).await;
    assert_eq!(outcome.ending, Ending::Exited(0), "{}", text(&outcome.stderr));
    assert!(outcome.stdout.head == value.as_bytes());
    let result: Value = serde_json::from_slice(&outcome.result.unwrap().head).unwrap();
    assert!(result == json!(value));
    // Beyond its bound a result is cut like output.
    let outcome = python("def main(): return 'x' * 1000000", json!({})).on(&*harness.executor()).await;
    assert_eq!(outcome.result.unwrap().dropped(), 1_000_002 - 262_144);
}

/// The environment is that of shell tools.
pub async fn python_environment(harness: &dyn Harness) {
    let source = "import os, sys\ndef main():\n return [os.environ.get(n) for n in ('OWN', 'MCC_CTX_USER', 'MCC_PARAM_X')] \
                  + [sys.stdin.read(), os.listdir('.'), sys.argv, 'PATH' in os.environ]";
    let env = json!([{"name": "OWN", "value": "own"}, {"name": "MCC_CTX_USER", "value": "forged"}]);
    let run = python(source, json!({})).env(env, json!([]), json!({}));
    let result =
        run.param("MCC_PARAM_X", "x").context("MCC_CTX_USER", "ada").result(&*harness.executor()).await;
    assert_eq!(result, json!(["own", "ada", "x", "", [], ["public.sample"], true]));
}

/// The bounds hold in the tool.
pub async fn python_limits(harness: &dyn Harness) {
    let executor = harness.executor();
    let run =
        python("def main():\n while True: pass", json!({})).limits(|limits| limits.cpu_seconds = Some(1));
    assert_eq!(run.on(&*executor).await.ending, Ending::Signaled(24));
    let source = "import resource\ndef main(): return resource.getrlimit(resource.RLIMIT_NOFILE)";
    let run = python(source, json!({})).limits(|limits| limits.open_files = Some(33));
    assert_eq!(run.result(&*executor).await, json!([33, 33]));
    let source = "def main():\n with open('f', 'wb') as f: f.write(b'x' * 10000)";
    let run = python(source, json!({})).limits(|limits| limits.file_bytes = Some(4096));
    let outcome = run.on(&*executor).await;
    // Python ignores SIGXFSZ and reports the error.
    assert_eq!(outcome.ending, Ending::Exited(1));
    assert!(text(&outcome.stderr).contains("File too large"), "{}", text(&outcome.stderr));
}

/// Threads don't hold up the answer; exit handlers run.
pub async fn python_threads_and_exit_handlers(harness: &dyn Harness) {
    let source = "import atexit, threading, time\ndef main():\n atexit.register(print, 'bye')\n \
                  threading.Thread(target=time.sleep, args=(100,)).start()\n return 1";
    let outcome = python(source, json!({})).on(&*harness.executor()).await;
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert_eq!((outcome.stdout.head, outcome.result.unwrap().head), (b"bye\n".to_vec(), b"1".to_vec()));
}

/// The marker is in no variable of a frame, a module or a living object that the tool can get at.
pub async fn python_hides_its_marker(harness: &dyn Harness) {
    let source = "import gc, os, re, sys\n\
        def main():\n \
        seen, frame = [], sys._getframe()\n \
        while frame:\n  seen += [repr(v) for v in list(frame.f_locals.values()) + list(frame.f_globals.values())]\n  \
        frame = frame.f_back\n \
        seen += [repr(o) for o in gc.get_objects() if isinstance(o, (list, tuple, dict, set))]\n \
        seen += [open(f'/proc/{p}/{f}').read() for p in ('self', os.getppid()) for f in ('environ', 'cmdline')]\n \
        text = '\\n'.join(seen)\n \
        return [m for m in re.findall(r'(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])', text)]";
    assert_eq!(python(source, json!({})).result(&*harness.executor()).await, json!([]));
}
