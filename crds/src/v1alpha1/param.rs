//! Parameters of a tool.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{pattern, schema};

/// One parameter of a tool.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
// CEL doesn't see default, override, example and enum, which have no type of their own: the compiler checks them.
#[x_kube(validation = Rule::new(
    "(!has(self.minimum) && !has(self.maximum)) || self.type in ['int', 'float']"
)
.message("minimum and maximum bound numbers; remove them or set the type to int or float"))]
#[x_kube(validation = Rule::new(
    "(!has(self.minLength) && !has(self.maxLength)) || self.type in ['str', 'list']"
)
.message("minLength and maxLength bound a str or a list; remove them or set the type to str or list"))]
#[x_kube(validation = Rule::new("!has(self.minimum) || !has(self.maximum) || self.minimum <= self.maximum")
    .message("minimum is above maximum; swap them"))]
#[x_kube(validation = Rule::new("!has(self.minLength) || !has(self.maxLength) || self.minLength <= self.maxLength")
    .message("minLength is above maxLength; swap them"))]
#[x_kube(validation = Rule::new("!has(self.pattern) || self.type == 'str'")
    .message("a pattern is for a str; remove it or set the type to str"))]
#[x_kube(validation = Rule::new("!has(self.items) || self.type == 'list'")
    .message("items is for a list; remove it or set the type to list"))]
#[x_kube(validation = Rule::new("!has(self.allowLeadingDash) || self.type in ['str', 'list']")
    .message("allowLeadingDash is for text; remove it or set the type to str or list"))]
pub struct Param {
    /// Name of the parameter.
    #[schemars(length(min = 1, max = 64), regex(pattern = pattern::PARAM_NAME))]
    pub name: String,
    /// Type of the value.
    #[serde(rename = "type", default)]
    pub kind: ParamType,
    /// What the parameter means, written for the model that fills it in.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 8192))]
    pub description: String,
    /// Whether callers must give the parameter. Defaults to true unless the parameter has a default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// Value used when callers leave the parameter out. An explicit null is a default, too.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "schema::present")]
    #[schemars(schema_with = "schema::any_value")]
    pub default: Option<Value>,
    /// Fixed value. The parameter is hidden from callers and they can't change it. An explicit null is a value, too.
    #[serde(
        rename = "override",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "schema::present"
    )]
    #[schemars(schema_with = "schema::any_value")]
    pub r#override: Option<Value>,
    /// An example value.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "schema::present")]
    #[schemars(schema_with = "schema::any_value")]
    pub example: Option<Value>,
    /// The only values allowed.
    #[serde(rename = "enum", default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::any_values")]
    pub choices: Vec<Value>,
    /// Smallest number allowed (int and float).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// Largest number allowed (int and float).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Fewest characters (str) or elements (list) allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 16_777_216))]
    pub min_length: Option<i64>,
    /// Most characters (str) or elements (list) allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 16_777_216))]
    pub max_length: Option<i64>,
    /// Regular expression that a str must match somewhere; anchor it with ^ and $ to match all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub pattern: Option<String>,
    /// Type of the elements of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<ItemType>,
    /// Lets a str used as a bare word of a script begin with a hyphen, which programs read as an option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_leading_dash: Option<bool>,
}

/// Type of a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ParamType {
    /// Text.
    #[default]
    Str,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// True or false.
    Bool,
    /// A list of values.
    List,
    /// An object.
    Dict,
}

impl ParamType {
    /// The word for it in manifests, signatures and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Str => "str",
            Self::Int => "int",
            Self::Float => "float",
            Self::Bool => "bool",
            Self::List => "list",
            Self::Dict => "dict",
        }
    }
}

/// Type of the elements of a list parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ItemType {
    /// Text.
    Str,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// True or false.
    Bool,
    /// A list of values.
    List,
    /// An object.
    Dict,
}
