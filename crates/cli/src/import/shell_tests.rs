use std::process::Command;

use serde_json::json;

use super::*;

fn param(name: &str, kind: ParamType, default: Option<&str>) -> Param {
    Param {
        name: name.to_owned(),
        kind,
        required: default.is_none(),
        default: default.map(|default| json!(default)),
        description: String::new(),
        example: None,
        fixed: None,
    }
}

fn run(command: &str) -> (String, Vec<String>) {
    let params = [
        param("opts", ParamType::Str, Some("")),
        param("target", ParamType::Str, None),
        param("list", ParamType::List, None),
        param("n", ParamType::Int, None),
    ];
    let script = rewrite(command, &params, "exec", &mut Notes::default());
    (script.text, script.variables.into_iter().map(|variable| variable.name).collect())
}

#[test]
fn values() {
    for (command, expected) in [
        ("nmap {{ opts }} {{ target }}", "nmap {{ opts | words }} {{ target }}"),
        ("echo {{ target | quote }}|jq .", "echo {{ target | quote }}|jq ."),
        ("echo {{ list | join(' ') }}", "echo {{ list }}"),
        ("echo {{ list | join(',') }}", "echo {{ list | join(',') }}"),
        ("echo \"{{ opts }}\" x{{ opts }}", "echo \"{{ opts }}\" x{{ opts }}"),
        ("{{ target }}", "eval \"$MCC_PARAM_TARGET\""),
        ("curl -d '{\"a\":\"{{ target }}\"}' u", "curl -d '{\"a\":{{ target | tojson }}}' u"),
        ("{% if opts %}-x {{ opts }}{% endif %}", "{% if opts %}-x {{ opts }}{% endif %}"),
    ] {
        assert_eq!(run(command).0, expected);
    }
}

#[test]
fn variables() {
    for (command, expected, names) in [
        ("a '?k=${KEY}&x=$x'", "a '?k='\"${KEY}\"'&x=$x'", vec!["KEY"]),
        ("a \"$KEY:\" $HOME", "a \"$KEY:\" $HOME", vec!["KEY", "HOME"]),
        ("a ${URL|http://x} '$$1' $$", "a ${URL} '$1' $", vec!["URL"]),
        ("X=1; echo \"$X\" # it's $A\necho '$B'", "X=1; echo \"$X\" # it's $A\necho ''\"${B}\"''", vec!["B"]),
        ("cat <<'E'\nit's $x\nE\necho '$C'", "cat <<'E'\nit's $x\nE\necho ''\"${C}\"''", vec!["C"]),
        ("echo \"$(a 'x' \"$D\")'\"", "echo \"$(a 'x' \"$D\")'\"", vec!["D"]),
    ] {
        assert_eq!(run(command), (expected.to_owned(), names.into_iter().map(str::to_owned).collect()));
    }
}

fn execute(script: &str) -> Vec<(i32, String)> {
    ["dash", "sh", "busybox"]
        .iter()
        .filter_map(|shell| {
            let mut command = Command::new(shell);
            if *shell == "busybox" {
                command.arg("sh");
            }
            let output = command.args(["-c", script]).output().ok()?;
            Some((output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap()))
        })
        .collect()
}

#[test]
fn transforms_keep_failures() {
    let stages = |stages: &[&str]| stages.iter().map(|stage| (*stage).to_owned()).collect::<Vec<_>>();
    for (tool, transform, expected) in [
        ("echo a b", stages(&["tr a c", "tr b d"]), (0, "c d\n")),
        ("printf x; exit 3", stages(&["tr x y"]), (3, "x")),
        ("echo a", stages(&["exit 4", "cat"]), (4, "")),
        ("echo a", stages(&["cat", "false"]), (1, "")),
        ("cat <<E\nh\nE", stages(&["cat # comment"]), (0, "h\n")),
        ("printf 'a\\n\\n'", stages(&["cat"]), (0, "a\n\n")),
    ] {
        let script = with_transform(tool, &transform);
        for outcome in execute(&script) {
            assert_eq!(outcome, (expected.0, expected.1.to_owned()), "{script}");
        }
    }
}
