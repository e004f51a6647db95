//! The environment of a tool on this machine: a floor of inherited variables, then what the Tool declares, resolved as
//! a kubelet resolves it. What a caller gives (`MCC_*`) is put on top by the payload and can't be overridden.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use k8s_openapi::api::core::v1::{ConfigMap, EnvFromSource, EnvVar, EnvVarSource, Secret};
use mcc_catalog::model::{NamespacedName, ObjectSet};

/// Variables that every tool inherits, where they are set.
const FLOOR: [&str; 10] =
    ["PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "LC_ALL", "TZ", "TERM", "SHELL"];

/// `PATH` where there is none.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Bytes of a `NAME=value` with its end, as the kernel bounds it (`MAX_ARG_STRLEN`).
pub const STRING_LIMIT: usize = 131_072;

/// Why a declared variable has no value.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct EnvError {
    /// What is in the way.
    pub reason: String,
    /// What to do.
    pub fix: String,
}

/// Variables in the order in which they were first set.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    names: Vec<String>,
    values: HashMap<String, Vec<u8>>,
}

impl Environment {
    /// The floor.
    pub fn floor() -> Self {
        let mut floor = Self::default();
        floor.set("PATH", DEFAULT_PATH.as_bytes().to_vec());
        for name in FLOOR {
            if let Some(value) = std::env::var_os(name) {
                floor.set(name, value.into_vec());
            }
        }
        floor
    }

    /// Sets a variable; the last value holds.
    pub fn set(&mut self, name: &str, value: Vec<u8>) {
        if self.values.insert(name.to_owned(), value).is_none() {
            self.names.push(name.to_owned());
        }
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.values.get(name).map(Vec::as_slice)
    }

    /// All variables.
    pub fn into_vars(mut self) -> Vec<(String, OsString)> {
        let values = &mut self.values;
        self.names
            .into_iter()
            .filter_map(|name| values.remove(&name).map(|value| (name, OsString::from_vec(value))))
            .collect()
    }
}

/// What the variables of a Tool are resolved against.
#[derive(Clone, Copy, Debug)]
pub struct Resolver<'a> {
    /// Secrets and ConfigMaps.
    pub objects: &'a ObjectSet,
    /// Namespace of the Tool: the only one it may read from.
    pub namespace: &'a str,
    /// Name of the run, for `metadata.name`.
    pub run: &'a str,
}

impl Resolver<'_> {
    /// Adds `env_from` and then `env` to `base`. Names that begin `MCC_` are left to the caller's values.
    pub fn resolve(
        &self,
        mut base: Environment,
        env_from: &[EnvFromSource],
        env: &[EnvVar],
    ) -> Result<Environment, EnvError> {
        // `$(NAME)` refers to declared variables only, as in a pod: the floor isn't among them.
        let mut declared = Environment::default();
        for source in env_from {
            for (name, value) in self.source(source)? {
                if settable(&name, &value) {
                    declared.set(&name, value);
                }
            }
        }
        for variable in env {
            let value = match &variable.value_from {
                Some(source) => self.value_from(&variable.name, source)?,
                None => Some(expand(variable.value.as_deref().unwrap_or_default().as_bytes(), &declared)),
            };
            let Some(value) = value else { continue };
            if value.contains(&0) {
                return Err(EnvError {
                    reason: format!(
                        "the value of the environment variable {} contains a NUL byte",
                        variable.name
                    ),
                    fix: "take the NUL byte out of the Secret or ConfigMap".into(),
                });
            }
            if settable(&variable.name, &value) {
                declared.set(&variable.name, value);
            }
        }
        for name in declared.names {
            if let Some(value) = declared.values.remove(&name) {
                if name.len() + value.len() + 2 > STRING_LIMIT {
                    return Err(too_long(&name, value.len()));
                }
                base.set(&name, value);
            }
        }
        Ok(base)
    }

    fn source(&self, source: &EnvFromSource) -> Result<Vec<(String, Vec<u8>)>, EnvError> {
        let prefix = source.prefix.as_deref().unwrap_or_default();
        let mut found = Vec::new();
        if let Some(reference) = &source.config_map_ref
            && let Some(map) = self.config_map(&reference.name, reference.optional)?
        {
            let data = map.data.iter().flatten();
            found.extend(data.map(|(key, value)| (format!("{prefix}{key}"), value.clone().into_bytes())));
        }
        if let Some(reference) = &source.secret_ref
            && let Some(secret) = self.secret(&reference.name, reference.optional)?
        {
            let data = secret.data.iter().flatten().map(|(key, value)| (key, value.0.clone()));
            let text =
                secret.string_data.iter().flatten().map(|(key, value)| (key, value.clone().into_bytes()));
            found.extend(data.chain(text).map(|(key, value)| (format!("{prefix}{key}"), value)));
        }
        Ok(found)
    }

    fn value_from(&self, variable: &str, source: &EnvVarSource) -> Result<Option<Vec<u8>>, EnvError> {
        if let Some(selector) = &source.secret_key_ref {
            let Some(secret) = self.secret(&selector.name, selector.optional)? else { return Ok(None) };
            let text = secret.string_data.as_ref().and_then(|data| data.get(&selector.key));
            let value = match text {
                Some(text) => Some(text.clone().into_bytes()),
                None => {
                    secret.data.as_ref().and_then(|data| data.get(&selector.key)).map(|value| value.0.clone())
                }
            };
            return self.key_of("Secret", &selector.name, &selector.key, selector.optional, value);
        }
        if let Some(selector) = &source.config_map_key_ref {
            let Some(map) = self.config_map(&selector.name, selector.optional)? else { return Ok(None) };
            let value = map.data.as_ref().and_then(|data| data.get(&selector.key));
            let value = value.map(|value| value.clone().into_bytes());
            return self.key_of("ConfigMap", &selector.name, &selector.key, selector.optional, value);
        }
        match source.field_ref.as_ref().map(|field| field.field_path.as_str()) {
            Some("metadata.name") => Ok(Some(self.run.as_bytes().to_vec())),
            Some("metadata.namespace") => Ok(Some(self.namespace.as_bytes().to_vec())),
            _ => Err(EnvError {
                reason: format!(
                    "the environment variable {variable} takes its value from a pod, and there is none here"
                ),
                fix: "run this tool in a cluster, or give the variable a value".into(),
            }),
        }
    }

    fn key_of(
        &self,
        kind: &str,
        name: &str,
        key: &str,
        optional: Option<bool>,
        value: Option<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, EnvError> {
        if value.is_none() && !optional.unwrap_or_default() {
            return Err(EnvError {
                reason: format!("the {kind} {}/{name} has no key {key}", self.namespace),
                fix: format!("add {key} to it"),
            });
        }
        Ok(value)
    }

    fn secret(&self, name: &str, optional: Option<bool>) -> Result<Option<&Secret>, EnvError> {
        let found = self.objects.secrets.get(&NamespacedName::new(self.namespace, name));
        self.object("Secret", name, optional, found.map(AsRef::as_ref))
    }

    fn config_map(&self, name: &str, optional: Option<bool>) -> Result<Option<&ConfigMap>, EnvError> {
        let found = self.objects.config_maps.get(&NamespacedName::new(self.namespace, name));
        self.object("ConfigMap", name, optional, found.map(AsRef::as_ref))
    }

    fn object<'o, T>(
        &self,
        kind: &str,
        name: &str,
        optional: Option<bool>,
        found: Option<&'o T>,
    ) -> Result<Option<&'o T>, EnvError> {
        if found.is_none() && !optional.unwrap_or_default() {
            let fix = match kind {
                "Secret" => format!(
                    "add its manifest to the folder, or give its values with --secret {name}=FILE.env"
                ),
                _ => "add its manifest to the folder".to_owned(),
            };
            return Err(EnvError {
                reason: format!("the {kind} {}/{name} does not exist", self.namespace),
                fix,
            });
        }
        Ok(found)
    }
}

/// Whether a declared variable may be set: a name the kernel takes, and not one of the caller's.
fn settable(name: &str, value: &[u8]) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !name.starts_with("MCC_") && !value.contains(&0)
}

/// The refusal of a variable that the kernel would not take.
pub fn too_long(name: &str, length: usize) -> EnvError {
    EnvError {
        reason: format!(
            "the value of {name} has {length} bytes, and an environment variable holds at most {}",
            STRING_LIMIT - name.len() - 2
        ),
        fix: "let the tool read it from standard input (stdin: Params), or shorten it".into(),
    }
}

/// Expands `$(NAME)` as Kubernetes does: an unknown name stays as it is, `$$` is one `$`.
pub fn expand(text: &[u8], known: &Environment) -> Vec<u8> {
    let mut expanded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'$', rest) {
        expanded.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.first() {
            Some(b'$') => {
                expanded.push(b'$');
                rest = &rest[1..];
            }
            Some(b'(') => match memchr::memchr(b')', rest) {
                Some(end) => {
                    let name = std::str::from_utf8(&rest[1..end]).unwrap_or_default();
                    if let Some(value) = known.get(name) {
                        expanded.extend_from_slice(value);
                    } else {
                        expanded.push(b'$');
                        expanded.extend_from_slice(&rest[..=end]);
                    }
                    rest = &rest[end + 1..];
                }
                None => expanded.push(b'$'),
            },
            _ => expanded.push(b'$'),
        }
    }
    expanded.extend_from_slice(rest);
    expanded
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
