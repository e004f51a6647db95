//! Everything a manifest can have wrong, with the place, the reason and the fix that people get.

use super::super::parse;
use super::{Parsed, show, yaml};

/// What stands around a Tool's spec, and around one field of it.
fn spec(fields: &str) -> String {
    let indented: String = fields.lines().map(|line| format!("  {line}\n")).collect();
    format!("apiVersion: mcc.dev/v1alpha1\nkind: Tool\nmetadata: {{name: t}}\nspec:\n{indented}")
}

fn shell(fields: &str) -> String {
    spec(&format!("shell: {{script: 'true'}}\n{fields}"))
}

fn param(fields: &str) -> String {
    shell(&format!("params:\n- {{name: a, {fields}}}"))
}

fn group(name: &str, fields: &str) -> String {
    format!("apiVersion: mcc.dev/v1alpha1\nkind: ToolGroup\nmetadata: {{name: {name}}}\nspec: {{{fields}}}\n")
}

fn grant(fields: &str) -> String {
    format!("apiVersion: mcc.dev/v1alpha1\nkind: UserGrant\nmetadata: {{name: g}}\nspec: {{{fields}}}\n")
}

/// The name of each case and its text.
fn cases() -> Vec<(&'static str, String)> {
    let mut cases = syntax();
    cases.extend(scalars());
    cases.extend(kinds());
    cases.extend(fields());
    cases.extend(values());
    cases.extend(rules());
    cases
}

fn syntax() -> Vec<(&'static str, String)> {
    let nested = format!("a: {}{}\n", "[".repeat(80), "]".repeat(80));
    let laughs: String =
        (1..9).map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", "))).collect();
    vec![
        ("tab indentation", shell("limits:\n\tcpu: 1")),
        ("unclosed quote", shell("description: \"no end")),
        ("unclosed bracket", shell("groups: [a, b")),
        ("bare braces", spec("http:\n  url: {{ url }}")),
        ("braces and text", spec("http:\n  url: {{ host }}/path")),
        ("colon in text", shell("description: error: not found")),
        ("wrong indentation", shell("limits:\n    cpu: '1'\n  memory: 1Gi")),
        ("text begins with @", shell("description: @alice asks")),
        ("text begins with %", shell("description: %s")),
        ("unknown anchor", shell("description: *nowhere")),
        ("cycle of anchors", shell("params: &p\n- *p")),
        ("billion laughs", format!("a0: &a0 [x, x, x, x, x, x, x, x, x]\n{laughs}")),
        ("too deep", nested),
        ("duplicate key", shell("description: a\ndescription: b")),
        ("duplicate key below", shell("limits:\n  cpu: '1'\n  memory: 1Gi\n  cpu: '2'")),
        (
            "duplicate metadata key",
            spec("shell: {script: 'true'}").replace("{name: t}", "{name: t, name: u}"),
        ),
        ("list as a key", shell("? [a]\n: b")),
        ("custom tag", shell("description: !env NAME")),
        ("binary tag", shell("description: !!binary aGVsbG8=")),
        ("control character", shell("description: a\u{1}b")),
        ("second document broken", format!("{}---\na: b: c\n", shell(""))),
    ]
}

fn scalars() -> Vec<(&'static str, String)> {
    vec![
        ("yes for text", shell("description: yes")),
        ("on for a name", spec("shell: {script: 'true'}").replace("name: t", "name: on")),
        ("off in a list of text", shell("keywords: [off]")),
        ("true for text", shell("example: true")),
        ("number for text", shell("returns: {type: 5}")),
        ("octal for text", shell("keywords: [010]")),
        ("octal for a number", shell("limits: {timeoutSeconds: 010}")),
        ("0o for a number", shell("limits: {timeoutSeconds: 0o17}")),
        ("underscores in a number", shell("limits: {outputBytes: 1_000}")),
        ("leading zero", shell("limits: {timeoutSeconds: 09}")),
        ("yes for a boolean", shell("hints: {readOnly: yes}")),
        ("yes for any value", param("type: bool, default: yes")),
        ("version as default of a str", param("type: str, default: 1.10")),
        ("number in choices of a str", param("enum: [1, two]")),
        ("infinity", param("type: float, default: .inf")),
        ("base 60", shell("keywords: [1:30]")),
        ("on as a key", spec("http:\n  url: http://x\n  query: {on: '1'}")),
        ("env value is a number", shell("env:\n- {name: PORT, value: 8080}")),
        (
            "label is a boolean",
            spec("shell: {script: 'true'}").replace("name: t", "name: t, labels: {a: true}"),
        ),
        ("quoted number", shell("limits: {timeoutSeconds: '30'}")),
        ("quoted boolean", shell("hints: {readOnly: 'true'}")),
        ("fraction for an integer", shell("limits: {timeoutSeconds: 1.5}")),
    ]
}

fn kinds() -> Vec<(&'static str, String)> {
    let tool = shell("");
    vec![
        ("no manifest", "a: 1\n".into()),
        ("a list", "- a\n- b\n".into()),
        ("a text", "just text\n".into()),
        ("original toolset", "groups: [x]\ntools:\n- {name: a, exec: ls}\n".into()),
        ("no kind", tool.replace("kind: Tool\n", "")),
        ("no apiVersion", tool.replace("apiVersion: mcc.dev/v1alpha1\n", "")),
        ("misspelt kind", tool.replace("kind: Tool", "kind: Tools")),
        ("unknown kind of ours", tool.replace("kind: Tool", "kind: Server")),
        ("wrong version", tool.replace("v1alpha1", "v1")),
        ("kind of ours in v1", tool.replace("mcc.dev/v1alpha1", "v1")),
        ("Secret of a wrong version", "apiVersion: mcc/v1\nkind: Secret\nmetadata: {name: s}\n".into()),
        ("other kind", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n".into()),
        ("item of a list", "apiVersion: v1\nkind: List\nitems:\n- {a: 1}\n".into()),
        (
            "Secret that is no base64",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {token: 'not base64!'}\n".into(),
        ),
        (
            "ConfigMap with a number",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {port: 80}\n".into(),
        ),
    ]
}

fn fields() -> Vec<(&'static str, String)> {
    let tool = shell("");
    vec![
        ("unknown field, a slip", shell("descripton: x")),
        ("unknown field, snake case", shell("rate_limit: {perMinute: 1}")),
        ("unknown field, another name", shell("parameters: []")),
        ("unknown field, a guess", shell("timeout: 30")),
        ("unknown field, nothing like it", shell("flavour: x")),
        ("unknown field below", param("typ: str")),
        ("field outside of spec", tool.replace("spec:\n", "description: x\nspec:\n")),
        ("unknown field of metadata", tool.replace("name: t", "name: t, nam: u")),
        ("no metadata", tool.replace("metadata: {name: t}\n", "")),
        ("no name", tool.replace("{name: t}", "{}")),
        ("empty name", tool.replace("{name: t}", "{name: }")),
        ("generateName", tool.replace("{name: t}", "{generateName: t-}")),
        ("bad name", tool.replace("{name: t}", "{name: My_Tool}")),
        ("bad namespace", tool.replace("{name: t}", "{name: t, namespace: a.b}")),
        ("no spec", "apiVersion: mcc.dev/v1alpha1\nkind: Tool\nmetadata: {name: t}\n".into()),
        ("script missing", spec("shell: {image: busybox}")),
        ("subject missing", grant("groups: [a]")),
        ("seconds missing", shell("cache: {scope: Shared}")),
        ("env without a name", shell("env: [{value: x}]")),
        ("merge of no map", shell("limits:\n  <<: 5")),
    ]
}

fn values() -> Vec<(&'static str, String)> {
    vec![
        ("text for a list", shell("groups: academic")),
        ("map for a list", shell("params: {query: str}")),
        ("list for a map", shell("limits: [cpu]")),
        ("text for an object", spec("shell: ls -l")),
        ("list for text", shell("description: [a, b]")),
        ("map for text", shell("description: {a: b}")),
        ("text for a number", shell("limits: {timeoutSeconds: 30s}")),
        ("text for a boolean", shell("hints: {readOnly: nope}")),
        ("null in a list", shell("keywords: [a, ~]")),
        ("unknown choice", param("type: string")),
        ("choice in another case", shell("cache: {seconds: 1, scope: shared}")),
        ("below the minimum", shell("limits: {timeoutSeconds: 0}")),
        ("above the maximum", shell("limits: {timeoutSeconds: 86401}")),
        ("above the maximum, much", shell("limits: {outputBytes: 99999999999999999999}")),
        ("too long", shell(&format!("name: {}", "a".repeat(65)))),
        ("too many", shell("groups: [a, b, c, d, e, f, g, h, i]")),
        ("empty script", spec("shell: {script: ''}")),
        ("bad tool name", shell("name: my tool")),
        ("bad group", shell("groups: [My_Group]")),
        ("group with a dot", shell("groups: [a.b]")),
        ("bad parameter name", shell("params: [{name: my-param}]")),
        ("bad env name", shell("env: [{name: my-var}]")),
        ("env named twice", shell("env: [{name: A, value: x}, {name: A, value: z}]")),
        ("bad quantity", shell("limits: {memory: 256MB}")),
        ("bad label", spec("shell: {script: 'true'}").replace("name: t", "name: t, labels: {a: b c}")),
        ("bad label of a pod", shell("pod: {labels: {a: -b}}")),
        ("bad function", spec("python: {function: module.function}")),
        ("bad method", spec("http: {url: http://x, method: get}")),
        ("bad image", spec("container: {image: 'a b'}")),
        ("bad session scope", shell("session: {read: some}")),
        ("bad session name", shell("session: {write: [Name]}")),
        ("bad time", grant("subject: {name: a}, expiresAt: tomorrow")),
        ("bad wildcard", grant("subject: {name: a}, groups: ['*']")),
        ("wildcard inside", grant("subject: {name: a}, groups: ['a.*.b']")),
        ("group granted twice", grant("subject: {name: a}, groups: [a, a]")),
        ("bad key", grant("subject: {name: a}, tools: ['a b']")),
        ("bad e-mail", grant("subject: {name: a}, email: alice")),
        ("bad kind of subject", grant("subject: {name: a, kind: user}")),
    ]
}

fn rules() -> Vec<(&'static str, String)> {
    vec![
        ("nothing to run", spec("description: x")),
        ("two things to run", shell("http: {url: http://x}")),
        ("function and source", spec("python: {function: 'a:b', source: x}")),
        ("group named twice", shell("groups: [a, a]")),
        ("parameter named twice", shell("params: [{name: a}, {name: A}]")),
        ("bounds of text", param("minimum: 1")),
        ("bounds crossed", param("type: int, minimum: 2, maximum: 1")),
        ("pattern of a number", param("type: int, pattern: x")),
        ("items of text", param("items: str")),
        ("cache of a destructive tool", shell("cache: {seconds: 1}\nhints: {destructive: true}")),
        ("reserved env", shell("env: [{name: MCC_CTX_A, value: x}]")),
        ("reserved label", shell("pod: {labels: {mcc.dev/tool: x}}")),
        ("name with a dot", spec("shell: {script: 'true'}").replace("name: t", "name: a.b")),
        ("public with defaults", group("public", "defaults: {image: busybox}")),
        ("selector without from", group("a", "allowedNamespaces: {selector: {}}")),
        ("service account without namespace", grant("subject: {name: a, kind: ServiceAccount}")),
        ("wildcard of public", grant("subject: {name: a}, groups: [public.*]")),
    ]
}

fn json_cases() -> Vec<(&'static str, &'static str)> {
    vec![
        ("comma at the end", "{\"a\": 1,}"),
        ("no quotes", "{a: 1}"),
        ("single quotes", "{'a': 1}"),
        ("unclosed", "{\"a\": [1, 2"),
        ("unclosed text", "{\"a\": \"b\n\"}"),
        ("bad escape", "{\"a\": \"\\x\"}"),
        ("half a surrogate pair", "{\"a\": \"\\ud83d\"}"),
        ("leading zero", "{\"a\": 010}"),
        ("comment", "// c\n{}"),
        ("duplicate key", "{\"apiVersion\": \"v1\",\n \"apiVersion\": \"v1\"}"),
        (
            "unknown field",
            "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\",\n \"metadata\": {\"name\": \"c\"}, \"dat\": {}}",
        ),
    ]
}

fn describe(name: &str, parsed: &Parsed, into: &mut String) {
    assert!(!parsed.problems.is_empty(), "{name}: no problem found");
    for problem in &parsed.problems {
        assert!(problem.place.is_some(), "{name}: {problem}");
        assert!(!problem.message.is_empty() && !problem.fix.is_empty(), "{name}: {problem}");
        assert!(!problem.message.ends_with('.') && !problem.fix.ends_with('.'), "{name}: {problem}");
    }
    into.push_str(&format!("## {name}\n{}", show(parsed)));
}

#[test]
fn every_fault_has_place_reason_and_fix() {
    let cases = cases();
    assert!(cases.len() >= 100, "{}", cases.len());
    let mut text = String::new();
    for (name, manifest) in cases {
        describe(name, &yaml(&manifest), &mut text);
    }
    for (name, manifest) in json_cases() {
        describe(&format!("JSON: {name}"), &parse("f.json".as_ref(), manifest.as_bytes()), &mut text);
    }
    let bytes: [(&str, Vec<u8>); 4] = [
        ("UTF-16", b"\xff\xfea\0".to_vec()),
        ("Latin-1", b"# ok\nname: caf\xe9\n".to_vec()),
        ("NUL", b"a: \0\n".to_vec()),
        ("10 MB", vec![b'#'; 10_000_000]),
    ];
    for (name, bytes) in bytes {
        describe(name, &parse("f.yaml".as_ref(), &bytes), &mut text);
    }
    insta::assert_snapshot!("bad_manifests", text);
}

#[test]
fn a_broken_object_leaves_the_others_of_its_file() {
    let good = shell("").replace("name: t", "name: good");
    for bad in ["a: [", "a: 1\na: 2\n", "- x\n", &shell("nonsense: 1"), "\u{7f}"] {
        let parsed = yaml(&format!("{good}---\n{bad}\n---\n{}", good.replace("name: good", "name: better")));
        let expected = usize::from(bad != "\u{7f}") * 2;
        assert_eq!(parsed.objects.len(), expected, "{bad}: {}", show(&parsed));
        assert!(!parsed.problems.is_empty());
    }
}

#[test]
fn the_problems_of_a_file_are_bounded() {
    let keys: String = (0..500).map(|n| format!("x{n}: 1\n")).collect();
    let parsed = yaml(&shell(&keys));
    assert_eq!(parsed.problems.len(), 100);
    assert!(parsed.problems[99].message.ends_with("(and 400 more problems in this file)"));
}
