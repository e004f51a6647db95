//! The groups of a catalog: which there are, and which namespaces may put Tools into them.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use mcc_crds::v1alpha1::{AllowedNamespaces, NamespacesFrom, ToolGroupSpec};

use super::digest::{Bytes, Digester};
use super::finding::{Finding, Findings};
use super::{CatalogSettings, env, limits, names, pod, tool};
use crate::model::{ADMIN, NamespacedName, ObjectSet, PUBLIC, Reason};

/// The groups that Tools may name.
pub(super) struct GroupTable<'a> {
    by_name: BTreeMap<&'a str, GroupEntry<'a>>,
    namespaces: &'a BTreeMap<String, BTreeMap<String, String>>,
    catalog_namespace: &'a str,
}

/// One group that may be named.
struct GroupEntry<'a> {
    /// None for `public` and `admin` where nobody declared them.
    spec: Option<&'a ToolGroupSpec>,
    /// Whether the object, if there is one, has no errors.
    valid: bool,
    digest: Bytes,
}

/// What a group gives its Tools and asks of them.
#[derive(Clone, Copy)]
pub(super) struct GroupRules<'a> {
    pub name: &'a str,
    pub spec: &'a ToolGroupSpec,
}

/// Whether a group is built in. A ToolGroup of its name sets `allowedNamespaces` only.
pub(super) fn is_builtin(name: &str) -> bool {
    name == PUBLIC || name == ADMIN
}

impl<'a> GroupTable<'a> {
    /// The table of these objects, and what is wrong with each declared group.
    pub fn new(
        objects: &'a ObjectSet,
        settings: &'a CatalogSettings,
    ) -> (Self, BTreeMap<&'a NamespacedName, Vec<Finding>>) {
        let mut by_name: BTreeMap<&str, GroupEntry<'_>> = [PUBLIC, ADMIN]
            .into_iter()
            .map(|name| (name, GroupEntry { spec: None, valid: true, digest: Bytes::default() }))
            .collect();
        let mut findings = BTreeMap::new();
        for (name, entry) in &objects.groups {
            if name.namespace != settings.catalog_namespace {
                continue;
            }
            let spec = &entry.object.spec;
            let found = check(&name.name, spec);
            let valid = !found.has_errors();
            let digest = if is_builtin(&name.name) { Bytes::default() } else { rules_digest(spec) };
            by_name.insert(&name.name, GroupEntry { spec: Some(spec), valid, digest });
            findings.insert(name, found.into_vec());
        }
        let table =
            Self { by_name, namespaces: &objects.namespaces, catalog_namespace: &settings.catalog_namespace };
        (table, findings)
    }

    /// Whether there is such a group.
    pub fn exists(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// At most one name that looks like this one.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        super::nearest(name, self.by_name.keys().copied(), 1).into_iter().next()
    }

    /// The rules of those of `declared` that are there and not built in, in order.
    pub fn rules(&self, declared: &[String]) -> Vec<GroupRules<'a>> {
        declared
            .iter()
            .filter(|name| !is_builtin(name))
            .filter_map(|name| {
                let (name, entry) = self.by_name.get_key_value(name.as_str())?;
                entry.spec.map(|spec| GroupRules { name, spec })
            })
            .collect()
    }

    /// Digests of the rules of the declared groups: what a Tool's compilation depends on besides itself.
    pub fn digests(&self, declared: &[String]) -> Vec<Option<Bytes>> {
        declared.iter().map(|name| self.by_name.get(name.as_str()).map(|entry| entry.digest)).collect()
    }

    /// Whether a Tool of `namespace` may be in the groups it declares.
    pub fn check_membership(&self, namespace: &str, declared: &[String], findings: &mut Findings) {
        if declared.is_empty() && namespace != self.catalog_namespace {
            findings.error(
                Reason::NamespaceNotAllowed,
                "spec.groups",
                format!("a Tool without groups is accepted from namespace {} only", self.catalog_namespace),
                "name a group that allows this namespace",
            );
        }
        for (position, group) in declared.iter().enumerate() {
            let path = format!("spec.groups[{position}]");
            let Some(entry) = self.by_name.get(group.as_str()) else {
                self.missing(group, path, findings);
                continue;
            };
            if !entry.valid {
                findings.error(
                    Reason::GroupNotFound,
                    path,
                    format!("the ToolGroup {group} is declared, but has errors itself"),
                    "correct the ToolGroup",
                );
            } else if !self.allows(entry, namespace) {
                findings.error(
                    Reason::NamespaceNotAllowed,
                    path,
                    format!("group {group} doesn't accept Tools of namespace {namespace}"),
                    self.allow_fix(group, namespace, entry.spec.is_some()),
                );
            }
        }
    }

    fn missing(&self, group: &str, path: String, findings: &mut Findings) {
        let fix = match self.nearest(group) {
            Some(near) => format!("did you mean {near}? else declare a ToolGroup {group}"),
            None => format!("declare a ToolGroup {group}"),
        };
        findings.error(
            Reason::GroupNotFound,
            path,
            format!("there is no ToolGroup {group} in namespace {}", self.catalog_namespace),
            format!("{fix} in namespace {}", self.catalog_namespace),
        );
    }

    fn allow_fix(&self, group: &str, namespace: &str, declared: bool) -> String {
        let which = if declared { "the ToolGroup" } else { "a ToolGroup of this name" };
        format!(
            "set spec.allowedNamespaces of {which} ({}/{group}) to {{from: All}}, or to a selector that matches {namespace}",
            self.catalog_namespace
        )
    }

    fn allows(&self, entry: &GroupEntry<'_>, namespace: &str) -> bool {
        let same = namespace == self.catalog_namespace;
        let Some(AllowedNamespaces { from, selector }) =
            entry.spec.and_then(|spec| spec.allowed_namespaces.as_ref())
        else {
            return same;
        };
        match from {
            NamespacesFrom::Same => same,
            NamespacesFrom::All => true,
            NamespacesFrom::Selector => {
                let labels = self.namespaces.get(namespace);
                selector.as_ref().is_some_and(|selector| matches(selector, namespace, labels))
            }
        }
    }
}

/// What is wrong with a ToolGroup.
fn check(name: &str, spec: &ToolGroupSpec) -> Findings {
    let mut findings = Findings::default();
    if !names::is_label(name) {
        findings.error(
            Reason::InvalidField,
            "metadata.name",
            format!("group name {name:?} is not a DNS label"),
            format!(
                "use lower-case letters, digits and hyphens, at most 63, no dot: {}",
                names::as_label(name)
            ),
        );
    }
    check_namespaces(spec, &mut findings);
    if is_builtin(name) {
        for (path, given) in [
            ("spec.defaults", spec.defaults.is_some()),
            ("spec.allowed", spec.allowed.is_some()),
            ("spec.session", spec.session.is_some()),
        ] {
            if given {
                findings.warn(
                    Reason::Suspicious,
                    path,
                    format!("counts for nothing: a ToolGroup {name} sets allowedNamespaces only"),
                    "put it into a group of your own and name that in the Tools too",
                );
            }
        }
        return findings;
    }
    tool::check_session(spec.session.as_ref(), &mut findings);
    if let Some(defaults) = &spec.defaults {
        env::check(&defaults.env, &defaults.env_from, "spec.defaults", &mut findings);
        if let Some(given) = &defaults.limits {
            limits::check(given, "spec.defaults.limits", &mut findings);
        }
        if let Some(pod) = &defaults.pod {
            pod::check(pod, "spec.defaults.pod", &mut findings);
        }
    }
    if let Some(allowed) = &spec.allowed {
        if let Some(most) = &allowed.max_limits {
            limits::check(most, "spec.allowed.maxLimits", &mut findings);
        }
        for (position, prefix) in allowed.image_prefixes.iter().enumerate().filter(|(_, p)| !p.contains('/'))
        {
            findings.warn(
                Reason::Suspicious,
                format!("spec.allowed.imagePrefixes[{position}]"),
                format!(
                    "{prefix} also allows registries whose name only begins so, such as {prefix}.example.com"
                ),
                format!("end it with a slash: {prefix}/"),
            );
        }
    }
    findings
}

fn check_namespaces(spec: &ToolGroupSpec, findings: &mut Findings) {
    let Some(AllowedNamespaces { from, selector }) = &spec.allowed_namespaces else { return };
    match (from, selector) {
        (NamespacesFrom::Selector, None) => findings.error(
            Reason::InvalidField,
            "spec.allowedNamespaces.selector",
            "from: Selector needs a selector",
            "give the labels of the namespaces: selector: {matchLabels: {…}}",
        ),
        (NamespacesFrom::Same | NamespacesFrom::All, Some(_)) => findings.warn(
            Reason::Suspicious,
            "spec.allowedNamespaces.selector",
            "the selector counts for nothing without from: Selector",
            "write from: Selector, or remove the selector",
        ),
        _ => {}
    }
    let expressions = selector.iter().flat_map(|selector| selector.match_expressions.iter().flatten());
    for (position, expression) in expressions.enumerate() {
        let fault = match (expression.operator.as_str(), expression.values.as_deref().unwrap_or_default()) {
            ("In" | "NotIn", []) => "needs values",
            ("Exists" | "DoesNotExist", [_, ..]) => "takes no values",
            ("In" | "NotIn" | "Exists" | "DoesNotExist", _) => continue,
            _ => "is not an operator",
        };
        findings.error(
            Reason::InvalidField,
            format!("spec.allowedNamespaces.selector.matchExpressions[{position}]"),
            format!("{} {fault}", expression.operator),
            "use In or NotIn with values, Exists or DoesNotExist without",
        );
    }
}

/// Whether a selector matches a namespace. Its name is always a label, as in a cluster.
fn matches(selector: &LabelSelector, namespace: &str, labels: Option<&BTreeMap<String, String>>) -> bool {
    let label = |key: &str| {
        let given = labels.and_then(|labels| labels.get(key)).map(String::as_str);
        given.or((key == "kubernetes.io/metadata.name").then_some(namespace))
    };
    let equal = |(key, value): (&String, &String)| label(key) == Some(value.as_str());
    let holds = |LabelSelectorRequirement { key, operator, values }: &LabelSelectorRequirement| {
        let listed = |value: &str| values.iter().flatten().any(|listed| listed == value);
        match (operator.as_str(), label(key)) {
            ("In", Some(value)) => listed(value),
            ("NotIn", Some(value)) => !listed(value),
            ("NotIn" | "DoesNotExist", None) | ("Exists", Some(_)) => true,
            _ => false,
        }
    };
    selector.match_labels.iter().flatten().all(equal)
        && selector.match_expressions.iter().flatten().all(holds)
}

/// Digest of what a group decides about its Tools.
fn rules_digest(spec: &ToolGroupSpec) -> Bytes {
    Digester::default().json(&spec.defaults).json(&spec.allowed).json(&spec.session).finish()
}
