//! Parameters and shells for the tests of this module.

use std::process::{Command, Stdio};

use mcc_crds::v1alpha1::ParamType;
use serde_json::{Map, Value, json};

use super::{ScriptTemplate, TemplateParam, TemplateProblem};

const fn param(name: &'static str, kind: ParamType) -> TemplateParam<'static> {
    TemplateParam { name, kind, allow_leading_dash: false, required_or_default: true }
}

/// The parameters the templates of the tests use.
pub(super) const PARAMS: [TemplateParam<'static>; 9] = [
    param("x", ParamType::Str),
    param("y", ParamType::Str),
    param("n", ParamType::Int),
    param("f", ParamType::Float),
    param("b", ParamType::Bool),
    param("l", ParamType::List),
    param("d", ParamType::Dict),
    TemplateParam { name: "o", kind: ParamType::Str, allow_leading_dash: false, required_or_default: false },
    TemplateParam { name: "opt", kind: ParamType::Str, allow_leading_dash: true, required_or_default: true },
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

/// The parameters of a tool of the original system.
pub(super) fn tool_params(params: &Value) -> Vec<TemplateParam<'_>> {
    let params = params.as_array().map(Vec::as_slice).unwrap_or_default();
    params
        .iter()
        .map(|param| TemplateParam {
            name: param["name"].as_str().unwrap(),
            kind: match param["type"].as_str().unwrap_or("str") {
                "int" => ParamType::Int,
                "float" => ParamType::Float,
                "bool" => ParamType::Bool,
                "list" => ParamType::List,
                "dict" => ParamType::Dict,
                _ => ParamType::Str,
            },
            allow_leading_dash: false,
            required_or_default: param["required"] == true || !param["default"].is_null(),
        })
        .collect()
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

/// Runs a script from a file, in an empty folder; returns what it printed on both streams.
pub(super) fn run(shell: &[&str], script: &str) -> (Vec<u8>, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script");
    std::fs::write(&file, script).unwrap();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let output = Command::new(shell[0])
        .args(&shell[1..])
        .arg("../script")
        .current_dir(folder.path().join("empty"))
        .env("LC_ALL", "C.UTF-8")
        .env("E", "e")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}
