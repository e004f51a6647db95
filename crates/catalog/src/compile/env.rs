//! Environment variables of Tools and groups.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{EnvFromSource, EnvVar};

use super::finding::Findings;
use super::groups::GroupRules;
use super::names;
use crate::model::Reason;

/// Checks the variables below `base` (`spec` or `spec.defaults`).
pub(super) fn check(env: &[EnvVar], env_from: &[EnvFromSource], base: &str, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for (position, variable) in env.iter().enumerate() {
        let path = format!("{base}.env[{position}].name");
        let name = variable.name.as_str();
        if name.starts_with("MCC_") {
            findings.error(
                Reason::InvalidField,
                path,
                format!("{name}: variables that begin with MCC_ are the program's own"),
                "choose another name",
            );
        } else if name.is_empty() || name.contains('=') || name.chars().any(char::is_control) {
            findings.error(
                Reason::InvalidField,
                path,
                format!("{name:?} can't name an environment variable"),
                "use letters, digits and underscores, not beginning with a digit",
            );
        } else if !names::is_variable(name) {
            findings.warn(
                Reason::Suspicious,
                path,
                format!("no shell can read a variable called {name}"),
                "use letters, digits and underscores, not beginning with a digit",
            );
        } else if !seen.insert(name) {
            findings.warn(
                Reason::Suspicious,
                path,
                format!("{name} is set twice, the last one counts"),
                "remove one of them",
            );
        }
        if variable.value.as_ref().is_some_and(|value| value.contains('\0')) {
            findings.error(
                Reason::InvalidField,
                format!("{base}.env[{position}].value"),
                "contains the character U+0000, which no environment variable can hold",
                "remove it",
            );
        }
    }
    for (position, source) in env_from.iter().enumerate() {
        if source.config_map_ref.is_none() && source.secret_ref.is_none() {
            findings.error(
                Reason::InvalidField,
                format!("{base}.envFrom[{position}]"),
                "names neither a Secret nor a ConfigMap",
                "give secretRef or configMapRef",
            );
        }
        if source.prefix.as_ref().is_some_and(|prefix| prefix.starts_with("MCC_")) {
            findings.error(
                Reason::InvalidField,
                format!("{base}.envFrom[{position}].prefix"),
                "variables that begin with MCC_ are the program's own",
                "choose another prefix",
            );
        }
    }
}

/// The groups' variables under the Tool's own: in declared order, the first of a name wins.
///
/// Group variables come first in the list, so that the Tool's own may refer to them by `$(NAME)`.
pub(super) fn merge(own: &[EnvVar], groups: &[GroupRules<'_>]) -> Vec<EnvVar> {
    let mut taken: BTreeSet<&str> = own.iter().map(|variable| variable.name.as_str()).collect();
    let mut merged = Vec::new();
    for defaults in groups.iter().filter_map(|group| group.spec.defaults.as_ref()) {
        for variable in &defaults.env {
            if taken.insert(&variable.name) {
                merged.push(variable.clone());
            }
        }
    }
    merged.extend(own.iter().cloned());
    merged
}

/// The sources of all: the Tool's last, because the last source of a name wins; so of two groups the first declared
/// comes after the second.
pub(super) fn merge_sources(own: &[EnvFromSource], groups: &[GroupRules<'_>]) -> Vec<EnvFromSource> {
    let defaults = groups.iter().rev().filter_map(|group| group.spec.defaults.as_ref());
    defaults.flat_map(|defaults| &defaults.env_from).chain(own).cloned().collect()
}
