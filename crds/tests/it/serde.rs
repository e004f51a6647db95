//! What the types keep through YAML and back.

use mcc_crds::v1alpha1::{Param, SessionAccess, SessionScope};
use serde_json::{Value, json};

#[test]
fn an_explicit_null_differs_from_an_absent_field() {
    let param: Param =
        serde_json::from_value(json!({"name": "a", "override": null, "default": null})).unwrap();
    assert_eq!(param.r#override, Some(Value::Null));
    assert_eq!(param.default, Some(Value::Null));
    assert_eq!(param.example, None);
    let back = serde_json::to_value(&param).unwrap();
    assert_eq!(back, json!({"name": "a", "type": "str", "override": null, "default": null}));
}

#[test]
fn session_scopes_say_what_they_take() {
    let read = |value: Value| serde_json::from_value::<SessionAccess>(json!({"read": value}));
    assert_eq!(read(json!(["a_1"])).unwrap().read, SessionScope::Names(vec!["a_1".into()]));
    assert!(read(json!("None")).is_ok());
    for (bad, word) in
        [(json!("all"), "All, None"), (json!(["A"]), "no session name"), (json!(3), "All, None")]
    {
        let error = read(bad).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}
