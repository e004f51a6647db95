//! `mcc client-config CLIENT`: the configuration with which an MCP client connects, printed or written.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::client_config::{
    Client, Connection, Merged, Scope, Surroundings, Syntax, merge, toml_block, write, yaml_block,
};
use crate::failure::{ExitStatus, Failure, Outcome};
use crate::printer::{Printer, Tone};

/// Where a running server is found unless said otherwise.
pub const DEFAULT_SERVER: &str = "http://127.0.0.1:8080/mcp";

/// Arguments of `mcc client-config`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  mcc client-config cursor\n  \
    mcc client-config claude-desktop --stdio ./manifests --write\n  \
    mcc client-config goose --stdio ./manifests -- --user alice")]
pub struct Args {
    /// The client.
    #[arg(value_enum)]
    client: Client,
    /// Let the client start `mcc up --stdio` on these manifests (default: connect to a running server).
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with = "server")]
    stdio: Vec<PathBuf>,
    /// URL of the running server.
    #[arg(long, env = "MCC_SERVER", default_value = DEFAULT_SERVER, value_name = "URL")]
    server: String,
    /// Name of the entry.
    #[arg(long, default_value = "mcc", value_parser = entry_name)]
    name: String,
    /// Write the entry into the client's file, keeping everything else and a backup.
    #[arg(long)]
    write: bool,
    /// Whose file [default: user; project for claude-code and vscode].
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    /// The file, instead of the client's usual one.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Further arguments for `mcc up --stdio`.
    #[arg(last = true, value_name = "ARG")]
    up: Vec<String>,
}

fn entry_name(name: &str) -> Result<String, String> {
    let usable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.is_empty() && name.chars().all(usable) {
        Ok(name.to_owned())
    } else {
        Err("a name has letters, digits, - and _ only".to_owned())
    }
}

/// Prints or writes the configuration.
pub fn run(args: &Args, printer: Printer) -> Outcome {
    let connection = connection(args)?;
    let entry = args.client.entry(&args.name, &connection).ok_or_else(|| {
        Failure::usage("claude-desktop's file takes programs only, no URL")
            .hint("let it start mcc itself: mcc client-config claude-desktop --stdio PATH")
    })?;
    let surroundings = Surroundings::current()?;
    let scope = args.scope.unwrap_or(args.client.default_scope());
    let file = args.file.clone().or_else(|| args.client.file(scope, &surroundings));
    if args.write {
        return write_entry(args, &entry, file, printer);
    }
    if let Some(file) = file {
        printer.note(printer.paint_err(Tone::Faint, &format!("# {}", file.display())))?;
    }
    printer.raw(document(args.client, &args.name, &entry).as_bytes())?;
    Ok(ExitStatus::Ok)
}

fn connection(args: &Args) -> Result<Connection, Failure> {
    if args.stdio.is_empty() {
        if !args.up.is_empty() {
            return Err(Failure::usage("arguments after -- are for mcc up --stdio")
                .hint("add --stdio PATH, or leave them out"));
        }
        return Ok(Connection::Http { url: args.server.clone() });
    }
    let mut words = vec!["up".to_owned(), "--stdio".to_owned()];
    for path in &args.stdio {
        // Clients start programs in folders of their own.
        words.push(fs_err::canonicalize(path)?.display().to_string());
    }
    words.extend(args.up.iter().cloned());
    let command = std::env::current_exe()?.display().to_string();
    Ok(Connection::Stdio { command, args: words })
}

/// The entry as it stands in an otherwise empty file.
pub fn document(client: Client, name: &str, entry: &Value) -> String {
    let section = client.section();
    match client.syntax() {
        Syntax::Json => format!("{:#}\n", json!({ section: { name: entry } })),
        Syntax::Yaml => format!("{section}:\n{}", yaml_block(name, entry)),
        Syntax::Toml => toml_block(section, name, entry),
    }
}

fn write_entry(args: &Args, entry: &Value, file: Option<PathBuf>, printer: Printer) -> Outcome {
    let file = file.ok_or_else(|| {
        Failure::usage("this client has no file of that scope").hint("name one with --file FILE")
    })?;
    let before = match fs_err::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error.into()),
    };
    let merged = merge(args.client, &before, &args.name, entry).map_err(|error| {
        Failure::msg(format!("{}: {error}", file.display())).hint(format!(
            "nothing was changed; put this into the file yourself:\n{}",
            document(args.client, &args.name, entry).trim_end()
        ))
    })?;
    let Merged::Text { text, replaced } = merged else {
        printer.note(format!("{} has this entry already", file.display()))?;
        return Ok(ExitStatus::Ok);
    };
    let backup = write(&file, &text)?;
    let verb = if replaced { "replaced" } else { "added" };
    printer.note(format!("{verb} '{}' in {}", args.name, file.display()))?;
    if let Some(backup) = backup {
        printer.note(format!("the old file is {}", backup.display()))?;
    }
    Ok(ExitStatus::Ok)
}
