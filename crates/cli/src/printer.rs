//! All output of the program.

use std::io::{self, IsTerminal, Write};

use anstream::ColorChoice;
use clap::ValueEnum;
use comfy_table::{Cell, ContentArrangement, Table};
use owo_colors::{OwoColorize, Style};
use serde::Serialize;

use crate::failure::Failure;

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// JSON, for programs.
    Json,
    /// YAML, for programs.
    Yaml,
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Colours by meaning.
#[derive(Clone, Copy, Debug)]
pub enum Tone {
    /// Names of things.
    Strong,
    /// What matters less.
    Faint,
    /// Went well.
    Good,
    /// Should be looked at.
    Warn,
    /// Went wrong.
    Bad,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Strong => Style::new().bold(),
            Self::Faint => Style::new().dimmed(),
            Self::Good => Style::new().green(),
            Self::Warn => Style::new().yellow(),
            Self::Bad => Style::new().red().bold(),
        }
    }
}

/// Writes results to standard output and everything else to standard error.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    /// The form of results.
    pub format: Format,
    color_out: bool,
    color_err: bool,
}

#[expect(clippy::unused_self, reason = "output goes through a printer, whatever it needs to know")]
impl Printer {
    /// A printer for this process' streams.
    pub fn new(format: Format, color: Color) -> Self {
        let auto = |choice: ColorChoice, terminal: bool| match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && choice != ColorChoice::Never,
        };
        let (out, err) = (io::stdout(), io::stderr());
        Self {
            format,
            color_out: auto(anstream::AutoStream::choice(&out), out.is_terminal()),
            color_err: auto(anstream::AutoStream::choice(&err), err.is_terminal()),
        }
    }

    /// The same printer for another form of results.
    pub fn with_format(self, format: Format) -> Self {
        Self { format, ..self }
    }

    /// Whether people read the results.
    pub fn is_table(self) -> bool {
        self.format == Format::Table
    }

    /// Whether standard output is a terminal.
    pub fn is_terminal(self) -> bool {
        io::stdout().is_terminal()
    }

    /// `text` in the colour of `tone`, for standard output.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        if self.color_out { text.style(tone.style()).to_string() } else { text.to_owned() }
    }

    /// `text` in the colour of `tone`, for standard error.
    pub fn paint_err(self, tone: Tone, text: &str) -> String {
        if self.color_err { text.style(tone.style()).to_string() } else { text.to_owned() }
    }

    /// Bytes to standard output, as they are.
    pub fn raw(self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Bytes to standard error, as they are.
    pub fn raw_err(self, bytes: &[u8]) -> io::Result<()> {
        let mut err = io::stderr().lock();
        err.write_all(bytes)?;
        err.flush()
    }

    /// Text and a line end to standard output.
    pub fn line(self, text: impl AsRef<str>) -> io::Result<()> {
        self.raw(format!("{}\n", text.as_ref()).as_bytes())
    }

    /// Text and a line end to standard error: notes, progress, warnings.
    pub fn note(self, text: impl AsRef<str>) -> io::Result<()> {
        self.raw_err(format!("{}\n", text.as_ref()).as_bytes())
    }

    /// A result in the form that was asked for, other than a table.
    pub fn data(self, value: &impl Serialize) -> Result<(), Failure> {
        let text = match self.format {
            Format::Yaml => serde_yaml::to_string(value)?,
            Format::Json | Format::Table => serde_json::to_string_pretty(value)? + "\n",
        };
        Ok(self.raw(text.as_bytes())?)
    }

    /// Rows under headings, as kubectl prints them.
    pub fn table(self, headings: &[&str], rows: Vec<Vec<String>>) -> io::Result<()> {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(headings.iter().map(|heading| Cell::new(self.paint(Tone::Faint, heading))));
        for row in rows {
            table.add_row(row);
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
        self.line(lines.join("\n"))
    }

    /// A number of things, for a sentence.
    pub fn count(number: usize, thing: &str) -> String {
        if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
    }

    /// An error with its causes and hints, to standard error.
    pub fn failure(self, failure: &Failure) -> io::Result<()> {
        let mut text = format!("{} {}\n", self.paint_err(Tone::Bad, "error:"), failure.text());
        for hint in &failure.hints {
            text.push_str(&format!("{} {hint}\n", self.paint_err(Tone::Strong, "hint:")));
        }
        self.raw_err(text.as_bytes())
    }
}
