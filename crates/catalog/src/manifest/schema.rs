//! The schemas of the kinds in a form that a document is checked against in one walk.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::CustomResourceExt;
use mcc_crds::v1alpha1::{Tool, ToolGroup, UserGrant};
use regex::Regex;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::rules::Rules;

/// What a value must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// Anything.
    #[default]
    Any,
    /// Fields of these names only.
    Object,
    /// Keys of the user's choice.
    Map,
    List,
    Text,
    /// Text that is a point in time (RFC 3339).
    Time,
    /// Text that is base64.
    Bytes,
    Integer,
    Number,
    Boolean,
    /// An integer or text (quantities).
    IntOrText,
}

/// What distinguishes the elements of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Unique {
    #[default]
    No,
    /// The elements themselves.
    Elements,
    /// These fields of the elements.
    Keys(Vec<String>),
}

/// The schema of one value.
#[derive(Debug, Default)]
pub(super) struct Schema {
    pub kind: Kind,
    pub fields: BTreeMap<String, Schema>,
    pub required: Vec<String>,
    /// Schema of elements and of the values of a map.
    pub element: Option<Box<Schema>>,
    pub choices: Vec<String>,
    pub pattern: Option<Pattern>,
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    /// Fewest characters, elements or keys.
    pub min_length: Option<u64>,
    /// Most characters, elements or keys.
    pub max_length: Option<u64>,
    pub unique: Unique,
    pub nullable: bool,
}

/// A regular expression and what it asks for in words.
#[derive(Debug)]
pub(super) struct Pattern {
    pub regex: Regex,
    pub words: String,
}

impl Schema {
    fn from_json(json: &Value) -> Self {
        let flag = |key: &str| json[key] == true;
        let number = |key: &str| json[key].as_f64();
        let kind = kind(json);
        let fields = json["properties"].as_object().into_iter().flatten();
        let element = [&json["items"], &json["additionalProperties"]].into_iter().find(|e| e.is_object());
        let (min, max) = match kind {
            Kind::List => ("minItems", "maxItems"),
            Kind::Map => ("minProperties", "maxProperties"),
            _ => ("minLength", "maxLength"),
        };
        Self {
            kind,
            fields: fields.map(|(name, field)| (name.clone(), Self::from_json(field))).collect(),
            required: strings(&json["required"]),
            element: element.map(|element| Box::new(Self::from_json(element))),
            choices: strings(&json["enum"]),
            pattern: json["pattern"].as_str().and_then(Pattern::new),
            minimum: number("minimum"),
            maximum: number("maximum"),
            min_length: json[min].as_u64(),
            max_length: json[max].as_u64(),
            unique: match json["x-kubernetes-list-type"].as_str() {
                Some("set") => Unique::Elements,
                Some("map") => Unique::Keys(strings(&json["x-kubernetes-list-map-keys"])),
                _ => Unique::No,
            },
            nullable: flag("nullable"),
        }
    }

    /// The schema of a type of the Kubernetes API itself.
    fn of<T: JsonSchema>() -> Self {
        let settings = SchemaSettings::openapi3().with(|s| s.inline_subschemas = true);
        Self::from_json(&settings.into_generator().into_root_schema_for::<T>().to_value())
    }
}

impl Pattern {
    fn new(pattern: &str) -> Option<Self> {
        let words = match mcc_crds::pattern::describe(pattern) {
            Some(words) => words.to_owned(),
            None => format!("text that matches {pattern}"),
        };
        Some(Self { regex: Regex::new(pattern).ok()?, words })
    }
}

fn kind(json: &Value) -> Kind {
    if json["x-kubernetes-int-or-string"] == true {
        return Kind::IntOrText;
    }
    let name = match &json["type"] {
        Value::String(name) => name.as_str(),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("")
        }
        _ => "",
    };
    match (name, json["format"].as_str()) {
        ("string", Some("date-time")) => Kind::Time,
        ("string", Some("byte")) => Kind::Bytes,
        ("string", _) => Kind::Text,
        ("integer", _) => Kind::Integer,
        ("number", _) => Kind::Number,
        ("boolean", _) => Kind::Boolean,
        ("array", _) => Kind::List,
        ("object", _) if json["properties"].is_object() => Kind::Object,
        ("object", _) if json["additionalProperties"].is_object() => Kind::Map,
        // Alternatives occur in the metadata only, in fields that the API server writes.
        _ => Kind::Any,
    }
}

fn strings(json: &Value) -> Vec<String> {
    json.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Schema and rules of a kind.
#[derive(Debug)]
pub(super) struct KindSchema {
    pub schema: Schema,
    /// None for the kinds of the Kubernetes API itself.
    pub rules: Option<Rules>,
}

/// Everything that documents are checked against.
#[derive(Debug)]
pub(super) struct Schemas {
    pub tool: KindSchema,
    pub group: KindSchema,
    pub grant: KindSchema,
    pub secret: KindSchema,
    pub config_map: KindSchema,
    pub namespace: KindSchema,
}

/// The schemas, built from the types at first use.
pub(super) fn schemas() -> &'static Schemas {
    static SCHEMAS: OnceLock<Schemas> = OnceLock::new();
    SCHEMAS.get_or_init(|| Schemas {
        tool: ours::<Tool>(),
        group: ours::<ToolGroup>(),
        grant: ours::<UserGrant>(),
        secret: KindSchema { schema: with_metadata(Schema::of::<Secret>(), true), rules: None },
        config_map: KindSchema { schema: with_metadata(Schema::of::<ConfigMap>(), true), rules: None },
        namespace: KindSchema {
            schema: with_metadata(
                Schema {
                    kind: Kind::Object,
                    fields: ["spec", "status"].map(|f| (f.to_owned(), Schema::default())).into(),
                    ..Schema::default()
                },
                false,
            ),
            rules: None,
        },
    })
}

fn ours<K: CustomResourceExt>() -> KindSchema {
    let crd = K::crd();
    let version = crd.spec.versions.first().and_then(|version| version.schema.as_ref());
    let json = serde_json::to_value(version).unwrap_or_default()["openAPIV3Schema"].take();
    let mut schema = with_metadata(Schema::from_json(&json), true);
    // The API server ignores the status of what is applied: it is no business of the author's.
    schema.fields.insert("status".to_owned(), Schema { nullable: true, ..Schema::default() });
    KindSchema { schema, rules: Some(Rules::compile(&json)) }
}

/// Adds what the API server checks in every object.
fn with_metadata(mut schema: Schema, namespaced: bool) -> Schema {
    let text = |pattern: &str, max: u64| Schema {
        kind: Kind::Text,
        pattern: Pattern::new(pattern),
        min_length: Some(1),
        max_length: Some(max),
        ..Schema::default()
    };
    let mut metadata = Schema::of::<ObjectMeta>();
    let name = if namespaced {
        text(mcc_crds::pattern::OBJECT_NAME, 253)
    } else {
        text(mcc_crds::pattern::NAMESPACE, 63)
    };
    metadata.fields.insert("name".to_owned(), name);
    metadata.fields.insert("namespace".to_owned(), text(mcc_crds::pattern::NAMESPACE, 63));
    let label = Schema { min_length: None, ..text(mcc_crds::pattern::LABEL_VALUE, 63) };
    if let Some(labels) = metadata.fields.get_mut("labels") {
        labels.element = Some(Box::new(label));
    }
    metadata.required = vec!["name".to_owned()];
    schema.kind = Kind::Object;
    schema.fields.insert("metadata".to_owned(), metadata);
    for field in ["apiVersion", "kind"] {
        schema.fields.insert(field.to_owned(), Schema { kind: Kind::Text, ..Schema::default() });
    }
    if !schema.required.iter().any(|field| field == "metadata") {
        schema.required.push("metadata".to_owned());
    }
    schema
}
