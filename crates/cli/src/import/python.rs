//! `fn:` entries: import paths, and what Python says about the functions behind them.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mcc_crds::v1alpha1::{ItemType, ParamType};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::source::{Body, Toolset};

const PROGRAM: &str = include_str!("introspect.py");
const TIMEOUT: Duration = Duration::from_secs(60);

/// A Python that can import the tools' modules.
#[derive(Clone, Debug)]
pub struct Interpreter {
    /// The program.
    pub program: PathBuf,
    /// Folders put in front of its module search path.
    pub path: Vec<PathBuf>,
}

/// What is known of the functions of a toolset, by import path.
pub type Inspected = BTreeMap<String, Result<Function, String>>;

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Function {
    /// Parameters in order.
    pub params: Vec<Parameter>,
    /// Docstring, may be empty.
    pub description: String,
    /// Type of the return value, if it is annotated with one of ours.
    pub returns: Option<String>,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Type.
    #[serde(rename = "type")]
    pub kind: ParamType,
    /// Whether it has to be given; none: it has a default.
    pub required: Option<bool>,
    /// Default, where JSON can say it.
    #[serde(default, deserialize_with = "present")]
    pub default: Option<Value>,
    /// Type of a list's elements.
    pub items: Option<ItemType>,
}

/// Keeps an explicit null apart from an absent field.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Error { error: String },
    Function(Function),
}

impl Interpreter {
    /// Imports the functions of a toolset in one process and reads their signatures. Modules that can't be imported
    /// give a reason.
    pub fn inspect(&self, toolset: &Toolset) -> Inspected {
        let paths: Vec<String> = toolset
            .tools
            .iter()
            .filter_map(|tool| match &tool.body {
                Body::Function(path) => Some(path.clone()),
                _ => None,
            })
            .collect();
        if paths.is_empty() {
            return Inspected::new();
        }
        match self.ask(&paths) {
            Ok(answers) => answers
                .into_iter()
                .map(|(path, answer)| match answer {
                    Answer::Function(function) => (path, Ok(function)),
                    Answer::Error { error } => (path, Err(error)),
                })
                .collect(),
            Err(reason) => paths.into_iter().map(|path| (path, Err(reason.clone()))).collect(),
        }
    }

    fn ask(&self, paths: &[String]) -> Result<BTreeMap<String, Answer>, String> {
        let mut command = Command::new(&self.program);
        command.args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        if let Ok(path) = std::env::join_paths(&self.path)
            && !self.path.is_empty()
        {
            command.env("PYTHONPATH", path);
        }
        let mut child = command
            .spawn()
            .map_err(|error| format!("{} can't be started: {error}", self.program.display()))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A child that ends early is noticed by its answer.
            let _ = stdin.write_all(json!(paths).to_string().as_bytes());
        }
        let mut stdout = child.stdout.take();
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            if let Some(stdout) = &mut stdout {
                let _ = stdout.read_to_string(&mut text);
            }
            text
        });
        let deadline = Instant::now() + TIMEOUT;
        while child.try_wait().map_err(|error| error.to_string())?.is_none() {
            if Instant::now() > deadline {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("importing the modules took longer than {} s", TIMEOUT.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let text = reader.join().unwrap_or_default();
        serde_json::from_str(&text).map_err(|_| "python ended without an answer".to_owned())
    }
}

/// `pkg.mod:attr` for an import path in either form.
pub fn import_path(path: &str) -> String {
    match (path.contains(':'), path.rsplit_once('.')) {
        (false, Some((module, attribute))) => format!("{module}:{attribute}"),
        _ => path.to_owned(),
    }
}

/// The `python` section of a Tool.
pub fn section(path: &str, transform: &[String]) -> Map<String, Value> {
    let path = import_path(path);
    let mut section = Map::new();
    if transform.is_empty() {
        section.insert("function".to_owned(), json!(path));
    } else {
        section.insert("source".to_owned(), json!(transformed(&path, transform)));
    }
    section
}

/// A program that calls a function and sends its result through shell commands.
fn transformed(path: &str, transform: &[String]) -> String {
    format!(
        "\
import functools
import importlib
import inspect
import json
import subprocess

FUNCTION = {function}
TRANSFORM = {transform}


async def main(**arguments):
    module, _, attributes = FUNCTION.partition(\":\")
    function = functools.reduce(getattr, attributes.split(\".\"), importlib.import_module(module))
    result = function(**arguments)
    if inspect.isawaitable(result):
        result = await result
    text = json.dumps(result, default=str)
    for command in TRANSFORM:
        text = subprocess.run([\"/bin/sh\", \"-c\", command], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
    return text
",
        function = json!(path),
        transform = json!(transform),
    )
}
