//! Manifests that are right, in every form kubectl takes.

use serde_json::{Value, json};

use super::super::{Object, parse};
use super::{show, tool, yaml};

const SEARCH: &str = "\
apiVersion: mcc.dev/v1alpha1
kind: Tool
metadata:
  name: search
spec:
  groups: [academic]
  params:
  - {name: query, type: str}
  - name: limit
    type: int
    default: 10
  shell:
    script: |
      echo {{ query }}
";

#[test]
fn fields_know_their_places() {
    let parsed = yaml(SEARCH);
    assert!(parsed.problems.is_empty(), "{}", show(&parsed));
    let origin = &parsed.objects[0].origin;
    let at = |path: &str| origin.place(path).map(|p| (p.line, p.column)).unwrap();
    assert_eq!(at(""), (1, 1));
    assert_eq!(at("kind"), (2, 7));
    assert_eq!(at("spec.groups[0]"), (6, 12));
    assert_eq!(at("spec.params[0].type"), (8, 25));
    assert_eq!(at("spec.params[1]"), (9, 5));
    assert_eq!(at("spec.params[1].default"), (11, 14));
    assert_eq!(at("spec.params[1].maximum"), (9, 5));
    assert_eq!(at("spec.shell.script"), (14, 7));
    assert_eq!(origin.start.as_ref().unwrap().to_string(), "f.yaml:1:1");
}

#[test]
fn the_namespace_defaults_to_the_catalog() {
    assert_eq!(tool(SEARCH).metadata.namespace.as_deref(), Some("mcc-catalog"));
    let other = SEARCH.replace("name: search", "name: search\n  namespace: x");
    assert_eq!(tool(&other).metadata.namespace.as_deref(), Some("x"));
}

#[test]
fn json_yaml_lists_and_documents_are_the_same() {
    let one = tool(SEARCH);
    let as_json = serde_json::to_string_pretty(&*one).unwrap();
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {}", serde_json::to_string(&*one).unwrap());
    let windows = SEARCH.replace('\n', "\r\n");
    let forms: Vec<(&str, Vec<u8>)> = vec![
        ("f.json", as_json.clone().into_bytes()),
        ("f.yaml", as_json.into_bytes()),
        ("f.yaml", list.into_bytes()),
        ("f.yaml", windows.into_bytes()),
        ("f.yaml", format!("\u{feff}{SEARCH}").into_bytes()),
        ("f.yaml", format!("# c\n%YAML 1.1\n---\n{SEARCH}...\n").into_bytes()),
        ("f.yaml", format!("---\n---\n# nothing\n---\n{SEARCH}---\n").into_bytes()),
    ];
    for (file, bytes) in forms {
        let parsed = parse(file.as_ref(), &bytes);
        assert!(parsed.problems.is_empty(), "{file} {}", show(&parsed));
        assert_eq!(parsed.objects.len(), 1);
        let Object::Tool(found) = &parsed.objects[0].object else { panic!() };
        let mut found = (**found).clone();
        found.spec.shell.as_mut().unwrap().script = one.spec.shell.as_ref().unwrap().script.clone();
        assert_eq!(found, *one, "{}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn documents_after_the_first_have_places_of_the_file() {
    let text = format!("{SEARCH}---\n{}", SEARCH.replace("name: search", "name: other"));
    let parsed = yaml(&text);
    assert_eq!(parsed.objects.len(), 2);
    assert_eq!(parsed.objects[1].origin.place("kind").unwrap().line, 17);
}

#[test]
fn anchors_and_merge_keys_work() {
    let text = "\
apiVersion: mcc.dev/v1alpha1
kind: Tool
metadata: {name: t}
spec:
  params:
  - &base {name: a, type: int, minimum: 1}
  - <<: *base
    name: b
  - <<: [{name: c}, *base]
    minimum: 2
  container: {image: &image busybox, args: [*image]}
";
    let tool = tool(text);
    let params: Vec<_> = tool.spec.params.iter().map(|p| (p.name.as_str(), p.minimum)).collect();
    assert_eq!(params, [("a", Some(1.0)), ("b", Some(1.0)), ("c", Some(2.0))]);
    assert_eq!(tool.spec.container.as_ref().unwrap().args, ["busybox"]);
}

#[test]
fn nulls_are_absent_but_for_values_of_parameters() {
    let text = "\
apiVersion: mcc.dev/v1alpha1
kind: Tool
metadata: {name: t, labels: }
spec:
  name:
  description: null
  params:
  - {name: a, default: null, override: ~, example: }
  shell: {script: 'true', image: null}
status:
  anything: goes
";
    let tool = tool(text);
    assert_eq!(tool.spec.name, None);
    let param = &tool.spec.params[0];
    assert_eq!((&param.default, &param.r#override), (&Some(Value::Null), &Some(Value::Null)));
    assert!(tool.status.is_none());
}

#[test]
fn scalars_keep_the_value_that_kubectl_reads() {
    let text = "\
apiVersion: mcc.dev/v1alpha1
kind: Tool
metadata: {name: t}
spec:
  params:
  - {name: a, type: int, default: 0x1F, maximum: 1e3}
  - {name: b, type: float, default: 1.10}
  - {name: c, type: str, default: '1.10'}
  - {name: d, type: str, default: !!str 5}
  - {name: e, type: str, default: 2026-01-01}
  - {name: f, type: dict, default: {k: [1, True, ~, x]}}
  limits: {timeoutSeconds: 60.0}
  shell: {script: 'true'}
";
    let tool = tool(text);
    let defaults: Vec<Value> = tool.spec.params.iter().map(|p| p.default.clone().unwrap()).collect();
    assert_eq!(
        defaults,
        [
            json!(31),
            json!(1.1),
            json!("1.10"),
            json!("5"),
            json!("2026-01-01"),
            json!({"k": [1, true, null, "x"]})
        ]
    );
    assert_eq!(tool.spec.limits.as_ref().unwrap().timeout_seconds, Some(60));
}

#[test]
fn other_kinds_are_used_or_passed_over() {
    let text = "\
apiVersion: v1
kind: Secret
metadata: {name: s}
data: {a: aGVsbG8=, b: eA==}
stringData: {b: plain, c: text}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: ns}
data: {k: v}
---
apiVersion: v1
kind: Namespace
metadata: {name: team-a, labels: {tools: \"yes\"}}
spec: {finalizers: [kubernetes]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {replicas: yes}
";
    let parsed = yaml(text);
    assert_eq!(
        show(&parsed),
        "f.yaml:18:7: warning[UnknownKind]: kind: a catalog has no use for Deployment (apps/v1): the document is \
         ignored; leave it if it is for the cluster, else remove it\n"
    );
    let Object::Secret(secret) = &parsed.objects[0].object else { panic!() };
    let data: Vec<_> =
        secret.data.as_ref().unwrap().iter().map(|(k, v)| (k.as_str(), v.0.as_slice())).collect();
    assert_eq!(data, [("a", &b"hello"[..]), ("b", b"plain"), ("c", b"text")]);
    let Object::ConfigMap(map) = &parsed.objects[1].object else { panic!() };
    assert_eq!(map.metadata.namespace.as_deref(), Some("ns"));
    let Object::Namespace { name, labels } = &parsed.objects[2].object else { panic!() };
    assert_eq!((name.as_str(), labels["tools"].as_str()), ("team-a", "yes"));
    assert_eq!(labels["kubernetes.io/metadata.name"], "team-a");
}

#[test]
fn grants_and_groups() {
    let text = "\
apiVersion: mcc.dev/v1alpha1
kind: ToolGroup
metadata: {name: academic}
spec:
  allowedNamespaces: {from: Selector, selector: {matchLabels: {team: a}}}
  defaults: {env: [{name: A, value: b}], limits: {cpu: 500m}}
---
apiVersion: mcc.dev/v1alpha1
kind: UserGrant
metadata: {name: alice}
spec:
  subject: {name: alice@example.com}
  groups: [academic, osint.gov.*]
  tools: [geo.reverse_geocode]
  expiresAt: 2027-01-01T00:00:00Z
";
    let parsed = yaml(text);
    assert!(parsed.problems.is_empty(), "{}", show(&parsed));
    let Object::UserGrant(grant) = &parsed.objects[1].object else { panic!() };
    assert_eq!(grant.spec.expires_at.as_ref().unwrap().0.to_string(), "2027-01-01T00:00:00Z");
}
