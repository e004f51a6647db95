use serde_json::json;

use super::*;
use crate::params::validate;
use crate::testing::{map, tool};

fn run(spec: &str, given: Value, session: Value) -> Result<Invocation, PrepareError> {
    let tool = tool(spec);
    let arguments = validate(&tool, &map(given)).unwrap();
    prepare("mcc-1".to_owned(), tool, Arc::default(), arguments, map(session))
}

fn env(pairs: &[(String, String)]) -> Vec<String> {
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

#[test]
fn a_shell_tool() {
    let spec = "shell: {script: 'echo {{ word }} {{ n }}', stdin: Params}\n\
        params: [{name: word}, {name: n, type: int, default: 3}, {name: tags, type: list, required: false}, {name: k, override: v}]";
    let call = run(spec, json!({ "word": "it's" }), json!({ "user": "alice", "xs": [1] })).unwrap();
    let Program::Shell { script } = &call.program else { panic!("{:?}", call.program) };
    assert_eq!(script, "echo 'it'\\''s' '3'");
    assert_eq!(env(&call.params_env), ["MCC_PARAM_WORD=it's", "MCC_PARAM_N=3", "MCC_PARAM_K=v"]);
    assert_eq!(env(&call.session_env), ["MCC_CTX_USER=alice", "MCC_CTX_XS=[1]"]);
    assert_eq!(call.stdin.as_deref(), Some(br#"{"word":"it's","n":3,"k":"v"}"#.as_slice()));
    let silent = run("shell: {script: 'true'}", json!({}), json!({})).unwrap();
    assert_eq!(silent.stdin, None);
}

#[test]
fn a_python_tool() {
    let spec = "python: {function: 'a.b:c', path: [lib]}\nparams: [{name: x, type: dict}, {name: y, required: false}]";
    let call = run(spec, json!({ "x": { "a": [1.5, null] } }), json!({ "user": "alice" })).unwrap();
    let Program::Python { params, path, .. } = &call.program else { panic!("{:?}", call.program) };
    assert_eq!(Value::from(params.clone()), json!({ "x": { "a": [1.5, null] } }));
    assert_eq!(path, &[std::path::PathBuf::from("lib")]);
    assert_eq!(env(&call.params_env), ["MCC_PARAM_X={\"a\":[1.5,null]}"]);
    assert_eq!(env(&call.session_env), ["MCC_CTX_USER=alice", "MCC_CTX={\"user\":\"alice\"}"]);
}

#[test]
fn a_container_tool() {
    let spec = "container: {image: x, command: [prog], args: ['--name={{ a }}', '{{ b }}']}\nparams: [{name: a}, {name: b}]";
    let call = run(spec, json!({ "a": "x 'y' $(HOME)", "b": "-z" }), json!({})).unwrap();
    let Program::Container { command, args } = &call.program else { panic!("{:?}", call.program) };
    assert_eq!((command.as_slice(), args.len()), (["prog".to_owned()].as_slice(), 2));
    // `$(HOME)` of the value is doubled, so that nothing expands it.
    assert_eq!(args, &["--name=x 'y' $$(HOME)", "-z"]);
}

#[test]
fn an_http_tool() {
    let spec = "http: {url: 'https://example.com/{{ a }}', body: '{{ b }}'}\nparams: [{name: a}, {name: b}]";
    let call = run(spec, json!({ "a": "x/y", "b": "B" }), json!({})).unwrap();
    let Program::Shell { script } = &call.program else { panic!("{:?}", call.program) };
    assert!(script.contains("curl") && script.contains("x%2Fy"), "{script}");
    assert_eq!(call.stdin.as_deref(), Some(b"B".as_slice()));
}

#[test]
fn a_value_that_does_not_fit_its_place_is_a_validation_error() {
    let error = run("shell: {script: 'ls {{ a }}'}\nparams: [{name: a}]", json!({ "a": "-rf" }), json!({}))
        .unwrap_err();
    let PrepareError::Invalid(errors) = &error else { panic!("{error}") };
    assert_eq!(errors.problems[0].param, "a");
    assert!(error.to_string().ends_with("Parameters: (a:str)"), "{error}");
}

#[test]
fn large_parameters_come_another_way_or_not_at_all() {
    let large = json!({ "a": "x".repeat(200_000) });
    let bound = |spec: &str| match run(spec, large.clone(), json!({})) {
        Ok(call) => {
            assert!(call.params_env.is_empty());
            "taken".to_owned()
        }
        Err(error) => error.to_string(),
    };
    assert_eq!(bound("shell: {script: cat, stdin: Params}\nparams: [{name: a}]"), "taken");
    assert_eq!(bound("python: {function: 'a:b'}\nparams: [{name: a}]"), "taken");
    assert!(
        bound("shell: {script: 'echo \"$MCC_PARAM_A\"'}\nparams: [{name: a}]")
            .starts_with("parameter `a` is 200000 bytes, at most 131059 can be passed; give less")
    );
    assert!(
        bound("shell: {script: 'echo {{ a }}'}\nparams: [{name: a}]")
            .starts_with("the script with its values is 200007 bytes")
    );
    assert!(bound("container: {command: [x], args: ['{{ a }}']}\nparams: [{name: a}]").contains("at most"));
}

#[test]
fn the_kernels_bound_is_met_to_the_byte() {
    let name = "MCC_PARAM_A".len();
    let spec = "shell: {script: cat, stdin: Params}\nparams: [{name: a}]";
    for (length, kept) in [(MAX_STRING_BYTES - name - 2, 1), (MAX_STRING_BYTES - name - 1, 0)] {
        let call = run(spec, json!({ "a": "x".repeat(length) }), json!({})).unwrap();
        assert_eq!(call.params_env.len(), kept, "{length}");
    }
}

#[test]
fn everything_together_is_bounded() {
    let session: Map<String, Value> = (0..60).map(|n| (format!("n{n}"), json!("x".repeat(30_000)))).collect();
    let error = run("params: []", json!({}), Value::Object(session)).unwrap_err().to_string();
    assert!(error.starts_with("the sum of environment, script and session values is"), "{error}");
}
