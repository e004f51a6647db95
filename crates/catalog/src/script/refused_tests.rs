//! Places where no value may stand, and templates that aren't taken at all.

use std::fmt::Write;

use super::testing::{PARAMS, compile};
use super::{ScriptTemplate, TextTemplate, apply_rewrites};

/// What is said of each template, one line a problem.
fn messages(sources: &[&str]) -> String {
    let mut text = String::new();
    for source in sources {
        writeln!(text, "{source:?}").unwrap();
        match compile(source) {
            Ok(_) => text.push_str("  TAKEN\n"),
            Err(problems) => {
                for problem in problems {
                    writeln!(text, "  {problem}").unwrap();
                    if let Some(rewrite) = problem.rewrite {
                        writeln!(text, "  rewrite {:?}", rewrite.replacement).unwrap();
                    }
                }
            }
        }
    }
    text
}

#[test]
fn places_of_the_shell() {
    let report = messages(&[
        "echo # {{ x }}",
        "echo a#{{ x }}; # b {{ y }}\n",
        "echo `date {{ x }}`",
        "echo \"`date {{ x }}`\"",
        "echo ${a:-{{ x }}}",
        "echo \"${a:-{{ x }}}\"",
        "echo ${a:-\"{{ x }}\"}",
        "echo \"${a:-$(echo {{ x }})}\"",
        "{{ x }}",
        "  {{ x }} --help",
        "a | {{ x }}",
        "a && {{ x }}; b || c{{ x }}",
        "if {{ x }}; then :; fi",
        "( {{ x }} )",
        "echo $({{ x }})",
        "echo $(\n{{ x }})",
        "$(which {{ x }}) a",
        "{{ x }}=1",
        "PATH={{ x }} ls",
        "IFS={{ x }}",
        "for {{ x }} in a; do :; done",
        "for i {{ x }}; do :; done",
        "case {{ l }} in a) :;; esac",
        "case $a in {{ l }}) :;; esac",
        "case $a {{ x }} in a) :;; esac",
        "echo > {{ l }}",
        "cat << {{ x }}\n",
        "echo \\{{ x }}",
        "echo \"\\{{ x }}\"",
        "cat <<E\n\\{{ x }}\nE\n",
        "echo ${{ x }}",
        "echo \"${{ x }}\"",
        "cat <<E\n${{ x }}\nE\n",
        "echo $(( {{ x }} ))",
        "echo $(( {{ f }} + {{ l }} ))",
        "echo $(( $a{{ n }} ))",
        "echo $(( $(echo {{ n }}) ))",
        "echo $(( 1 ){{ n }})",
        "fi {{ x }}",
        "{ :; } {{ x }}",
        "f({{ x }}) { :; }",
        "cat <<E $(echo {{ x }})\nE\n",
        "echo $'a' {{ x }}",
        "echo $'a\\'b' {{ x }}",
        "a=( {{ x }} )",
        "echo <(cat {{ x }})",
        "(( {{ n }} ))",
        "[[ {{ x }} = a ]]",
        "function f { sh -c {{ x }}; }",
        "echo $[ {{ n }} ]",
        "alias a='sh -c'; a {{ x }}",
        "echo \"${a:-\"b\"}\" {{ x }}",
        "echo ${ cat {{ x }}; }",
        "echo a ) {{ x }}",
        "a &> {{ x }}",
        "cat <<$E\n{{ x }}\nE\n",
    ]);
    insta::assert_snapshot!(report);
}

#[test]
fn programs_that_run_their_arguments() {
    let report = messages(&[
        "eval {{ x }}",
        "eval \"a {{ x }}\"",
        "eval \"$(printf %s {{ x }})\"",
        "sh -c {{ x }}",
        "X=sh; $X -c {{ x }}",
        "env \"$X\" -c \"echo {{ x }}\"",
        "sh -c '{{ x }}'",
        "sh -c \"echo {{ x }}\"",
        "/bin/bash -euo pipefail -c 'echo {{ x }}'",
        "busybox sh -c {{ x }}",
        "env -i A=b sh -c \"{{ x }}\"",
        "env {{ x }} a",
        "env -S \"{{ x }}\"",
        "exec {{ x }}",
        "exec nice -n 5 timeout 3 dash -c {{ x }}",
        "su - nobody -c {{ x }}",
        "xargs sh -c {{ x }}",
        "xargs -n1 {{ x }}",
        "xargs {{ l }} echo",
        "find . -name {{ x }} -exec sh -c \"{{ y }}\" \\;",
        "find . -exec {{ x }} {} +",
        "sh {{ x }}",
        "sh {{ l }} -c 'a'",
        "python3 -c \"print('{{ x }}')\"",
        "python3.12 -Ic {{ x }}",
        "python3 -m {{ x }}",
        "python3 {{ x }}",
        "perl -ne 'print if /{{ x }}/'",
        "node -e {{ x }}",
        "node --eval={{ x }}",
        "ruby -e {{ x }}",
        "php -r {{ x }}",
        "deno eval {{ x }}",
        "awk '{ print \"{{ x }}\" }'",
        "awk -F, \"/{{ x }}/\" file",
        "sed s/a/{{ x }}/",
        "sed -n -e \"s/{{ x }}/b/p\" f",
        "sed --expression={{ x }}",
        "sed 's/a/b/' -e {{ x }}",
        "jq {{ x }}",
        "jq -r \".a | {{ x }}\"",
        "jq --arg a b {{ x | quote }} f",
        "jq {{ opt | words }} {{ x }}",
        "jq -f {{ x }}",
        "trap {{ x }} EXIT",
        ". {{ x }}",
        "source ./{{ x }}",
        "alias a={{ x }}",
        "unset {{ x }}",
        "read {{ x }}",
        "export {{ x }}",
        "let {{ n }}",
        "ssh host ls {{ x }}",
        "ssh -o {{ x }} host",
        "ssh \"{{ x }}\" ls",
        "parallel {{ x }}",
        "watch {{ x }}",
        "docker run -it image sh -c {{ x }}",
        "kubectl exec p -- bash -lc \"a {{ x }}\"",
        "echo {{ x }} | sh",
        "printf %s {{ x }} | python3 -",
        "{ echo a; echo {{ x }}; echo b; } | bash -s",
        "(cat f {{ x }}) | sh",
        "sh <<E\necho {{ x }}\nE\n",
        "cat <<E |\necho {{ x }}\nE\nsh\n",
        "bash <<< {{ x }}",
        "sh < {{ x }}",
        ". /dev/stdin <<E\n{{ x }}\nE\n",
        "sh - {{ x }}",
        "declare -i a={{ x }}",
        "export PATH={{ x }}",
        "for IFS in {{ l }}; do :; done",
        "setpriv --reuid 1 awk {{ x }}",
        "sshpass -p {{ y }} ssh h {{ x }}",
        "command eval {{ x }}",
        "\\eval {{ x }}; ev''al {{ x }}",
        "yq eval {{ x }}",
    ]);
    insta::assert_snapshot!(report);
}

#[test]
fn templates() {
    let report = messages(&[
        "echo {{ q }}",
        "echo {{ limt }} {{ x | lowr }}",
        "{% if x is defned %}a{% endif %}",
        "echo {{ x",
        "{% if x %}",
        "echo {#a#}",
        "{% macro a() %}b{% endmacro %}",
        "{% include 'a' %}",
        "{% import 'a' as b %}",
        "{% extends 'a' %}",
        "{% set a %}b{{ x }}{% endset %}{{ a }}",
        "{% filter upper %}{{ x }}{% endfilter %}",
        "{% autoescape true %}{{ x }}{% endautoescape %}",
        "{% for a in l recursive %}{{ loop(a) }}{% endfor %}",
        "{{ debug() }}",
        "{{ x | safe }}",
        "{% set a.b = 1 %}",
        "echo 'a",
        "echo \"a $(b {{ x }}",
        "cat <<E\na",
        "echo a {% if b %}'{% endif %} {{ x }}",
        "echo {% if b %}'{% endif %}{{ x }}{% if b %}'{% endif %}",
        "{% for i in l %}'{% endfor %} {{ x }}",
        "{% if b %}sh -c{% else %}echo{% endif %} {{ x }}",
        "echo {% for i in l %}{{ i }} | {% endfor %} {{ x }}",
        "echo {{ x }} {{ y | upper\n }}\n# {{ x }}\neval {{ y }}",
    ]);
    insta::assert_snapshot!(report);
}

#[test]
fn a_program_that_is_nothing_but_a_parameter_can_be_rewritten() {
    for (source, expected) in [
        ("jq {{ opt | words }} {{ x | quote }}", "jq {{ opt | words }} \"$MCC_PARAM_X\""),
        ("sh -c '{{ x }}' a; eval {{ y | quote }}", "sh -c \"$MCC_PARAM_X\" a; eval \"$MCC_PARAM_Y\""),
        ("python3 -c \"{{ x }}\" | cat", "python3 -c \"$MCC_PARAM_X\" | cat"),
    ] {
        let problems = compile(source).unwrap_err();
        let rewritten = apply_rewrites(source, &problems);
        assert_eq!(rewritten, expected);
        assert!(compile(&rewritten).is_ok(), "{rewritten}: {:?}", compile(&rewritten));
    }
    for source in [
        "sh -c \"echo {{ x }}\"",
        "jq {{ x | upper }}",
        "jq .{{ x }}",
        "{{ x }}",
        "jq {{- x }}",
        "jq {{ l }}",
        "sh -c {{ x }}",
    ] {
        let problems = compile(source).unwrap_err();
        assert!(problems.iter().all(|problem| problem.rewrite.is_none()), "{source}: {problems:?}");
    }
}

#[test]
fn loops_in_loops_are_not_followed_for_ever() {
    let depth = 30;
    let source =
        format!("{}echo {{{{ x }}}}\n{}", "{% for a in l %}".repeat(depth), "{% endfor %}".repeat(depth));
    let problems = compile(&source).unwrap_err();
    assert_eq!(problems[0].reason, "the template branches too much to be followed");
}

#[test]
fn bodies_of_loops_are_checked_in_texts_too() {
    let problems = TextTemplate::compile("{% for a in l %}{{ a }}{{ q }}{% endfor %}", &PARAMS).unwrap_err();
    assert_eq!(problems[0].reason, "unknown variable q");
}

#[test]
fn warnings() {
    let warned = |source| {
        let (_, warnings) = ScriptTemplate::compile(source, &PARAMS).unwrap();
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let report = [
        warned("echo {{ o }}"),
        warned("{% if o %}echo {{ o }}{% endif %}echo {{ '' if not o else o }}"),
        warned("man \"{{ x }}\""),
        warned("man -- \"{{ x }}\"; echo \"{{ x }}\"; man \"{{ opt }}\" \"{{ n }}\""),
    ]
    .join("\n--\n");
    insta::assert_snapshot!(report);
}
