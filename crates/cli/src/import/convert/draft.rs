//! One entry on its way to a Tool.

use super::{
    Action, Body, Draft, Inspected, Map, Notes, Param, ParamType, Value, Variable, check, curl, json, names,
    params, python, shell, template,
};

impl Draft<'_> {
    pub(super) fn head(&mut self, name: &str, object_name: &str, groups: &[String], inspected: &Inspected) {
        if object_name.replace('-', "_") != name {
            self.spec.insert("name".to_owned(), json!(name));
        }
        self.spec.insert("groups".to_owned(), json!(groups));
        let documented = match self.function(inspected) {
            Some(Ok(function)) if !function.description.is_empty() => Some(function.description.clone()),
            _ => None,
        };
        let description = self.entry.description.clone().or(documented).unwrap_or_default();
        if !description.trim().is_empty() {
            self.spec.insert("description".to_owned(), json!(description));
        }
        let example = self.entry.example.trim();
        if !example.is_empty() {
            self.spec.insert("example".to_owned(), json!(example));
        }
    }

    pub(super) fn function<'i>(
        &self,
        inspected: &'i Inspected,
    ) -> Option<&'i Result<python::Function, String>> {
        match &self.entry.body {
            Body::Function(path) => inspected.get(path),
            _ => None,
        }
    }

    pub(super) fn body(&mut self, inspected: &Inspected) {
        let entry = self.entry;
        self.spell_nulls();
        self.mind_absent();
        let params = match (&self.params, &entry.body) {
            (Some(given), _) => params::section(given, &mut self.notes),
            (None, Body::Function(_)) => self.function_params(inspected),
            (None, _) => Vec::new(),
        };
        if !params.is_empty() {
            self.spec.insert("params".to_owned(), Value::Array(params));
        }
        let returned = match self.function(inspected) {
            Some(Ok(function)) => function.returns.clone(),
            _ => None,
        };
        if let Some(kind) = entry.return_type.clone().or(returned) {
            self.spec.insert("returns".to_owned(), json!({ "type": kind }));
        }
        match &entry.body {
            Body::Function(path) => self.python(path),
            Body::Exec(command) => self.shell(command, "exec"),
            Body::Curl(value) => self.curl(value),
        }
    }

    /// A fixed null that a template prints comes out as `None` in the original.
    pub(super) fn spell_nulls(&mut self) {
        let texts: Vec<&str> = match &self.entry.body {
            Body::Function(_) => return,
            Body::Exec(text) | Body::Curl(text) => {
                std::iter::once(text).chain(&self.entry.transform).map(String::as_str).collect()
            }
        };
        let printed = |name: &str| {
            let prints = |segment: &template::Segment<'_>| matches!(segment, template::Segment::Value(inner) if template::Expression::parse(inner).name == Some(name));
            texts.iter().any(|text| template::segments(text).iter().any(prints))
        };
        for param in self.params.iter_mut().flatten() {
            if param.fixed == Some(Value::Null) && printed(&param.name) {
                param.fixed = Some(json!("None"));
                param.kind = ParamType::Str;
                let field = format!("params.{}", param.name);
                self.notes.add(&field, Action::Changed, "null is written as None, as the original does");
            }
        }
    }

    /// A parameter without a value comes out as `None` in the original wherever a command prints it, which nobody meant.
    pub(super) fn mind_absent(&mut self) {
        let Body::Exec(command) = &self.entry.body else { return };
        let texts: Vec<&String> = std::iter::once(command).chain(&self.entry.transform).collect();
        for param in self.params.iter_mut().flatten() {
            let optional = !param.required && param.default.is_none() && param.fixed.is_none();
            if optional && texts.iter().any(|text| template::prints_always(text, &param.name)) {
                param.required = true;
                let field = format!("params.{}", param.name);
                let note =
                    "the command always uses it (the original runs with the word None): now it is required";
                self.notes.add(&field, Action::Changed, note);
            }
        }
    }

    /// A `curl:` value in which absent parameters are empty texts.
    pub(super) fn empty_absent(&mut self, value: &str, params: &[Param]) -> String {
        let mut text = value.to_owned();
        for param in params {
            let optional = !param.required && param.default.is_none() && param.fixed.is_none();
            if optional && template::prints_always(&text, &param.name) {
                text = template::empty_if_absent(&text, &param.name);
                let field = format!("params.{}", param.name);
                let note = "a request without it has an empty text there (the original writes None)";
                self.notes.add(&field, Action::Changed, note);
            }
        }
        text
    }

    pub(super) fn function_params(&mut self, inspected: &Inspected) -> Vec<Value> {
        match self.function(inspected) {
            Some(Ok(function)) => return params::of_function(function),
            Some(Err(reason)) => self.notes.add("fn", Action::Note, format!("can't be inspected: {reason}")),
            None => {}
        }
        let guessed = params::of_example(&self.entry.example).filter(|params| !params.is_empty());
        let note = if guessed.is_some() {
            "parameters are those of the example; import with --python (and --python-path) to read them from the function"
        } else {
            "has no parameters here; import with --python (and --python-path) to read them from the function"
        };
        self.notes.add("params", Action::Note, note);
        guessed.unwrap_or_default()
    }

    pub(super) fn python(&mut self, path: &str) {
        if self.entry.transform.iter().any(|stage| template::is_template(stage)) {
            self.notes.add(
                "transform",
                Action::Note,
                "values in the transform of a function aren't filled in",
            );
        } else if !self.entry.transform.is_empty() {
            self.notes.add(
                "transform",
                Action::Changed,
                "the function is called by a program that runs the transform",
            );
        }
        self.spec.insert("python".to_owned(), Value::Object(python::section(path, &self.entry.transform)));
        self.reads_whole_file = self.entry.env_file.is_some();
    }

    pub(super) fn curl(&mut self, value: &str) {
        let entry = self.entry;
        let params = self.params.clone().unwrap_or_default();
        let value = &self.empty_absent(value, &params);
        if entry.transform.is_empty() {
            let mut notes = Notes::default();
            let request = curl::request(value, entry.stdin, &params, &mut notes);
            if let Some(request) = request.filter(|request| check::accepts(request, &params)) {
                self.notes.lines.extend(notes.lines);
                self.variables(&request.variables);
                self.timeout = request.timeout;
                self.spec.insert("http".to_owned(), Value::Object(request.section()));
                return;
            }
        }
        let command = curl::command(value, entry.stdin, &params, &mut self.notes);
        self.shell(&command, "curl");
    }

    pub(super) fn shell(&mut self, command: &str, field: &str) {
        let entry = self.entry;
        let params = self.params.clone().unwrap_or_default();
        let script = shell::rewrite(command, &params, field, &mut self.notes);
        self.variables(&script.variables);
        let mut text = script.text;
        if !entry.transform.is_empty() {
            let mut stages = Vec::new();
            for stage in &entry.transform {
                let stage = shell::rewrite(stage, &params, "transform", &mut self.notes);
                self.variables(&stage.variables);
                stages.push(stage.text);
            }
            text = shell::with_transform(&text, &stages);
        }
        let mut section = Map::new();
        section.insert("script".to_owned(), json!(text));
        if entry.stdin {
            section.insert("stdin".to_owned(), json!("Params"));
        }
        self.spec.insert("shell".to_owned(), Value::Object(section));
        if field == "exec" && entry.env_file.is_some() && self.env.secrets.is_empty() {
            self.reads_whole_file = true;
        }
    }

    pub(super) fn variables(&mut self, variables: &[Variable]) {
        for variable in variables {
            if self.entry.env.contains_key(&variable.name) {
                continue;
            }
            let has_env_file = self.entry.env_file.is_some();
            self.env.used(&variable.name, variable.default.as_deref(), &self.secret, has_env_file);
        }
    }

    /// The entry's own `env`. A value that is a variable of the server's environment comes from the Secret.
    pub(super) fn environment(&mut self) {
        for (written, value) in &self.entry.env {
            let name = names::identifier(written);
            if name.starts_with("MCC_") {
                self.notes.add(
                    "env",
                    Action::Dropped,
                    format!("{name}: names that begin with MCC_ are the system's"),
                );
                continue;
            }
            if name != *written {
                self.notes.add(
                    "env",
                    Action::Changed,
                    format!("'{written}' can't be a variable's name: now {name}"),
                );
            }
            let (text, open) = crate::import::environment::fill_in(value);
            let whole =
                crate::import::environment::variable(&text).filter(|variable| variable.length == text.len());
            match whole {
                Some(variable) if variable.name == name => self.env.secret(&name, &self.secret),
                _ => {
                    let mut text = text.replace("$(", "$$(");
                    for variable in open {
                        self.env.secret(&variable, &self.secret);
                        text = text
                            .replace(&format!("${{{variable}}}"), &format!("$({variable})"))
                            .replace(&format!("${variable}"), &format!("$({variable})"));
                    }
                    self.env.value(&name, &text);
                }
            }
        }
    }

    pub(super) fn limits(&mut self) {
        let mut limits = Map::new();
        if let Some(seconds) = self.timeout {
            limits.insert("timeoutSeconds".to_owned(), json!(seconds));
        }
        for (name, value) in &self.entry.limits {
            let field = format!("limits.{name}");
            #[expect(clippy::cast_possible_truncation, reason = "bounded by the filter")]
            let number = value
                .as_f64()
                .or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))
                .filter(|number| *number > 0.0 && *number < 1e12)
                .map(|number| number.ceil() as i64);
            let (target, value) = match (name.as_str(), number) {
                (_, None) => {
                    self.notes.add(&field, Action::Dropped, format!("{value} is no limit"));
                    continue;
                }
                ("timeout", Some(seconds)) => ("timeoutSeconds", json!(seconds.min(86_400))),
                ("mem_mb", Some(megabytes)) => ("memory", json!(format!("{megabytes}Mi"))),
                ("cpu_sec", Some(seconds)) => ("cpuSeconds", json!(seconds)),
                ("fsize_mb", Some(megabytes)) => ("fileBytes", json!(megabytes * 1_048_576)),
                ("nofile", Some(files)) => ("openFiles", json!(files)),
                _ => {
                    self.notes.add(&field, Action::Dropped, "the original knows no such limit either");
                    continue;
                }
            };
            limits.insert(target.to_owned(), value);
        }
        if !limits.is_empty() {
            self.spec.insert("limits".to_owned(), Value::Object(limits));
        }
        match self.entry.cache_ttl {
            Some(seconds) if seconds > 0 => {
                let note = "results are kept for each caller; cache.scope: Shared lets callers share them, as the original does";
                self.notes.add("cache_ttl", Action::Note, note);
                self.spec.insert("cache".to_owned(), json!({ "seconds": seconds }));
            }
            Some(_) => self.notes.add("cache_ttl", Action::Dropped, "0 means no cache"),
            None => {}
        }
    }

    pub(super) fn unmapped(&mut self) {
        for (field, value) in &self.entry.unmapped {
            let note = match *field {
                "cwd" => format!(
                    "tools run in an empty folder of their own, not in {value}: write paths out, or cd in the script"
                ),
                "python" => format!(
                    "{value} is not used: name an image (python.image), or start mcc up with --python"
                ),
                _ if crate::import::source::truth(value) == Some(false) => continue,
                _ => "tools get no variables of the server's environment: name those they need under env"
                    .to_owned(),
            };
            self.notes.add(field, Action::Dropped, note);
        }
        if self.entry.stdin && matches!(self.entry.body, Body::Function(_)) {
            self.notes.add("stdin", Action::Dropped, "functions get their parameters as arguments");
        }
        if self.entry.env_file.is_some() && (self.reads_whole_file || !self.env.secrets.is_empty()) {
            let note = format!("its values come from the Secret {}", self.secret);
            self.notes.add("env_file", Action::Changed, note);
        }
    }

    /// Has the template of a script or a request looked at as `mcc lint` does, applies the edits that are certain, and
    /// returns what is left to be wrong with it.
    pub(super) fn refused(&mut self) -> Option<String> {
        let section = self.spec.get("shell").and_then(|shell| shell.get("script")).and_then(Value::as_str)?;
        let params = self.params.as_deref().unwrap_or_default();
        let checked = check::script(section, params, &mut self.notes);
        let (text, problem) = match checked {
            Ok(text) => (text, None),
            Err((text, problem)) => (text, Some(problem)),
        };
        if let Some(Value::Object(shell)) = self.spec.get_mut("shell") {
            shell.insert("script".to_owned(), json!(text));
        }
        problem
    }
}
