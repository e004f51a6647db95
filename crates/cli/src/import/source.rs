//! Toolset files as their authors wrote them: fields read, types straightened, nothing converted yet.

use indexmap::IndexMap;
use mcc_crds::v1alpha1::ParamType;
use serde_json::{Map, Value};

use super::environment;
use super::names;
use super::report::{Action, Report};

/// A file.
#[derive(Debug, Default)]
pub struct Toolset {
    /// Its name in reports.
    pub file: String,
    /// `env_file` of the file.
    pub env_file: Option<String>,
    /// Entries that can be converted.
    pub tools: Vec<Entry>,
}

/// What an entry runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A Python function.
    Function(String),
    /// A shell command.
    Exec(String),
    /// The arguments of curl.
    Curl(String),
}

/// An entry of `tools`.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name, not yet mapped.
    pub name: String,
    /// What it runs.
    pub body: Body,
    /// Groups of the file, then the entry's own, each once.
    pub groups: Vec<String>,
    /// Description, as written.
    pub description: Option<String>,
    /// Example call.
    pub example: String,
    /// Parameters; none: introspect (functions).
    pub params: Option<Vec<Param>>,
    /// `return_type`.
    pub return_type: Option<String>,
    /// The parameters come as JSON on standard input.
    pub stdin: bool,
    /// Shell programs that the result goes through, in order.
    pub transform: Vec<String>,
    /// `limits`, as written.
    pub limits: Map<String, Value>,
    /// Seconds that results are kept.
    pub cache_ttl: Option<i64>,
    /// Environment, the file's under the entry's.
    pub env: IndexMap<String, String>,
    /// `env_file` of the entry, else of the file.
    pub env_file: Option<String>,
    /// Fields that have no counterpart: name and value.
    pub unmapped: Vec<(&'static str, Value)>,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: ParamType,
    /// Whether callers must give it.
    pub required: bool,
    /// Default; none for null too.
    pub default: Option<Value>,
    /// Description.
    pub description: String,
    /// Example value.
    pub example: Option<Value>,
    /// Fixed value; null is one.
    pub fixed: Option<Value>,
}

/// Reads a toolset file. Entries that make no sense are reported and left out.
pub fn read(file: &str, text: &str, report: &mut Report) -> Result<Toolset, String> {
    let mut document: serde_yaml::Value =
        serde_yaml::from_str(text).map_err(|error| format!("not YAML: {error}"))?;
    document.apply_merge().map_err(|error| format!("not YAML: {error}"))?;
    let document = serde_json::to_value(document).map_err(|error| format!("not a toolset: {error}"))?;
    let Value::Object(document) = document else {
        return Err("not a toolset: the file has to be a mapping with the key 'tools'".to_owned());
    };
    let mut fields = Fields { file, tool: String::new(), map: document, report };
    let Some(Value::Array(entries)) = fields.map.shift_remove("tools") else {
        return Err("not a toolset: the key 'tools' with a list is missing".to_owned());
    };
    let groups = fields.list("groups");
    let env_file = fields.text("env_file");
    let env = fields.env();
    // Anchors are kept under keys of the author's choice.
    fields.map.retain(|name, _| !name.starts_with("x-"));
    fields.rest("has no effect in a toolset file");
    let mut toolset = Toolset { file: file.to_owned(), env_file, tools: Vec::new() };
    for (index, entry) in entries.into_iter().enumerate() {
        let place = format!("tools[{index}]");
        let Value::Object(map) = entry else {
            report.add(file, &place, "", Action::Skipped, "an entry has to be a mapping");
            continue;
        };
        let fields = Fields { file, tool: place.clone(), map, report };
        match read_entry(fields, &groups, &env, toolset.env_file.as_deref()) {
            Ok(entry) => toolset.tools.push(entry),
            Err(reason) => report.add(file, &place, "", Action::Skipped, reason),
        }
    }
    Ok(toolset)
}

fn read_entry(
    mut fields: Fields<'_>,
    groups: &[String],
    env: &IndexMap<String, String>,
    env_file: Option<&str>,
) -> Result<Entry, String> {
    let name = fields.text("name").unwrap_or_default();
    if !name.is_empty() {
        fields.tool.clone_from(&name);
    }
    let bodies = [
        fields.raw_text("fn").map(Body::Function),
        fields.raw_text("exec").map(Body::Exec),
        fields.raw_text("curl").map(Body::Curl),
    ];
    let mut bodies = bodies.into_iter().flatten();
    let body = bodies.next().ok_or("one of fn, exec and curl is needed")?;
    if bodies.next().is_some() {
        return Err("only one of fn, exec and curl may be given".to_owned());
    }
    let name = match (&body, name) {
        (Body::Function(path), name) if name.is_empty() => {
            path.rsplit(['.', ':']).next().unwrap_or_default().to_owned()
        }
        (_, name) if name.is_empty() => return Err("exec and curl tools need a name".to_owned()),
        (_, name) => name,
    };
    fields.tool.clone_from(&name);
    let mut all_groups: Vec<String> = Vec::new();
    for group in groups.iter().cloned().chain(fields.list("groups")) {
        if !all_groups.contains(&group) {
            all_groups.push(group);
        }
    }
    let mut entry_env = env.clone();
    entry_env.extend(fields.env());
    let entry = Entry {
        groups: all_groups,
        description: fields.text("description"),
        example: fields.text("example").unwrap_or_default(),
        params: fields.params(),
        return_type: fields.text("return_type"),
        stdin: fields.flag("stdin"),
        transform: fields.transform(),
        limits: fields.map_of("limits"),
        cache_ttl: fields.integer("cache_ttl"),
        env: entry_env,
        env_file: fields.text("env_file").or_else(|| env_file.map(str::to_owned)),
        unmapped: ["cwd", "python", "env_passthrough"]
            .into_iter()
            .filter_map(|field| fields.take(field).map(|value| (field, value)))
            .collect(),
        name,
        body,
    };
    fields.rest("the original ignores this field too");
    Ok(entry)
}

/// The fields of a mapping, taken one by one; what is left over is reported.
struct Fields<'a> {
    file: &'a str,
    tool: String,
    map: Map<String, Value>,
    report: &'a mut Report,
}

impl Fields<'_> {
    fn note(&mut self, field: &str, action: Action, note: impl Into<String>) {
        self.report.add(self.file, &self.tool, field, action, note);
    }

    /// A field that is there and not null.
    fn take(&mut self, field: &str) -> Option<Value> {
        self.map.shift_remove(field).filter(|value| !value.is_null())
    }

    /// A text as written; numbers and booleans as YAML wrote them.
    fn raw_text(&mut self, field: &str) -> Option<String> {
        match self.take(field)? {
            Value::String(text) => Some(text),
            value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
            _ => {
                self.note(field, Action::Dropped, "has to be a text");
                None
            }
        }
    }

    /// A text in which the environment is of no use at run time: defaults of variables are filled in.
    fn text(&mut self, field: &str) -> Option<String> {
        let text = self.raw_text(field)?;
        let (text, variables) = environment::fill_in(&text);
        for variable in variables {
            self.note(
                field,
                Action::Note,
                format!("${variable} stays as it is written: texts of a manifest know no environment"),
            );
        }
        Some(text)
    }

    fn list(&mut self, field: &str) -> Vec<String> {
        match self.take(field) {
            None => Vec::new(),
            Some(Value::Array(items)) => items.iter().map(plain).collect(),
            Some(value) => vec![plain(&value)],
        }
    }

    fn map_of(&mut self, field: &str) -> Map<String, Value> {
        match self.take(field) {
            None => Map::new(),
            Some(Value::Object(map)) => map,
            Some(_) => {
                self.note(field, Action::Dropped, "has to be a mapping");
                Map::new()
            }
        }
    }

    fn env(&mut self) -> IndexMap<String, String> {
        self.map_of("env").into_iter().map(|(name, value)| (name, plain(&value))).collect()
    }

    /// Booleans in the spellings of YAML 1.1, which the original reads.
    fn flag(&mut self, field: &str) -> bool {
        self.take(field).is_some_and(|value| truth(&value).unwrap_or(true))
    }

    fn integer(&mut self, field: &str) -> Option<i64> {
        let value = self.take(field)?;
        let text = environment::fill_in(&plain(&value)).0;
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        if number.is_none() {
            self.note(field, Action::Dropped, format!("'{text}' is not a number"));
        }
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and seconds beyond i64 are no use")]
        number.map(|number| number.ceil() as i64)
    }

    fn transform(&mut self) -> Vec<String> {
        match self.take("transform") {
            None => Vec::new(),
            Some(Value::Array(items)) => items.iter().map(plain).collect(),
            Some(value) => vec![plain(&value)],
        }
    }

    fn params(&mut self) -> Option<Vec<Param>> {
        let Value::Array(items) = self.map.shift_remove("params")? else {
            self.note("params", Action::Dropped, "has to be a list");
            return None;
        };
        let mut params: Vec<Param> = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            let place = format!("params[{index}]");
            let Value::Object(map) = item else {
                self.note(&place, Action::Dropped, "a parameter has to be a mapping");
                continue;
            };
            let mut fields =
                Fields { file: self.file, tool: self.tool.clone(), map, report: &mut *self.report };
            match fields.param(&place) {
                Some(param) if params.iter().any(|other| other.name.eq_ignore_ascii_case(&param.name)) => {
                    fields.note(
                        &place,
                        Action::Dropped,
                        format!("another parameter is called {}", param.name),
                    );
                }
                Some(param) => params.push(param),
                None => {}
            }
        }
        Some(params)
    }

    fn param(&mut self, place: &str) -> Option<Param> {
        let Some(written) = self.raw_text("name") else {
            self.note(place, Action::Dropped, "a parameter needs a name");
            return None;
        };
        let name = names::identifier(&written);
        if name != written {
            self.note(place, Action::Changed, format!("'{written}' can't be a parameter's name: now {name}"));
        }
        let kind = match self.raw_text("type").as_deref() {
            None | Some("str") => ParamType::Str,
            Some("int") => ParamType::Int,
            Some("float") => ParamType::Float,
            Some("bool") => ParamType::Bool,
            Some("list") => ParamType::List,
            Some("dict") => ParamType::Dict,
            Some(other) => {
                self.note(place, Action::Changed, format!("there is no type '{other}': now str"));
                ParamType::Str
            }
        };
        let fixed = self.map.shift_remove("override");
        let param = Param {
            name,
            kind,
            required: self.flag("required"),
            default: self.take("default"),
            description: self.text("description").unwrap_or_default(),
            example: self.take("example"),
            fixed,
        };
        self.rest("the original ignores this field of a parameter too");
        Some(param)
    }

    /// Reports what is left.
    fn rest(&mut self, why: &str) {
        let names: Vec<String> = self.map.keys().cloned().collect();
        for name in names {
            self.note(&name, Action::Dropped, why);
        }
    }
}

/// A scalar as text.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

/// A truth value in any of the spellings that the original takes.
pub fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::Number(number) => match number.as_f64() {
            Some(0.0) => Some(false),
            Some(1.0) => Some(true),
            _ => None,
        },
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "t" | "y" | "1" => Some(true),
            "false" | "no" | "off" | "f" | "n" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}
