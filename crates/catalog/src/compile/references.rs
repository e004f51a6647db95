//! Secrets and ConfigMaps that an environment names.

use k8s_openapi::api::core::v1::{EnvFromSource, EnvVar};
use mcc_crds::v1alpha1::ToolSpec;

use super::finding::Findings;
use crate::model::{CompiledTool, NamespacedName, ObjectKind, ObjectSet, Reason};

/// Warns of what the tool's environment names and the folder doesn't have. A group's defaults are read in the
/// namespace of the Tool, like its own.
pub(super) fn check(tool: &CompiledTool, spec: &ToolSpec, objects: &ObjectSet, findings: &mut Findings) {
    let lookup = Lookup { namespace: &tool.object.namespace, objects };
    for EnvVar { name, value_from, .. } in &tool.env {
        let Some(source) = value_from else { continue };
        // What isn't the Tool's own comes from one of its groups.
        let own = spec.env.iter().position(|variable| variable.name == *name);
        let path = own.map_or_else(|| "spec.groups".to_owned(), |position| format!("spec.env[{position}]"));
        if let Some(secret) = &source.secret_key_ref
            && secret.optional != Some(true)
        {
            lookup.key(ObjectKind::Secret, &secret.name, &secret.key, &path, findings);
        }
        if let Some(map) = &source.config_map_key_ref
            && map.optional != Some(true)
        {
            lookup.key(ObjectKind::ConfigMap, &map.name, &map.key, &path, findings);
        }
    }
    for EnvFromSource { config_map_ref, secret_ref, .. } in &tool.env_from {
        if let Some(secret) = secret_ref
            && secret.optional != Some(true)
        {
            lookup.object(ObjectKind::Secret, &secret.name, "spec.envFrom", findings);
        }
        if let Some(map) = config_map_ref
            && map.optional != Some(true)
        {
            lookup.object(ObjectKind::ConfigMap, &map.name, "spec.envFrom", findings);
        }
    }
}

struct Lookup<'a> {
    namespace: &'a str,
    objects: &'a ObjectSet,
}

impl Lookup<'_> {
    fn object(&self, kind: ObjectKind, name: &str, path: &str, findings: &mut Findings) -> bool {
        let full = NamespacedName::new(self.namespace, name);
        let there = match kind {
            ObjectKind::Secret => self.objects.secrets.contains_key(&full),
            _ => self.objects.config_maps.contains_key(&full),
        };
        if !there {
            findings.warn(
                Reason::ReferenceNotFound,
                path,
                format!("there is no {kind} {full}, so the tool can't run"),
                format!(
                    "add its manifest to the folder{}, or mark the reference optional: true",
                    from_file(kind, name)
                ),
            );
        }
        there
    }

    fn key(&self, kind: ObjectKind, name: &str, key: &str, path: &str, findings: &mut Findings) {
        if !self.object(kind, name, path, findings) {
            return;
        }
        let full = NamespacedName::new(self.namespace, name);
        let there = match kind {
            ObjectKind::Secret => self.objects.secrets.get(&full).is_some_and(|secret| {
                secret.data.iter().flatten().any(|(name, _)| name == key)
                    || secret.string_data.iter().flatten().any(|(name, _)| name == key)
            }),
            _ => self.objects.config_maps.get(&full).is_some_and(|map| {
                map.data.iter().flatten().any(|(name, _)| name == key)
                    || map.binary_data.iter().flatten().any(|(name, _)| name == key)
            }),
        };
        if !there {
            findings.warn(
                Reason::ReferenceNotFound,
                path,
                format!("the {kind} {full} has no key {key}, so the tool can't run"),
                "add the key, or mark the reference optional: true",
            );
        }
    }
}

fn from_file(kind: ObjectKind, name: &str) -> String {
    if kind == ObjectKind::Secret { format!(", give --secret {name}=FILE.env") } else { String::new() }
}
