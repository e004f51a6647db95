//! `mcc call KEY name=value…`: runs a tool.

use mcc_catalog::seam::SessionBag;
use mcc_catalog::session;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::cli::OutputArgs;
use crate::failure::{Failure, Outcome};
use crate::printer::Printer;
use crate::signals::end_requested;
use crate::target::{Target, TargetArgs};

/// Arguments of `mcc call`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Arguments:\n  \
    name=value    a text; numbers, true and false, lists and objects in JSON are taken as such where the parameter is one\n  \
    name=@FILE    the text of a file\n  \
    name:=JSON    any JSON value\n\n\
    Exit status 1: the tool failed. Its standard output and standard error go to ours.")]
pub struct Args {
    /// Key of the tool.
    key: String,
    /// Parameters.
    #[arg(value_name = "NAME=VALUE")]
    arguments: Vec<String>,
    /// All parameters as a JSON object; - reads it from standard input, @FILE from a file.
    #[arg(short, long, visible_alias = "json", value_name = "JSON")]
    params: Option<String>,
    /// A session value that the tool sees, a text or, with :=, JSON (with --dir; repeatable).
    #[arg(long, value_name = "NAME=VALUE")]
    ctx: Vec<String>,
    /// Key under which a repeated call gets the first one's result (with a server).
    #[arg(long, value_name = "KEY", value_parser = idempotency_key)]
    idempotency_key: Option<String>,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    output: OutputArgs,
}

fn idempotency_key(text: &str) -> Result<String, String> {
    let printable = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if printable && (1..=128).contains(&text.len()) {
        Ok(text.to_owned())
    } else {
        Err("1 to 128 printable ASCII characters".to_owned())
    }
}

/// Runs the tool and prints what it wrote.
pub async fn run(args: &Args, printer: Printer) -> Outcome {
    let printer = printer.with_format(args.output.output);
    let params = params(args)?;
    let bag = session_bag(&args.ctx)?;
    let called = match args.target.open(printer).await? {
        Target::Local(local) => {
            if args.idempotency_key.is_some() {
                return Err(Failure::usage(
                    "--idempotency-key needs a server: without one nothing is remembered",
                ));
            }
            let cancel = CancellationToken::new();
            let tool = local.tool(&args.key)?;
            let call = local.call(tool, &params, &bag, cancel.clone());
            let interrupted = async {
                end_requested().await;
                cancel.cancel();
                std::future::pending::<()>().await;
            };
            tokio::select! {
                called = call => called?.0,
                () = interrupted => return Err(Failure::msg("interrupted")),
            }
        }
        Target::Remote(remote) => {
            if !bag.is_empty() {
                return Err(Failure::usage("--ctx goes with --dir")
                    .hint("a server keeps its callers' sessions itself"));
            }
            remote.call(&args.key, &params, args.idempotency_key.as_deref()).await?
        }
    };
    if printer.is_table() {
        called.print(printer)?;
    } else {
        printer.data(&called)?;
    }
    Ok(called.status())
}

fn params(args: &Args) -> Result<Map<String, Value>, Failure> {
    let mut params = match &args.params {
        None => Map::new(),
        Some(text) => object(&read(text)?)?,
    };
    for argument in &args.arguments {
        let (name, value) = assignment(argument)?;
        if args.arguments.iter().filter(|other| is_of(other, &name)).count() > 1 {
            return Err(
                Failure::usage(format!("{name} is given twice")).hint("a list is written as name:='[1, 2]'")
            );
        }
        params.insert(name, value);
    }
    Ok(params)
}

/// The text itself, or what `-` and `@FILE` stand for.
fn read(text: &str) -> Result<String, Failure> {
    match text.strip_prefix('@') {
        Some(file) => Ok(fs_err::read_to_string(file)?),
        None if text == "-" => Ok(std::io::read_to_string(std::io::stdin())?),
        None => Ok(text.to_owned()),
    }
}

fn object(text: &str) -> Result<Map<String, Value>, Failure> {
    serde_json::from_str(text).map_err(|error| {
        Failure::usage(format!("--params is not a JSON object: {error}"))
            .hint("write it as --params '{\"name\": \"value\"}'")
    })
}

/// `name=value`, `name=@FILE`, `name:=JSON`.
fn assignment(argument: &str) -> Result<(String, Value), Failure> {
    let Some((name, value)) = argument.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        return Err(Failure::usage(format!("'{argument}' is no argument"))
            .hint("write arguments as name=value, or name:=JSON for any JSON value"));
    };
    let value = match name.strip_suffix(':') {
        Some(name) => {
            let value = serde_json::from_str(value).map_err(|error| {
                Failure::usage(format!("the value of {name} is not JSON: {error}"))
                    .hint("a text is written as name=value")
            })?;
            return Ok((name.to_owned(), value));
        }
        None if value.starts_with('@') => read(value)?,
        None => value.to_owned(),
    };
    Ok((name.to_owned(), Value::String(value)))
}

/// Whether an argument assigns this name.
fn is_of(argument: &str, name: &str) -> bool {
    argument.split_once('=').is_some_and(|(left, _)| left.strip_suffix(':').unwrap_or(left) == name)
}

fn session_bag(entries: &[String]) -> Result<SessionBag, Failure> {
    let mut bag = SessionBag::new();
    for entry in entries {
        let (name, value) = assignment(entry)?;
        session::check_name(&name)
            .and_then(|()| session::check_value(&name, &value))
            .map_err(Failure::usage)?;
        bag.insert(name, value);
    }
    Ok(bag)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments() {
        assert_eq!(assignment("a=b=c").unwrap(), ("a".to_owned(), json!("b=c")));
        assert_eq!(assignment("a=").unwrap(), ("a".to_owned(), json!("")));
        assert_eq!(assignment("a:=[1]").unwrap(), ("a".to_owned(), json!([1])));
        for wrong in ["a", "=b", "a:=x"] {
            assert!(assignment(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn session_values() {
        assert_eq!(
            session_bag(&["a=1".to_owned(), "b:=1".to_owned()]).unwrap(),
            *json!({"a": "1", "b": 1}).as_object().unwrap()
        );
        assert!(session_bag(&["user=x".to_owned()]).is_err() && session_bag(&["A=x".to_owned()]).is_err());
    }
}
