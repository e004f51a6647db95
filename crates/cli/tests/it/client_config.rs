//! Configuration of MCP clients.

use std::path::Path;

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::support::{mcc, outcome_without};

const CLIENTS: [&str; 11] = [
    "claude-code",
    "claude-desktop",
    "cursor",
    "vscode",
    "gemini-cli",
    "goose",
    "codex",
    "windsurf",
    "zed",
    "opencode",
    "mcp-json",
];

fn run(home: &TempDir, args: &[&str]) -> String {
    let mut command = mcc();
    command.env("HOME", home.path()).current_dir(home.path()).arg("client-config").args(args);
    let program = Path::new(env!("CARGO_BIN_EXE_mcc"));
    outcome_without(&mut command, &home.path().canonicalize().unwrap(), "[HOME]")
        .replace(&home.path().display().to_string(), "[HOME]")
        .replace(&program.canonicalize().unwrap().display().to_string(), "[MCC]")
        .replace(&program.display().to_string(), "[MCC]")
}

#[test]
fn every_client() {
    let home = TempDir::new().unwrap();
    let mut all = String::new();
    for client in CLIENTS {
        all.push_str(&format!("=== {client} ===\n{}", run(&home, &[client])));
        all.push_str(&run(&home, &[client, "--stdio", ".", "--name", "tools", "--", "--user", "alice"]));
    }
    assert_snapshot!(all);
}

#[test]
fn written_files_keep_what_was_there() {
    let home = TempDir::new().unwrap();
    let write = |file: &str, text: &str| {
        let file = home.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    write(
        ".cursor/mcp.json",
        "{\n  \"mcpServers\": {\"other\": {\"url\": \"http://x\"}},\n  \"z\": [1]\n}\n",
    );
    write(
        ".config/goose/config.yaml",
        "# mine\nGOOSE_MODE: auto # chosen\nextensions:\n  memory: {type: builtin}\n",
    );
    write(".codex/config.toml", "model = \"x\" # chosen\n[mcp_servers.other]\nurl = \"http://x\"\n");
    let mut all = String::new();
    for (client, file) in [
        ("cursor", ".cursor/mcp.json"),
        ("goose", ".config/goose/config.yaml"),
        ("codex", ".codex/config.toml"),
        ("vscode", ".vscode/mcp.json"),
        ("claude-code", ".mcp.json"),
    ] {
        all.push_str(&format!("=== {client} ===\n{}", run(&home, &[client, "--write"])));
        all.push_str(&run(&home, &[client, "--write"]));
        all.push_str(&format!(
            "--- {file} ---\n{}",
            std::fs::read_to_string(home.path().join(file)).unwrap()
        ));
    }
    all.push_str(&run(&home, &["cursor", "--write", "--server", "http://127.0.0.1:9000/mcp"]));
    assert_snapshot!(all);
    let backup = std::fs::read_to_string(home.path().join(".codex/config.toml.bak")).unwrap();
    assert!(backup.ends_with("url = \"http://x\"\n"));
    assert!(home.path().join(".cursor/mcp.json.bak2").exists());
}

/// However an entry of that name was written, one is there afterwards.
#[test]
fn entries_in_toml_are_replaced_in_every_spelling() {
    let home = TempDir::new().unwrap();
    let file = home.path().join("config");
    let mut all = String::new();
    for text in [
        "[mcp_servers.mcc]\nurl = \"http://x\"\n",
        "[mcp_servers]\nmcc = { url = \"old\" } # why\nother = {url = \"x\"}\n",
        "[mcp_servers]\n\"mcc\".url = \"old\"\n",
        "mcp_servers.mcc.url = \"old\"\n[z]\na = 1e2\n",
    ] {
        std::fs::write(&file, text).unwrap();
        run(&home, &["codex", "--write", "--file", "config"]);
        all.push_str(&format!("{text}=>\n{}\n", std::fs::read_to_string(&file).unwrap()));
        assert!(run(&home, &["codex", "--write", "--file", "config"]).contains("already"));
    }
    assert_snapshot!(all);
}

#[test]
fn files_that_cannot_be_edited_safely_are_left_alone() {
    let home = TempDir::new().unwrap();
    let mut all = String::new();
    for (client, text) in [
        ("zed", "{ // a comment\n  \"context_servers\": {} }\n"),
        ("cursor", "{\"mcpServers\": []}"),
        ("codex", "mcp_servers = 1\n"),
        ("codex", "= = =\n"),
        ("goose", "extensions: {mcc: {type: builtin}}\n"),
        ("goose", "extensions: {memory: {type: builtin}}\n"),
        ("goose", "a: [\n"),
    ] {
        let file = home.path().join("config");
        std::fs::write(&file, text).unwrap();
        all.push_str(&run(&home, &[client, "--write", "--file", "config"]));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    assert_snapshot!(all);
}
