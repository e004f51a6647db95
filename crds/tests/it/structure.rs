//! Structural schemas: what the API server refuses in a CRD.

use kube::CustomResourceExt;
use kube::core::cel::{compile_schema, estimate_rule_cost};
use mcc_crds::v1alpha1::{Tool, ToolGroup, UserGrant};
use mcc_crds::{
    k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition, kube,
};
use serde_json::Value;

fn crds() -> [CustomResourceDefinition; 3] {
    [Tool::crd(), ToolGroup::crd(), UserGrant::crd()]
}

fn schema(crd: &CustomResourceDefinition) -> Value {
    serde_json::to_value(&crd.spec.versions[0].schema).unwrap()["openAPIV3Schema"].clone()
}

/// Calls `visit` with the path and every node that is a schema.
fn walk(path: &str, node: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    visit(path, node);
    if let Some(properties) = node["properties"].as_object() {
        for (name, child) in properties {
            walk(&format!("{path}.{name}"), child, visit);
        }
    }
    for (key, mark) in [("items", "[]"), ("additionalProperties", "{}")] {
        if node[key].is_object() {
            walk(&format!("{path}{mark}"), &node[key], visit);
        }
    }
}

#[test]
fn schemas_are_structural() {
    for crd in crds() {
        walk(&crd.spec.names.kind, &schema(&crd), &mut |path, node| {
            let node = node.as_object().unwrap_or_else(|| panic!("{path}: {node}"));
            let free = ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"];
            let free = free.iter().any(|key| node.get(*key) == Some(&Value::Bool(true)));
            assert!(free || node.get("type").is_some_and(Value::is_string), "{path} has no type: {node:?}");
            for key in [
                "$ref",
                "oneOf",
                "anyOf",
                "allOf",
                "not",
                "definitions",
                "patternProperties",
                "uniqueItems",
                "const",
            ] {
                assert!(!node.contains_key(key), "{path} has {key}");
            }
            assert!(!node.get("additionalProperties").is_some_and(Value::is_boolean), "{path}");
            assert!(
                !(node.contains_key("additionalProperties") && node.contains_key("properties")),
                "{path}"
            );
            if let Some(format) = node.get("format") {
                let known = ["int32", "int64", "double", "float", "date-time", "byte"];
                assert!(known.contains(&format.as_str().unwrap()), "{path}: format {format}");
            }
        });
    }
}

#[test]
fn only_values_of_any_type_are_nullable() {
    let mut nullable = Vec::new();
    for crd in crds() {
        walk(&crd.spec.names.kind, &schema(&crd), &mut |path, node| {
            // The derives write these so; no rule looks at them.
            if node["nullable"] == true && !path.ends_with(".status") && !path.ends_with(".divisor") {
                nullable.push(path.to_owned());
            }
        });
    }
    assert_eq!(
        nullable,
        ["Tool.spec.params[].default", "Tool.spec.params[].example", "Tool.spec.params[].override"]
    );
}

#[test]
fn everything_is_bounded_and_described() {
    for crd in crds() {
        walk(&crd.spec.names.kind, &schema(&crd), &mut |path, node| {
            let has = |key: &str| node.get(key).is_some();
            match node["type"].as_str() {
                Some("string") => {
                    assert!(has("maxLength") || has("enum") || has("format"), "{path} is unbounded");
                }
                Some("array") => assert!(has("maxItems"), "{path} is unbounded"),
                Some("object") if has("additionalProperties") => {
                    assert!(has("maxProperties"), "{path} is unbounded");
                }
                _ => {}
            }
            if let Some(description) = node["description"].as_str() {
                assert!(!description.contains("[`") && !description.contains("]("), "{path}: rustdoc link");
            } else if path.contains(".spec") && !path.ends_with(']') && !path.ends_with('}') {
                panic!("{path} has no description");
            }
        });
    }
}

#[test]
fn descriptions_of_our_fields_are_sentences() {
    for crd in crds() {
        walk(&crd.spec.names.kind, &schema(&crd), &mut |path, node| {
            let depth = path.matches('.').count();
            if let (Some(description), true) =
                (node["description"].as_str(), depth <= 2 && path.contains(".spec") && !path.ends_with(']'))
            {
                assert!(description.ends_with(['.', ')']), "{path}: {description:?}");
                assert!(description.starts_with(|c: char| c.is_uppercase()), "{path}: {description:?}");
            }
        });
    }
}

#[test]
fn rules_compile_see_only_typed_fields_and_have_messages() {
    for crd in crds() {
        let root = schema(&crd);
        walk(&crd.spec.names.kind, &root, &mut |path, node| {
            let compiled = compile_schema(node);
            assert!(compiled.compilation_errors().is_empty(), "{path}: {:?}", compiled.compilation_errors());
            for rule in node["x-kubernetes-validations"].as_array().into_iter().flatten() {
                let text = rule["rule"].as_str().unwrap();
                let message =
                    rule["message"].as_str().unwrap_or_else(|| panic!("{path}: {text} has no message"));
                assert!(message.contains("; "), "{path}: {message:?} doesn't say how to mend it");
                assert!(message.len() <= 2048 && !message.ends_with('.'), "{path}: {message:?}");
                // The API server's CEL knows no field without a type.
                for hidden in ["default", "override", "example", "enum", "read", "write"] {
                    let names = format!("self.{hidden}");
                    let seen = text.match_indices(&names).any(|(at, found)| {
                        !text[at + found.len()..].starts_with(|c: char| c.is_alphanumeric())
                    });
                    assert!(!seen, "{path}: {text} sees {hidden}");
                }
                let warnings = estimate_rule_cost(text, &compiled);
                assert!(warnings.is_empty(), "{path}: {text}: {warnings:?}");
            }
        });
    }
}

#[test]
fn columns_names_and_selectable_fields() {
    for crd in crds() {
        let names = &crd.spec.names;
        assert_eq!(names.categories.as_deref(), Some(&["mcc".to_owned()][..]));
        let version = &crd.spec.versions[0];
        let columns: Vec<_> =
            version.additional_printer_columns.iter().flatten().map(|c| c.name.as_str()).collect();
        for wanted in ["Ready", "Reason", "Message", "Age"] {
            assert!(columns.contains(&wanted), "{}: {columns:?}", names.kind);
        }
        assert!(version.selectable_fields.as_ref().is_none_or(|f| f.len() <= 8));
        assert!(version.subresources.as_ref().is_some_and(|s| s.status.is_some()));
        let conditions = schema(&crd).pointer("/properties/status/properties/conditions").unwrap().clone();
        assert_eq!(conditions["x-kubernetes-list-type"], "map");
        assert_eq!(conditions["x-kubernetes-list-map-keys"][0], "type");
    }
}

#[test]
fn each_crd_is_well_below_the_bound_of_client_side_apply() {
    for crd in crds() {
        let size = serde_json::to_string(&crd).unwrap().len();
        assert!(size < 128 * 1024, "{}: {size} bytes", crd.spec.names.kind);
    }
}
