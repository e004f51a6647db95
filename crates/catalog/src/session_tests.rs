use serde_json::json;

use super::*;
use crate::testing::{access, catalog, map, tool, user};

#[test]
fn names() {
    for name in ["a", "_", "a_1", "_x", &"x".repeat(64)] {
        assert_eq!(check_name(name), Ok(()), "{name}");
    }
    for name in ["", "A", "1a", "a-b", "a b", "a\n", "é", "a.b", &"x".repeat(65)] {
        assert!(matches!(check_name(name), Err(SessionRuleError::InvalidName(_))), "{name:?}");
    }
    for name in RESERVED {
        assert_eq!(check_name(name), Err(SessionRuleError::Reserved(name.to_owned())));
        assert_eq!(
            check_name(name).unwrap_err().to_string(),
            format!("Cannot set reserved identity key '{name}'.")
        );
    }
    assert!(check_name("User").unwrap_err().to_string().starts_with("Invalid name 'User'"));
}

#[test]
fn bounds_of_a_value() {
    assert_eq!(check_value("x", &json!("y".repeat(MAX_VALUE_BYTES - 2))), Ok(()));
    let over = check_value("x", &json!("y".repeat(MAX_VALUE_BYTES - 1))).unwrap_err();
    assert!(matches!(over, SessionRuleError::ValueTooLarge { bytes, .. } if bytes == MAX_VALUE_BYTES + 1));
    for value in [json!("\u{0}"), json!({ "a\u{0}": 1 }), json!([[{ "a": "\u{0}" }]])] {
        assert!(matches!(check_value("x", &value), Err(SessionRuleError::Nul(_))), "{value}");
    }
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    assert!(matches!(check_value("x", &deep), Err(SessionRuleError::TooDeep(_))));
    assert_eq!(check_value("x", &Value::Null), Ok(()));
}

#[test]
fn bounds_of_the_bag() {
    let bag: SessionBag = (0..MAX_NAMES).map(|n| (format!("n{n}"), json!(n))).collect();
    assert_eq!(check_bag(&bag), Ok(()));
    let one = |name: &str| SessionChanges { set: map(json!({ name: 1 })), deleted: vec![] };
    assert_eq!(applied(&bag, &one("more")), Err(SessionRuleError::TooManyNames(MAX_NAMES + 1)));
    assert!(applied(&bag, &one("n0")).is_ok());
    let swap = SessionChanges { deleted: vec!["n1".to_owned()], ..one("more") };
    assert_eq!(applied(&bag, &swap).unwrap().len(), MAX_NAMES);
    let large: SessionBag =
        (0..17).map(|n| (format!("n{n}"), json!("y".repeat(MAX_VALUE_BYTES - 2)))).collect();
    assert!(matches!(check_bag(&large), Err(SessionRuleError::BagTooLarge(_))));
}

#[test]
fn identity_wins_and_is_all_that_nobody_has_besides_user() {
    let catalog = catalog(
        r"
kind: UserGrant
metadata: {name: a}
spec: {subject: {name: alice}, email: a@example.com, groups: [b, a], tools: [x.y]}
",
    );
    let alice = access(&catalog, user("alice"), "2026-01-01T00:00:00Z");
    let stored = map(json!({ "user": "mallory", "tools": 1, "mine": [1] }));
    assert_eq!(
        Value::from(merged(&stored, &alice)),
        json!({ "mine": [1], "user": "alice", "email": "a@example.com", "groups": ["a", "b"], "tools": ["x.y"] })
    );
    let nobody = catalog.access(&crate::model::Caller::Anonymous, "2026-01-01T00:00:00Z".parse().unwrap());
    assert_eq!(Value::from(merged(&stored, &nobody)), json!({ "mine": [1], "user": "anonymous" }));
}

#[test]
fn a_tool_and_its_groups_narrow_what_it_sees_and_changes() {
    let bag = map(json!({ "a": 1, "b": 2, "c": 3 }));
    let access = Access::default();
    let names = |tool: &CompiledTool| visible(tool, &bag, &access).keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&tool("session: {read: All}")), ["a", "b", "c", "user"]);
    assert_eq!(names(&tool("session: {read: None}")), ["user"]);
    let narrow = tool("session: {read: [a, zzz], write: [b]}");
    assert_eq!(names(&narrow), ["a", "user"]);
    let change = |set, deleted: &[&str]| SessionChanges {
        set: map(set),
        deleted: deleted.iter().map(|name| (*name).to_owned()).collect(),
    };
    assert_eq!(
        check_write_back(&narrow, change(json!({ "b": 1, "user": "x" }), &["b", "email"])),
        Ok(change(json!({ "b": 1 }), &["b"]))
    );
    assert_eq!(
        check_write_back(&narrow, change(json!({ "b": 1, "a": 1 }), &[])),
        Err(SessionRuleError::NotWritable("a".to_owned()))
    );
    assert!(check_write_back(&narrow, change(json!({ "b": 1, "Bad": 1 }), &[])).is_err());
    assert!(check_write_back(&tool("session: {write: None}"), change(json!({}), &["a"])).is_err());
}

#[test]
fn groups_narrow_too() {
    let catalog = catalog(
        r"
kind: ToolGroup
metadata: {name: g}
spec: {session: {read: [a, b], write: None}}
---
kind: Tool
metadata: {name: t}
spec: {groups: [g], description: x, shell: {script: 'true'}, session: {read: [b, c]}}
",
    );
    let tool = &catalog.tools["g.t"];
    let seen = visible(tool, &map(json!({ "a": 1, "b": 2, "c": 3 })), &Access::default());
    assert_eq!(Value::from(seen), json!({ "b": 2, "user": "anonymous" }));
    assert!(check_write_back(tool, SessionChanges { set: map(json!({ "b": 1 })), deleted: vec![] }).is_err());
}

#[test]
fn variables() {
    let bag = map(
        json!({ "s": "a 'b'\n", "i": 5, "f": 1.5, "t": true, "n": null, "l": [1, "x"], "d": { "a": false } }),
    );
    let env: Vec<String> =
        context_env(&bag).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(
        env,
        [
            "MCC_CTX_S=a 'b'\n",
            "MCC_CTX_I=5",
            "MCC_CTX_F=1.5",
            "MCC_CTX_T=true",
            "MCC_CTX_N=null",
            "MCC_CTX_L=[1,\"x\"]",
            "MCC_CTX_D={\"a\":false}",
        ]
    );
}

#[test]
fn only_what_changed_is_written_back() {
    let given = map(json!({ "same": 1, "changed": 1, "gone": 1, "user": "alice" }));
    let returned = map(json!({ "same": 1, "changed": 2, "new": 3, "user": "mallory" }));
    let changes = difference(&given, &returned);
    assert_eq!(changes.set, map(json!({ "changed": 2, "new": 3 })));
    assert_eq!(changes.deleted, ["gone"]);
}
