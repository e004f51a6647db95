//! Scripts nobody would write: the lexer must read them as shells do, or refuse them.
//!
//! A random text of shell syntax with values in it is run twice, with harmless values and with hostile ones. If it is
//! taken at all, both runs do the same, but for the values.

use std::fmt::Write;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::testing::{compile, run, shells, values};
use crate::testing::cases;

/// Pieces of scripts. `pq` prints its arguments in brackets; cut in pieces it is no program either. Nothing here can do harm or wait.
const PIECES: &[&str] = &[
    "pq ",
    "pq ",
    "pq a ",
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
    "$(pq ",
    "$(pq ",
    ")",
    "$((1+",
    "$((",
    "))",
    "(",
    "( pq ",
    "{ pq ",
    "; }",
    "`pq ",
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
    "if pq; then ",
    "; then ",
    "; else ",
    "; fi\n",
    "for i in ",
    "; do ",
    "; done\n",
    "\\\n",
    "V=",
    "V=a ",
    "pq $V ",
    "2>&1 ",
    "2>/dev/null ",
    ">/dev/null ",
    "</dev/null ",
    "!",
    " ! pq ",
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
    "env pq ",
    "command pq ",
    "|",
    "\r",
];

/// Values without white space and patterns: what unquoted substitutions make of those is the script's own affair.
const HOSTILE: &[&str] = &[
    "'", "\"", "\\", "`", "$E", "${E}", "$(pq)", "`pq`", ";pq;", "|pq", "&&pq", "'\"'\"'", "\\'", "\\\"",
    "$", "$(", ")", "}", "{", "))", "$((1))", "#", "';pq;'", "\";pq;\"", "E", "<<E", "(", "!", "=", "a=b",
    "if", "esac", "in", "\u{81}", "é", "\u{1}", ";;", "%", "-", "",
];

/// A word: quotes and substitutions around pieces, closed but otherwise as it comes.
fn word() -> impl Strategy<Value = String> {
    let text = ["a", "$E", "${E}", "-", "b=", "\\\"", "\\$", "\\\\", "''", "~", "1", "{", "#", "${E%e}", "E"];
    let leaf = prop_oneof![
        3 => Just("{{ x }}".to_owned()),
        1 => Just("{{ y }}".to_owned()),
        3 => prop::sample::select(text.as_slice().to_vec()).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        let several = prop::collection::vec(inner, 0..3);
        prop_oneof![
            several.clone().prop_map(|words| format!("\"{}\"", words.join(" "))),
            several.clone().prop_map(|words| format!("'{}'", words.join(" "))),
            several.clone().prop_map(|words| format!("$(pq {})", words.join(" "))),
            several.clone().prop_map(|words| format!("$(cat <<E\n{}\nE\n)", words.join(" "))),
            several.clone().prop_map(|words| format!("$(case {} in a) pq;; *) pq b;; esac)", words.concat())),
            several.prop_map(|words| words.concat()),
        ]
    })
}

fn line() -> impl Strategy<Value = String> {
    let words = || prop::collection::vec(word(), 0..3).prop_map(|words| words.join(" "));
    prop_oneof![
        4 => words().prop_map(|words| format!("pq {words}")),
        1 => (words(), words()).prop_map(|(a, b)| format!("cat <<E; pq {b}\n{a}\nE")),
        1 => (words(), words()).prop_map(|(a, b)| format!("cat <<-E | cat\n\t{a}\n\t{b}\n\tE")),
        1 => words().prop_map(|words| format!("cat <<'E'\n{words}\nE")),
        1 => word().prop_map(|word| format!("V={word}; pq \"$V\"")),
        1 => (word(), word(), words()).prop_map(|(a, b, c)| {
            format!("case {a} in {b}|'{{{{ x }}}}') pq {c};; (*) pq;; esac")
        }),
        1 => (words(), words()).prop_map(|(a, b)| format!("if pq {a}; then pq {b}; else :; fi")),
        1 => (words(), words()).prop_map(|(a, b)| format!("for i in {a}; do pq \"$i\" {b}; done")),
        1 => words().prop_map(|words| format!("( pq {words} ) | cat")),
        1 => words().prop_map(|words| format!("{{ pq {words}; }} # it's")),
        1 => words().prop_map(|words| format!("f() {{ pq \"$@\"; }}; f {words}")),
        1 => (words(), words()).prop_map(|(a, b)| format!("{{% if b %}}pq {a}{{% else %}}pq '{b}'{{% endif %}} c")),
    ]
}

/// Lines, and now and then a piece somewhere in them that makes them something else.
fn script() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), prop::sample::select(PIECES));
    let separator = prop::sample::select(vec!["\n", "\n", "\n\n", "\n# it's\n"]);
    let parts = (prop::collection::vec(line(), 1..3), separator, prop::collection::vec(change, 0..3));
    let script = parts.prop_map(|(lines, separator, changes)| {
        let mut text = lines.join(separator);
        for (index, piece) in changes {
            text.insert_str(index.index(text.len() + 1), piece);
        }
        text
    });
    // The id of the shell differs from run to run.
    script.prop_filter("no value", |source| source.contains("{{ x") && !source.contains("$$"))
}

#[test]
fn scripts_are_read_as_shells_read_them() {
    const SHOW: &str = "pq() { printf '[%s]' \"$#\" \"$@\"; }\n";
    let shells = shells();
    let batch = prop::collection::vec(
        (script(), prop::sample::select(HOSTILE), prop::sample::select(HOSTILE)),
        1..60,
    );
    let taken = std::cell::Cell::new(0);
    let outcome = TestRunner::new(cases(10, 500)).run(&batch, |batch| {
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
                write!(
                    text,
                    "( eval {} ) 2>/dev/null </dev/null\nprintf '\\n%s\\n' ---$?\n",
                    super::quote::word(&script)
                )
                .unwrap();
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
