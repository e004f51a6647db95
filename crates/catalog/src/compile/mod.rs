//! Objects to catalog: one pure function, the same for lint, the directory source, the operator and the gateway.
//!
//! ```text
//! ToolGroup ─▶ GroupTable ─┐ rules
//! Tool ────────────────────┴▶ Unit (compiled once, reused while Tool and rules stay) ─▶ membership ─▶ keys ─┐
//! UserGrant ──────────────────────────────────────────────────────────────────────────────▶ targets ────────┴▶ Catalog
//! ```
//!
//! A `Unit` depends on one Tool and its groups' rules; whatever depends on the rest of the objects (which
//! groups there are, who else has the key, which Secrets) is decided again each time, and is cheap.

mod digest;
mod env;
mod finding;
mod grants;
mod groups;
mod limits;
mod lint;
mod names;
mod nearest;
mod params;
mod pod;
mod references;
mod template;
mod text;
mod tool;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use digest::{Bytes, Digester};
pub(crate) use digest::{document_digest, hex};
use finding::{Finding, Findings};
use groups::GroupTable;
pub use limits::{MAX_OUTPUT_BYTES, MAX_TIMEOUT_SECONDS};
pub(crate) use nearest::nearest;
use tool::Unit;

use crate::access::SubjectIndex;
use crate::model::{
    Catalog, CompiledTool, Grant, Group, NamespacedName, ObjectKind, ObjectRef, ObjectSet, Origin, Problem,
    Reason, Severity, Verdict, sort_problems,
};

/// Namespace of the ToolGroups and UserGrants where nobody says otherwise.
pub const DEFAULT_CATALOG_NAMESPACE: &str = "mcc-catalog";

/// Which objects make up the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogSettings {
    /// The namespace whose ToolGroups and UserGrants count.
    pub catalog_namespace: String,
    /// The namespaces whose Tools count, besides the catalog's own; none: all.
    pub tool_namespaces: Option<BTreeSet<String>>,
    /// Whether Secrets and ConfigMaps are among the objects, so that a missing one is a problem.
    pub check_references: bool,
    /// The time at which grants are checked for having ended; none: not checked. It decides about a warning only:
    /// [`Catalog::access`] looks at the clock itself.
    pub now: Option<Timestamp>,
}

impl CatalogSettings {
    /// Settings for manifests of a folder: every namespace counts, Secrets and ConfigMaps are there.
    pub fn directory() -> Self {
        Self {
            catalog_namespace: DEFAULT_CATALOG_NAMESPACE.to_owned(),
            tool_namespaces: None,
            check_references: true,
            now: None,
        }
    }

    /// Settings for a cluster: the kubelet reads Secrets and ConfigMaps.
    pub fn cluster(catalog_namespace: impl Into<String>, tool_namespaces: BTreeSet<String>) -> Self {
        Self {
            catalog_namespace: catalog_namespace.into(),
            tool_namespaces: Some(tool_namespaces),
            check_references: false,
            now: None,
        }
    }

    fn takes_tools_of(&self, namespace: &str) -> bool {
        namespace == self.catalog_namespace
            || self.tool_namespaces.as_ref().is_none_or(|namespaces| namespaces.contains(namespace))
    }
}

impl Default for CatalogSettings {
    fn default() -> Self {
        Self::directory()
    }
}

/// What a compilation cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompileStats {
    /// Tools that were compiled.
    pub compiled: usize,
    /// Tools that were taken over from the previous catalog.
    pub reused: usize,
}

/// What the next compilation may reuse.
#[derive(Debug, Default)]
pub struct Memory {
    units: BTreeMap<NamespacedName, Arc<Unit>>,
}

/// Compiles all objects. Pure: equal objects and settings give equal catalogs, with or without `previous`, from which
/// every tool is taken over that neither changed itself nor through the rules of its groups.
pub fn compile(objects: Arc<ObjectSet>, settings: &CatalogSettings, previous: Option<&Catalog>) -> Catalog {
    let mut report = Report::default();
    let (table, group_findings) = GroupTable::new(&objects, settings);
    let mut stats = CompileStats::default();
    let mut memory = Memory::default();
    let mut candidates = Vec::new();
    for (name, entry) in &objects.tools {
        let object = ObjectRef::new(ObjectKind::Tool, name.clone());
        if !settings.takes_tools_of(&name.namespace) {
            report.outside(object, &entry.origin, "Tools are taken from", &tool_namespaces(settings));
            continue;
        }
        let (unit, reused) =
            Unit::of(name, entry, &table, previous.and_then(|catalog| catalog.memory.units.get(name)));
        *(if reused { &mut stats.reused } else { &mut stats.compiled }) += 1;
        let mut findings = Findings::default();
        table.check_membership(&name.namespace, &entry.object.spec.groups, &mut findings);
        if settings.check_references
            && let Some(tool) = &unit.tool
        {
            references::check(tool, &entry.object.spec, &objects, &mut findings);
        }
        let accepted = unit.tool.clone().filter(|_| !findings.has_errors());
        report.add(object, &entry.origin, unit.findings.iter().chain(&findings.into_vec()));
        if let Some(tool) = accepted {
            let created = entry.object.metadata.creation_timestamp.as_ref().map(|time| time.0);
            candidates.push(Candidate { created, name, origin: &entry.origin, tool });
        }
        memory.units.insert(name.clone(), unit);
    }
    let tools = assign_keys(candidates, &mut report);
    let groups = collect_groups(&objects, settings, &tools, group_findings, &mut report);
    let grants = collect_grants(&objects, settings, &table, &tools, &mut report);
    for (name, kind) in (objects.secrets.keys().map(|name| (name, ObjectKind::Secret)))
        .chain(objects.config_maps.keys().map(|name| (name, ObjectKind::ConfigMap)))
    {
        report.verdict(ObjectRef::new(kind, name.clone())).accepted = true;
    }
    let revision = revision(&objects, settings, &memory);
    let (verdicts, problems) = report.finish();
    Catalog {
        revision,
        tools,
        groups,
        subjects: SubjectIndex::new(&grants),
        grants,
        verdicts,
        problems,
        stats,
        memory,
        objects,
    }
}

/// A Tool without errors of its own, which gets its key unless an older one has it.
struct Candidate<'a> {
    created: Option<Timestamp>,
    name: &'a NamespacedName,
    origin: &'a Origin,
    tool: Arc<CompiledTool>,
}

/// Gives each key to the oldest Tool that wants it: by creation, then namespace and name (DECISIONS 18).
fn assign_keys(
    mut candidates: Vec<Candidate<'_>>,
    report: &mut Report,
) -> BTreeMap<String, Arc<CompiledTool>> {
    candidates.sort_by(|a, b| (a.created, a.name).cmp(&(b.created, b.name)));
    let mut tools: BTreeMap<String, Arc<CompiledTool>> = BTreeMap::new();
    for Candidate { name, origin, tool, .. } in candidates {
        let object = ObjectRef::new(ObjectKind::Tool, name.clone());
        if let Some(holder) = tools.get(&tool.key) {
            let mut findings = Findings::default();
            findings.error(
                Reason::KeyConflict,
                "spec.name",
                format!("the key {} belongs to the Tool {}, which is older", tool.key, holder.object),
                "change name or groups of one of them, or remove one",
            );
            report.add(object, origin, &findings.into_vec());
            continue;
        }
        let verdict = report.verdict(object);
        verdict.accepted = true;
        verdict.key = Some(tool.key.clone());
        tools.insert(tool.key.clone(), tool);
    }
    tools
}

fn collect_groups(
    objects: &ObjectSet,
    settings: &CatalogSettings,
    tools: &BTreeMap<String, Arc<CompiledTool>>,
    mut findings: BTreeMap<&NamespacedName, Vec<Finding>>,
    report: &mut Report,
) -> BTreeMap<String, Arc<Group>> {
    let mut members: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for tool in tools.values() {
        for group in &tool.facets.groups {
            members.entry(group).or_default().push(tool.key.clone());
        }
    }
    let mut groups = BTreeMap::new();
    for (name, entry) in &objects.groups {
        let object = ObjectRef::new(ObjectKind::ToolGroup, name.clone());
        if name.namespace != settings.catalog_namespace {
            report.outside(object, &entry.origin, "ToolGroups are taken from", &settings.catalog_namespace);
            continue;
        }
        let findings = findings.remove(name).unwrap_or_default();
        report.add(object.clone(), &entry.origin, &findings);
        if findings.iter().any(|finding| finding.severity == Severity::Error) {
            continue;
        }
        report.verdict(object).accepted = true;
        let group = Group {
            name: name.name.clone(),
            description: text::clean(&entry.object.spec.description),
            tools: members.remove(name.name.as_str()).unwrap_or_default(),
        };
        groups.insert(name.name.clone(), Arc::new(group));
    }
    groups
}

fn collect_grants(
    objects: &ObjectSet,
    settings: &CatalogSettings,
    table: &GroupTable<'_>,
    tools: &BTreeMap<String, Arc<CompiledTool>>,
    report: &mut Report,
) -> Vec<Arc<Grant>> {
    let targets = grants::Targets::new(table, tools);
    let mut accepted = Vec::new();
    for (name, entry) in &objects.grants {
        let object = ObjectRef::new(ObjectKind::UserGrant, name.clone());
        if name.namespace != settings.catalog_namespace {
            report.outside(object, &entry.origin, "UserGrants are taken from", &settings.catalog_namespace);
            continue;
        }
        let findings = grants::check(&entry.object.spec, &targets, settings);
        let valid = !findings.has_errors();
        report.add(object.clone(), &entry.origin, &findings.into_vec());
        if valid {
            report.verdict(object).accepted = true;
            let created = entry.object.metadata.creation_timestamp.as_ref().map(|time| time.0);
            let grant = Grant { object: name.clone(), spec: entry.object.spec.clone() };
            accepted.push((created, Arc::new(grant)));
        }
    }
    accepted.sort_by(|(a_time, a), (b_time, b)| (a_time, &a.object).cmp(&(b_time, &b.object)));
    accepted.into_iter().map(|(_, grant)| grant).collect()
}

fn tool_namespaces(settings: &CatalogSettings) -> String {
    let mut namespaces: Vec<&str> = settings.tool_namespaces.iter().flatten().map(String::as_str).collect();
    namespaces.push(&settings.catalog_namespace);
    namespaces.join(", ")
}

/// Digest of everything that decides what the catalog is; where in files the objects stand doesn't count.
fn revision(objects: &ObjectSet, settings: &CatalogSettings, memory: &Memory) -> u64 {
    let mut digester = Digester::default().text(&settings.catalog_namespace).json(&settings.tool_namespaces);
    for (name, entry) in &objects.tools {
        let unit: Bytes = memory.units.get(name).map(|unit| unit.digest).unwrap_or_default();
        digester = digester.text(&name.namespace).text(&name.name).bytes(&unit);
        digester = digester.json(&entry.object.metadata.creation_timestamp);
    }
    for (name, entry) in &objects.groups {
        digester = digester.text("ToolGroup").text(&name.namespace).text(&name.name).json(&entry.object.spec);
    }
    for (name, entry) in &objects.grants {
        digester = digester.text("UserGrant").text(&name.namespace).text(&name.name).json(&entry.object.spec);
        digester = digester.json(&entry.object.metadata.creation_timestamp);
    }
    for (name, secret) in &objects.secrets {
        digester = digester.text("Secret").text(&name.namespace).text(&name.name);
        digester = digester.json(&secret.data).json(&secret.string_data);
    }
    for (name, map) in &objects.config_maps {
        digester = digester.text("ConfigMap").text(&name.namespace).text(&name.name);
        digester = digester.json(&map.data).json(&map.binary_data);
    }
    let digest = digester.json(&objects.namespaces).finish();
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Verdicts and problems as they are found.
#[derive(Default)]
struct Report {
    verdicts: BTreeMap<ObjectRef, Verdict>,
}

impl Report {
    fn verdict(&mut self, object: ObjectRef) -> &mut Verdict {
        self.verdicts.entry(object).or_default()
    }

    fn add<'a>(
        &mut self,
        object: ObjectRef,
        origin: &Origin,
        findings: impl IntoIterator<Item = &'a Finding>,
    ) {
        let problems: Vec<Problem> =
            findings.into_iter().map(|finding| finding.locate(&object, origin)).collect();
        self.verdict(object).problems.extend(problems);
    }

    fn outside(&mut self, object: ObjectRef, origin: &Origin, taken: &str, namespaces: &str) {
        let mut findings = Findings::default();
        findings.warn(
            Reason::OutsideCatalog,
            "metadata.namespace",
            format!(
                "the object counts for nothing in namespace {}: {taken} {namespaces}",
                object.name.namespace
            ),
            "move it there, or change the program's namespaces",
        );
        self.add(object, origin, &findings.into_vec());
    }

    /// All verdicts, and all problems in the order of files and lines; those without a place by object, last.
    fn finish(mut self) -> (BTreeMap<ObjectRef, Verdict>, Vec<Problem>) {
        for verdict in self.verdicts.values_mut() {
            verdict.problems.sort_by(|a, b| a.severity.cmp(&b.severity).then_with(|| a.place.cmp(&b.place)));
        }
        let mut problems: Vec<Problem> =
            self.verdicts.values().flat_map(|verdict| verdict.problems.iter().cloned()).collect();
        sort_problems(&mut problems);
        (self.verdicts, problems)
    }
}

#[cfg(test)]
mod tests;
