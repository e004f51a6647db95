//! A catalog of manifests in this process: the same catalog function, index and executor that a server uses.

use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::NonEmptyStringValueParser;
use mcc_catalog::compile::CatalogSettings;
use mcc_catalog::invoke::{PrepareError, prepare};
use mcc_catalog::model::{Access, Caller, Catalog, CompiledTool, Severity};
use mcc_catalog::seam::{CatalogSource, Executor, Outcome, Query, SessionBag, ToolIndex};
use mcc_catalog::{output, params, session};
use mcc_gateway::auth::DevAuthenticator;
use mcc_gateway::exec::{ProcessExecutor, ProcessOptions};
use mcc_gateway::source::{DirectoryOptions, DirectorySource, SourceError};
use mcc_index::MemoryIndex;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::called::Called;
use crate::embedder::EmbedderArgs;
use crate::failure::Failure;
use crate::printer::Printer;

/// How many of the nearest keys are named for one that isn't there.
const NEAREST: usize = 3;

/// How tools run in this process.
#[derive(Clone, Debug, clap::Args)]
pub struct RuntimeArgs {
    /// A Secret for the tools' environment, from a file of NAME=value lines (repeatable).
    #[arg(long = "secret", value_name = "NAME=FILE.env", value_parser = secret_file)]
    pub secrets: Vec<(String, PathBuf)>,
    /// Python that runs Python tools.
    #[arg(long, env = "MCC_PYTHON", default_value = "python3", value_name = "PYTHON")]
    pub python: PathBuf,
    /// Folder put on the module search path of Python tools (repeatable).
    #[arg(long, env = "MCC_PYTHON_PATH", value_name = "DIR", value_delimiter = ':')]
    pub python_path: Vec<PathBuf>,
}

fn secret_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), file.into())),
        _ => Err("write it as NAME=FILE.env".to_owned()),
    }
}

impl RuntimeArgs {
    /// The executor.
    pub fn executor(&self) -> Result<ProcessExecutor, Failure> {
        let python_path = self
            .python_path
            .iter()
            .map(|path| {
                fs_err::canonicalize(path)
                    .map_err(|error| Failure::new(error).hint("--python-path names folders"))
            })
            .collect::<Result<_, _>>()?;
        Ok(ProcessExecutor::new(ProcessOptions {
            python: self.python.clone(),
            python_path,
            ..ProcessOptions::default()
        }))
    }

    /// The catalog of `paths`, watched.
    pub fn source(&self, paths: &[PathBuf]) -> Result<DirectorySource, Failure> {
        let options = DirectoryOptions {
            paths: paths.to_vec(),
            settings: CatalogSettings::directory(),
            secrets: self.secrets.clone(),
        };
        open_source(options)
    }
}

/// Opens a folder of manifests; a path that isn't there is a wrong command line.
pub fn open_source(options: DirectoryOptions) -> Result<DirectorySource, Failure> {
    DirectorySource::open(options).map_err(|error| match error {
        SourceError::Path { .. } => Failure::usage(error)
            .hint("name folders of manifests, manifests, and files of secrets that are there"),
        SourceError::Thread(_) => Failure::new(error),
    })
}

/// Who calls: the user `dev`, an admin, unless said otherwise.
#[derive(Clone, Debug, clap::Args)]
pub struct CallerArgs {
    /// Be this user, with the grants of the manifests.
    #[arg(
        long,
        visible_alias = "as",
        value_name = "NAME",
        conflicts_with = "anonymous",
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub user: Option<String>,
    /// Groups that an identity provider would say the user is in, for UserGrants of kind Group. Without --user: of
    /// the user dev, who is no admin then.
    #[arg(long, value_name = "GROUP", value_delimiter = ',', conflicts_with = "anonymous")]
    pub groups: Vec<String>,
    /// Be nobody in particular: public tools only.
    #[arg(long)]
    pub anonymous: bool,
}

impl CallerArgs {
    /// The authenticator that takes everybody for this caller.
    pub fn authenticator(&self) -> DevAuthenticator {
        match &self.user {
            _ if self.anonymous => DevAuthenticator::anonymous(),
            Some(name) => DevAuthenticator::user(name, self.groups.clone()),
            None if !self.groups.is_empty() => DevAuthenticator::user("dev", self.groups.clone()),
            None => DevAuthenticator::admin(),
        }
    }

    /// The caller in words.
    pub fn describe(&self) -> String {
        match &self.user {
            _ if self.anonymous => "nobody in particular".to_owned(),
            Some(name) => name.clone(),
            None if !self.groups.is_empty() => "dev".to_owned(),
            None => "dev, an admin".to_owned(),
        }
    }
}

/// A catalog and who looks at it.
pub struct Local {
    /// The catalog.
    pub catalog: Arc<Catalog>,
    /// What the caller may do.
    pub access: Access,
    runtime: RuntimeArgs,
    embedder: EmbedderArgs,
    who: String,
    _source: DirectorySource,
}

impl Local {
    /// Reads manifests. Their errors are noted: what they describe is missing from the catalog.
    pub fn open(
        paths: &[PathBuf],
        runtime: &RuntimeArgs,
        embedder: &EmbedderArgs,
        caller: &CallerArgs,
        printer: Printer,
    ) -> Result<Self, Failure> {
        let source = runtime.source(paths)?;
        let catalog = source.subscribe().borrow().clone();
        let errors = catalog.problems.iter().filter(|problem| problem.severity == Severity::Error).count();
        if errors > 0 {
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            printer.note(format!(
                "note: the manifests have {}; see mcc lint {}",
                Printer::count(errors, "error"),
                paths.join(" ")
            ))?;
        }
        let authenticator = caller.authenticator();
        let identity: &Caller = authenticator.caller();
        let access = catalog.access(identity, jiff::Timestamp::now());
        Ok(Self {
            access,
            catalog,
            runtime: runtime.clone(),
            embedder: embedder.clone(),
            who: caller.describe(),
            _source: source,
        })
    }

    /// The tools that the caller may see, by key.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<CompiledTool>> {
        self.catalog.reachable(&self.access)
    }

    /// A tool by key.
    pub fn tool(&self, key: &str) -> Result<&Arc<CompiledTool>, Failure> {
        self.catalog.get(key, &self.access).ok_or_else(|| {
            let failure = Failure::msg(format!("there is no tool '{key}' for {}", self.who));
            match self.catalog.nearest_keys(key, &self.access, NEAREST) {
                nearest if nearest.is_empty() => failure.hint("mcc list shows what there is"),
                nearest => failure.hint(format!("did you mean {}?", nearest.join(", "))),
            }
        })
    }

    /// Searches, with the scores of the best tools.
    pub async fn search(
        &self,
        text: &str,
        min_score: Option<f32>,
        limit: usize,
    ) -> Result<Vec<(f32, &CompiledTool)>, Failure> {
        let index = MemoryIndex::new(self.embedder.load()?);
        index.replace(self.catalog.documents()).await?;
        let visibility = self.access.visibility.clone();
        let query = Query { text: text.to_owned(), min_score, limit, visibility };
        let hits = index.search(&query).await?;
        Ok(hits
            .into_iter()
            .filter_map(|hit| Some((hit.score, &**self.catalog.get(&hit.key, &self.access)?)))
            .collect())
    }

    /// Runs a tool.
    pub async fn call(
        &self,
        tool: &Arc<CompiledTool>,
        given: &Map<String, Value>,
        bag: &SessionBag,
        cancel: CancellationToken,
    ) -> Result<(Called, Outcome), Failure> {
        let invalid = |problem: &dyn std::fmt::Display| {
            Failure::msg(format!("Validation error for tool '{}': {problem}", tool.key))
                .hint(format!("mcc info {} shows its parameters", tool.key))
        };
        let arguments = params::validate(tool, given).map_err(|errors| invalid(&errors))?;
        let visible = session::visible(tool, bag, &self.access);
        let id = format!("mcc-{}", uuid::Uuid::new_v4().simple());
        let invocation = prepare(id.clone(), tool.clone(), self.catalog.clone(), arguments, visible)
            .map_err(|error| match error {
                PrepareError::Invalid(errors) => invalid(&errors),
                error => Failure::new(error),
            })?;
        let outcome = self.runtime.executor()?.execute(invocation, &(), cancel).await;
        let answer = output::answer(&outcome, &id, tool.limits.output_bytes);
        Ok((Called::of_outcome(&outcome, answer), outcome))
    }
}
