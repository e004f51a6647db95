//! What is taken, and what it becomes.

use std::fmt::Write;

use serde_json::json;

use super::testing::{compile, render};

#[test]
fn values_are_quoted_for_their_place() {
    for (source, expected) in [
        ("echo {{ x }}", r"echo 'it'\''s $a'"),
        ("echo {{ x | quote }}", r"echo 'it'\''s $a'"),
        ("echo a{{ x }}b{{ y }}", r"echo a'it'\''s $a'b'Y'"),
        ("echo \"{{ x }}\"", "echo \"it's \\$a\""),
        ("echo '{{ x }}'", r"echo 'it'\''s $a'"),
        ("echo \"$A{{ x }}\"", "echo \"$A\"\"it's \\$a\""),
        ("echo $A{{ x }}", r"echo $A'it'\''s $a'"),
        ("echo \"$(cat '{{ y }}' {{ x }} \"{{ y }}\")\"", r#"echo "$(cat 'Y' 'it'\''s $a' "Y")""#),
        ("echo {{ n }} {{ f }} {{ b }} {{ d }}", r#"echo '7' '1.5' 'true' '{"k":[1]}'"#),
        ("echo {{ l }} \"{{ l }}\" a{{ l }}", "echo 'l1' 'l 2' \"l1 l 2\" a'l1 l 2'"),
        ("echo $((1 + {{ n }} * -{{ n }}))", "echo $((1 + (7) * -(7)))"),
        ("echo {{ l | join(',') }} {{ l | length }} {{ y | lower }}", "echo 'l1,l 2' '2' 'y'"),
        ("echo {{ opt | words }} {{ '-a \"b c\"' | words }}", "echo '-v' '-a' 'b c'"),
        ("echo {{ 'a/b c~d' | urlencode }}", "echo 'a/b%20c~d'"),
        ("echo {{ o | default('none') }}", "echo 'none'"),
        ("echo{% if o %} {{ o }}{% endif %}", "echo"),
        ("echo{% for i in l %} --x={{ i }}{% endfor %}", "echo --x='l1' --x='l 2'"),
        ("echo {{ x ~ y }}", r"echo 'it'\''s $aY'"),
        ("for i in {{ l }}; do echo \"$i\"; done", "for i in 'l1' 'l 2'; do echo \"$i\"; done"),
        (
            "case {{ y }} in {{ y }}) echo;; a|{{ y }}) echo {{ y }};; esac",
            "case 'Y' in 'Y') echo;; a|'Y') echo 'Y';; esac",
        ),
        ("cat <<E\n{{ x }} {{ y }}\nE\n", "cat <<E\n${-+}it's \\$a Y\nE\n"),
        ("cat <<'E'\n{{ x }}\nE\n", "cat <<'E'\nit's $a\nE\n"),
        ("A={{ x }} B=\"{{ y }}\" env", r#"A='it'\''s $a' B="Y" env"#),
        ("echo > {{ y }} 2>&1 < \"{{ y }}\"", "echo > 'Y' 2>&1 < \"Y\""),
        ("printf '%s' {{ x }} # ok\n", "printf '%s' 'it'\\''s $a' # ok\n"),
        ("{% set q = y %}echo {{ q }}", "echo 'Y'"),
        ("{% with q = y | lower %}echo {{ q }}{% endwith %}", "echo 'y'"),
        ("{% raw %}{{{% endraw %}a", "{{a"),
        ("[ ${#} -lt 1 ] || echo ${#E} {{ y }} ${E#} # {#", "[ ${#} -lt 1 ] || echo ${#E} 'Y' ${E#} # {#"),
        ("{# a comment {{ #}echo {{ y }}", "echo 'Y'"),
    ] {
        let rendered = render(source, json!({"x": "it's $a"}));
        assert_eq!(rendered.as_deref(), Ok(expected), "{source}");
    }
}

#[test]
fn ordinary_scripts_are_taken() {
    for source in [
        "set -eu\nif [ -n \"$A\" ]; then echo {{ x }}; elif [ {{ y }} = b ]; then :; else echo '{{ y }}'; fi | jq -r '.a[]'",
        "while read -r line; do printf '%s\\n' \"$line\" {{ x }}; done < f",
        "f() {\n  echo \"$1\" {{ x }}\n}\nf {{ y }}\n",
        "case $1 in\n  (a) echo {{ x }} ;;\n  b|c) echo {{ y }}\nesac\necho {{ x }}",
        "x=$(curl -sS \"https://a/?q={{ x | urlencode }}\" | jq '.b | length') && echo \"$x {{ y }}\"",
        "cat <<A <<-'B' | sort\n{{ x }} $(echo {{ y }}) ${c}\nA\n\tb {{ n }}\n\tB\necho {{ y }}",
        "jq --arg q {{ x }} '.[] | select(.a == $q)' file; jq -n --argjson n {{ n }} '$n'",
        "awk -v q={{ x }} '$1 == q { print }' {{ y }}; awk -F {{ x }} '{ print }'",
        "sed -n 's/a/b/p' {{ y }}",
        "python3 -c 'import sys; print(sys.argv)' {{ x }} | sh -c 'cat' a {{ x }}",
        "python3 - {{ x }} <<'E'\nimport sys\nE\n",
        "sh -s -- {{ x }} <<'E'\necho \"$1\"\nE\n",
        "curl x | sh -s -- {{ x }}",
        "find {{ x }} -name \"*{{ y }}*\" -exec grep -l {{ y }} {} + -print",
        "timeout {{ n }} curl {{ x }}; nice -n {{ n }} env A={{ x }} ls {{ y }}; sudo -u {{ x }} ls",
        "xargs -n {{ n }} echo {{ x }}",
        "command -v {{ x }} >/dev/null 2>&1 || exit 1",
        "export A={{ x }}; readonly B=\"{{ y }}\"",
        "ssh {{ x }} uptime; ssh -p {{ n }} a@{{ x }}; printf %s {{ x }} | ssh h 'cat'",
        "a={{ x }}; b=${a%%.*}; echo \"${b:-c}\" {{ y }} $# $? $$ \"$@\" {{ x }}",
        "( cd {{ x }} && ls ) > out; { echo {{ y }}; } 2>&1",
        "! grep -q {{ x }} f && ls &\nwait",
        "echo \"a\\\"b\" {{ x }} \\\n  {{ y }}",
        "\"$CMD\" {{ x }}",
        "[ {{ n }} -gt 3 ] && test {{ x }} = {{ y }}",
        "git clone -- {{ x }}",
        "{% if b %}curl{% else %}wget{% endif %} {{ x }}",
        "curl{% if o %} -H \"A: {{ o }}\"{% endif %}{% if x %} -d {{ x }}{% endif %} {{ y }}",
        "curl '{% if x %}a{{ x }}{% endif %}{% if y %}&b={{ y }}{% endif %}{% if n %}&c={{ n }}{% endif %}'",
    ] {
        if let Err(problems) = compile(source) {
            panic!("{source}\n{}", problems[0]);
        }
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let refused = |source, value| render(source, value).unwrap_err();
    let report = [
        refused("man {{ x }}", json!({"x": "-Pid"})),
        refused("man {{ l }}", json!({"l": ["a", "-b"]})),
        refused("man {{ y }}{{ x }}", json!({"x": "-b", "y": ""})),
        refused("echo {{ x }}", json!({"x": "a\0b"})),
        refused("echo {{ o }}", json!({})),
        refused("echo {{ o }}", json!({"o": null})),
        refused("echo {{ o ~ 'a' }}", json!({})),
        refused("echo {{ o | upper }}", json!({})),
        refused("echo {{ o | quote }}", json!({})),
        refused("echo {{ o | urlencode }}", json!({})),
        refused("cat <<'E'\n{{ x }}\nE\n", json!({"x": "a\nE\nb"})),
        refused("cat <<'E'\n{{ x }}E\nE\n", json!({"x": "a\n"})),
        refused("cat <<'E'\nE{{ x }}\nE\n", json!({"x": ""})),
        refused("cat <<-'E'\n{{ x }}\nE\n", json!({"x": "a\n\tb"})),
        refused("cat <<E\n$(echo {{ x }})\nE\n", json!({"x": "a\nE\nb"})),
        refused("echo $(( {{ x | int }} ))", json!({"x": "a"})),
        refused("echo $(( {{ l[0] }} ))", json!({"l": ["a"]})),
        refused("echo {{ x | words }}", json!({"x": "a 'b"})),
        refused("cat > {{ l[0] }}", json!({"l": [["a", "b"]]})),
        refused(
            "{% for i in range(9999999) %}{% for j in range(99999) %}a{% endfor %}{% endfor %}",
            json!({}),
        ),
        refused("echo {{ 'a' * 99999999999 }}", json!({})),
    ]
    .join("\n");
    insta::assert_snapshot!(report);
}

#[test]
fn what_begins_no_option_may_begin_with_a_hyphen() {
    for (source, value) in [
        ("man -- {{ x }}", json!({"x": "-a"})),
        ("man a{{ x }}", json!({"x": "-a"})),
        ("man \"{{ x }}\"", json!({"x": "-a"})),
        ("man {{ opt }}", json!({"opt": "-a"})),
        ("man {{ n }} {{ f }}", json!({"n": -1, "f": -0.5})),
        ("A={{ x }}", json!({"x": "-a"})),
        ("man {{ l }}", json!({"l": [-1, "a"]})),
        ("man > {{ x }}", json!({"x": "-a"})),
    ] {
        assert!(render(source, value).is_ok(), "{source}");
    }
}

#[test]
fn a_template_with_very_many_conditions_is_followed() {
    let mut source = "curl https://a/".to_owned();
    for index in 0..40 {
        write!(
            source,
            "{{% if x == '{index}' %}} --o{index} {{{{ y }}}}{{% else %}}\n -q '{{{{ x }}}}'{{% endif %}}"
        )
        .unwrap();
    }
    compile(&source).unwrap();
}
