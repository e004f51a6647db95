//! No value changes the words around it, or itself: through real shells.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::testing::{PARAMS, run, shells, values};
use super::{RenderError, ScriptTemplate, quote};
use crate::testing::cases;

/// Prints the number of its arguments and each of them.
const SHOW: &str = "show() { printf '%s\\0' \"$#\" \"$@\"; }\n";

/// A place for values, with what the shell prints then. `show` prints the number of its arguments and each of them, all
/// ended by NUL.
struct Case {
    template: &'static str,
    expected: fn(&Given) -> Vec<u8>,
}

/// The values of a fragment. `opt` is a str that may begin with a hyphen, `x` one that may not, but does not here.
#[derive(Clone, Debug)]
struct Given {
    opt: String,
    y: String,
    n: i64,
    l: Vec<String>,
}

fn shown(words: &[&str]) -> Vec<u8> {
    let mut text = format!("{}\0", words.len());
    for word in words {
        text.push_str(word);
        text.push('\0');
    }
    text.into_bytes()
}

fn dotted(text: &str) -> String {
    format!("{text}.")
}

const CASES: &[Case] = &[
    Case { template: "show a {{ opt }} b\n", expected: |v| shown(&["a", &v.opt, "b"]) },
    Case {
        template: "show a -{{ opt }}{{ y }}p b; show\n",
        expected: |v| [shown(&["a", &format!("-{}{}p", v.opt, v.y), "b"]), shown(&[])].concat(),
    },
    Case {
        template: "show \"{{ opt }}\" \" {{ y }} \"'{{ opt }}'\n",
        expected: |v| shown(&[&v.opt, &format!(" {} {}", v.y, v.opt)]),
    },
    Case {
        template: "show '{{ opt }}' 'a{{ y }}b'\\''{{ y }}'\n",
        expected: |v| shown(&[&v.opt, &format!("a{}b'{}", v.y, v.y)]),
    },
    Case {
        template: "show \"$E{{ opt }}$E\" $E{{ y }}$E \"${E}{{ y }}\" \"\\\\{{ y }}\\\"{{ y }}\\$\"\n",
        expected: |v| {
            shown(&[
                &format!("e{}e", v.opt),
                &format!("e{}e", v.y),
                &format!("e{}", v.y),
                &format!("\\{}\"{}$", v.y, v.y),
            ])
        },
    },
    Case {
        template: "show \"$(printf '%s.' {{ opt }} \"{{ y }}\" '{{ y }}')\"\n",
        expected: |v| shown(&[&format!("{}.{}.{}.", v.opt, v.y, v.y)]),
    },
    Case {
        template: "show \"$(printf '%s.' \"$(printf '%s.' \"{{ opt }}\" {{ y }})\" {{ y }})\"\n",
        expected: |v| shown(&[&format!("{}.{}..{}.", v.opt, v.y, v.y)]),
    },
    Case {
        template: "show \"$(cat <<E\n{{ opt }}.\nE\n)\" {{ y }}\n",
        expected: |v| shown(&[&dotted(&v.opt), &v.y]),
    },
    Case {
        template: "cat <<E\n{{ opt }}\na{{ y }}{{ y }}\n{{ y }}E$E{{ y }}\nE\nshow {{ y }}\n",
        expected: |v| {
            let text = format!("{}\na{}{}\n{}Ee{}\n", v.opt, v.y, v.y, v.y, v.y);
            [text.into_bytes(), shown(&[&v.y])].concat()
        },
    },
    Case {
        template: "cat <<-E\n\t{{ opt }}\n{{ y }}\n\t\t.{{ y }}\n\tE\nshow\n",
        expected: |v| [format!("{}\n{}\n.{}\n", v.opt, v.y, v.y).into_bytes(), shown(&[])].concat(),
    },
    Case {
        template: "cat <<'E'\n.{{ opt }}.\n{{ y }}\nE\nshow {{ y }}\n",
        expected: |v| [format!(".{}.\n{}\n", v.opt, v.y).into_bytes(), shown(&[&v.y])].concat(),
    },
    Case {
        template: "cat <<A <<\\B\nx{{ y }}\nA\n{{ opt }}.\nB\nshow {{ y }}\n",
        expected: |v| [dotted(&v.opt).into_bytes(), b"\n".to_vec(), shown(&[&v.y])].concat(),
    },
    Case {
        template: "cat <<E\n$(printf '%s.' {{ opt }} \"{{ y }}\" '{{ y }}')\nE\nshow\n",
        expected: |v| [format!("{}.{}.{}.\n", v.opt, v.y, v.y).into_bytes(), shown(&[])].concat(),
    },
    Case {
        template: "show {{ opt }} \"{{ y }}\" '{{ y }}' <<E\nbody\nE\nshow\n",
        expected: |v| [shown(&[&v.opt, &v.y, &v.y]), shown(&[])].concat(),
    },
    Case {
        template: "show a {{ l }} b \"{{ l }}\" c{{ l }}\n",
        expected: |v| {
            let joined = v.l.join(" ");
            let mut words: Vec<&str> = vec!["a"];
            words.extend(v.l.iter().map(String::as_str));
            let last = format!("c{joined}");
            words.extend(["b", joined.as_str(), last.as_str()]);
            shown(&words)
        },
    },
    Case {
        template: "for i in {{ l }}; do show \"$i\"; done; show\n",
        expected: |v| v.l.iter().map(|item| shown(&[item])).chain([shown(&[])]).collect::<Vec<_>>().concat(),
    },
    Case {
        template: "{% for i in l %}show {{ loop.index }} -- {{ i }}\n{% endfor %}",
        expected: |v| {
            v.l.iter()
                .enumerate()
                .map(|(index, item)| shown(&[&(index + 1).to_string(), "--", item]))
                .collect::<Vec<_>>()
                .concat()
        },
    },
    Case {
        template: "case {{ opt }} in {{ opt }}) show same;; *) show other;; esac\n",
        expected: |_| shown(&["same"]),
    },
    Case {
        template: "case a{{ y }} in [b]|\"{{ y }}\") show no;; a'{{ y }}') show {{ y }};; esac\n",
        expected: |v| shown(&[&v.y]),
    },
    Case {
        template: "V={{ opt }} W=\"{{ y }}\"; show \"$V\" \"$W\"\n",
        expected: |v| shown(&[&v.opt, &v.y]),
    },
    Case {
        template: "show $(( {{ n }} )) $((1-{{ n }}-{{ n }})) $(( -{{ n }}*(2+{{ n }}) ))\n",
        expected: |v| {
            let n = v.n;
            shown(&[&n.to_string(), &(1 - n - n).to_string(), &(-n * (2 + n)).to_string()])
        },
    },
    Case { template: "show {{ y | words }} end\n", expected: |v| shown(&[&v.y, "end"]) },
    Case {
        template: "show {{ opt ~ y }} {{ l | join(y) }} {{ l | length }}\n",
        expected: |v| shown(&[&format!("{}{}", v.opt, v.y), &v.l.join(&v.y), &v.l.len().to_string()]),
    },
    Case {
        template: "printf %s {{ y }} | cat; printf '\\0'; ( show {{ opt }} ) && { show {{ y }}; }\n",
        expected: |v| [v.y.clone().into_bytes(), vec![0], shown(&[&v.opt]), shown(&[&v.y])].concat(),
    },
    Case {
        template: "f() { show \"$@\" {{ y }}; }; f {{ opt }} 2>&1 || show {{ y }}\n",
        expected: |v| shown(&[&v.opt, &v.y]),
    },
    Case {
        template: "if [ a{{ y }} = a{{ y }} ]; then show {{ opt }}; else show \\\n {{ y }}; fi\n",
        expected: |v| shown(&[&v.opt]),
    },
    Case {
        template: "sh -c 'printf \"%s\\0\" \"$#\" \"$@\"' a {{ opt }} \"{{ y }}\"\n",
        expected: |v| shown(&[&v.opt, &v.y]),
    },
];

/// Values that shells have trouble with.
fn value() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "'", "\"", "\\", "`", "$", "$(", ")", "$((", "))", "${", "}", ";", "&", "|", "<", ">", "<<E", "#", "\n", "\t", " ",
            "\nE\n", "E", "\tE", "\n\tE\n", "B", "A\n", "*", "?", "[a]", "~", "!", "=", "-", "--", "\r", "\\\n", "''", "\"\"",
            "$(show pwned)", "`show pwned`", ";show pwned;", "\nshow pwned\n", "\"; show pwned; \"", "'; show pwned; '",
            "${-+}", "$E", "$E{", "\\$(show pwned)", "\u{1}", "\u{7f}", "\u{81}", "\u{88}", "\u{84}\u{82}", "%s", "\\0", "é",
            "{{ y }}", "{% if %}", "\u{f8ff}", "\u{10fffe}", "1", "a",
        ]).prop_map(str::to_owned),
        2 => "[ -~]{1,6}",
        1 => any::<char>().prop_filter("no NUL", |c| *c != '\0').prop_map(String::from),
        1 => (0u32..17, 0u32..0x1_0000).prop_filter_map("no character", |(plane, rest)| {
            char::from_u32(plane * 0x1_0000 + rest).filter(|c| *c != '\0').map(String::from)
        }),
        1 => (1u8..32).prop_map(|byte| char::from(byte).to_string()),
    ];
    prop_oneof![
        30 => prop::collection::vec(piece.clone(), 0..8).prop_map(|pieces| pieces.concat()),
        1 => (prop::collection::vec(piece, 1..6), 100_000usize..104_000).prop_map(|(pieces, length)| {
            let unit = pieces.concat();
            let mut text = unit.repeat(length / unit.len() + 1);
            text.truncate((0..=length).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0));
            text
        }),
    ]
}

fn given() -> impl Strategy<Value = Given> {
    let number = prop_oneof![-9i64..10, -2_000_000_000i64..2_000_000_000];
    (value(), value(), number, prop::collection::vec(value(), 0..4)).prop_map(|(opt, y, n, l)| Given {
        opt,
        y,
        n,
        l,
    })
}

/// Whether a value of the case can't stand in it, for reasons that are documented.
fn unfit(case: &Case, v: &Given) -> bool {
    let line = |text: &str, end: &str| text.split('\n').any(|line| line.trim_start_matches('\t') == end);
    // dash loses a byte of such lines.
    let lost = |text: &str, end: &str| {
        text.split('\n')
            .any(|line| line.strip_prefix(end).is_some_and(|rest| rest.starts_with(|c: char| !c.is_ascii())))
    };
    let quoted = case.template.contains("<<'E'")
        && (line(&v.opt, "E") || line(&v.y, "E") || lost(&v.opt, "E") || lost(&v.y, "E"));
    let second = case.template.contains("<<\\B") && (line(&dotted(&v.opt), "B") || lost(&v.opt, "B"));
    let nested = case.template.contains("<<E\n$(")
        && (line(&v.opt, "E") || line(&v.y, "E") || [&v.opt, &v.y].iter().any(|text| text.contains("\\\n")));
    quoted || second || nested
}

#[test]
fn no_value_changes_the_words_around_it_or_itself() {
    let templates = templates();
    for (name, shell) in shells() {
        let batch = prop::collection::vec((0..CASES.len(), given()), 1..40);
        let outcome = TestRunner::new(cases(10, 400)).run(&batch, |batch| {
            let (mut script, mut expected) = (SHOW.to_owned(), Vec::new());
            for (index, v) in batch {
                let case = &CASES[index];
                if unfit(case, &v) {
                    continue;
                }
                let (part, prints) = rendered(case, &templates[index], &v)
                    .map_err(|error| TestCaseError::fail(error.to_string()))?;
                script.push_str(&part);
                expected.extend(prints);
            }
            let (stdout, stderr) = run(shell, &script);
            prop_assert_eq!(stderr, "");
            prop_assert!(stdout == expected, "{}\n{:?}\n{:?}", script, lossy(&stdout), lossy(&expected));
            Ok(())
        });
        if let Err(error) = outcome {
            panic!("{name}: {error}");
        }
    }
}

/// The templates with every parameter free to begin with a hyphen.
fn templates() -> Vec<ScriptTemplate> {
    let mut params = PARAMS;
    for param in &mut params {
        param.allow_leading_dash = true;
    }
    let compiled = |case: &Case| match ScriptTemplate::compile(case.template, &params) {
        Ok((template, _)) => template,
        Err(problems) => panic!("{}\n{}", case.template, problems[0]),
    };
    CASES.iter().map(compiled).collect()
}

/// The script of a case with these values, and what it must print.
fn rendered(case: &Case, template: &ScriptTemplate, v: &Given) -> Result<(String, Vec<u8>), RenderError> {
    let y = if case.template.contains("words") { quote::word(&v.y) } else { v.y.clone() };
    let given = values(json!({"opt": v.opt, "y": y, "n": v.n, "l": v.l}));
    Ok((template.render(&given)?, (case.expected)(v)))
}

/// Characters of every plane, and 100 KiB of what shells have trouble with.
fn certain_values() -> Vec<String> {
    let planes =
        (0..17_u32).flat_map(|plane| [0x0001, 0x00e9, 0xabcd, 0xfffd].map(|rest| plane << 16 | rest));
    let mut values: Vec<String> = planes.map(|code| char::from_u32(code).unwrap().to_string()).collect();
    values.push(values.concat());
    let trouble = "it's $(show pwned) `show pwned` \"${E}\" \\ ;\n*\u{10fffe}";
    let long = trouble.repeat((100 << 10) / trouble.len() + 1);
    assert!(long.len() >= 100 << 10);
    values.push(long);
    values
}

/// The property again, without chance: every place × certain values, and NUL refused in each.
#[test]
fn every_place_takes_every_plane_and_100_kib_and_refuses_nul() {
    let (templates, values) = (templates(), certain_values());
    for (case, template) in CASES.iter().zip(&templates) {
        let given = values.iter().map(|value| Given {
            opt: value.clone(),
            y: value.clone(),
            n: -7,
            l: vec![value.clone(), String::new(), value.clone()],
        });
        let given: Vec<Given> = given.filter(|v| !unfit(case, v)).collect();
        assert!(given.len() + 1 >= values.len(), "{} takes {} values only", case.template, given.len());
        for (name, shell) in shells() {
            let (mut script, mut expected) = (SHOW.to_owned(), Vec::new());
            for v in &given {
                let (part, prints) = rendered(case, template, v).unwrap();
                script.push_str(&part);
                expected.extend(prints);
            }
            let (stdout, stderr) = run(shell, &script);
            assert_eq!(stderr, "", "{name}: {}", case.template);
            assert!(stdout == expected, "{name}: {}", case.template);
        }
        for param in ["opt", "y", "l"].into_iter().filter(|param| uses(case.template, param)) {
            let mut v = Given { opt: "o".into(), y: "y".into(), n: 1, l: vec!["l".into()] };
            match param {
                "opt" => v.opt = "a\0b".into(),
                "y" => v.y = "a\0b".into(),
                _ => v.l = vec!["l".into(), "a\0b".into()],
            }
            let error = rendered(case, template, &v).expect_err(case.template).to_string();
            assert!(error.contains("NUL"), "{}: {error}", case.template);
        }
    }
}

/// Whether a parameter's name is a word of the template.
fn uses(template: &str, param: &str) -> bool {
    template.split(|c: char| !c.is_alphanumeric()).any(|word| word == param)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
