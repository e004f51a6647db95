//! What an operator of the gateway can choose.

use std::time::Duration;

/// Longest name of a tool that every client accepts.
pub const MAX_TOOL_NAME: usize = 64;
/// The longest of our own tool names, without a prefix: `describe_tools`.
const LONGEST_OWN_NAME: usize = 14;

/// Settings of a gateway. [`GatewayConfig::default`] serves loopback only.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// Name of the catalog, part of every session and idempotency key.
    pub catalog: String,
    /// Put before the name of each of the six tools.
    pub tool_prefix: String,
    /// Hosts (`name`, `name:port`) that requests may be addressed to; empty: any.
    pub allowed_hosts: Vec<String>,
    /// Origins (`scheme://host:port`, or with `:*` any port) that a browser's requests may come from. Requests without
    /// an `Origin` always pass.
    pub allowed_origins: Vec<String>,
    /// Largest request body, in bytes.
    pub max_body_bytes: usize,
    /// Time within which a request's body has to arrive.
    pub body_timeout: Duration,
    /// Largest answer of everything but execute, whose bound is the tool's `outputBytes`. In bytes.
    pub answer_bytes: usize,
    /// Most keys that whoami lists; it counts the rest.
    pub whoami_tools: usize,
    /// Runs at the same time, all callers together.
    pub max_in_flight: usize,
    /// Runs at the same time of one caller.
    pub max_in_flight_per_caller: usize,
    /// Memory for cached results, in bytes.
    pub result_cache_bytes: u64,
    /// Memory for outputs that were cut in an answer, in bytes.
    pub kept_output_bytes: u64,
    /// How long outcomes are kept for repeated calls, tasks and paging.
    pub keep_outcomes: Duration,
    /// How long scratchpads live after their last write.
    pub session_ttl: Duration,
    /// MCP sessions (protocol revisions before 2026-07-28) open at the same time, each about 60 KB; one more ends the
    /// longest idle.
    pub max_mcp_sessions: usize,
    /// Time without a request or an open stream after which an MCP session ends.
    pub mcp_session_idle: Duration,
    /// How long clients may keep lists, and what they read of the catalog.
    pub list_ttl: Duration,
    /// A run longer than this becomes a task, where the client declares the tasks extension.
    pub task_after: Duration,
    /// How long a person has to answer an elicitation.
    pub elicitation_timeout: Duration,
    /// A run is quiet this long before its first progress notification.
    pub progress_after: Duration,
    /// Time between progress notifications of a run with no news.
    pub progress_interval: Duration,
    /// Seals elicitation states and session handles. Gateways that serve the same clients share it; none: random.
    pub secret: Option<[u8; 32]>,
    /// Serve the fixtures of the MCP conformance suite, too. Needs the feature `conformance`.
    pub conformance_fixtures: bool,
}

impl Default for GatewayConfig {
    fn default() -> Self {
        let loopback = ["localhost", "127.0.0.1", "[::1]"];
        Self {
            catalog: "mcc-catalog".to_owned(),
            tool_prefix: String::new(),
            allowed_hosts: loopback.map(str::to_owned).to_vec(),
            allowed_origins: loopback.map(|host| format!("http://{host}:*")).to_vec(),
            max_body_bytes: 4 << 20,
            body_timeout: Duration::from_secs(30),
            answer_bytes: 64 << 10,
            whoami_tools: 1_000,
            max_in_flight: 256,
            max_in_flight_per_caller: 128,
            result_cache_bytes: 64 << 20,
            kept_output_bytes: 64 << 20,
            keep_outcomes: Duration::from_secs(10 * 60),
            session_ttl: Duration::from_secs(24 * 3600),
            max_mcp_sessions: 2_000,
            mcp_session_idle: Duration::from_secs(3600),
            list_ttl: Duration::from_secs(5 * 60),
            task_after: Duration::from_millis(250),
            elicitation_timeout: Duration::from_secs(5 * 60),
            progress_after: Duration::from_millis(500),
            progress_interval: Duration::from_secs(10),
            secret: None,
            conformance_fixtures: false,
        }
    }
}

/// A setting that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The prefix has characters that clients refuse, or makes a name too long.
    #[error(
        "tool prefix {0:?} can't be used: use letters, digits, _ and -, at most {max} characters",
        max = MAX_TOOL_NAME - LONGEST_OWN_NAME
    )]
    ToolPrefix(String),
    /// An origin isn't one.
    #[error(
        "allowed origin {0:?} is no origin: write it as https://host, https://host:port or https://host:*"
    )]
    Origin(String),
    /// A bound is zero.
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    /// The fixtures aren't compiled in.
    #[error("the conformance fixtures are not part of this build: build it with the feature `conformance`")]
    NoFixtures,
}

impl GatewayConfig {
    /// Checks what types can't.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let usable = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if self.tool_prefix.len() > MAX_TOOL_NAME - LONGEST_OWN_NAME || !self.tool_prefix.bytes().all(usable)
        {
            return Err(ConfigError::ToolPrefix(self.tool_prefix.clone()));
        }
        for origin in &self.allowed_origins {
            if crate::http::guard::AllowedOrigin::parse(origin).is_none() {
                return Err(ConfigError::Origin(origin.clone()));
            }
        }
        let bounds = [
            ("max_in_flight", self.max_in_flight),
            ("max_in_flight_per_caller", self.max_in_flight_per_caller),
            ("max_mcp_sessions", self.max_mcp_sessions),
            ("answer_bytes", self.answer_bytes),
            ("max_body_bytes", self.max_body_bytes),
        ];
        if let Some((name, _)) = bounds.into_iter().find(|(_, bound)| *bound == 0) {
            return Err(ConfigError::Zero(name));
        }
        if self.conformance_fixtures && !cfg!(feature = "conformance") {
            return Err(ConfigError::NoFixtures);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_valid() {
        assert_eq!(GatewayConfig::default().validate(), Ok(()));
    }

    #[test]
    fn a_prefix_may_not_make_names_too_long_or_strange() {
        for prefix in ["a".repeat(51), "mcc/".to_owned(), "mcc ".to_owned(), "é".to_owned()] {
            let config = GatewayConfig { tool_prefix: prefix.clone(), ..GatewayConfig::default() };
            assert_eq!(config.validate(), Err(ConfigError::ToolPrefix(prefix)));
        }
        let longest = "a".repeat(50);
        let config = GatewayConfig { tool_prefix: longest.clone(), ..GatewayConfig::default() };
        assert_eq!(config.validate(), Ok(()));
        assert!(format!("{longest}describe_tools").len() <= MAX_TOOL_NAME);
    }

    #[test]
    fn an_origin_needs_a_scheme() {
        let config =
            GatewayConfig { allowed_origins: vec!["example.com".to_owned()], ..GatewayConfig::default() };
        assert_eq!(config.validate(), Err(ConfigError::Origin("example.com".to_owned())));
    }
}
