//! Pod settings and images: a Tool's own over its groups' defaults, within what the groups allow.

use std::collections::BTreeMap;

use mcc_crds::v1alpha1::{GroupAllowed, GroupDefaults, PodSettings};

use super::finding::Findings;
use super::groups::GroupRules;
use crate::model::Reason;

/// Checks labels and annotations below `path`: those of the system and of mcc are not for Tools to set.
pub(super) fn check(pod: &PodSettings, path: &str, findings: &mut Findings) {
    for (field, map) in [("labels", &pod.labels), ("annotations", &pod.annotations)] {
        for name in map.keys().filter(|name| is_reserved(name)) {
            findings.error(
                Reason::InvalidField,
                format!("{path}.{field}"),
                format!("{name}: names under mcc.dev/ and kubernetes.io/ can't be set by Tools and groups"),
                "choose a prefix of your own",
            );
        }
    }
}

/// Whether a label or an annotation belongs to Kubernetes or to mcc, subdomains (`app.kubernetes.io`) included.
fn is_reserved(name: &str) -> bool {
    let Some((prefix, _)) = name.split_once('/') else { return false };
    ["mcc.dev", "kubernetes.io", "k8s.io"]
        .iter()
        .any(|owned| prefix == *owned || prefix.strip_suffix(owned).is_some_and(|rest| rest.ends_with('.')))
}

/// The groups' pod settings under the Tool's own, field by field, maps and lists included.
pub(super) fn merge(own: Option<&PodSettings>, groups: &[GroupRules<'_>]) -> PodSettings {
    let all: Vec<&PodSettings> = own
        .into_iter()
        .chain(groups.iter().filter_map(|group| group.spec.defaults.as_ref()?.pod.as_ref()))
        .collect();
    let map = |field: fn(&PodSettings) -> &BTreeMap<String, String>| {
        let mut merged = BTreeMap::new();
        for (name, value) in all.iter().flat_map(|pod| field(pod)) {
            merged.entry(name.clone()).or_insert_with(|| value.clone());
        }
        merged
    };
    PodSettings {
        service_account_name: all.iter().find_map(|pod| pod.service_account_name.clone()),
        node_selector: map(|pod| &pod.node_selector),
        tolerations: all
            .iter()
            .map(|pod| &pod.tolerations)
            .find(|list| !list.is_empty())
            .cloned()
            .unwrap_or_default(),
        runtime_class_name: all.iter().find_map(|pod| pod.runtime_class_name.clone()),
        image_pull_secrets: all
            .iter()
            .map(|pod| &pod.image_pull_secrets)
            .find(|list| !list.is_empty())
            .cloned()
            .unwrap_or_default(),
        labels: map(|pod| &pod.labels),
        annotations: map(|pod| &pod.annotations),
    }
}

/// The image of a Tool: its own, else that of the first group that names one.
pub(super) fn image(own: Option<&String>, groups: &[GroupRules<'_>]) -> Option<String> {
    own.or_else(|| groups.iter().find_map(|group| group.spec.defaults.as_ref()?.image.as_ref())).cloned()
}

/// Checks what a Tool's pods would be against each of its groups. What a group sets by default it also allows.
pub(super) fn check_allowed(
    pod: &PodSettings,
    image: Option<(&str, &str)>,
    groups: &[GroupRules<'_>],
    findings: &mut Findings,
) {
    let account = pod.service_account_name.as_deref().filter(|name| *name != "default");
    if let (Some(account), []) = (account, groups) {
        findings.error(
            Reason::NotAllowedByGroup,
            "spec.pod.serviceAccountName",
            format!("{account}: a Tool without a declared group may use the default ServiceAccount only"),
            "name a group whose spec.allowed.serviceAccounts lists it",
        );
    }
    let nothing = (GroupAllowed::default(), GroupDefaults::default());
    for group in groups {
        let allowed = group.spec.allowed.as_ref().unwrap_or(&nothing.0);
        let defaults = group.spec.defaults.as_ref().unwrap_or(&nothing.1);
        let default_pod = defaults.pod.as_ref();
        let mut refuse = |path: &str, value: &str, list: &str| {
            findings.error(
                Reason::NotAllowedByGroup,
                path,
                format!("{value} is not allowed by group {}", group.name),
                format!("remove it, or add it to spec.allowed.{list} of the ToolGroup {}", group.name),
            );
        };
        let by_default =
            |field: fn(&PodSettings) -> Option<&String>| default_pod.and_then(field).map(String::as_str);
        if let Some(account) = account
            && !allowed.service_accounts.iter().any(|name| name == account)
            && by_default(|pod| pod.service_account_name.as_ref()) != Some(account)
        {
            refuse("spec.pod.serviceAccountName", account, "serviceAccounts");
        }
        if let Some(class) = pod.runtime_class_name.as_deref()
            && !allowed.runtime_classes.iter().any(|name| name == class)
            && by_default(|pod| pod.runtime_class_name.as_ref()) != Some(class)
        {
            refuse("spec.pod.runtimeClassName", class, "runtimeClasses");
        }
        for (key, value) in &pod.node_selector {
            let default = default_pod.and_then(|pod| pod.node_selector.get(key));
            if !allowed.node_selector_keys.contains(key) && default != Some(value) {
                refuse("spec.pod.nodeSelector", key, "nodeSelectorKeys");
            }
        }
        if let Some((path, image)) = image
            && !allowed.image_prefixes.is_empty()
            && !allowed.image_prefixes.iter().any(|prefix| image.starts_with(prefix.as_str()))
            && defaults.image.as_deref() != Some(image)
        {
            refuse(path, image, "imagePrefixes");
        }
    }
}
