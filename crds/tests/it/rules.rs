//! The CEL rules: what they accept and what they refuse, with the message people get.

use mcc_crds::v1alpha1::{Tool, ToolGroup, UserGrant};
use serde_json::{Value, json};

/// The message of the first rule that refuses the object.
fn verdict(kind: &str, name: &str, spec: &Value) -> Option<String> {
    let object = json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec
    });
    let result = match kind {
        "Tool" => serde_json::from_value::<Tool>(object).unwrap().validate_cel(),
        "ToolGroup" => serde_json::from_value::<ToolGroup>(object).unwrap().validate_cel(),
        _ => serde_json::from_value::<UserGrant>(object).unwrap().validate_cel(),
    };
    result.err().map(|errors| errors[0].to_string())
}

fn check(kind: &str, cases: &[(&str, Value, Option<&str>)]) {
    for (name, spec, wanted) in cases {
        let got = verdict(kind, name, spec);
        match (wanted, &got) {
            (None, None) => {}
            (Some(text), Some(message)) if message.contains(text) => {}
            _ => panic!("{kind} {name} {spec}: wanted {wanted:?}, got {got:?}"),
        }
    }
}

/// A shell tool with further fields.
fn shell(more: Value) -> Value {
    let mut spec = json!({"shell": {"script": "true"}});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    spec
}

fn param(more: Value) -> Value {
    let mut param = json!({"name": "a"});
    param.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    shell(json!({"params": [param]}))
}

#[test]
fn tools() {
    let long = "a".repeat(65);
    check(
        "Tool",
        &[
            ("t", shell(json!({})), None),
            ("t", json!({}), Some("spec: a Tool runs exactly one thing; set one of shell")),
            ("t", shell(json!({"http": {"url": "http://x"}})), Some("exactly one thing")),
            ("t", json!({"python": {"source": "def main(): pass"}}), None),
            ("t", json!({"python": {}}), Some("spec.python: a python tool is one function")),
            (
                "t",
                json!({"python": {"function": "a:b", "source": "x"}}),
                Some("exactly one of function and source"),
            ),
            ("t", json!({"container": {"image": "a"}}), None),
            ("a.b", shell(json!({})), Some("set spec.name")),
            (&long, shell(json!({})), Some("set spec.name")),
            ("a.b", shell(json!({"name": "ab"})), None),
            ("t", shell(json!({"groups": ["a", "b"]})), None),
            ("t", shell(json!({"groups": ["a", "a"]})), Some("spec.groups: a group is named twice")),
            ("t", shell(json!({"params": [{"name": "a"}, {"name": "b"}]})), None),
            (
                "t",
                shell(json!({"params": [{"name": "a"}, {"name": "A"}]})),
                Some("same name but for capitals"),
            ),
            ("t", shell(json!({"cache": {"seconds": 1}})), None),
            ("t", shell(json!({"cache": {"seconds": 1}, "hints": {"destructive": false}})), None),
            (
                "t",
                shell(json!({"cache": {"seconds": 1}, "hints": {"destructive": true}})),
                Some("destructive tool can't be cached"),
            ),
            ("t", shell(json!({"hints": {"readOnly": true, "destructive": true}})), Some("can't destroy")),
            ("t", shell(json!({"env": [{"name": "A"}]})), None),
            ("t", shell(json!({"env": [{"name": "MCC_A"}]})), Some("spec.env: names that begin with MCC_")),
            ("t", shell(json!({"envFrom": [{"secretRef": {"name": "s"}, "prefix": "P_"}]})), None),
            (
                "t",
                shell(json!({"envFrom": [{"secretRef": {"name": "s"}, "prefix": "MCC_"}]})),
                Some("another prefix"),
            ),
            ("t", shell(json!({"envFrom": [{}]})), Some("exactly one of configMapRef and secretRef")),
            ("t", shell(json!({"pod": {"labels": {"app.kubernetes.io/name": "x"}}})), None),
            (
                "t",
                shell(json!({"pod": {"labels": {"mcc.dev/tool": "x"}}})),
                Some("spec.pod.labels: keys under"),
            ),
            ("t", shell(json!({"pod": {"annotations": {"kubernetes.io/x": "x"}}})), Some("are reserved")),
        ],
    );
}

#[test]
fn params() {
    check(
        "Tool",
        &[
            ("t", param(json!({"type": "int", "minimum": 1, "maximum": 1})), None),
            ("t", param(json!({"type": "float", "minimum": 0.5})), None),
            ("t", param(json!({"minimum": 1})), Some("spec.params[0]: minimum and maximum bound numbers")),
            (
                "t",
                param(json!({"type": "int", "minimum": 2, "maximum": 1})),
                Some("minimum is above maximum"),
            ),
            ("t", param(json!({"minLength": 1, "maxLength": 2})), None),
            ("t", param(json!({"type": "list", "maxLength": 2})), None),
            ("t", param(json!({"type": "dict", "maxLength": 2})), Some("bound a str or a list")),
            ("t", param(json!({"minLength": 3, "maxLength": 2})), Some("minLength is above maxLength")),
            ("t", param(json!({"pattern": "^a"})), None),
            ("t", param(json!({"type": "int", "pattern": "^a"})), Some("a pattern is for a str")),
            ("t", param(json!({"type": "list", "items": "int"})), None),
            ("t", param(json!({"items": "int"})), Some("items is for a list")),
            ("t", param(json!({"allowLeadingDash": true})), None),
            (
                "t",
                param(json!({"type": "bool", "allowLeadingDash": true})),
                Some("allowLeadingDash is for text"),
            ),
            ("t", param(json!({"override": null, "default": null})), None),
        ],
    );
}

#[test]
fn groups() {
    check(
        "ToolGroup",
        &[
            ("academic", json!({}), None),
            ("a.b", json!({}), Some("a group's name has no dots")),
            ("public", json!({"allowedNamespaces": {"from": "All"}}), None),
            ("public", json!({"description": "x"}), Some("sets only allowedNamespaces")),
            ("admin", json!({"defaults": {"image": "x"}}), Some("sets only allowedNamespaces")),
            ("a", json!({"allowedNamespaces": {"from": "Selector", "selector": {}}}), None),
            (
                "a",
                json!({"allowedNamespaces": {"from": "Selector"}}),
                Some("a selector goes with from: Selector"),
            ),
            (
                "a",
                json!({"allowedNamespaces": {"selector": {}}}),
                Some("a selector goes with from: Selector"),
            ),
            ("a", json!({"defaults": {"env": [{"name": "MCC_X"}]}}), Some("begin with MCC_")),
            ("a", json!({"defaults": {"pod": {"labels": {"kubernetes.io/a": "b"}}}}), Some("are reserved")),
        ],
    );
}

#[test]
fn grants() {
    let with = |groups: Value| json!({"subject": {"name": "alice"}, "groups": groups});
    check(
        "UserGrant",
        &[
            ("g", with(json!(["academic", "osint.gov.*", "admin", "public"])), None),
            ("g", with(json!(["public.*"])), Some("public and admin can't begin a wildcard")),
            ("g", with(json!(["admin.x.*"])), Some("public and admin can't begin a wildcard")),
            ("g", json!({"subject": {"kind": "ServiceAccount", "name": "a", "namespace": "b"}}), None),
            (
                "g",
                json!({"subject": {"kind": "ServiceAccount", "name": "a"}}),
                Some("goes with kind: ServiceAccount"),
            ),
            (
                "g",
                json!({"subject": {"name": "a", "namespace": "b"}}),
                Some("goes with kind: ServiceAccount"),
            ),
        ],
    );
}
