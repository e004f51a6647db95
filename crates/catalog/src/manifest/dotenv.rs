//! `NAME=value` files, for `--secret NAME=FILE.env`.

use std::collections::BTreeMap;

use crate::model::Reason;

use super::tree::{Fault, Mark};

/// The variables of a file. Lines are `NAME=value`, optionally after `export`; values may stand in single quotes (as
/// they are) or double quotes (with `\n`, `\t`, `\"`, `\\`); `#` begins a comment. Nothing is expanded.
pub(super) fn parse(text: &str) -> (BTreeMap<String, Vec<u8>>, Vec<Fault>) {
    let mut variables = BTreeMap::new();
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        match variable(trimmed) {
            Ok((name, value)) => {
                variables.insert(name, value.into_bytes());
            }
            Err((message, fix)) => faults.push(Fault {
                mark: Mark { line: number, column: 1 },
                reason: Reason::InvalidSyntax,
                path: String::new(),
                message,
                fix: fix.to_owned(),
            }),
        }
    }
    (variables, faults)
}

fn variable(line: &str) -> Result<(String, String), (String, &'static str)> {
    let line = line.strip_prefix("export ").map_or(line, str::trim_start);
    // The line may be a secret: the message doesn't repeat it.
    let Some((name, value)) = line.split_once('=') else {
        return Err(("the line is no NAME=value".to_owned(), "write NAME=value, or begin a comment with #"));
    };
    let name = name.trim_end();
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if name.is_empty() || !name.chars().all(fits) {
        return Err((
            "the name before = can't be a key of a Secret".to_owned(),
            "use letters, digits, _, - and .",
        ));
    }
    let value = value.trim();
    let value = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => quoted(&value[1..], quote)?,
        _ => value.split(" #").next().unwrap_or_default().trim_end().to_owned(),
    };
    Ok((name.to_owned(), value))
}

fn quoted(rest: &str, quote: char) -> Result<String, (String, &'static str)> {
    let mut value = String::new();
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => {
                let after = chars.as_str().trim_start();
                if after.is_empty() || after.starts_with('#') {
                    return Ok(value);
                }
                return Err(("text follows the closing quote".to_owned(), "end the line after the quote"));
            }
            '\\' if quote == '"' => match chars.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(other @ ('"' | '\\' | '$')) => value.push(other),
                Some(other) => value.extend(['\\', other]),
                None => break,
            },
            c => value.push(c),
        }
    }
    Err(("the value's quote isn't closed".to_owned(), "close it on the same line; write line breaks as \\n"))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn values_quotes_and_comments() {
        let text =
            "# c\nA=1\nexport B = two words # note\nC='a\"$b\\n'\nD=\"x\\ny\\\"\"  # end\nE=\n\nF=a#b\n";
        let (variables, faults) = parse(text);
        assert!(faults.is_empty(), "{faults:?}");
        let get = |name: &str| String::from_utf8(variables[name].clone()).unwrap();
        assert_eq!(get("A"), "1");
        assert_eq!(get("B"), "two words");
        assert_eq!(get("C"), "a\"$b\\n");
        assert_eq!(get("D"), "x\ny\"");
        assert_eq!(get("E"), "");
        assert_eq!(get("F"), "a#b");
    }

    #[test]
    fn faults_name_the_line_and_keep_the_secret() {
        let (_, faults) = parse("A=1\nhunter2\nB='x\nC='x' y\n");
        let lines: Vec<_> = faults.iter().map(|fault| fault.mark.line).collect();
        assert_eq!(lines, [2, 3, 4]);
        assert!(faults.iter().all(|fault| !fault.message.contains("hunter2") && !fault.fix.is_empty()));
    }
}
