//! What each client calls things, and where it keeps them.
//!
//! The forms are those of the clients' own documentation: Claude Code (`.mcp.json`, `~/.claude.json`), Claude Desktop
//! (`claude_desktop_config.json`, local programs only), Cursor, VS Code (`mcp.json` with `servers`), Gemini CLI
//! (`httpUrl`), goose (`extensions` in YAML), Codex (`[mcp_servers.NAME]` in TOML), Windsurf (`serverUrl`), Zed
//! (`context_servers`), opencode (`mcp` with `type`).

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Value, json};

/// An MCP client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Gemini CLI.
    GeminiCli,
    /// goose.
    Goose,
    /// Codex CLI.
    Codex,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
    /// opencode.
    Opencode,
    /// Any client that reads `mcpServers`.
    McpJson,
}

/// Whose configuration: everything the user does, or one project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    /// The user's own file.
    User,
    /// A file in the current folder.
    Project,
}

/// How the client reaches the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// A server that runs already.
    Http {
        /// Its MCP endpoint.
        url: String,
    },
    /// A program that the client starts.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
    },
}

/// The language of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// TOML.
    Toml,
}

impl Client {
    /// The language of its file.
    pub fn syntax(self) -> Syntax {
        match self {
            Self::Goose => Syntax::Yaml,
            Self::Codex => Syntax::Toml,
            _ => Syntax::Json,
        }
    }

    /// The field that holds the servers by name.
    pub fn section(self) -> &'static str {
        match self {
            Self::Vscode => "servers",
            Self::Goose => "extensions",
            Self::Codex => "mcp_servers",
            Self::Zed => "context_servers",
            Self::Opencode => "mcp",
            _ => "mcpServers",
        }
    }

    /// The entry for a connection; none where the client's file can't express it.
    pub fn entry(self, name: &str, connection: &Connection) -> Option<Value> {
        match connection {
            Connection::Http { url } => self.http_entry(name, url),
            Connection::Stdio { command, args } => Some(self.stdio_entry(name, command, args)),
        }
    }

    fn http_entry(self, name: &str, url: &str) -> Option<Value> {
        Some(match self {
            Self::ClaudeDesktop => return None,
            Self::Cursor | Self::Codex | Self::Zed => json!({ "url": url }),
            Self::GeminiCli => json!({ "httpUrl": url }),
            Self::Windsurf => json!({ "serverUrl": url }),
            Self::Opencode => json!({ "type": "remote", "url": url, "enabled": true }),
            Self::Goose => json!({
                "type": "streamable_http", "name": name, "enabled": true, "uri": url, "timeout": 300
            }),
            Self::ClaudeCode | Self::Vscode | Self::McpJson => json!({ "type": "http", "url": url }),
        })
    }

    fn stdio_entry(self, name: &str, command: &str, args: &[String]) -> Value {
        match self {
            Self::ClaudeCode | Self::Vscode => json!({ "type": "stdio", "command": command, "args": args }),
            Self::Goose => json!({
                "type": "stdio", "name": name, "enabled": true, "cmd": command, "args": args, "timeout": 300
            }),
            Self::Zed => json!({ "command": command, "args": args, "env": {} }),
            Self::Opencode => {
                let words: Vec<&str> =
                    std::iter::once(command).chain(args.iter().map(String::as_str)).collect();
                json!({ "type": "local", "command": words, "enabled": true })
            }
            _ => json!({ "command": command, "args": args }),
        }
    }

    /// The scope that is used unless one is asked for. Claude Code rewrites its user file while it runs, so the
    /// project's file is the safe one to write.
    pub fn default_scope(self) -> Scope {
        match self {
            Self::ClaudeCode | Self::Vscode => Scope::Project,
            _ => Scope::User,
        }
    }

    /// The client's configuration file; none where it has none of this scope.
    pub fn file(self, scope: Scope, surroundings: &Surroundings) -> Option<PathBuf> {
        match scope {
            Scope::Project => self.project_file().map(|file| surroundings.folder.join(file)),
            Scope::User => self.user_file(surroundings),
        }
    }

    fn project_file(self) -> Option<&'static str> {
        Some(match self {
            Self::ClaudeCode | Self::McpJson => ".mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::GeminiCli => ".gemini/settings.json",
            Self::Codex => ".codex/config.toml",
            Self::Zed => ".zed/settings.json",
            Self::Opencode => "opencode.json",
            Self::ClaudeDesktop | Self::Goose | Self::Windsurf => return None,
        })
    }

    fn user_file(self, surroundings: &Surroundings) -> Option<PathBuf> {
        let home = surroundings.home.as_deref()?;
        let settings = surroundings.settings_folder()?;
        Some(match self {
            Self::ClaudeCode => home.join(".claude.json"),
            Self::ClaudeDesktop => settings.join("Claude/claude_desktop_config.json"),
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::Vscode => settings.join("Code/User/mcp.json"),
            Self::GeminiCli => home.join(".gemini/settings.json"),
            Self::Goose if cfg!(windows) => settings.join("Block/goose/config/config.yaml"),
            Self::Goose => surroundings.xdg_config(home).join("goose/config.yaml"),
            Self::Codex => {
                surroundings.codex_home.clone().unwrap_or_else(|| home.join(".codex")).join("config.toml")
            }
            Self::Windsurf => home.join(".codeium/windsurf/mcp_config.json"),
            Self::Zed if cfg!(windows) => settings.join("Zed/settings.json"),
            Self::Zed => surroundings.xdg_config(home).join("zed/settings.json"),
            Self::Opencode => surroundings.xdg_config(home).join("opencode/opencode.json"),
            Self::McpJson => return None,
        })
    }
}

/// The folders that decide where files are.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The current folder.
    pub folder: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub config_home: Option<PathBuf>,
    /// `APPDATA` (Windows).
    pub app_data: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub codex_home: Option<PathBuf>,
}

impl Surroundings {
    /// Those of this process.
    pub fn current() -> std::io::Result<Self> {
        let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Ok(Self {
            folder: std::env::current_dir()?,
            home: folder("HOME").or_else(|| folder("USERPROFILE")),
            config_home: folder("XDG_CONFIG_HOME"),
            app_data: folder("APPDATA"),
            codex_home: folder("CODEX_HOME"),
        })
    }

    fn xdg_config(&self, home: &Path) -> PathBuf {
        self.config_home.clone().unwrap_or_else(|| home.join(".config"))
    }

    /// Where the system keeps the settings of desktop programs.
    fn settings_folder(&self) -> Option<PathBuf> {
        let home = self.home.as_deref()?;
        if cfg!(target_os = "macos") {
            Some(home.join("Library/Application Support"))
        } else if cfg!(windows) {
            self.app_data.clone()
        } else {
            Some(self.xdg_config(home))
        }
    }
}
