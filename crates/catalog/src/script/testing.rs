//! Parameters and shells for the tests of this module.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use super::{ParamKind, ScriptTemplate, TemplateParam, TemplateProblem};

const fn param(name: &'static str, kind: ParamKind) -> TemplateParam<'static> {
    TemplateParam { name, kind, allow_leading_dash: false, required_or_default: true }
}

/// The parameters the templates of the tests use.
pub(super) const PARAMS: [TemplateParam<'static>; 9] = [
    param("x", ParamKind::Str),
    param("y", ParamKind::Str),
    param("n", ParamKind::Int),
    param("f", ParamKind::Float),
    param("b", ParamKind::Bool),
    param("l", ParamKind::List),
    param("d", ParamKind::Dict),
    TemplateParam { name: "o", kind: ParamKind::Str, allow_leading_dash: false, required_or_default: false },
    TemplateParam { name: "opt", kind: ParamKind::Str, allow_leading_dash: true, required_or_default: true },
];

pub(super) fn compile(source: &str) -> Result<ScriptTemplate, Vec<TemplateProblem>> {
    ScriptTemplate::compile(source, &PARAMS).map(|(template, _)| template)
}

pub(super) fn values(value: Value) -> Map<String, Value> {
    let mut all = json!({"x": "X", "y": "Y", "n": 7, "f": 1.5, "b": true, "l": ["l1", "l 2"], "d": {"k": [1]}, "opt": "-v"});
    let (Value::Object(all), Value::Object(given)) = (&mut all, value) else { panic!("not an object") };
    all.extend(given);
    std::mem::take(all)
}

pub(super) fn render(source: &str, given: Value) -> Result<String, String> {
    let template = compile(source).map_err(|problems| problems[0].to_string())?;
    template.render(&values(given)).map_err(|error| error.to_string())
}

/// The shells that are installed, and how to start them with a script on standard input.
pub(super) fn shells() -> Vec<(&'static str, &'static [&'static str])> {
    let known: [(&str, &[&str]); 3] =
        [("dash", &["dash"]), ("busybox", &["busybox", "sh"]), ("bash", &["bash", "--posix"])];
    known
        .into_iter()
        .filter(|(name, _)| {
            let there = Command::new(name)
                .arg("-c")
                .arg(":")
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok();
            if !there {
                println!("skipped: {name} is not installed");
            }
            there
        })
        .collect()
}

/// Runs a script from standard input; returns what it printed on both streams.
pub(super) fn run(shell: &[&str], script: &[u8]) -> (Vec<u8>, String) {
    let mut child = Command::new(shell[0])
        .args(&shell[1..])
        .arg("-s")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let script = script.to_vec();
    let writer = std::thread::spawn(move || {
        // A shell that gives up early closes its end.
        let _ = stdin.write_all(&script);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    (output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}
