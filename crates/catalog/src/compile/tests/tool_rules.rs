//! Rules of one Tool and of what its groups give it.

use insta::assert_snapshot;

use crate::testing::{catalog, lines, problems, tool};

/// Problems of a Tool with this spec, without the common beginning.
fn check(spec: &str) -> String {
    lines(&problems(spec)).join("\n").replace(": Tool mcc-catalog/my-tool", "")
}

#[test]
fn names() {
    assert_eq!(tool("name: Other-Name_1").key, "g.Other-Name_1");
    assert_snapshot!(check("name: a.b"), @r#"error[InvalidField]: spec.name: "a.b" can't name a tool; use letters, digits, _ and -, at most 64"#);
    assert_snapshot!(check("name: ''"), @r#"error[InvalidField]: spec.name: "" can't name a tool; use letters, digits, _ and -, at most 64"#);
    assert!(check(&format!("name: {}", "x".repeat(65))).contains("at most 64"));
}

#[test]
fn groups() {
    assert_snapshot!(check("groups: [g, g]"), @"error[InvalidField]: spec.groups[1]: g is named twice; remove one of them");
    assert!(
        check("groups: [My_Group]")
            .starts_with("error[InvalidField]: spec.groups[0]: \"My_Group\" can't name a group")
    );
    assert!(check("groups: [a, b, c, d, e, f, g, h, i]").contains("spec.groups: 9 groups; name at most 8"));
}

#[test]
fn parameters() {
    for (params, expected) in [
        ("[{name: 1a}]", "error[InvalidParameter]: spec.params[0].name: \"1a\" can't name a parameter"),
        (
            "[{name: a}, {name: A}]",
            "error[InvalidParameter]: spec.params[1].name: A and a would both be MCC_PARAM_A; rename one of them",
        ),
        (
            "[{name: a}, {name: a}]",
            "error[InvalidParameter]: spec.params[1].name: there are two parameters a",
        ),
        (
            "[{name: a, type: int, default: x}]",
            "error[InvalidParameter]: spec.params[0].default: must be an int, not \"x\"; write a value of type int, or change the type of a",
        ),
        (
            "[{name: a, type: int, default: 11, maximum: 10}]",
            "error[InvalidParameter]: spec.params[0].default: must be at most 10, not 11",
        ),
        (
            "[{name: a, default: c, enum: [a, b]}]",
            "error[InvalidParameter]: spec.params[0].default: must be one of \"a\", \"b\", not \"c\"",
        ),
        (
            "[{name: a, type: int, enum: [1, x]}]",
            "error[InvalidParameter]: spec.params[0].enum[1]: must be an int",
        ),
        (
            "[{name: a, example: xx, maxLength: 1}]",
            "error[InvalidParameter]: spec.params[0].example: must have at most 1 characters, not 2",
        ),
        (
            "[{name: a, override: x, pattern: '^y'}]",
            "error[InvalidParameter]: spec.params[0].override: must match the pattern ^y",
        ),
        (
            "[{name: a, pattern: '('}]",
            "error[InvalidParameter]: spec.params[0].pattern: is no regular expression: unclosed group",
        ),
        (
            "[{name: a, pattern: '(?=x)'}]",
            "error[InvalidParameter]: spec.params[0].pattern: is no regular expression: look-around",
        ),
        (
            "[{name: a, pattern: '(x{1000}){1000}'}]",
            "error[InvalidParameter]: spec.params[0].pattern: is too large a pattern",
        ),
        (
            "[{name: a, minimum: 1}]",
            "error[InvalidParameter]: spec.params[0].minimum: minimum is for parameters of type int and float, not str; remove it, or change the type of a",
        ),
        (
            "[{name: a, type: int, pattern: x}]",
            "error[InvalidParameter]: spec.params[0].pattern: pattern is for parameters of type str",
        ),
        ("[{name: a, type: dict, items: str}]", "error[InvalidParameter]: spec.params[0].items"),
        (
            "[{name: a, type: int, minimum: 5, maximum: 1}]",
            "error[InvalidParameter]: spec.params[0].minimum: minimum is above maximum",
        ),
        (
            "[{name: a, type: list, minLength: -1}]",
            "error[InvalidParameter]: spec.params[0].minLength: is below zero",
        ),
        ("[{name: a, default: x, required: true}]", "warning[Suspicious]: spec.params[0].required"),
        (
            "[{name: a, default: x, override: y}]",
            "warning[Suspicious]: spec.params[0]: the override counts always",
        ),
    ] {
        let found = check(&format!("params: {params}"));
        assert!(found.starts_with(expected), "{params}\n{found}");
    }
    assert_eq!(
        check(
            "params: [{name: a, type: int, default: '5', enum: ['5', 6.0], example: 6}]\npython: {function: 'a:b'}"
        ),
        ""
    );
    let tool = tool(
        "params: [{name: a, type: int, default: '5'}, {name: b, required: false}, {name: c, override: 1}]",
    );
    assert_eq!(tool.params[0].default, Some(serde_json::json!(5)));
    assert_eq!(tool.params.iter().map(|p| p.required).collect::<Vec<_>>(), [false, false, false]);
    assert_eq!(tool.params[2].fixed, Some(serde_json::json!("1")));
}

#[test]
fn exactly_one_thing_runs() {
    let yaml = |spec: &str| {
        let yaml = format!(
            "kind: ToolGroup\nmetadata: {{name: g}}\nspec: {{}}\n---\nkind: Tool\nmetadata: {{name: my-tool}}\nspec: {{groups: [g], description: x, {spec}}}"
        );
        lines(&catalog(&yaml).problems).join("\n").replace(": Tool mcc-catalog/my-tool", "")
    };
    assert_snapshot!(yaml("name: x"), @"error[InvalidField]: spec: the Tool says nothing about what runs; give one of shell, python, http and container");
    assert_snapshot!(yaml("shell: {script: 'true'}, http: {url: 'http://x'}"), @"error[InvalidField]: spec: the Tool has more than one of shell, python, http and container; keep one of them");
    assert_snapshot!(yaml("shell: {script: ' '}"), @"error[InvalidField]: spec.shell.script: the script is empty; write one");
}

#[test]
fn python() {
    let python = |spec: &str| check(&format!("python: {spec}"));
    for good in [
        "{function: 're:findall'}",
        "{function: 'a.b.c:d.e'}",
        "{function: '_a:b_1'}",
        "{source: 'async def main(): pass'}",
        "{source: 'from x import main'}",
        "{source: 'main = print'}",
    ] {
        assert_eq!(python(good), "", "{good}");
    }
    assert_snapshot!(python("{function: toolsets.text.hash}"), @r#"error[InvalidField]: spec.python.function: "toolsets.text.hash" is not the import path of a function; did you mean toolsets.text:hash?"#);
    for bad in ["'a:b:c'", "'a:'", "':b'", "'a b:c'", "'a:b()'", "'1a:b'", "''"] {
        assert!(
            python(&format!("{{function: {bad}}}")).starts_with("error[InvalidField]: spec.python.function"),
            "{bad}"
        );
    }
    assert_snapshot!(python("{source: 'def run(): pass'}"), @"error[InvalidField]: spec.python.source: the source doesn't define main; define the function that is to be called: def main(…): or async def main(…):");
    assert_snapshot!(python("{}"), @"error[InvalidField]: spec.python: the Tool has neither function nor source; give one of them");
    assert_snapshot!(python("{function: 'a:b', source: 'def main(): pass'}"), @"error[InvalidField]: spec.python: the Tool has both function and source; give one of them");
    assert_snapshot!(check("python: {function: 'a:b'}\nparams: [{name: context, type: dict}]"), @"error[InvalidParameter]: spec.params[0].name: a Python function is given the session values as its argument context; remove the parameter, or call it something else");
}

#[test]
fn environment() {
    assert_snapshot!(check("env: [{name: MCC_X, value: a}, {name: A-B, value: a}, {name: A=B, value: a}, {name: OK, value: a}, {name: OK, value: b}]"), @r#"
    error[InvalidField]: spec.env[0].name: MCC_X: variables that begin with MCC_ are the program's own; choose another name
    error[InvalidField]: spec.env[2].name: "A=B" can't name an environment variable; use letters, digits and underscores, not beginning with a digit
    warning[Suspicious]: spec.env[1].name: no shell can read a variable called A-B; use letters, digits and underscores, not beginning with a digit
    warning[Suspicious]: spec.env[4].name: OK is set twice, the last one counts; remove one of them
    "#);
    assert!(
        check("envFrom: [{prefix: MCC_, secretRef: {name: x, optional: true}}, {}]")
            .contains("spec.envFrom[1]: names neither")
    );
}

#[test]
fn session() {
    assert_snapshot!(check("session: {read: [ok], write: [user]}"), @"warning[Suspicious]: spec.session.write[0]: user is the caller's identity: every tool sees it, none can change it; remove it from the list");
}

#[test]
fn limits_and_numbers() {
    assert_snapshot!(check("limits: {timeoutSeconds: 86401, outputBytes: 0, cpu: fast, memory: '-1', ephemeralStorage: 256m, openFiles: -1}"), @r#"
    error[InvalidField]: spec.limits.timeoutSeconds: 86401 is out of bounds; choose a value from 1 to 86400
    error[InvalidField]: spec.limits.outputBytes: 0 is out of bounds; choose a value from 1 to 8388608
    error[InvalidField]: spec.limits.openFiles: -1 is out of bounds; choose a value at least 1
    error[InvalidField]: spec.limits.cpu: "fast" is not a quantity, write a number and a unit such as 500m, 2, 256Mi or 1.5Gi; for example 500m or 256Mi
    error[InvalidField]: spec.limits.memory: -1 is not above zero; raise it
    warning[Suspicious]: spec.limits.ephemeralStorage: 256m is less than 1 MiB: nothing can run in it; write a unit: Mi is mebibytes, m is thousandths
    "#);
    assert_snapshot!(check("hints: {destructive: true}\ncache: {seconds: 5}"), @"error[InvalidField]: spec.cache: a destructive tool can't answer from a cache: the caller would believe that it ran; remove cache, or hints.destructive");
    assert!(check("cache: {seconds: 0}\nrateLimit: {perMinute: 0}\nwarm: {size: -1}").lines().count() == 3);
    let limits = &tool("limits: {timeoutSeconds: 5, memory: 1Gi}").limits;
    assert_eq!(
        (limits.timeout.as_secs(), limits.output_bytes, limits.memory.as_deref()),
        (5, 262_144, Some("1Gi"))
    );
}

const GROUPS: &str = r"
kind: ToolGroup
metadata: {name: a}
spec:
  defaults:
    image: ghcr.io/a/tools:1
    env: [{name: X, value: a}, {name: Y, value: a}]
    envFrom: [{configMapRef: {name: a, optional: true}}]
    limits: {timeoutSeconds: 60, cpu: 500m}
    rateLimit: {perMinute: 5}
    pod: {serviceAccountName: runner, nodeSelector: {disk: ssd}, labels: {team: a}}
  allowed: {maxLimits: {timeoutSeconds: 120, memory: 1Gi, cpu: '1'}}
---
kind: ToolGroup
metadata: {name: b}
spec:
  defaults:
    env: [{name: Y, value: b}, {name: Z, value: b}]
    envFrom: [{configMapRef: {name: b, optional: true}}]
    limits: {timeoutSeconds: 90, memory: 512Mi}
    pod: {labels: {team: b, tier: x}}
  allowed: {serviceAccounts: [runner], nodeSelectorKeys: [disk], imagePrefixes: [ghcr.io/], maxLimits: {memory: 768Mi, outputBytes: 1000}}
---
kind: ToolGroup
metadata: {name: strict}
spec: {}
";

fn grouped(spec: &str) -> crate::model::Catalog {
    let spec = spec.replace('\n', "\n  ");
    catalog(&format!("{GROUPS}\n---\nkind: Tool\nmetadata: {{name: t}}\nspec:\n  description: x\n  {spec}\n"))
}

#[test]
fn group_defaults_merge_under_the_tools_own_in_declared_order() {
    let catalog = grouped(
        "groups: [a, b]\nshell: {script: 'true'}\nenv: [{name: Z, value: own}]\nlimits: {cpu: 250m}\nenvFrom: [{configMapRef: {name: own, optional: true}}]",
    );
    assert_eq!(lines(&catalog.problems), Vec::<String>::new());
    let tool = &catalog.tools["a.b.t"];
    let env: Vec<String> =
        tool.env.iter().map(|e| format!("{}={}", e.name, e.value.as_deref().unwrap_or_default())).collect();
    assert_eq!(env, ["X=a", "Y=a", "Z=own"]);
    let sources: Vec<&str> =
        tool.env_from.iter().map(|source| source.config_map_ref.as_ref().unwrap().name.as_str()).collect();
    assert_eq!(sources, ["b", "a", "own"]);
    assert_eq!(tool.image.as_deref(), Some("ghcr.io/a/tools:1"));
    assert_eq!(tool.limits.timeout.as_secs(), 60);
    assert_eq!(tool.limits.cpu.as_deref(), Some("250m"));
    assert_eq!(tool.limits.memory.as_deref(), Some("512Mi"));
    // Nobody sets it, so the bound of group b is the limit.
    assert_eq!(tool.limits.output_bytes, 1000);
    assert_eq!(tool.rate_per_minute, Some(5));
    assert_eq!(tool.pod.service_account_name.as_deref(), Some("runner"));
    assert_eq!(tool.pod.labels["team"], "a");
    assert_eq!(tool.pod.labels["tier"], "x");
    let swapped = grouped("groups: [b, a]\nshell: {script: 'true', image: 'ghcr.io/own:1'}");
    let tool = &swapped.tools["b.a.t"];
    assert_eq!((tool.limits.timeout.as_secs(), tool.image.as_deref()), (90, Some("ghcr.io/own:1")));
    assert_eq!(tool.env[0].value.as_deref(), Some("b"));
}

#[test]
fn every_group_must_allow_what_a_tool_asks_for() {
    let check = |spec: &str| lines(&grouped(spec).problems).join("\n").replace(": Tool mcc-catalog/t", "");
    assert_snapshot!(check("groups: [a, b]\nshell: {script: 'true', image: 'docker.io/x:1'}\nlimits: {timeoutSeconds: 121, memory: 800Mi, cpu: 1500m}"), @r"
    error[NotAllowedByGroup]: spec.limits.timeoutSeconds: 121 is above the 120 that group a allows; set it to 120 or less, or raise spec.allowed.maxLimits.timeoutSeconds of the ToolGroup a
    error[NotAllowedByGroup]: spec.limits.cpu: 1500m is above the 1 that group a allows; set it to 1 or less, or raise spec.allowed.maxLimits.cpu of the ToolGroup a
    error[NotAllowedByGroup]: spec.limits.memory: 800Mi is above the 768Mi that group b allows; set it to 768Mi or less, or raise spec.allowed.maxLimits.memory of the ToolGroup b
    error[NotAllowedByGroup]: spec.shell.image: docker.io/x:1 is not allowed by group b; remove it, or add it to spec.allowed.imagePrefixes of the ToolGroup b
    ");
    assert_snapshot!(check("groups: [strict]\nshell: {script: 'true'}\npod: {serviceAccountName: x, runtimeClassName: kata, nodeSelector: {gpu: '1'}}"), @r"
    error[NotAllowedByGroup]: spec.pod.serviceAccountName: x is not allowed by group strict; remove it, or add it to spec.allowed.serviceAccounts of the ToolGroup strict
    error[NotAllowedByGroup]: spec.pod.runtimeClassName: kata is not allowed by group strict; remove it, or add it to spec.allowed.runtimeClasses of the ToolGroup strict
    error[NotAllowedByGroup]: spec.pod.nodeSelector: gpu is not allowed by group strict; remove it, or add it to spec.allowed.nodeSelectorKeys of the ToolGroup strict
    ");
    // What group a gives by default, strict doesn't allow.
    assert!(
        check("groups: [a, strict]\nshell: {script: 'true'}")
            .contains("runner is not allowed by group strict")
    );
    assert_eq!(check("groups: [strict]\nshell: {script: 'true'}\npod: {serviceAccountName: default}"), "");
    assert_snapshot!(check("groups: [public]\nshell: {script: 'true'}\npod: {serviceAccountName: x}"), @"error[NotAllowedByGroup]: spec.pod.serviceAccountName: x: a Tool without a declared group may use the default ServiceAccount only; name a group whose spec.allowed.serviceAccounts lists it");
}
