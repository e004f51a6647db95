//! UserGrants, checked against the tools and groups there are.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcc_crds::v1alpha1::{SubjectKind, UserGrantSpec};

use super::finding::Findings;
use super::groups::{GroupTable, is_builtin};
use super::{CatalogSettings, names};
use crate::model::{CompiledTool, Reason};

/// Most missing keys for which a similar one is looked up: it costs a pass over all tools.
const SUGGESTIONS: usize = 50;

/// What a grant may name.
pub(super) struct Targets<'a> {
    groups: &'a GroupTable<'a>,
    tools: &'a BTreeMap<String, Arc<CompiledTool>>,
    prefixes: BTreeSet<&'a str>,
    suggestions: Cell<usize>,
}

impl<'a> Targets<'a> {
    pub fn new(groups: &'a GroupTable<'a>, tools: &'a BTreeMap<String, Arc<CompiledTool>>) -> Self {
        let prefixes = tools.values().flat_map(|tool| &tool.facets.prefixes).map(String::as_str).collect();
        Self { groups, tools, prefixes, suggestions: Cell::new(SUGGESTIONS) }
    }
}

/// What is wrong with a grant.
pub(super) fn check(spec: &UserGrantSpec, targets: &Targets<'_>, settings: &CatalogSettings) -> Findings {
    let mut findings = Findings::default();
    check_subject(spec, &mut findings);
    for (position, group) in spec.groups.iter().enumerate() {
        check_group(group, format!("spec.groups[{position}]"), targets, &mut findings);
    }
    for (position, key) in spec.tools.iter().enumerate() {
        check_tool(key, format!("spec.tools[{position}]"), targets, &mut findings);
    }
    if spec.groups.is_empty() && spec.tools.is_empty() {
        findings.warn(Reason::Suspicious, "spec", "the grant names nothing", "name groups or tools");
    }
    if let (Some(now), Some(end)) = (settings.now, &spec.expires_at)
        && end.0 <= now
    {
        findings.warn(
            Reason::GrantExpired,
            "spec.expiresAt",
            format!("the grant ended at {}", end.0),
            "remove it, or set a later time",
        );
    }
    findings
}

fn check_subject(spec: &UserGrantSpec, findings: &mut Findings) {
    let subject = &spec.subject;
    if subject.name.is_empty() {
        findings.error(Reason::InvalidField, "spec.subject.name", "the subject has no name", "name it");
    }
    match (subject.kind, &subject.namespace) {
        (SubjectKind::ServiceAccount, None) => findings.error(
            Reason::InvalidField,
            "spec.subject.namespace",
            "a ServiceAccount is known by namespace and name",
            "give its namespace",
        ),
        (SubjectKind::User | SubjectKind::Group, Some(_)) => findings.error(
            Reason::InvalidField,
            "spec.subject.namespace",
            "only a ServiceAccount has a namespace",
            "remove it, or write kind: ServiceAccount",
        ),
        _ => {}
    }
    if subject.kind == SubjectKind::User && subject.name.starts_with("system:serviceaccount:") {
        findings.warn(
            Reason::Suspicious,
            "spec.subject",
            format!("{} is no User", subject.name),
            "write kind: ServiceAccount with its namespace and name",
        );
    }
}

fn check_group(group: &str, path: String, targets: &Targets<'_>, findings: &mut Findings) {
    if let Some(prefix) = group.strip_suffix('*') {
        let labels = prefix.strip_suffix('.').unwrap_or_default();
        if labels.is_empty() || !labels.split('.').all(names::is_label) {
            findings.error(
                Reason::InvalidField,
                path,
                format!("{group} is not a wildcard grant"),
                "write at least one group, then .* at the end: osint.gov.* (every tool: the group admin)",
            );
        } else if is_builtin(labels) {
            findings.error(
                Reason::InvalidField,
                path,
                format!("{group} can't be granted"),
                format!("write {labels}, if that is meant"),
            );
        } else if !targets.prefixes.contains(labels) {
            findings.warn(
                Reason::GrantTargetNotFound,
                path,
                format!("no tool's groups begin {}", labels.replace('.', ", ")),
                "it counts once there is one; the groups are compared in the order in which the Tool declares them",
            );
        }
    } else if !names::is_label(group) {
        findings.error(
            Reason::InvalidField,
            path,
            format!("{group:?} can't name a group"),
            "use one group's name, or groups joined by dots that end in .*",
        );
    } else if !targets.groups.exists(group) {
        let fix =
            targets.groups.nearest(group).map_or_else(String::new, |near| format!("did you mean {near}? "));
        findings.warn(
            Reason::GrantTargetNotFound,
            path,
            format!("there is no ToolGroup {group}"),
            format!("{fix}it counts once there is one"),
        );
    }
}

fn check_tool(key: &str, path: String, targets: &Targets<'_>, findings: &mut Findings) {
    if targets.tools.contains_key(key) {
        return;
    }
    let left = targets.suggestions.get();
    targets.suggestions.set(left.saturating_sub(1));
    let near =
        if left == 0 { Vec::new() } else { super::nearest(key, targets.tools.keys().map(String::as_str), 1) };
    let fix = match near.first() {
        _ if key.contains('*') => "wildcards are written under groups".to_owned(),
        Some(near) => format!("did you mean {near}? it counts once there is one"),
        None => "it counts once there is one".to_owned(),
    };
    findings.warn(Reason::GrantTargetNotFound, path, format!("there is no tool with the key {key}"), fix);
}
