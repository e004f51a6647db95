//! Scripts nobody would write: the lexer must read them as shells do, or refuse them.
//!
//! A random text of shell syntax with values in it is run twice, with harmless values and with hostile ones. If it is
//! taken at all, both runs do the same, but for the values.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::testing::{cases, compile, run, shells, values};

/// Pieces of scripts. `show` prints its arguments in brackets; nothing here can do harm or wait.
const PIECES: &[&str] = &[
    "show ",
    "show ",
    "show a ",
    "\n",
    "\n",
    "; ",
    " && ",
    " || ",
    " | cat\n",
    " ",
    " ",
    "{{ x }}",
    "{{ x }}",
    "{{ x }}",
    "{{ y }}",
    "{{ x }}",
    "{{ x }}",
    "\"",
    "\"",
    "\"",
    "'",
    "'",
    "\\",
    "$",
    "$E",
    "${E}",
    "${E:-",
    "${U:-",
    "${E%",
    "${#E}",
    "}",
    "$(show ",
    "$(show ",
    ")",
    "$((1+",
    "$((",
    "))",
    "(",
    "( show ",
    "{ show ",
    "; }",
    "`show ",
    "`",
    "#",
    " # ",
    "<<E ",
    " <<E\n",
    "<<-E ",
    " <<'E'\n",
    "<<\\E\n",
    "\nE\n",
    "\nE\n",
    "\n\tE\n",
    "E",
    "\t",
    "case a in ",
    "case {{ x }} in ",
    "a) ",
    "*) ",
    ";;",
    " esac\n",
    "esac",
    "if show; then ",
    "; then ",
    "; else ",
    "; fi\n",
    "for i in ",
    "; do ",
    "; done\n",
    "\\\n",
    "V=",
    "V=a ",
    "show $V ",
    "2>&1 ",
    "2>/dev/null ",
    ">/dev/null ",
    "</dev/null ",
    "!",
    " ! show ",
    "f() { ",
    "f ",
    "=",
    "~",
    "*",
    "[",
    "]",
    "{",
    "-- ",
    "1",
    "b",
    "{% if b %}",
    "{% else %}",
    "{% endif %}",
    "{% for i in l %}",
    "{% endfor %}",
    "$'",
    "$\"",
    "'\\''",
    "\\\"",
    "\\$",
    "\\\\",
    "''",
    "\"\"",
    "env show ",
    "command show ",
    "|",
    "\r",
];

/// Values without white space and patterns: what unquoted substitutions make of those is the script's own affair.
const HOSTILE: &[&str] = &[
    "'",
    "\"",
    "\\",
    "`",
    "$E",
    "${E}",
    "$(show)",
    "`show`",
    ";show;",
    "|show",
    "&&show",
    "'\"'\"'",
    "\\'",
    "\\\"",
    "$",
    "$(",
    ")",
    "}",
    "{",
    "))",
    "$((1))",
    "#",
    "';show;'",
    "\";show;\"",
    "E",
    "<<E",
    "(",
    "!",
    "=",
    "a=b",
    "if",
    "esac",
    "in",
    "\u{81}",
    "é",
    "\u{1}",
    ";;",
    "%",
    "-",
    "",
];

#[test]
fn scripts_are_read_as_shells_read_them() {
    const SHOW: &str = "show() { printf '[%s]' \"$#\" \"$@\"; }\n";
    let shells = shells();
    let script =
        prop::collection::vec(prop::sample::select(PIECES), 2..12).prop_map(|pieces| pieces.concat());
    let script = script.prop_filter("no value", |source| source.contains("{{") && !source.contains("$$"));
    let batch =
        prop::collection::vec((script, prop::sample::select(HOSTILE), prop::sample::select(HOSTILE)), 1..60);
    let taken = std::cell::Cell::new(0);
    let outcome = TestRunner::new(cases(10, 1500)).run(&batch, |batch| {
        // Each script runs in a subshell that is a file of its own: a syntax error must not hide the others.
        let mut harmless = String::from(SHOW);
        let mut hostile = harmless.clone();
        for (source, x, y) in &batch {
            let Ok(template) = compile(source) else { continue };
            let (plain_x, plain_y) = ("<Xx>".replace(['<', '>'], ""), "Yy");
            let plain = template.render(&values(json!({"x": plain_x, "y": plain_y, "l": ["k"]})));
            let Ok(evil) =
                template.render(&values(json!({"x": format!("{x}Xx"), "y": format!("{y}Yy"), "l": ["k"]})))
            else {
                continue;
            };
            let plain = plain.map_err(|error| TestCaseError::fail(format!("{source:?}: {error}")))?;
            taken.set(taken.get() + 1);
            // What the hostile values print is turned back before it is compared.
            for (text, script) in [(&mut harmless, plain), (&mut hostile, evil)] {
                text.push_str(&format!(
                    "( eval {} ) 2>/dev/null </dev/null\nprintf '\\n%s\\n' ---$?\n",
                    super::quote::word(&script)
                ));
            }
        }
        for (name, shell) in &shells {
            let (plain, _) = run(shell, &harmless);
            let (evil, _) = run(shell, &hostile);
            let (plain, evil) = (String::from_utf8_lossy(&plain), String::from_utf8_lossy(&evil));
            let mut outputs = plain.split("\n---").zip(evil.split("\n---"));
            prop_assert_eq!(plain.matches("\n---").count(), evil.matches("\n---").count(), "{}", name);
            let all = batch.iter().filter(|(source, x, y)| {
                compile(source).is_ok_and(|template| {
                    template
                        .render(&values(json!({"x": format!("{x}Xx"), "y": format!("{y}Yy"), "l": ["k"]})))
                        .is_ok()
                })
            });
            for ((source, x, y), (plain, evil)) in all.zip(&mut outputs) {
                let back = evil.replace(&format!("{x}Xx"), "Xx").replace(&format!("{y}Yy"), "Yy");
                let expected = plain.to_owned();
                prop_assert!(back == expected, "{name}: {source:?} x={x:?} y={y:?}\n{expected:?}\n{evil:?}");
            }
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    println!("{} scripts were taken", taken.get());
    assert!(taken.get() > 20, "only {} scripts were taken", taken.get());
}
