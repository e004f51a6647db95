//! What other people's MCP clients see, word for word: PyPI `mcp` and npm `@modelcontextprotocol/client`, in both protocol
//! eras, over HTTP and over stdio. All of them must print the same transcripts.

use std::ffi::OsString;
use std::path::PathBuf;

use mcc_tests::server::Server;
use mcc_tests::walk::{Client, Era};
use mcc_tests::workspace;

#[derive(Clone, Copy)]
enum Transport {
    Http,
    Stdio,
}

#[test]
fn python_over_http() -> anyhow::Result<()> {
    walks("python_over_http", Client::Python, Transport::Http)
}

#[test]
fn python_over_stdio() -> anyhow::Result<()> {
    walks("python_over_stdio", Client::Python, Transport::Stdio)
}

#[test]
fn node_over_http() -> anyhow::Result<()> {
    walks("node_over_http", Client::Node, Transport::Http)
}

#[test]
fn node_over_stdio() -> anyhow::Result<()> {
    walks("node_over_stdio", Client::Node, Transport::Stdio)
}

/// One caller's walk.
#[derive(Clone, Copy)]
struct Walk {
    /// Name of the snapshot.
    name: &'static str,
    /// Folder of `tests/fixtures` that is served.
    catalog: &'static str,
    /// Arguments of `mcc up`.
    identity: &'static [&'static str],
    /// Files of steps.
    steps: &'static [&'static str],
}

const WALKS: [Walk; 4] = [
    Walk { name: "dev", catalog: "catalog", identity: &[], steps: &["steps"] },
    Walk {
        name: "alice",
        catalog: "catalog",
        identity: &["--user", "alice"],
        steps: &["steps", "granted", "forbidden"],
    },
    Walk { name: "anonymous", catalog: "catalog", identity: &["--anonymous"], steps: &["steps"] },
    // Nothing to say of a user: no email, no groups, no tools.
    Walk { name: "nobody", catalog: "vault", identity: &["--user", "bob"], steps: &["nobody"] },
];

/// An anonymous modern caller has no session of its own: a handle is minted.
const HANDLE: Walk =
    Walk { name: "handle", catalog: "catalog", identity: &["--anonymous"], steps: &["handle"] };

fn walks(test: &str, client: Client, transport: Transport) -> anyhow::Result<()> {
    for (era, walk) in [Era::Legacy, Era::Modern].into_iter().flat_map(|era| WALKS.map(|walk| (era, walk))) {
        if !compare(test, client, transport, era, walk)? {
            return Ok(());
        }
    }
    compare(test, client, transport, Era::Modern, HANDLE)?;
    Ok(())
}

/// Whether the client is there; fails where its transcript isn't the snapshot.
fn compare(
    test: &str,
    client: Client,
    transport: Transport,
    era: Era,
    Walk { name, catalog, identity, steps }: Walk,
) -> anyhow::Result<bool> {
    let catalog = workspace::root().join("tests/fixtures").join(catalog);
    // A server of its own for every walk: what one caller leaves in the session is not the next one's.
    let (_server, target) = match transport {
        Transport::Http => {
            let server = Server::start(&catalog, identity)?;
            let url = OsString::from(server.url());
            (Some(server), vec![url])
        }
        Transport::Stdio => (None, stdio_command(catalog, identity)?),
    };
    match client.walk(era, steps, &target)? {
        Ok(transcript) => {
            let mut settings = insta::Settings::clone_current();
            settings.set_prepend_module_to_snapshot(false);
            settings.set_description(format!("{client:?} {era:?}"));
            settings.set_omit_expression(true);
            settings.bind(|| insta::assert_snapshot!(name, transcript));
            Ok(true)
        }
        Err(reason) => {
            workspace::skip(test, reason);
            Ok(false)
        }
    }
}

fn stdio_command(catalog: PathBuf, identity: &[&str]) -> anyhow::Result<Vec<OsString>> {
    let mut command =
        vec![workspace::program("mcc")?.into_os_string(), "up".into(), catalog.into_os_string()];
    command.push("--stdio".into());
    command.extend(identity.iter().map(OsString::from));
    Ok(command)
}
