//! One Tool, compiled: everything that depends on the Tool and its groups' rules alone.

use std::path::PathBuf;
use std::sync::Arc;

use mcc_crds::v1alpha1::{SessionAccess, SessionScope, Tool, ToolSpec};

use super::digest::{Bytes, Digester, hex};
use super::finding::{Finding, Findings};
use super::groups::{GroupRules, GroupTable, is_builtin};
use super::{env, limits, lint, names, params, pod, template, text};
use crate::model::{ADMIN, CompiledTool, Entry, Facets, NamespacedName, PUBLIC, Reason};
use crate::session::is_reserved;

/// A compiled Tool and what it was compiled from.
#[derive(Debug)]
pub(super) struct Unit {
    inputs: Inputs,
    /// The tool; none if it has errors.
    pub tool: Option<Arc<CompiledTool>>,
    /// Problems of the Tool by itself.
    pub findings: Vec<Finding>,
    /// Digest of everything that decides what the tool is.
    pub digest: Bytes,
}

/// Everything that a compilation looks at.
#[derive(Debug)]
struct Inputs {
    object: Arc<Tool>,
    folder: Option<PathBuf>,
    groups: Vec<Option<Bytes>>,
}

impl Inputs {
    fn new(entry: &Entry<Tool>, groups: &GroupTable<'_>) -> Self {
        let file = entry.origin.start.as_ref().map(|place| place.file.as_path());
        Self {
            object: entry.object.clone(),
            folder: file.and_then(|file| file.parent()).map(PathBuf::from),
            groups: groups.digests(&entry.object.spec.groups),
        }
    }

    fn same(&self, other: &Self) -> bool {
        let same_object = Arc::ptr_eq(&self.object, &other.object)
            || (self.object.metadata.uid == other.object.metadata.uid
                && self.object.metadata.creation_timestamp == other.object.metadata.creation_timestamp
                && self.object.spec == other.object.spec);
        same_object && self.folder == other.folder && self.groups == other.groups
    }
}

impl Unit {
    /// The unit of `entry`: the previous one if nothing it looks at has changed. The flag says whether it was.
    pub fn of(
        name: &NamespacedName,
        entry: &Entry<Tool>,
        groups: &GroupTable<'_>,
        previous: Option<&Arc<Self>>,
    ) -> (Arc<Self>, bool) {
        let inputs = Inputs::new(entry, groups);
        if let Some(previous) = previous.filter(|unit| unit.inputs.same(&inputs)) {
            return (previous.clone(), true);
        }
        (Arc::new(Self::compile(name, inputs, groups)), false)
    }

    fn compile(name: &NamespacedName, inputs: Inputs, groups: &GroupTable<'_>) -> Self {
        let mut findings = Findings::default();
        let digest = digest(name, &inputs);
        let rules = groups.rules(&inputs.object.spec.groups);
        let tool = build(name, &inputs, &rules, hex(&digest), &mut findings);
        let tool = tool.filter(|_| !findings.has_errors()).map(Arc::new);
        Self { inputs, tool, findings: findings.into_vec(), digest }
    }
}

fn digest(name: &NamespacedName, inputs: &Inputs) -> Bytes {
    let folder = inputs.folder.as_ref().map(|folder| folder.to_string_lossy());
    let digester = Digester::default()
        .text(&name.namespace)
        .text(&name.name)
        .optional(inputs.object.metadata.uid.as_deref())
        .optional(folder.as_deref())
        .json(&inputs.object.spec);
    let digester = inputs.groups.iter().flatten().fold(digester, |digester, group| digester.bytes(group));
    digester.finish()
}

fn build(
    object: &NamespacedName,
    inputs: &Inputs,
    rules: &[GroupRules<'_>],
    digest: String,
    findings: &mut Findings,
) -> Option<CompiledTool> {
    let spec = &inputs.object.spec;
    let name = tool_name(object, spec, findings);
    check_groups(&spec.groups, findings);
    let params = params::compile(&spec.params, spec.python.is_some(), findings);
    env::check(&spec.env, &spec.env_from, "spec", findings);
    let own_limits = spec.limits.clone().unwrap_or_default();
    limits::check(&own_limits, "spec.limits", findings);
    let limits = limits::resolve(&own_limits, rules, findings);
    if let Some(own) = &spec.pod {
        pod::check(own, "spec.pod", findings);
    }
    let pod = pod::merge(spec.pod.as_ref(), rules);
    let own_image = template::own_image(spec);
    let image = pod::image(own_image.map(|(_, image)| image), rules);
    let image_path = own_image.map_or("spec.groups", |(path, _)| path);
    pod::check_allowed(&pod, image.as_deref().map(|image| (image_path, image)), rules, findings);
    check_numbers(spec, findings);
    check_session(spec.session.as_ref(), findings);
    let hints = spec.hints.clone().unwrap_or_default();
    let implementation = template::compile(spec, &params, findings);
    let rate_limit = spec
        .rate_limit
        .as_ref()
        .or_else(|| rules.iter().find_map(|group| group.spec.defaults.as_ref()?.rate_limit.as_ref()));
    let env = env::merge(&spec.env, rules);
    let (session_read, session_write) = sessions(spec, rules);
    let mut tool = CompiledTool {
        key: key(&spec.groups, &name),
        facets: Facets::default(),
        object: object.clone(),
        uid: inputs.object.metadata.uid.clone(),
        digest,
        description: text::clean(&spec.description),
        example: spec.example.trim().to_owned(),
        keywords: spec.keywords.clone(),
        params,
        returns: returns(spec),
        returns_description: spec
            .returns
            .as_ref()
            .map(|returns| text::clean(&returns.description))
            .unwrap_or_default(),
        hints,
        signature: String::new(),
        implementation: implementation?,
        image,
        env,
        env_from: env::merge_sources(&spec.env_from, rules),
        limits,
        cache: spec.cache.clone(),
        session_read,
        session_write,
        rate_per_minute: rate_limit.and_then(|limit| u32::try_from(limit.per_minute).ok()),
        warm: spec.warm.as_ref().and_then(|warm| u32::try_from(warm.size).ok()).unwrap_or(0),
        pod,
        folder: inputs.folder.clone(),
        name,
    };
    tool.facets = Facets::new(tool.key.clone(), &spec.groups);
    tool.signature = crate::signature::signature(&tool);
    lint::check(spec, &tool, findings);
    Some(tool)
}

/// The tool's name: its own, else the object's with underscores for hyphens.
fn tool_name(object: &NamespacedName, spec: &ToolSpec, findings: &mut Findings) -> String {
    let (name, path) = match &spec.name {
        Some(name) => (name.clone(), "spec.name"),
        None => (object.name.replace('-', "_"), "metadata.name"),
    };
    if !names::is_tool_name(&name) {
        let fix = if path == "spec.name" {
            "use letters, digits, _ and -, at most 64"
        } else {
            "set spec.name: letters, digits, _ and -, at most 64"
        };
        findings.error(Reason::InvalidField, path, format!("{name:?} can't name a tool"), fix);
    }
    name
}

/// Groups and name joined by dots, public and admin first.
fn key(groups: &[String], name: &str) -> String {
    let hoisted = [PUBLIC, ADMIN].into_iter().filter(|builtin| groups.iter().any(|group| group == builtin));
    let others = groups.iter().map(String::as_str).filter(|group| !is_builtin(group));
    hoisted.chain(others).chain([name]).collect::<Vec<_>>().join(".")
}

fn check_groups(groups: &[String], findings: &mut Findings) {
    const MOST: usize = 8;
    if groups.len() > MOST {
        findings.error(
            Reason::InvalidField,
            "spec.groups",
            format!("{} groups", groups.len()),
            format!("name at most {MOST}"),
        );
    }
    for (position, group) in groups.iter().enumerate() {
        let path = format!("spec.groups[{position}]");
        if !names::is_label(group) {
            findings.error(
                Reason::InvalidField,
                path,
                format!("{group:?} can't name a group"),
                "use lower-case letters, digits and hyphens, at most 63, no dot: nested groups are list elements",
            );
        } else if groups[..position].contains(group) {
            findings.error(
                Reason::InvalidField,
                path,
                format!("{group} is named twice"),
                "remove one of them",
            );
        }
    }
}

/// Numbers that the schema bounds too, for sources that didn't check it; and what contradicts itself.
fn check_numbers(spec: &ToolSpec, findings: &mut Findings) {
    for (path, value, least) in [
        ("spec.cache.seconds", spec.cache.as_ref().map(|cache| cache.seconds), 1),
        ("spec.rateLimit.perMinute", spec.rate_limit.as_ref().map(|limit| limit.per_minute), 1),
        ("spec.warm.size", spec.warm.as_ref().map(|warm| warm.size), 0),
    ] {
        if let Some(value) = value.filter(|value| *value < least || *value > i64::from(u32::MAX)) {
            findings.error(
                Reason::InvalidField,
                path,
                format!("{value} is out of bounds"),
                format!("choose a value from {least} to {}", u32::MAX),
            );
        }
    }
    let destructive = spec.hints.as_ref().and_then(|hints| hints.destructive) == Some(true);
    if destructive && spec.cache.is_some() {
        findings.error(
            Reason::InvalidField,
            "spec.cache",
            "a destructive tool can't answer from a cache: the caller would believe that it ran",
            "remove cache, or hints.destructive",
        );
    }
}

fn returns(spec: &ToolSpec) -> String {
    let kind = spec.returns.as_ref().and_then(|returns| returns.kind.as_deref()).unwrap_or_default();
    let kind = kind.split_whitespace().collect::<Vec<_>>().join(" ");
    if kind.is_empty() { "str".to_owned() } else { kind }
}

/// Session values that no list decides about. What can't name one at all is refused when the manifest is read.
pub(super) fn check_session(access: Option<&SessionAccess>, findings: &mut Findings) {
    let Some(access) = access else { return };
    for (field, scope) in [("read", &access.read), ("write", &access.write)] {
        let SessionScope::Names(names) = scope else { continue };
        for (position, name) in names.iter().enumerate().filter(|(_, name)| is_reserved(name)) {
            findings.warn(
                Reason::Suspicious,
                format!("spec.session.{field}[{position}]"),
                format!("{name} is the caller's identity: every tool sees it, none can change it"),
                "remove it from the list",
            );
        }
    }
}

/// What the Tool and each of its groups let it read and write.
fn sessions(spec: &ToolSpec, rules: &[GroupRules<'_>]) -> (Vec<SessionScope>, Vec<SessionScope>) {
    let all: Vec<&SessionAccess> =
        spec.session.iter().chain(rules.iter().filter_map(|group| group.spec.session.as_ref())).collect();
    let narrowing = |field: fn(&SessionAccess) -> &SessionScope| {
        all.iter()
            .map(|access| field(access))
            .filter(|scope| **scope != SessionScope::default())
            .cloned()
            .collect()
    };
    (narrowing(|access| &access.read), narrowing(|access| &access.write))
}
