//! What runs when a tool is executed.

use std::collections::BTreeMap;

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{pattern, schema};

/// A tool that is a shell script.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShellTool {
    /// Image with /bin/sh. Defaults to the image of the first group that names one, else the program's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512), regex(pattern = pattern::IMAGE))]
    pub image: Option<String>,
    /// The script, a Jinja template over the parameters. Values are quoted for the place they stand in.
    #[schemars(length(min = 1, max = 131_071))]
    pub script: String,
    /// What the script reads from standard input: nothing, or all parameters as one JSON object.
    #[serde(default)]
    pub stdin: Stdin,
}

/// What a script reads from standard input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Stdin {
    /// Nothing.
    #[default]
    None,
    /// All parameters as one JSON object.
    Params,
}

/// A tool that is a Python function.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
// function is a reserved word of CEL, which Kubernetes escapes so.
#[x_kube(validation = Rule::new("has(self.__function__) != has(self.source)")
    .message("a python tool is one function; set exactly one of function and source"))]
pub struct PythonTool {
    /// Image with python3. Defaults to the image of the first group that names one, else the program's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512), regex(pattern = pattern::IMAGE))]
    pub image: Option<String>,
    /// Import path of the function, as package.module:callable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 3, max = 512), regex(pattern = pattern::PYTHON_FUNCTION))]
    pub function: Option<String>,
    /// Source that defines the function main. Parameters are keyword arguments; an argument named context
    /// receives the session values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 524_288))]
    pub source: Option<String>,
    /// Directories put in front of the module search path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), inner(length(min = 1, max = 1024)))]
    pub path: Vec<String>,
}

/// A tool that is one HTTP request.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpTool {
    /// Image with /bin/sh and curl. Defaults to the image of the first group that names one, else the program's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512), regex(pattern = pattern::IMAGE))]
    pub image: Option<String>,
    /// Method of the request. Defaults to GET, or to POST when there is a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), regex(pattern = pattern::HTTP_METHOD))]
    pub method: Option<String>,
    /// URL of the request, a template over the parameters. $(NAME) stands for an environment variable.
    #[schemars(length(min = 1, max = 8192))]
    pub url: String,
    /// Headers of the request, templates over the parameters. $(NAME) stands for an environment variable.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::long_values)]
    pub headers: BTreeMap<String, String>,
    /// Query parameters, templates over the parameters. Values are URL-encoded; an empty value is left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::long_values)]
    pub query: BTreeMap<String, String>,
    /// Body of the request, a template over the parameters. $(NAME) stands for an environment variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 131_072))]
    pub body: Option<String>,
}

/// A tool that is a container image with its own entry point.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerTool {
    /// Image to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512), regex(pattern = pattern::IMAGE))]
    pub image: Option<String>,
    /// Entry point, templates over the parameters. No shell is involved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 32768)))]
    pub command: Vec<String>,
    /// Arguments, templates over the parameters. No shell is involved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(max = 32768)))]
    pub args: Vec<String>,
}
