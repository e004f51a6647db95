//! The CEL rules of a kind, compiled once and remembered.
//!
//! A rule costs microseconds, and a catalog of 10 000 tools has a quarter of a million to run. But a rule is a function
//! of the few fields it looks at, and these hardly vary: so a value whose looked-at fields have passed before isn't
//! evaluated again. What a rule looks at is read from its text; what can't be told counts as all of the value.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt::{self, Write as _};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use kube::core::cel::{CompiledSchema, Validator, compile_schema};
use regex::Regex;
use serde_json::Value;

/// Most values that are remembered per thread.
const MEMORY: usize = 8192;

/// The rules of one kind.
pub(super) struct Rules {
    root: RuleNode,
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rules")
    }
}

/// A rule that refuses an object.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Refusal {
    /// Path of the value that the rule looks at.
    pub path: String,
    pub message: String,
    pub fix: String,
}

/// A value of the schema that has rules, or has one below it that does.
#[derive(Default)]
struct RuleNode {
    own: Option<Own>,
    fields: Vec<(String, RuleNode)>,
    element: Option<Box<RuleNode>>,
}

/// The rules of one value.
struct Own {
    /// Begins the keys under which values that pass are remembered.
    id: u32,
    compiled: CompiledSchema,
    looks_at: LooksAt,
}

/// What the rules of a value depend on.
#[derive(Debug, PartialEq)]
enum LooksAt {
    All,
    /// These fields; of those with `false` only whether they are there.
    Fields(Vec<(Vec<String>, bool)>),
    /// The number of elements and these fields of each.
    Elements(Vec<String>),
}

thread_local! {
    static VALIDATOR: Validator = Validator::new();
    static PASSED: RefCell<HashSet<String>> = RefCell::new(HashSet::new());
}

impl Rules {
    /// Compiles the rules in the schema of a CRD.
    pub fn compile(schema: &Value) -> Self {
        Self { root: RuleNode::compile(schema).unwrap_or_default() }
    }

    /// Every rule that refuses `object`. Messages are written "what is wrong; how to mend it".
    pub fn refusals(&self, object: &Value) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        self.root.visit(object, &mut String::new(), &mut refusals);
        refusals
    }
}

impl RuleNode {
    fn compile(schema: &Value) -> Option<Self> {
        let fields = schema["properties"].as_object().into_iter().flatten();
        let fields: Vec<_> =
            fields.filter_map(|(name, field)| Some((name.clone(), Self::compile(field)?))).collect();
        let element = Self::compile_element(schema).map(Box::new);
        let own = Own::compile(schema);
        (own.is_some() || !fields.is_empty() || element.is_some()).then_some(Self { own, fields, element })
    }

    fn compile_element(schema: &Value) -> Option<Self> {
        [&schema["items"], &schema["additionalProperties"]]
            .into_iter()
            .find(|e| e.is_object())
            .and_then(Self::compile)
    }

    fn visit(&self, value: &Value, path: &mut String, refusals: &mut Vec<Refusal>) {
        if let Some(own) = &self.own {
            own.check(value, path, refusals);
        }
        let length = path.len();
        for (name, field) in &self.fields {
            if let Some(value) = value.get(name) {
                let separator = if length == 0 { "" } else { "." };
                let _ = write!(path, "{separator}{name}");
                field.visit(value, path, refusals);
                path.truncate(length);
            }
        }
        let Some(element) = &self.element else { return };
        let mut below = |key: &dyn fmt::Display, value: &Value| {
            let _ = write!(path, "[{key}]");
            element.visit(value, path, refusals);
            path.truncate(length);
        };
        match value {
            Value::Array(values) => values.iter().enumerate().for_each(|(at, value)| below(&at, value)),
            Value::Object(values) => values.iter().for_each(|(key, value)| below(key, value)),
            _ => {}
        }
    }
}

impl Own {
    fn compile(schema: &Value) -> Option<Self> {
        static IDS: AtomicU32 = AtomicU32::new(0);
        let rules = schema["x-kubernetes-validations"].as_array()?;
        let texts: Vec<&str> = rules.iter().filter_map(|rule| rule["rule"].as_str()).collect();
        let mut alone = schema.clone();
        strip_rules_below(&mut alone);
        Some(Self {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            compiled: compile_schema(&alone),
            looks_at: LooksAt::of(&texts, schema["items"]["type"] == "object"),
        })
    }

    fn check(&self, value: &Value, path: &str, refusals: &mut Vec<Refusal>) {
        let key = self.key(value);
        if PASSED.with_borrow(|passed| passed.contains(&key)) {
            return;
        }
        match VALIDATOR.with(|validator| validator.validate_compiled(&self.compiled, value, None)) {
            Ok(()) => PASSED.with_borrow_mut(|passed| {
                if passed.len() >= MEMORY {
                    passed.clear();
                }
                passed.insert(key);
            }),
            Err(errors) => refusals.extend(errors.into_iter().map(|error| {
                let (message, fix) = match error.message.split_once("; ") {
                    Some((message, fix)) => (message.to_owned(), fix.to_owned()),
                    None => (error.message, "see `kubectl explain` for the field".to_owned()),
                };
                Refusal { path: path.to_owned(), message, fix }
            })),
        }
    }

    /// Everything that the verdict on `value` depends on, as text.
    fn key(&self, value: &Value) -> String {
        let mut key = format!("{} ", self.id);
        let mut add = |value: Option<&Value>, whole: bool| match value {
            None => key.push('-'),
            Some(_) if !whole => key.push('+'),
            Some(value) => {
                let _ = write!(key, "{value};");
            }
        };
        match &self.looks_at {
            LooksAt::All => add(Some(value), true),
            LooksAt::Fields(fields) => {
                for (path, whole) in fields {
                    add(path.iter().try_fold(value, |value, name| value.get(name)), *whole);
                }
            }
            LooksAt::Elements(fields) => {
                for element in value.as_array().into_iter().flatten() {
                    for field in fields {
                        add(element.get(field), true);
                    }
                    add(None, true);
                }
            }
        }
        key
    }
}

impl LooksAt {
    fn of(rules: &[&str], of_objects: bool) -> Self {
        static SELF: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"(has\()?\bself\b((?:\.[A-Za-z_][A-Za-z0-9_]*)*)(\(|\))?").ok());
        static VARIABLE: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"\b[a-z]\.([A-Za-z_]+)(\()?").ok());
        let (Some(of_self), Some(of_variable)) = (&*SELF, &*VARIABLE) else { return Self::All };
        let mut fields: Vec<(Vec<String>, bool)> = Vec::new();
        let mut elements: Vec<String> = Vec::new();
        let mut bare = false;
        for text in rules {
            for found in of_self.captures_iter(text) {
                let mut path: Vec<String> = found[2].split('.').skip(1).map(unescape).collect();
                let called = found.get(3).is_some_and(|end| end.as_str() == "(");
                if called {
                    path.pop();
                }
                let presence = found.get(1).is_some() && found.get(3).is_some_and(|end| end.as_str() == ")");
                bare |= path.is_empty();
                match fields.iter_mut().find(|(known, _)| *known == path) {
                    Some((_, whole)) => *whole |= !presence,
                    None => fields.push((path, !presence)),
                }
            }
            for found in of_variable.captures_iter(text) {
                // A method of the variable itself looks at all of it.
                if found.get(2).is_some() {
                    return Self::All;
                }
                elements.push(unescape(&found[1]));
            }
        }
        match (bare, of_objects && !elements.is_empty()) {
            (false, _) => Self::Fields(fields),
            (true, true) => Self::Elements(elements),
            (true, false) => Self::All,
        }
    }
}

/// `__namespace__` in CEL is the field `namespace`.
fn unescape(name: &str) -> String {
    name.strip_prefix("__").and_then(|name| name.strip_suffix("__")).unwrap_or(name).to_owned()
}

fn strip_rules_below(schema: &mut Value) {
    let Some(node) = schema.as_object_mut() else { return };
    let strip = |child: &mut Value| {
        if let Some(child) = child.as_object_mut() {
            child.remove("x-kubernetes-validations");
        }
        strip_rules_below(child);
    };
    if let Some(fields) = node.get_mut("properties").and_then(Value::as_object_mut) {
        fields.values_mut().for_each(strip);
    }
    for key in ["items", "additionalProperties"] {
        node.get_mut(key).into_iter().for_each(strip);
    }
}

#[cfg(test)]
mod tests {
    use kube::CustomResourceExt;
    use mcc_crds::v1alpha1::{Tool, ToolGroup, UserGrant};
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;
    use crate::testing::cases;

    fn schema<K: CustomResourceExt>() -> Value {
        serde_json::to_value(&K::crd().spec.versions[0].schema).unwrap()["openAPIV3Schema"].take()
    }

    /// Each path to a value with rules and what these look at.
    fn looks(node: &RuleNode, path: &str, into: &mut Vec<String>) {
        if let Some(own) = &node.own {
            let what = match &own.looks_at {
                LooksAt::All => "all".to_owned(),
                LooksAt::Elements(fields) => format!("each {}", fields.join(" ")),
                LooksAt::Fields(fields) => {
                    let name = |(path, whole): &(Vec<String>, bool)| {
                        format!("{}{}", path.join("."), if *whole { "" } else { "?" })
                    };
                    fields.iter().map(name).collect::<Vec<_>>().join(" ")
                }
            };
            into.push(format!("{path}: {what}"));
        }
        for (name, field) in &node.fields {
            looks(field, &format!("{path}.{name}"), into);
        }
        if let Some(element) = &node.element {
            looks(element, &format!("{path}[]"), into);
        }
    }

    #[test]
    fn what_rules_look_at_is_read_from_their_text() {
        let mut found = Vec::new();
        looks(&Rules::compile(&schema::<Tool>()).root, "", &mut found);
        let wanted = [
            ": spec.name? metadata.name",
            ".spec: shell? python? http? container? cache? hints? hints.destructive",
            ".spec.env: each name",
            ".spec.envFrom: each prefix prefix configMapRef secretRef",
            ".spec.groups: all",
            ".spec.hints: readOnly destructive",
            ".spec.params: each name name",
            ".spec.pod.annotations: all",
            ".spec.python: function? source?",
        ];
        for line in wanted {
            assert!(found.iter().any(|f| f == line), "{line} is not in {found:#?}");
        }
    }

    fn refused_by_all_rules(schema: &Value, object: &Value) -> Vec<String> {
        let result = Validator::new().validate(schema, object, None);
        let mut messages: Vec<String> = result
            .err()
            .into_iter()
            .flatten()
            .map(|error| format!("{}: {}", error.field_path, error.message))
            .collect();
        messages.sort();
        messages
    }

    fn refused(rules: &Rules, object: &Value) -> Vec<String> {
        let refusals = rules.refusals(object);
        let mut messages: Vec<String> =
            refusals.iter().map(|r| format!("{}: {}; {}", r.path, r.message, r.fix)).collect();
        messages.sort();
        messages
    }

    /// One of some values, or none.
    fn maybe(values: Vec<Value>) -> impl Strategy<Value = Option<Value>> {
        prop::option::of(prop::sample::select(values))
    }

    fn object(fields: Vec<(&'static str, Vec<Value>)>) -> impl Strategy<Value = Value> {
        let (names, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
        values.into_iter().map(maybe).collect::<Vec<_>>().prop_map(move |values| {
            let pairs =
                names.iter().zip(values).filter_map(|(name, value)| Some(((*name).to_owned(), value?)));
            Value::Object(pairs.collect::<Map<_, _>>())
        })
    }

    fn param() -> impl Strategy<Value = Value> {
        object(vec![
            ("name", vec![json!("a"), json!("A"), json!("b")]),
            ("type", vec![json!("str"), json!("int"), json!("list")]),
            ("minimum", vec![json!(1), json!(2.5)]),
            ("maximum", vec![json!(2), json!(0.5)]),
            ("minLength", vec![json!(1), json!(3)]),
            ("maxLength", vec![json!(2)]),
            ("pattern", vec![json!("x")]),
            ("items", vec![json!("int")]),
            ("allowLeadingDash", vec![json!(true)]),
        ])
        .prop_map(|mut param| {
            param.as_object_mut().unwrap().entry("name").or_insert(json!("c"));
            param
        })
    }

    fn spec() -> impl Strategy<Value = Value> {
        let fields = object(vec![
            ("name", vec![json!("n")]),
            ("groups", vec![json!(["a"]), json!(["a", "b"]), json!(["a", "a"])]),
            ("shell", vec![json!({"script": "x"})]),
            (
                "python",
                vec![json!({}), json!({"function": "a:b"}), json!({"function": "a:b", "source": "x"})],
            ),
            ("cache", vec![json!({"seconds": 1})]),
            (
                "hints",
                vec![json!({}), json!({"destructive": true}), json!({"destructive": true, "readOnly": true})],
            ),
            ("env", vec![json!([{"name": "A"}]), json!([{"name": "B"}, {"name": "MCC_X"}])]),
            ("envFrom", vec![json!([{}]), json!([{"secretRef": {"name": "s"}, "prefix": "MCC_"}])]),
            (
                "pod",
                vec![json!({"labels": {"a": "b"}}), json!({"labels": {"mcc.dev/x": "b"}, "annotations": {}})],
            ),
        ]);
        (fields, prop::collection::vec(param(), 0..4)).prop_map(|(mut spec, params)| {
            spec.as_object_mut().unwrap().insert("params".into(), Value::Array(params));
            spec
        })
    }

    proptest! {
        #![proptest_config(cases(128, 2048))]

        #[test]
        fn remembering_changes_no_verdict(specs in prop::collection::vec((spec(), "[a.]{1,3}"), 1..4)) {
            static SCHEMA: LazyLock<Value> = LazyLock::new(schema::<Tool>);
            static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::compile(&SCHEMA));
            for (spec, name) in specs {
                let object = json!({"metadata": {"name": name}, "spec": spec});
                prop_assert_eq!(refused(&RULES, &object), refused_by_all_rules(&SCHEMA, &object), "{}", object);
            }
        }
    }

    #[test]
    fn remembering_changes_no_verdict_on_groups_and_grants() {
        let groups = (schema::<ToolGroup>(), Rules::compile(&schema::<ToolGroup>()));
        let grants = (schema::<UserGrant>(), Rules::compile(&schema::<UserGrant>()));
        for name in ["public", "a", "a.b", "public"] {
            for spec in
                [json!({}), json!({"description": "x"}), json!({"allowedNamespaces": {"from": "Selector"}})]
            {
                let object = json!({"metadata": {"name": name}, "spec": spec});
                assert_eq!(refused(&groups.1, &object), refused_by_all_rules(&groups.0, &object), "{object}");
            }
        }
        for subject in [
            json!({"name": "a"}),
            json!({"name": "a", "namespace": "b"}),
            json!({"name": "a", "kind": "ServiceAccount"}),
        ] {
            for groups in [json!(["a"]), json!(["public.*"]), json!(["a"])] {
                let object =
                    json!({"metadata": {"name": "g"}, "spec": {"subject": subject, "groups": groups}});
                assert_eq!(refused(&grants.1, &object), refused_by_all_rules(&grants.0, &object), "{object}");
            }
        }
    }
}
