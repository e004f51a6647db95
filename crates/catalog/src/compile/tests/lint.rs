//! Warnings of what works but is probably not meant, and silence where it is.

use insta::assert_snapshot;

use crate::testing::{lines, problems};

fn check(spec: &str) -> String {
    lines(&problems(spec)).join("\n").replace(": Tool mcc-catalog/my-tool", "").replace("[Suspicious]", "")
}

/// Warnings of a shell tool with the variable KEY.
fn script(script: &str) -> String {
    check(&format!("env: [{{name: KEY, value: k}}]\nshell: {{script: {}}}", serde_json::json!(script)))
}

#[test]
fn descriptions() {
    assert!(check("description: ' '").starts_with("warning: spec.description: the tool has no description"));
    assert!(check(&format!("description: {}", "x".repeat(4001))).contains("4001 characters"));
}

#[test]
fn hints_that_contradict() {
    assert_snapshot!(check("hints: {readOnly: true, destructive: true}"), @"warning: spec.hints: a tool that changes nothing can't destroy anything; remove readOnly or destructive");
    assert_eq!(check("hints: {readOnly: true, destructive: false}"), "");
}

#[test]
fn examples_that_cannot_be_called() {
    let example = |text: &str| {
        check(&format!(
            "params: [{{name: a, type: int}}, {{name: b, default: x}}]\nshell: {{script: 'echo {{{{ a }}}} {{{{ b }}}}'}}\nexample: {}",
            serde_json::json!(text)
        ))
    };
    assert_eq!(example("my_tool(a=1, b='y')"), "");
    assert_eq!(example("my_tool(1)"), "");
    assert_snapshot!(example("run it with 5"), @r#"warning: spec.example: the example can't be called: character 5: expected '(', not 'i'; write a call with literal arguments: my_tool(name="value", …)"#);
    assert_snapshot!(example("my_tool(c=1)"), @r#"warning: spec.example: the example can't be called: `a` is required (int), `c` is not a parameter of this tool; write a call with literal arguments: my_tool(name="value", …)"#);
    assert_snapshot!(example("my_tool(1, 2, 3)"), @r#"warning: spec.example: the example can't be called: character 1: 3 arguments without a name, but fewer parameters; write a call with literal arguments: my_tool(name="value", …)"#);
    assert_eq!(check("python: {function: 'a:b'}\nexample: b(x=1)"), "");
}

#[test]
fn parameters_that_nothing_uses() {
    let used = |script: &str| {
        check(&format!("params: [{{name: a}}]\nshell: {{script: {}}}", serde_json::json!(script)))
    };
    assert_snapshot!(used("echo b"), @r#"warning: spec.params[0]: nothing uses the parameter a; write {{ a }} or "$MCC_PARAM_A" where it belongs, or remove it"#);
    assert_eq!(used("echo {{ a }}"), "");
    assert_eq!(used("printenv MCC_PARAM_A"), "");
    assert_eq!(check("params: [{name: a}]\nshell: {script: cat, stdin: Params}"), "");
    assert_eq!(check("params: [{name: a}]\npython: {function: 'x:y'}"), "");
    assert_eq!(check("params: [{name: a}]\ncontainer: {command: [x]}"), "");
}

#[test]
fn variables_that_nothing_expands() {
    assert_snapshot!(script("curl 'https://x/?k=$KEY'"), @"warning: spec.shell.script: $KEY stays as it is inside single quotes; write it inside double quotes");
    assert_snapshot!(script("curl -H 'A: ${KEY}' https://x"), @"warning: spec.shell.script: $KEY stays as it is inside single quotes; write it inside double quotes");
    assert_snapshot!(script("curl \"https://x/?k=$(KEY)\""), @r#"warning: spec.shell.script: $(KEY) runs a command called KEY; write "$KEY" for the environment variable"#);
    for silent in [
        "curl \"https://x/?k=$KEY\" -d 'other $PRICE'",
        "echo \"it's $KEY and it's fine\"",
        "sh -c 'echo $KEY'",
        "/bin/sh -c 'echo $KEY'",
        "echo x | jq --arg KEY \"$KEY\" '.[$KEY]'",
        "# don't\necho \"$KEY\"\n# it's",
        "echo \\'$KEY\\'",
        "cat <<E\nit's $KEY\nE",
        "echo '{\"a\": 1}' $(date) $KEY",
        "echo 'unclosed $(KEYS)' $KEY_2",
    ] {
        assert_eq!(script(silent), "", "{silent}");
    }
}

#[test]
fn http_and_container_have_no_shell() {
    assert_snapshot!(check("env: [{name: KEY, value: k}]\nhttp: {url: 'https://x/', headers: {A: 'Bearer $KEY'}, query: {k: '$(KEY)', price: '$5', other: $OTHER}}"), @"warning: spec.http.headers.A: $KEY stays as it is: no shell reads this text; write $(KEY) for the environment variable");
    assert_snapshot!(check("env: [{name: KEY, value: k}]\ncontainer: {command: [x, '${KEY}'], args: ['$(KEY)']}"), @"warning: spec.container.command[1]: $KEY stays as it is: no shell reads this text; write $(KEY) for the environment variable");
    assert_eq!(
        check("env: [{name: KEY, value: k}]\ncontainer: {command: [/bin/sh, -c], args: ['echo $KEY']}"),
        ""
    );
}
