//! Builds calls for the contract suite.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcc_catalog::model::{
    Catalog, CompiledTool, Facets, Implementation, NamespacedName, ObjectSet, PythonCode, ResolvedLimits,
};
use mcc_catalog::seam::{Capture, Ending, Executor, Invocation, Outcome, Program, SessionBag};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

/// One call to make.
#[derive(Clone, Debug)]
pub struct Run {
    program: Program,
    env: Value,
    env_from: Value,
    secret: Value,
    params: Vec<(String, String)>,
    context: Vec<(String, String)>,
    stdin: Option<Vec<u8>>,
    session: SessionBag,
    folder: Option<PathBuf>,
    /// Bounds of the tool.
    pub limits: ResolvedLimits,
}

/// A script.
pub fn shell(script: impl Into<String>) -> Run {
    Run::new(Program::Shell { script: script.into() })
}

/// A call of `main(**params)` of Python source.
pub fn python(source: &str, params: Value) -> Run {
    Run::new(Program::Python {
        code: PythonCode::Source(source.to_owned()),
        params: object(params),
        path: Vec::new(),
    })
}

/// A call of an importable function, found in `path`.
pub fn function(function: &str, params: Value, path: PathBuf) -> Run {
    Run::new(Program::Python {
        code: PythonCode::Function(function.to_owned()),
        params: object(params),
        path: vec![path],
    })
}

/// A container's command.
pub fn container(command: &[&str], args: &[&str]) -> Run {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    Run::new(Program::Container { command: words(command), args: words(args) })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("not an object: {other}"),
    }
}

impl Run {
    fn new(program: Program) -> Self {
        // Generous: on a loaded machine nothing here may end because of time, unless it is about time.
        let limits = ResolvedLimits { timeout: Duration::from_secs(120), ..ResolvedLimits::default() };
        Self {
            program,
            env: json!([]),
            env_from: json!([]),
            secret: json!({}),
            params: Vec::new(),
            context: Vec::new(),
            stdin: None,
            session: SessionBag::new(),
            folder: None,
            limits,
        }
    }

    /// Kills the tool after this time.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = timeout;
        self
    }

    /// Changes the bounds.
    pub fn limits(mut self, change: impl FnOnce(&mut ResolvedLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// What the tool reads.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// A parameter, as a variable.
    pub fn param(mut self, name: &str, value: impl Into<String>) -> Self {
        self.params.push((name.to_owned(), value.into()));
        self
    }

    /// A session value, as a variable.
    pub fn context(mut self, name: &str, value: impl Into<String>) -> Self {
        self.context.push((name.to_owned(), value.into()));
        self
    }

    /// The session values the tool is given.
    pub fn session(mut self, values: Value) -> Self {
        self.session = object(values);
        self
    }

    /// `env` and `envFrom` of the Tool, and the data of the Secret `keys` beside it.
    pub fn env(mut self, env: Value, env_from: Value, secret: Value) -> Self {
        (self.env, self.env_from, self.secret) = (env, env_from, secret);
        self
    }

    /// Folder of the manifest.
    pub fn folder(mut self, folder: PathBuf) -> Self {
        self.folder = Some(folder);
        self
    }

    /// The call.
    pub fn invocation(self) -> Invocation {
        let mut objects = ObjectSet::default();
        let secret = serde_json::from_value(json!({ "stringData": self.secret })).unwrap();
        objects.secrets.insert(NamespacedName::new("tools", "keys"), Arc::new(secret));
        let tool = CompiledTool {
            key: "public.sample".into(),
            name: "sample".into(),
            facets: Facets::new("public.sample", &["public".into()]),
            object: NamespacedName::new("tools", "sample"),
            uid: None,
            digest: String::new(),
            description: String::new(),
            example: String::new(),
            keywords: Vec::new(),
            params: Vec::new(),
            returns: "str".into(),
            returns_description: String::new(),
            hints: mcc_crds::v1alpha1::Hints::default(),
            signature: String::new(),
            // An executor runs `Invocation::program`.
            implementation: Implementation::Container { command: Vec::new(), args: Vec::new() },
            image: None,
            env: serde_json::from_value(self.env).unwrap(),
            env_from: serde_json::from_value(self.env_from).unwrap(),
            limits: self.limits,
            cache: None,
            session_read: Vec::new(),
            session_write: Vec::new(),
            rate_per_minute: None,
            warm: 0,
            pod: mcc_crds::v1alpha1::PodSettings::default(),
            folder: self.folder,
        };
        let mut catalog = Catalog::default();
        catalog.objects = Arc::new(objects);
        let capture_bytes = tool.limits.output_bytes;
        Invocation {
            id: format!("mcc-{}", crate::exec::conversation::nonce()),
            tool: Arc::new(tool),
            catalog: Arc::new(catalog),
            program: self.program,
            params_env: self.params,
            session_env: self.context,
            stdin: self.stdin,
            capture_bytes,
            session: self.session,
        }
    }

    /// Runs it to its end.
    pub async fn on(self, executor: &dyn Executor) -> Outcome {
        executor.execute(self.invocation(), &(), CancellationToken::new()).await
    }

    /// Runs it to an exit with 0; its standard output.
    pub async fn output(self, executor: &dyn Executor) -> Vec<u8> {
        let outcome = self.on(executor).await;
        assert_eq!(outcome.ending, Ending::Exited(0), "stderr: {}", text(&outcome.stderr));
        assert_eq!(outcome.stdout.dropped(), 0);
        outcome.stdout.head
    }

    /// Runs a Python tool to its success; its result.
    pub async fn result(self, executor: &dyn Executor) -> Value {
        let outcome = self.on(executor).await;
        assert_eq!(outcome.ending, Ending::Exited(0), "stderr: {}", text(&outcome.stderr));
        serde_json::from_slice(&outcome.result.unwrap().head).unwrap()
    }
}

/// What was kept of a stream, for a message.
pub fn text(capture: &Capture) -> String {
    format!("{}{}", String::from_utf8_lossy(&capture.head), String::from_utf8_lossy(&capture.tail))
}
