//! Entries to manifests.

use std::collections::{BTreeMap, BTreeSet};

use mcc_crds::v1alpha1::ParamType;
use serde_json::{Map, Value, json};

use super::check;
use super::curl;
use super::emit;
use super::environment::{Secrets, ToolEnv, Variable};
use super::names;
use super::params;
use super::python::{self, Inspected};
use super::report::{Action, Notes, Report};
use super::shell;
use super::source::{Body, Entry, Param, Toolset};
use super::template;

/// Groups that exist without being declared.
const BUILTIN: [&str; 2] = ["public", "admin"];
/// Most groups of a Tool.
const MAX_GROUPS: usize = 8;

/// Converts toolsets, remembering what they share: names, groups and Secrets.
#[derive(Debug, Default)]
pub struct Converter {
    object_names: BTreeSet<String>,
    keys: BTreeMap<String, String>,
    groups: BTreeMap<String, Vec<String>>,
    secrets: Secrets,
    tools: usize,
}

/// A tool being converted.
struct Draft<'a> {
    entry: &'a Entry,
    file: &'a str,
    notes: Notes,
    env: ToolEnv,
    secret: String,
    spec: Map<String, Value>,
    params: Option<Vec<Param>>,
    timeout: Option<i64>,
    reads_whole_file: bool,
}

impl Converter {
    /// Number of tools converted.
    pub fn tools(&self) -> usize {
        self.tools
    }

    /// The manifests of a toolset's tools.
    pub fn toolset(&mut self, toolset: &Toolset, inspected: &Inspected, report: &mut Report) -> String {
        if toolset.env_file.is_some() {
            let note = "a tool gets only the variables that it names; functions get all of the file's";
            report.add(&toolset.file, "", "env_file", Action::Note, note);
        }
        if toolset.tools.iter().any(|entry| !entry.limits.contains_key("timeout")) {
            let note = "tools without a time limit get the default of 30 s";
            report.add(&toolset.file, "", "limits", Action::Note, note);
        }
        if toolset.tools.iter().any(|entry| matches!(entry.body, Body::Curl(_))) {
            let note = "an HTTP status of 400 or more is a failure now, with the body as output";
            report.add(&toolset.file, "", "curl", Action::Note, note);
        }
        let mut documents = Vec::new();
        for entry in &toolset.tools {
            documents.push(self.tool(toolset, entry, inspected, report));
        }
        let head = format!("# Imported by `mcc import` from {}.\n", toolset.file);
        head + &documents.join("---\n")
    }

    fn tool(
        &mut self,
        toolset: &Toolset,
        entry: &Entry,
        inspected: &Inspected,
        report: &mut Report,
    ) -> String {
        let mut notes = Notes::default();
        let name = names::tool(&entry.name);
        if name != entry.name {
            notes.add(
                "name",
                Action::Changed,
                format!("'{}' can't be a tool's name: now {name}", entry.name),
            );
        }
        let groups = groups(entry, &mut notes);
        let key = names::key(&groups, &name);
        let secret = match &entry.env_file {
            Some(file) => names::label(file.rsplit('/').next().unwrap_or(file), "env"),
            None => {
                format!("{}-env", names::label(toolset.file.split('.').next().unwrap_or_default(), "toolset"))
            }
        };
        let mut draft = Draft {
            entry,
            file: &toolset.file,
            notes,
            env: ToolEnv::default(),
            secret,
            spec: Map::new(),
            params: entry.params.clone(),
            timeout: None,
            reads_whole_file: false,
        };
        let object_name = self.object_name(&name, &groups);
        draft.head(&name, &object_name, &groups, inspected);
        draft.body(inspected);
        draft.environment();
        draft.limits();
        draft.unmapped();
        let problem = match self.keys.get(&key) {
            Some(other) => Some(format!("{other} has the key {key} already")),
            None => draft.refused(),
        };
        self.finish(draft, &key, &object_name, problem.as_deref(), report)
    }

    /// A name for the Tool object: the tool's, with the last group in front where another tool has it.
    fn object_name(&mut self, name: &str, groups: &[String]) -> String {
        let wanted = names::label(name, "tool");
        if self.object_names.insert(wanted.clone()) {
            return wanted;
        }
        let group = groups.iter().rev().find(|group| !BUILTIN.contains(&group.as_str()));
        let wanted = group.map_or(wanted.clone(), |group| names::label(&format!("{group}-{wanted}"), "tool"));
        names::free(&wanted, &mut self.object_names)
    }

    fn finish(
        &mut self,
        draft: Draft<'_>,
        key: &str,
        object_name: &str,
        problem: Option<&str>,
        report: &mut Report,
    ) -> String {
        let Draft { entry, file, mut notes, env, secret, mut spec, reads_whole_file, .. } = draft;
        if problem.is_none() {
            self.tools += 1;
            self.keys.insert(key.to_owned(), file.to_owned());
            for group in groups(entry, &mut Notes::default()) {
                let files = self.groups.entry(group).or_default();
                if !files.iter().any(|other| other == file) {
                    files.push(file.to_owned());
                }
            }
            if reads_whole_file || !env.secrets.is_empty() {
                self.secrets.need(&secret, &env.secrets, file);
            }
        }
        for name in &env.unset {
            notes.add("env", Action::Note, format!("give {name} a value"));
        }
        let entries = env.into_entries();
        if !entries.is_empty() {
            spec.insert("env".to_owned(), Value::Array(entries));
        }
        if reads_whole_file {
            let reference = json!([{ "secretRef": { "name": secret, "optional": true } }]);
            spec.insert("envFrom".to_owned(), reference);
        }
        for late in ["limits", "cache"] {
            if let Some(value) = spec.shift_remove(late) {
                spec.insert(late.to_owned(), value);
            }
        }
        let mut object = Map::new();
        object.insert("apiVersion".to_owned(), json!(mcc_crds::v1alpha1::API_VERSION));
        object.insert("kind".to_owned(), json!("Tool"));
        object.insert("metadata".to_owned(), json!({ "name": object_name }));
        object.insert("spec".to_owned(), Value::Object(spec));
        let mut comments = vec![key.to_owned()];
        if let Some(problem) = problem {
            notes.add("", Action::Skipped, problem);
        }
        for (field, action, note) in &notes.lines {
            // What is the same for a whole file is said once.
            let shared =
                matches!((field.as_str(), action), ("groups", Action::Changed) | ("env", Action::Dropped));
            report.add(file, if shared { "" } else { key }, field, *action, note.clone());
            if shared {
                continue;
            }
            let verb = match action {
                Action::Changed => "changed",
                Action::Dropped => "left out",
                Action::Skipped => "NOT IMPORTED",
                Action::Note => "note",
            };
            let place = if field.is_empty() { String::new() } else { format!(" ({field})") };
            comments.push(format!("- {verb}{place}: {note}"));
        }
        if problem.is_some() {
            emit::commented(&comments, &object)
        } else {
            emit::document(&comments, &object)
        }
    }

    /// The manifests of all groups that tools use; none if there are none.
    pub fn groups(&self) -> Option<String> {
        let documents: Vec<String> = self
            .groups
            .iter()
            .filter(|(group, _)| !BUILTIN.contains(&group.as_str()))
            .map(|(group, files)| {
                let object = json!({
                    "apiVersion": mcc_crds::v1alpha1::API_VERSION,
                    "kind": "ToolGroup",
                    "metadata": { "name": group },
                    "spec": { "description": format!("Tools of {}", files.join(", ")) },
                });
                emit::document(&[], object.as_object().unwrap_or(&Map::new()))
            })
            .collect();
        (!documents.is_empty()).then(|| documents.join("---\n"))
    }

    /// Skeletons of the Secrets that tools read; none if there are none.
    pub fn secrets(&self) -> Option<String> {
        let documents: Vec<String> = self
            .secrets
            .skeletons()
            .map(|(files, object)| {
                let comment = format!(
                    "For the tools of {files}. Fill in the values, or keep them out of files: \
                     `kubectl create secret generic NAME --from-env-file=FILE.env`, `mcc up --secret NAME=FILE.env`."
                );
                emit::document(&[comment], &object)
            })
            .collect();
        (!documents.is_empty()).then(|| documents.join("---\n"))
    }
}

/// The groups of an entry as DNS labels; `public` where there are none.
fn groups(entry: &Entry, notes: &mut Notes) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    for written in &entry.groups {
        let group = names::label(written, "group");
        if group != *written {
            notes.add("groups", Action::Changed, format!("'{written}' can't be a group's name: now {group}"));
        }
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    if groups.is_empty() {
        notes.add(
            "groups",
            Action::Changed,
            "tools without groups are public in the original: now they say so",
        );
        groups.push("public".to_owned());
    }
    if groups.len() > MAX_GROUPS {
        let rest = groups.split_off(MAX_GROUPS);
        notes.add(
            "groups",
            Action::Dropped,
            format!("a tool has at most {MAX_GROUPS} groups: without {}", rest.join(", ")),
        );
    }
    groups
}

impl Draft<'_> {
    fn head(&mut self, name: &str, object_name: &str, groups: &[String], inspected: &Inspected) {
        if object_name.replace('-', "_") != name {
            self.spec.insert("name".to_owned(), json!(name));
        }
        self.spec.insert("groups".to_owned(), json!(groups));
        let documented = match self.function(inspected) {
            Some(Ok(function)) if !function.description.is_empty() => Some(function.description.clone()),
            _ => None,
        };
        let description = self.entry.description.clone().or(documented).unwrap_or_default();
        if !description.trim().is_empty() {
            self.spec.insert("description".to_owned(), json!(description));
        }
        let example = self.entry.example.trim();
        if !example.is_empty() {
            self.spec.insert("example".to_owned(), json!(example));
        }
    }

    fn function<'i>(&self, inspected: &'i Inspected) -> Option<&'i Result<python::Function, String>> {
        match &self.entry.body {
            Body::Function(path) => inspected.get(path),
            _ => None,
        }
    }

    fn body(&mut self, inspected: &Inspected) {
        let entry = self.entry;
        self.spell_nulls();
        self.mind_absent();
        let params = match (&self.params, &entry.body) {
            (Some(given), _) => params::section(given, &mut self.notes),
            (None, Body::Function(_)) => self.function_params(inspected),
            (None, _) => Vec::new(),
        };
        if !params.is_empty() {
            self.spec.insert("params".to_owned(), Value::Array(params));
        }
        let returned = match self.function(inspected) {
            Some(Ok(function)) => function.returns.clone(),
            _ => None,
        };
        if let Some(kind) = entry.return_type.clone().or(returned) {
            self.spec.insert("returns".to_owned(), json!({ "type": kind }));
        }
        match &entry.body {
            Body::Function(path) => self.python(path),
            Body::Exec(command) => self.shell(command, "exec"),
            Body::Curl(value) => self.curl(value),
        }
    }

    /// A fixed null that a template prints comes out as `None` in the original.
    fn spell_nulls(&mut self) {
        let texts: Vec<&str> = match &self.entry.body {
            Body::Function(_) => return,
            Body::Exec(text) | Body::Curl(text) => {
                std::iter::once(text).chain(&self.entry.transform).map(String::as_str).collect()
            }
        };
        let printed = |name: &str| {
            let prints = |segment: &template::Segment<'_>| matches!(segment, template::Segment::Value(inner) if template::Expression::parse(inner).name == Some(name));
            texts.iter().any(|text| template::segments(text).iter().any(prints))
        };
        for param in self.params.iter_mut().flatten() {
            if param.fixed == Some(Value::Null) && printed(&param.name) {
                param.fixed = Some(json!("None"));
                param.kind = ParamType::Str;
                let field = format!("params.{}", param.name);
                self.notes.add(&field, Action::Changed, "null is written as None, as the original does");
            }
        }
    }

    /// A parameter without a value comes out as `None` in the original wherever a command prints it, which nobody meant.
    fn mind_absent(&mut self) {
        let Body::Exec(command) = &self.entry.body else { return };
        let texts: Vec<&String> = std::iter::once(command).chain(&self.entry.transform).collect();
        for param in self.params.iter_mut().flatten() {
            let optional = !param.required && param.default.is_none() && param.fixed.is_none();
            if optional && texts.iter().any(|text| template::prints_always(text, &param.name)) {
                param.required = true;
                let field = format!("params.{}", param.name);
                let note =
                    "the command always uses it (the original runs with the word None): now it is required";
                self.notes.add(&field, Action::Changed, note);
            }
        }
    }

    /// A `curl:` value in which absent parameters are empty texts.
    fn empty_absent(&mut self, value: &str, params: &[Param]) -> String {
        let mut text = value.to_owned();
        for param in params {
            let optional = !param.required && param.default.is_none() && param.fixed.is_none();
            if optional && template::prints_always(&text, &param.name) {
                text = template::empty_if_absent(&text, &param.name);
                let field = format!("params.{}", param.name);
                let note = "a request without it has an empty text there (the original writes None)";
                self.notes.add(&field, Action::Changed, note);
            }
        }
        text
    }

    fn function_params(&mut self, inspected: &Inspected) -> Vec<Value> {
        match self.function(inspected) {
            Some(Ok(function)) => return params::of_function(function),
            Some(Err(reason)) => self.notes.add("fn", Action::Note, format!("can't be inspected: {reason}")),
            None => {}
        }
        let guessed = params::of_example(&self.entry.example).filter(|params| !params.is_empty());
        let note = if guessed.is_some() {
            "parameters are those of the example; import with --python (and --python-path) to read them from the function"
        } else {
            "has no parameters here; import with --python (and --python-path) to read them from the function"
        };
        self.notes.add("params", Action::Note, note);
        guessed.unwrap_or_default()
    }

    fn python(&mut self, path: &str) {
        if self.entry.transform.iter().any(|stage| template::is_template(stage)) {
            self.notes.add(
                "transform",
                Action::Note,
                "values in the transform of a function aren't filled in",
            );
        } else if !self.entry.transform.is_empty() {
            self.notes.add(
                "transform",
                Action::Changed,
                "the function is called by a program that runs the transform",
            );
        }
        self.spec.insert("python".to_owned(), Value::Object(python::section(path, &self.entry.transform)));
        self.reads_whole_file = self.entry.env_file.is_some();
    }

    fn curl(&mut self, value: &str) {
        let entry = self.entry;
        let params = self.params.clone().unwrap_or_default();
        let value = &self.empty_absent(value, &params);
        if entry.transform.is_empty() {
            let mut notes = Notes::default();
            let request = curl::request(value, entry.stdin, &params, &mut notes);
            if let Some(request) = request.filter(|request| check::accepts(request, &params)) {
                self.notes.lines.extend(notes.lines);
                self.variables(&request.variables);
                self.timeout = request.timeout;
                self.spec.insert("http".to_owned(), Value::Object(request.section()));
                return;
            }
        }
        let command = curl::command(value, entry.stdin, &params, &mut self.notes);
        self.shell(&command, "curl");
    }

    fn shell(&mut self, command: &str, field: &str) {
        let entry = self.entry;
        let params = self.params.clone().unwrap_or_default();
        let script = shell::rewrite(command, &params, field, &mut self.notes);
        self.variables(&script.variables);
        let mut text = script.text;
        if !entry.transform.is_empty() {
            let mut stages = Vec::new();
            for stage in &entry.transform {
                let stage = shell::rewrite(stage, &params, "transform", &mut self.notes);
                self.variables(&stage.variables);
                stages.push(stage.text);
            }
            text = shell::with_transform(&text, &stages);
        }
        let mut section = Map::new();
        section.insert("script".to_owned(), json!(text));
        if entry.stdin {
            section.insert("stdin".to_owned(), json!("Params"));
        }
        self.spec.insert("shell".to_owned(), Value::Object(section));
        if field == "exec" && entry.env_file.is_some() && self.env.secrets.is_empty() {
            self.reads_whole_file = true;
        }
    }

    fn variables(&mut self, variables: &[Variable]) {
        for variable in variables {
            if self.entry.env.contains_key(&variable.name) {
                continue;
            }
            let has_env_file = self.entry.env_file.is_some();
            self.env.used(&variable.name, variable.default.as_deref(), &self.secret, has_env_file);
        }
    }

    /// The entry's own `env`. A value that is a variable of the server's environment comes from the Secret.
    fn environment(&mut self) {
        for (written, value) in &self.entry.env {
            let name = names::identifier(written);
            if name.starts_with("MCC_") {
                self.notes.add(
                    "env",
                    Action::Dropped,
                    format!("{name}: names that begin with MCC_ are the system's"),
                );
                continue;
            }
            if name != *written {
                self.notes.add(
                    "env",
                    Action::Changed,
                    format!("'{written}' can't be a variable's name: now {name}"),
                );
            }
            let (text, open) = super::environment::fill_in(value);
            let whole = super::environment::variable(&text).filter(|variable| variable.length == text.len());
            match whole {
                Some(variable) if variable.name == name => self.env.secret(&name, &self.secret),
                _ => {
                    let mut text = text.replace("$(", "$$(");
                    for variable in open {
                        self.env.secret(&variable, &self.secret);
                        text = text
                            .replace(&format!("${{{variable}}}"), &format!("$({variable})"))
                            .replace(&format!("${variable}"), &format!("$({variable})"));
                    }
                    self.env.value(&name, &text);
                }
            }
        }
    }

    fn limits(&mut self) {
        let mut limits = Map::new();
        if let Some(seconds) = self.timeout {
            limits.insert("timeoutSeconds".to_owned(), json!(seconds));
        }
        for (name, value) in &self.entry.limits {
            let field = format!("limits.{name}");
            #[expect(clippy::cast_possible_truncation, reason = "bounded by the filter")]
            let number = value
                .as_f64()
                .or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))
                .filter(|number| *number > 0.0 && *number < 1e12)
                .map(|number| number.ceil() as i64);
            let (target, value) = match (name.as_str(), number) {
                (_, None) => {
                    self.notes.add(&field, Action::Dropped, format!("{value} is no limit"));
                    continue;
                }
                ("timeout", Some(seconds)) => ("timeoutSeconds", json!(seconds.min(86_400))),
                ("mem_mb", Some(megabytes)) => ("memory", json!(format!("{megabytes}Mi"))),
                ("cpu_sec", Some(seconds)) => ("cpuSeconds", json!(seconds)),
                ("fsize_mb", Some(megabytes)) => ("fileBytes", json!(megabytes * 1_048_576)),
                ("nofile", Some(files)) => ("openFiles", json!(files)),
                _ => {
                    self.notes.add(&field, Action::Dropped, "the original knows no such limit either");
                    continue;
                }
            };
            limits.insert(target.to_owned(), value);
        }
        if !limits.is_empty() {
            self.spec.insert("limits".to_owned(), Value::Object(limits));
        }
        match self.entry.cache_ttl {
            Some(seconds) if seconds > 0 => {
                let note = "results are kept for each caller; cache.scope: Shared lets callers share them, as the original does";
                self.notes.add("cache_ttl", Action::Note, note);
                self.spec.insert("cache".to_owned(), json!({ "seconds": seconds }));
            }
            Some(_) => self.notes.add("cache_ttl", Action::Dropped, "0 means no cache"),
            None => {}
        }
    }

    fn unmapped(&mut self) {
        for (field, value) in &self.entry.unmapped {
            let note = match *field {
                "cwd" => format!(
                    "tools run in an empty folder of their own, not in {value}: write paths out, or cd in the script"
                ),
                "python" => format!(
                    "{value} is not used: name an image (python.image), or start mcc up with --python"
                ),
                _ if super::source::truth(value) == Some(false) => continue,
                _ => "tools get no variables of the server's environment: name those they need under env"
                    .to_owned(),
            };
            self.notes.add(field, Action::Dropped, note);
        }
        if self.entry.stdin && matches!(self.entry.body, Body::Function(_)) {
            self.notes.add("stdin", Action::Dropped, "functions get their parameters as arguments");
        }
        if self.entry.env_file.is_some() && (self.reads_whole_file || !self.env.secrets.is_empty()) {
            let note = format!("its values come from the Secret {}", self.secret);
            self.notes.add("env_file", Action::Changed, note);
        }
    }

    /// Has the template of a script or a request looked at as `mcc lint` does, applies the edits that are certain, and
    /// returns what is left to be wrong with it.
    fn refused(&mut self) -> Option<String> {
        let section = self.spec.get("shell").and_then(|shell| shell.get("script")).and_then(Value::as_str)?;
        let params = self.params.as_deref().unwrap_or_default();
        let checked = check::script(section, params, &mut self.notes);
        let (text, problem) = match checked {
            Ok(text) => (text, None),
            Err((text, problem)) => (text, Some(problem)),
        };
        if let Some(Value::Object(shell)) = self.spec.get_mut("shell") {
            shell.insert("script".to_owned(), json!(text));
        }
        problem
    }
}
