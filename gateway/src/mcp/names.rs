//! The six tools and their names.

/// Our own tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum OwnTool {
    Search,
    Execute,
    DescribeTools,
    Whoami,
    SetSession,
    GetSession,
}

impl OwnTool {
    /// In the order of `tools/list`.
    pub(crate) const ALL: [Self; 6] =
        [Self::Search, Self::Execute, Self::DescribeTools, Self::Whoami, Self::SetSession, Self::GetSession];

    /// Name without a prefix.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Execute => "execute",
            Self::DescribeTools => "describe_tools",
            Self::Whoami => "whoami",
            Self::SetSession => "set_session",
            Self::GetSession => "get_session",
        }
    }
}

/// The names that clients see.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    prefix: String,
}

impl Names {
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    /// Name of a tool, prefix included.
    pub(crate) fn of(&self, tool: OwnTool) -> String {
        format!("{}{}", self.prefix, tool.name())
    }

    /// The tool of this name.
    pub(crate) fn parse(&self, name: &str) -> Option<OwnTool> {
        let own = name.strip_prefix(&self.prefix)?;
        OwnTool::ALL.into_iter().find(|tool| tool.name() == own)
    }
}
