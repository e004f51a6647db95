//! Random objects and callers, from few names, so that they meet.

use proptest::prelude::*;

/// Groups that manifests, grants and callers draw from; the last ones aren't always declared.
const GROUPS: [&str; 5] = ["a", "b", "c", "public", "admin"];

/// One object of a random catalog.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// Kind, namespace and name: a second document of the same replaces the first.
    pub id: String,
    pub yaml: String,
}

fn group_list() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::sample::subsequence(GROUPS.to_vec(), 0..4).prop_shuffle()
}

fn namespace() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec!["mcc-catalog", "mcc-catalog", "mcc-catalog", "tools"])
}

pub(super) fn tool() -> impl Strategy<Value = Document> {
    (0..8_u8, group_list(), namespace(), 0..4_u8, proptest::option::of(0..3_u8), any::<bool>()).prop_map(
        |(number, groups, namespace, variant, age, secret)| {
            let created = age.map_or_else(String::new, |age| format!(", creationTimestamp: '2026-01-0{}T00:00:00Z'", age + 1));
            let env = if secret { ", env: [{name: K, valueFrom: {secretKeyRef: {name: s, key: k}}}]" } else { "" };
            // Two objects of one name in different namespaces want one key.
            Document {
                id: format!("Tool/{namespace}/t{number}"),
                yaml: format!(
                    "kind: Tool\nmetadata: {{name: t{number}, namespace: {namespace}{created}}}\n\
                     spec: {{name: n{}, groups: {groups:?}, description: v{variant}, shell: {{script: 'echo {variant}'}}{env}}}\n",
                    number % 4
                ),
            }
        },
    )
}

pub(super) fn group() -> impl Strategy<Value = Document> {
    (proptest::sample::select(GROUPS.to_vec()), any::<bool>(), 0..4_u8).prop_map(|(name, open, variant)| {
        let allowed = if open { "allowedNamespaces: {from: All}, " } else { "" };
        let defaults = match variant {
            0 => "",
            1 => "defaults: {image: 'x/y:1'}",
            2 => "defaults: {env: [{name: K, value: v}]}",
            _ => "defaults: {env: [{name: MCC_BAD, value: v}]}",
        };
        Document {
            id: format!("ToolGroup/{name}"),
            yaml: format!("kind: ToolGroup\nmetadata: {{name: {name}}}\nspec: {{{allowed}{defaults}}}\n"),
        }
    })
}

pub(super) fn grant() -> impl Strategy<Value = Document> {
    let subject = proptest::sample::select(vec![
        "{name: alice}",
        "{name: bob}",
        "{kind: Group, name: staff}",
        "{kind: Group, name: alice}",
        "{kind: ServiceAccount, name: alice, namespace: ci}",
    ]);
    let targets =
        proptest::sample::subsequence(vec!["a", "b", "admin", "a.*", "a.b.*", "public.a.*", "b.*"], 0..3);
    let keys = proptest::sample::subsequence(vec!["a.n1", "n0", "admin.n2", "b.c.n3", "ghost"], 0..3);
    let end = proptest::option::of(1..5_u8);
    (0..6_u8, subject, targets, keys, end).prop_map(|(number, subject, groups, tools, end)| {
        let end = end.map_or_else(String::new, |month| format!(", expiresAt: '2026-0{month}-01T00:00:00Z'"));
        Document {
            id: format!("UserGrant/u{number}"),
            yaml: format!(
                "kind: UserGrant\nmetadata: {{name: u{number}}}\nspec: {{subject: {subject}, groups: {groups:?}, tools: {tools:?}{end}}}\n"
            ),
        }
    })
}

fn secret() -> impl Strategy<Value = Document> {
    any::<bool>().prop_map(|right| Document {
        id: "Secret/s".to_owned(),
        yaml: format!(
            "kind: Secret\nmetadata: {{name: s}}\nstringData: {{{}: v}}\n",
            if right { "k" } else { "other" }
        ),
    })
}

/// Any document.
pub(super) fn document() -> impl Strategy<Value = Document> {
    prop_oneof![6 => tool(), 4 => group(), 3 => grant(), 1 => secret()]
}

/// All documents, the later of one id in place of the earlier.
pub(super) fn joined<'a>(documents: impl IntoIterator<Item = &'a Document>) -> String {
    let by_id: std::collections::BTreeMap<&str, &str> =
        documents.into_iter().map(|document| (document.id.as_str(), document.yaml.as_str())).collect();
    by_id.values().copied().collect::<Vec<_>>().join("---\n")
}
