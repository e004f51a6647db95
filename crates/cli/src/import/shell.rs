//! Shell commands of the original, rewritten where a value or a variable would not arrive as it was meant to.

use mcc_crds::v1alpha1::ParamType;

use super::environment::{self, Variable};
use super::json_body;
use super::report::{Action, Notes};
use super::source::Param;
use super::template::{Expression, Segment, segments};

/// A rewritten command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Its text, a template.
    pub text: String,
    /// Environment variables that it uses and doesn't set.
    pub variables: Vec<Variable>,
}

/// Rewrites `command`; `field` is where it came from.
pub fn rewrite(command: &str, params: &[Param], field: &str, notes: &mut Notes) -> Script {
    if let Some(script) = whole_command(command, params, field, notes) {
        return script;
    }
    let mut walker =
        Walker { params, field, notes, out: String::new(), variables: Vec::new(), stack: Vec::new() };
    let mut rest = command;
    while !rest.is_empty() {
        rest = walker.step(rest);
    }
    let assigned = assigned_names(command);
    let mut variables = walker.variables;
    variables.retain(|variable| !assigned.contains(&variable.name));
    Script { text: walker.out, variables }
}

/// A command that is nothing but a parameter: the caller writes the program.
fn whole_command(command: &str, params: &[Param], field: &str, notes: &mut Notes) -> Option<Script> {
    let pieces = segments(command.trim());
    let [Segment::Value(inner)] = pieces.as_slice() else { return None };
    let name = Expression::parse(inner).plain()?;
    params.iter().find(|param| param.name == name && param.kind == ParamType::Str)?;
    notes.add(
        field,
        Action::Changed,
        format!("the program in {name} is run by eval: callers run what they like"),
    );
    Some(Script { text: format!("eval \"${}\"", variable_of(name)), variables: Vec::new() })
}

/// The environment variable that holds a parameter.
pub fn variable_of(param: &str) -> String {
    format!("MCC_PARAM_{}", param.to_ascii_uppercase())
}

/// What surrounds the place that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    Double,
    Parenthesis,
}

struct Walker<'a> {
    params: &'a [Param],
    field: &'a str,
    notes: &'a mut Notes,
    out: String,
    variables: Vec<Variable>,
    stack: Vec<Around>,
}

impl Walker<'_> {
    /// Copies one element and returns what follows it.
    fn step<'a>(&mut self, rest: &'a str) -> &'a str {
        let double = self.stack.last() == Some(&Around::Double);
        if let Some((segment, length)) = tag(rest) {
            match segment {
                Segment::Value(inner) if !double => self.bare_value(inner, &rest[..length], &rest[length..]),
                _ => self.out.push_str(&rest[..length]),
            }
            return &rest[length..];
        }
        let Some(c) = rest.chars().next() else { return "" };
        let after = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let length = 1 + after.chars().next().map_or(0, char::len_utf8);
                self.out.push_str(&rest[..length]);
                return &rest[length..];
            }
            '$' => return self.dollar(rest),
            '\'' if !double => return self.single_quoted(after),
            '"' if double => {
                self.stack.pop();
            }
            '"' => self.stack.push(Around::Double),
            '#' if !double && self.at_word_start() => return self.copy_line(rest),
            '<' if !double && rest.starts_with("<<") => return self.here_document(rest),
            ')' if !double => {
                self.stack.pop();
            }
            '(' if !double => self.stack.push(Around::Parenthesis),
            _ => {}
        }
        self.out.push(c);
        after
    }

    fn at_word_start(&self) -> bool {
        self.out.chars().next_back().is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '('))
    }

    fn copy_line<'a>(&mut self, rest: &'a str) -> &'a str {
        let length = rest.find('\n').unwrap_or(rest.len());
        self.out.push_str(&rest[..length]);
        &rest[length..]
    }

    /// Copies `<<WORD` and the lines up to its end as they are.
    fn here_document<'a>(&mut self, rest: &'a str) -> &'a str {
        let word: String = rest[2..]
            .trim_start_matches('-')
            .trim_start_matches(' ')
            .chars()
            .take_while(|c| !c.is_whitespace() && !matches!(c, ';' | '|' | '&' | ')'))
            .filter(|c| !matches!(c, '\'' | '"' | '\\'))
            .collect();
        let end = rest
            .match_indices('\n')
            .find(|(at, _)| {
                rest[at + 1..].lines().next().is_some_and(|line| line.trim_start_matches('\t') == word)
            })
            .filter(|_| !word.is_empty())
            .map_or(2, |(at, _)| at + 1);
        self.collect(&rest[..end]);
        self.out.push_str(&rest[..end]);
        &rest[end..]
    }

    fn collect(&mut self, text: &str) {
        for (at, _) in text.match_indices('$') {
            if let Some(variable) = environment::variable(&text[at..])
                && environment::is_environment(&variable.name)
            {
                self.variables.push(variable);
            }
        }
    }

    /// `$` outside of single quotes.
    fn dollar<'a>(&mut self, rest: &'a str) -> &'a str {
        if let Some(after) = rest.strip_prefix("$$") {
            self.out.push('$');
            return after;
        }
        if let Some(after) = rest.strip_prefix("$(") {
            self.out.push_str("$(");
            self.stack.push(Around::Parenthesis);
            return after;
        }
        let Some(variable) = environment::variable(rest) else {
            self.out.push('$');
            return &rest[1..];
        };
        let after = &rest[variable.length..];
        if variable.default.is_some() {
            self.out.push_str(&format!("${{{}}}", variable.name));
        } else {
            self.out.push_str(&rest[..variable.length]);
        }
        if environment::is_environment(&variable.name) || variable.default.is_some() {
            self.variables.push(variable);
        }
        after
    }

    /// The rest of a single-quoted text; the opening quote is taken already.
    fn single_quoted<'a>(&mut self, rest: &'a str) -> &'a str {
        let mut end = 0;
        while end < rest.len() && !rest[end..].starts_with('\'') {
            end += tag(&rest[end..])
                .map_or_else(|| rest[end..].chars().next().map_or(1, char::len_utf8), |(_, length)| length);
        }
        let text = &rest[..end];
        let json = json_body::rewrite(text, self.params, self.field, self.notes);
        self.out.push('\'');
        let mut text = json.as_deref().unwrap_or(text);
        while let Some(at) = text.find('$') {
            self.out.push_str(&text[..at]);
            text = &text[at..];
            if let Some(after) = text.strip_prefix("$$") {
                self.out.push('$');
                text = after;
                continue;
            }
            match environment::variable(text).filter(|found| environment::is_environment(&found.name)) {
                Some(variable) => {
                    self.out.push_str(&format!("'\"${{{}}}\"'", variable.name));
                    text = &text[variable.length..];
                    self.notes.add(
                        self.field,
                        Action::Changed,
                        format!(
                            "${} stands outside of the single quotes, where the shell expands it",
                            variable.name
                        ),
                    );
                    self.variables.push(variable);
                }
                None => {
                    self.out.push('$');
                    text = &text[1..];
                }
            }
        }
        self.out.push_str(text);
        self.out.push('\'');
        rest.get(end + 1..).unwrap_or_default()
    }

    /// A `{{ … }}` outside of quotes: one word now, where the original split it at spaces.
    fn bare_value(&mut self, inner: &str, written: &str, after: &str) {
        let whole = self.at_word_start()
            && after
                .chars()
                .next()
                .is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '&' | '|' | ')' | '\n'));
        let expression = Expression::parse(inner);
        let param = expression.name.and_then(|name| self.params.iter().find(|param| param.name == name));
        let (Some(param), true) = (param, whole) else {
            self.out.push_str(written);
            return;
        };
        if param.kind == ParamType::List
            && matches!(expression.filters.as_slice(), ["join(' ')" | "join(\" \")"])
        {
            self.out.push_str(&format!("{{{{ {} }}}}", param.name));
            let note = format!("each element of {} is a word of its own", param.name);
            self.notes.add(self.field, Action::Changed, note);
        } else if param.kind == ParamType::Str && expression.filters.is_empty() && is_words(param) {
            self.out.push_str(&format!("{{{{ {} | words }}}}", param.name));
            let note = format!(
                "{} is split into words, each of them quoted: it may hold several options",
                param.name
            );
            self.notes.add(self.field, Action::Changed, note);
        } else {
            self.out.push_str(written);
            if param.kind == ParamType::Str && expression.filters.is_empty() {
                let note = format!("{} is one word now, whatever it holds", param.name);
                self.notes.add(self.field, Action::Note, note);
            }
        }
    }
}

/// The tag at the beginning of `text`, and its length in bytes.
fn tag(text: &str) -> Option<(Segment<'_>, usize)> {
    if !text.starts_with("{{") && !text.starts_with("{%") && !text.starts_with("{#") {
        return None;
    }
    let close = match &text[..2] {
        "{{" => "}}",
        "{%" => "%}",
        _ => "#}",
    };
    let length = text[2..].find(close)? + 4;
    segments(&text[..length]).into_iter().next().map(|segment| (segment, length))
}

/// Whether an unquoted str was meant as any number of words: it may be empty, or it is about options.
fn is_words(param: &Param) -> bool {
    const NAMES: [&str; 11] = [
        "opts",
        "options",
        "opt",
        "flags",
        "args",
        "arguments",
        "switches",
        "extra",
        "params",
        "ports",
        "extra_args",
    ];
    const WORDS: [&str; 8] =
        ["option", "options", "flag", "flags", "argument", "arguments", "switches", "arguments"];
    let name = param.name.to_ascii_lowercase();
    let by_name = NAMES.contains(&name.as_str())
        || ["_opts", "_options", "_flags", "_args"].iter().any(|end| name.ends_with(end));
    let description = param.description.to_ascii_lowercase();
    let by_description =
        description.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| WORDS.contains(&word));
    let by_default = match param.default.as_ref().and_then(|default| default.as_str()) {
        Some(default) => default.is_empty() || default.starts_with('-') || default.contains(' '),
        None => false,
    };
    by_name && name != "ports" || by_description || by_default
}

/// Names that a script gives values to itself.
fn assigned_names(script: &str) -> Vec<String> {
    let words = script.split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')'));
    let mut names = Vec::new();
    let mut previous = "";
    for word in words {
        if let Some((name, _)) = word.split_once('=') {
            names.push(name.to_owned());
        } else if matches!(previous, "for" | "read" | "export") {
            names.push(word.to_owned());
        }
        let is_flag_of_read = previous == "read" && word.starts_with('-');
        if !word.is_empty() && !is_flag_of_read {
            previous = word;
        }
    }
    names
}

/// A script whose output goes through further programs. Each runs only when the one before succeeded, and the first
/// failure is the script's, with the output it had: a pipe would hide it, and `pipefail` isn't in every shell.
pub fn with_transform(tool: &str, stages: &[String]) -> String {
    let mut script = format!(
        "work=$(mktemp -d) || exit\ntrap 'rm -rf \"$work\"' EXIT\n(\n{tool}\n) >\"$work/0\" || \
         {{ status=$?; cat \"$work/0\"; exit \"$status\"; }}\n"
    );
    for (number, stage) in stages.iter().enumerate() {
        script.push_str(&format!("(\n{stage}\n) <\"$work/{number}\""));
        if number + 1 < stages.len() {
            script.push_str(&format!(" >\"$work/{}\" || exit", number + 1));
        }
        script.push('\n');
    }
    script
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
