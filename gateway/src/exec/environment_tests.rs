use std::sync::Arc;

use mcc_catalog::model::ObjectSet;
use serde_json::{Value, json};

use super::*;

fn objects() -> ObjectSet {
    let mut objects = ObjectSet::default();
    let secret: Secret = serde_json::from_value(json!({
        "data": {"token": "c2VjcmV0", "both": "b2xk", "raw": "/w==", "nul": "AA=="},
        "stringData": {"both": "new"},
    }))
    .unwrap();
    let map: ConfigMap = serde_json::from_value(json!({
        "data": {"HOST": "example.test", "MCC_CTX_USER": "root", "with.dot": "d", "a=b": "no"},
    }))
    .unwrap();
    objects.secrets.insert(NamespacedName::new("tools", "keys"), Arc::new(secret.clone()));
    objects.secrets.insert(NamespacedName::new("other", "theirs"), Arc::new(secret));
    objects.config_maps.insert(NamespacedName::new("tools", "conf"), Arc::new(map));
    objects
}

fn resolve(env_from: &Value, env: &Value) -> Result<Vec<(String, String)>, EnvError> {
    let objects = objects();
    let resolver = Resolver { objects: &objects, namespace: "tools", run: "mcc-1" };
    let env_from: Vec<EnvFromSource> = serde_json::from_value(env_from.clone()).unwrap();
    let env: Vec<EnvVar> = serde_json::from_value(env.clone()).unwrap();
    let mut base = Environment::default();
    base.set("HOME", b"/home/me".to_vec());
    let environment = resolver.resolve(base, &env_from, &env)?;
    Ok(environment
        .into_vars()
        .into_iter()
        .map(|(name, value)| (name, value.to_string_lossy().into_owned()))
        .collect())
}

fn value(env: &Value, name: &str) -> Option<String> {
    let all = resolve(&json!([{"configMapRef": {"name": "conf"}}]), env).unwrap();
    all.into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

#[test]
fn expands_as_kubernetes_does() {
    for (text, expected) in [
        ("$(A)", "a"),
        ("x$(A)$(A)y", "xaay"),
        ("$(B)", "$(B)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$a"),
        ("$$$$(A)", "$$(A)"),
        ("$(HOST):80", "example.test:80"),
        ("$(HOME)", "$(HOME)"),
        ("$(LATER)", "$(LATER)"),
        ("$A ${A} $", "$A ${A} $"),
        ("$(A", "$(A"),
        ("$()", "$()"),
        ("$(A$(A))", "$(A$(A))"),
    ] {
        let env = json!([{"name": "A", "value": "a"}, {"name": "X", "value": text}, {"name": "LATER", "value": "l"}]);
        assert_eq!(value(&env, "X").as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn a_value_that_is_looked_up_is_not_expanded() {
    let objects = json!([
        {"name": "A", "value": "a"},
        {"name": "T", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "token"}}},
        {"name": "U", "value": "Bearer $(T)"},
        {"name": "B", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "both"}}},
        {"name": "H", "valueFrom": {"configMapKeyRef": {"name": "conf", "key": "HOST"}}},
        {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
    ]);
    for (name, expected) in
        [("T", "secret"), ("U", "Bearer secret"), ("B", "new"), ("H", "example.test"), ("N", "tools")]
    {
        assert_eq!(value(&objects, name).as_deref(), Some(expected));
    }
}

#[test]
fn later_sources_win_and_env_wins_over_sources() {
    let from = json!([
        {"configMapRef": {"name": "conf"}},
        {"prefix": "K_", "secretRef": {"name": "keys"}},
        {"configMapRef": {"name": "absent", "optional": true}},
    ]);
    let all =
        resolve(&from, &json!([{"name": "HOST", "value": "mine"}, {"name": "HOME", "value": "/h"}])).unwrap();
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["HOME", "HOST", "with.dot", "K_both", "K_raw", "K_token"]);
    assert_eq!(all[0].1, "/h");
    assert_eq!(all[1].1, "mine");
    assert_eq!(all[3].1, "new");
}

#[test]
fn names_of_the_caller_are_left_to_the_caller() {
    let env = json!([{"name": "MCC_PARAM_X", "value": "forged"}]);
    assert_eq!(value(&env, "MCC_PARAM_X"), None);
    assert_eq!(value(&env, "MCC_CTX_USER"), None);
}

#[test]
fn what_is_missing_is_refused_unless_optional() {
    let secret = |name: &str, key: &str, optional: bool| json!([{"name": "T", "valueFrom": {"secretKeyRef": {"name": name, "key": key, "optional": optional}}}]);
    let nothing = json!([]);
    assert_eq!(
        resolve(&nothing, &secret("absent", "k", false)).unwrap_err(),
        EnvError {
            reason: "the Secret tools/absent does not exist".into(),
            fix: "add its manifest to the folder, or give its values with --secret absent=FILE.env".into(),
        }
    );
    assert_eq!(resolve(&nothing, &secret("keys", "k", false)).unwrap_err().fix, "add k to it");
    // A Secret of another namespace is out of reach.
    assert!(resolve(&nothing, &secret("theirs", "token", false)).is_err());
    assert_eq!(resolve(&nothing, &secret("absent", "k", true)).unwrap().len(), 1);
    assert_eq!(resolve(&nothing, &secret("keys", "k", true)).unwrap().len(), 1);
    assert!(resolve(&nothing, &secret("keys", "nul", false)).unwrap_err().reason.contains("NUL"));
    let pod = json!([{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]);
    assert!(resolve(&nothing, &pod).unwrap_err().reason.contains("IP"));
    let long = json!([{"name": "L", "value": "x".repeat(STRING_LIMIT)}]);
    assert!(resolve(&nothing, &long).unwrap_err().reason.contains("131072"));
}
