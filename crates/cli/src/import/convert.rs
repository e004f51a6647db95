//! Entries to manifests.

mod draft;

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
