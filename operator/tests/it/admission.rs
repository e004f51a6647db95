//! One table of bad objects: what the API server refuses `mcc lint` refuses at the same place, and what the operator
//! says in a condition `mcc lint` says with the same reason.

use http::{Method, Request};
use mcc_catalog::compile::{CatalogSettings, compile};
use mcc_catalog::manifest::Loader;
use mcc_catalog::model::{Problem, Severity};
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::support::{Running, conditions, index, message, options, until};

/// What becomes of an object.
enum Fate {
    /// The API server refuses it, with this in its message.
    Refused(&'static str),
    /// It isn't accepted, for this reason, with this in the message.
    NotAccepted(&'static str, &'static str),
    /// It is accepted, but not ready, for this reason, with this in the message.
    NotReady(&'static str, &'static str),
}

use Fate::{NotAccepted, NotReady, Refused};

struct Case {
    name: &'static str,
    kind: &'static str,
    /// Name of the object.
    object: &'static str,
    spec: Value,
    fate: Fate,
}

fn case(name: &'static str, kind: &'static str, spec: Value, fate: Fate) -> Case {
    Case { name, kind, object: "bad", spec, fate }
}

fn shell(more: Value) -> Value {
    let mut spec = json!({ "groups": ["geo"], "description": "x", "shell": { "script": "true" } });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    spec
}

fn script(script: &str, params: Value) -> Value {
    shell(json!({ "shell": { "script": script }, "params": params }))
}

fn param(more: Value) -> Value {
    let mut param = json!({ "name": "a" });
    param.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    shell(json!({ "params": [param] }))
}

fn grant(more: Value) -> Value {
    let mut spec = json!({ "subject": { "kind": "User", "name": "alice" }, "groups": ["geo"] });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    spec
}

/// What the schemas refuse.
fn schemas() -> Vec<Case> {
    let tool = |name, spec, text| case(name, "Tool", spec, Refused(text));
    vec![
        tool("unknown field", shell(json!({ "descripton": "x" })), "spec.descripton"),
        tool("unknown field below", param(json!({ "typ": "str" })), "spec.params[0].typ"),
        tool("text for a list", shell(json!({ "groups": "geo" })), "spec.groups"),
        tool("list for a text", shell(json!({ "description": ["x"] })), "spec.description"),
        tool(
            "text for a number",
            shell(json!({ "limits": { "timeoutSeconds": "30s" } })),
            "spec.limits.timeoutSeconds",
        ),
        tool("unknown type", param(json!({ "type": "string" })), "spec.params[0].type"),
        tool(
            "below the minimum",
            shell(json!({ "limits": { "timeoutSeconds": 0 } })),
            "spec.limits.timeoutSeconds",
        ),
        tool(
            "above the maximum",
            shell(json!({ "limits": { "timeoutSeconds": 86401 } })),
            "spec.limits.timeoutSeconds",
        ),
        tool("name too long", shell(json!({ "name": "a".repeat(65) })), "spec.name"),
        tool("bad name", shell(json!({ "name": "my tool" })), "spec.name"),
        tool(
            "too many groups",
            shell(json!({ "groups": ["a", "b", "c", "d", "e", "f", "g", "h", "i"] })),
            "spec.groups",
        ),
        tool("bad group", shell(json!({ "groups": ["My_Group"] })), "spec.groups[0]"),
        tool("bad parameter name", param(json!({ "name": "my-param" })), "spec.params[0].name"),
        tool("empty script", shell(json!({ "shell": { "script": "" } })), "spec.shell.script"),
        tool("no script", shell(json!({ "shell": { "image": "busybox" } })), "spec.shell.script"),
        tool("bad variable name", shell(json!({ "env": [{ "name": "my-var" }] })), "spec.env[0].name"),
        tool("bad quantity", shell(json!({ "limits": { "memory": "256MB" } })), "spec.limits.memory"),
        tool("cache without seconds", shell(json!({ "cache": { "scope": "Shared" } })), "spec.cache.seconds"),
        tool("bad pod label", shell(json!({ "pod": { "labels": { "a": "-b" } } })), "spec.pod.labels"),
        case("no subject", "UserGrant", json!({ "groups": ["geo"] }), Refused("spec.subject")),
        case("bad time", "UserGrant", grant(json!({ "expiresAt": "tomorrow" })), Refused("spec.expiresAt")),
        case(
            "grant of everything",
            "UserGrant",
            grant(json!({ "groups": ["*"] })),
            Refused("spec.groups[0]"),
        ),
        case("bad key", "UserGrant", grant(json!({ "tools": ["a b"] })), Refused("spec.tools[0]")),
        case("bad address", "UserGrant", grant(json!({ "email": "alice" })), Refused("spec.email")),
        case(
            "bad source of namespaces",
            "ToolGroup",
            json!({ "allowedNamespaces": { "from": "Everywhere" } }),
            Refused("spec.allowedNamespaces.from"),
        ),
    ]
}

/// What the rules refuse.
fn rules() -> Vec<Case> {
    let tool = |name, spec, text| case(name, "Tool", spec, Refused(text));
    let reserved = json!({ "pod": { "labels": { "mcc.dev/tool": "x" } } });
    let mut cases = vec![
        tool("nothing to run", json!({ "description": "x" }), "a Tool runs exactly one thing"),
        tool(
            "two things to run",
            shell(json!({ "http": { "url": "http://x" } })),
            "a Tool runs exactly one thing",
        ),
        tool("group twice", shell(json!({ "groups": ["a", "a"] })), "a group is named twice"),
        tool(
            "parameters alike",
            shell(json!({ "params": [{ "name": "a" }, { "name": "A" }] })),
            "two parameters have the same name but for capitals",
        ),
        tool(
            "destructive and cached",
            shell(json!({ "cache": { "seconds": 1 }, "hints": { "destructive": true } })),
            "results of a destructive tool can't be cached",
        ),
        tool(
            "reads only and destroys",
            shell(json!({ "hints": { "readOnly": true, "destructive": true } })),
            "a tool that changes nothing can't destroy anything",
        ),
        tool("variable of mcc", shell(json!({ "env": [{ "name": "MCC_A" }] })), "names that begin with MCC_"),
        tool("source of nothing", shell(json!({ "envFrom": [{}] })), "a source of variables is one object"),
        tool("reserved label", shell(reserved), "are reserved"),
        tool("bounds of a text", param(json!({ "minimum": 1 })), "minimum and maximum bound numbers"),
        tool(
            "bounds crossed",
            param(json!({ "type": "int", "minimum": 2, "maximum": 1 })),
            "minimum is above maximum",
        ),
        tool(
            "pattern of a number",
            param(json!({ "type": "int", "pattern": "^a" })),
            "a pattern is for a str",
        ),
        tool("elements of a text", param(json!({ "items": "int" })), "items is for a list"),
        case(
            "public with rules",
            "ToolGroup",
            json!({ "description": "x" }),
            Refused("sets only allowedNamespaces"),
        ),
        case(
            "selector without from",
            "ToolGroup",
            json!({ "allowedNamespaces": { "selector": {} } }),
            Refused("a selector goes with from: Selector"),
        ),
        case(
            "service account without namespace",
            "UserGrant",
            grant(json!({ "subject": { "kind": "ServiceAccount", "name": "a" } })),
            Refused("a namespace goes with kind: ServiceAccount"),
        ),
        case(
            "wildcard of public",
            "UserGrant",
            grant(json!({ "groups": ["public.*"] })),
            Refused("public and admin can't begin a wildcard"),
        ),
    ];
    for case in &mut cases {
        if case.name == "public with rules" {
            case.object = "public";
        }
    }
    cases.push(Case {
        object: "a.b",
        ..case("dot in a name", "Tool", shell(json!({})), Refused("set spec.name"))
    });
    cases
}

/// What only the whole catalog can tell.
fn catalogs() -> Vec<Case> {
    let tool = |name, spec, reason, text| case(name, "Tool", spec, NotAccepted(reason, text));
    let grants = |name, spec, reason, text| case(name, "UserGrant", spec, NotReady(reason, text));
    vec![
        tool("no such group", shell(json!({ "groups": ["goe"] })), "GroupNotFound", "did you mean geo?"),
        tool(
            "group of others",
            shell(json!({ "groups": ["closed"] })),
            "NamespaceNotAllowed",
            "doesn't accept Tools",
        ),
        tool(
            "no group",
            shell(json!({ "groups": [] })),
            "NamespaceNotAllowed",
            "name a group that allows this namespace",
        ),
        tool(
            "broken template",
            script("echo {{ a", json!([{ "name": "a" }])),
            "InvalidTemplate",
            "spec.shell.script",
        ),
        tool("unknown parameter", script("echo {{ b }}", json!([{ "name": "a" }])), "InvalidTemplate", "b"),
        tool(
            "value as program",
            script("sh -c {{ a }}", json!([{ "name": "a" }])),
            "InvalidTemplate",
            "spec.shell.script",
        ),
        tool(
            "bad default",
            param(json!({ "type": "int", "default": "many" })),
            "InvalidParameter",
            "spec.params[0].default",
        ),
        tool("bad pattern", param(json!({ "pattern": "(" })), "InvalidParameter", "spec.params[0].pattern"),
        tool(
            "bad python",
            json!({ "groups": ["geo"], "description": "x", "python": { "source": "def run(): pass" } }),
            "InvalidField",
            "main",
        ),
        tool(
            "image that the group doesn't allow",
            shell(
                json!({ "groups": ["strict"], "shell": { "image": "evil.example.com/x:1", "script": "true" } }),
            ),
            "NotAllowedByGroup",
            "strict",
        ),
        tool(
            "service account that the group doesn't allow",
            shell(json!({ "groups": ["strict"], "pod": { "serviceAccountName": "root" } })),
            "NotAllowedByGroup",
            "strict",
        ),
        tool(
            "more than the group allows",
            shell(json!({ "groups": ["strict"], "limits": { "timeoutSeconds": 500 } })),
            "NotAllowedByGroup",
            "strict",
        ),
        tool("key that is taken", shell(json!({ "name": "taken" })), "KeyConflict", "belongs to the Tool"),
        grants(
            "grant of no group",
            grant(json!({ "groups": ["goe"] })),
            "GrantTargetNotFound",
            "did you mean geo?",
        ),
        grants(
            "grant of no key",
            grant(json!({ "tools": ["geo.takn"] })),
            "GrantTargetNotFound",
            "did you mean geo.taken?",
        ),
        grants(
            "ended grant",
            grant(json!({ "expiresAt": "2020-01-01T00:00:00Z" })),
            "GrantExpired",
            "the grant ended at",
        ),
    ]
}

/// What is there already.
fn surroundings() -> Vec<Value> {
    let group = |name: &str, spec: Value| json!({ "apiVersion": "mcc.dev/v1alpha1", "kind": "ToolGroup", "metadata": { "name": name }, "spec": spec });
    vec![
        group("geo", json!({ "allowedNamespaces": { "from": "All" } })),
        group("closed", json!({})),
        group(
            "strict",
            json!({
                "allowedNamespaces": { "from": "All" },
                "allowed": { "imagePrefixes": ["docker.io/"], "maxLimits": { "timeoutSeconds": 60 } },
            }),
        ),
        json!({
            "apiVersion": "mcc.dev/v1alpha1", "kind": "Tool", "metadata": { "name": "a-holder" },
            "spec": shell(json!({ "name": "taken" })),
        }),
    ]
}

fn object(case: &Case) -> Value {
    json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": case.kind, "metadata": { "name": case.object }, "spec": case.spec,
    })
}

/// What lint says about an object among its surroundings.
fn lint(case: &Case) -> Vec<Problem> {
    let folder = tempfile::tempdir().unwrap();
    let mut objects = surroundings();
    objects.push(object(case));
    for (number, mut object) in objects.into_iter().enumerate() {
        let namespace = if object["kind"] == "Tool" { "mcc-tools" } else { "mcc-catalog" };
        object["metadata"]["namespace"] = json!(namespace);
        let path = folder.path().join(format!("{number}.json"));
        fs_err::write(path, object.to_string()).unwrap();
    }
    let loaded = Loader::new(vec![folder.path().to_path_buf()]).load();
    let settings = CatalogSettings { now: Some(jiff::Timestamp::now()), ..CatalogSettings::directory() };
    let mut catalog = compile(loaded.objects, &settings, None);
    catalog.add_problems(loaded.problems);
    catalog.problems
}

/// Whether lint says the same, and with which problem it begins to.
fn check_lint(case: &Case) {
    let problems = lint(case);
    let says = |problem: &&Problem| match case.fate {
        Refused(text) => problem.severity == Severity::Error && problem.to_string().contains(text),
        NotAccepted(reason, text) => {
            problem.severity == Severity::Error
                && problem.reason.to_string() == reason
                && problem.to_string().contains(text)
        }
        NotReady(reason, text) => problem.reason.to_string() == reason && problem.to_string().contains(text),
    };
    assert!(problems.iter().any(|problem| says(&problem)), "lint: {}: {problems:#?}", case.name);
}

#[test]
fn lint_refuses_the_table() {
    let table: Vec<Case> = schemas().into_iter().chain(rules()).chain(catalogs()).collect();
    assert!(table.len() >= 40, "{}", table.len());
    table.iter().for_each(check_lint);
}

/// What the API server says to an object that it is only asked about, as kubectl asks: strictly.
async fn refusal(cluster: &Cluster, case: &Case) -> Option<String> {
    let namespace = if case.kind == "Tool" { &cluster.tools } else { &cluster.catalog };
    let plural = format!("{}s", case.kind.to_lowercase());
    let uri =
        format!("/apis/mcc.dev/v1alpha1/namespaces/{namespace}/{plural}?dryRun=All&fieldValidation=Strict");
    let request = Request::builder().method(Method::POST).uri(uri).header("content-type", "application/json");
    let request = request.body(object(case).to_string().into_bytes()).unwrap();
    match cluster.client.request::<Value>(request).await {
        Ok(_) => None,
        Err(kube::Error::Api(status)) => Some(status.message.clone()),
        Err(error) => panic!("{}: {error}", case.name),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_is_refused_or_gets_its_condition() {
    let Some(cluster) = Cluster::new("the_table_is_refused_or_gets_its_condition").await else { return };
    for case in schemas().iter().chain(&rules()) {
        let Refused(text) = case.fate else { panic!("{}", case.name) };
        let Some(said) = refusal(&cluster, case).await else { panic!("{} is let in", case.name) };
        assert!(said.contains(text), "{}: {said}", case.name);
    }

    let operator =
        Running::start(cluster.client.clone(), index(), options(&cluster.catalog, &[&cluster.tools]));
    for object in surroundings() {
        cluster.apply(&object).await.unwrap();
    }
    // Creation times have whole seconds.
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    for case in catalogs() {
        assert_eq!(refusal(&cluster, &case).await, None, "{}", case.name);
        cluster.apply(&object(&case)).await.unwrap();
        let (accepted, reason, text) = match case.fate {
            NotAccepted(reason, text) => ("Accepted=False/", reason, text),
            NotReady(reason, text) => ("Accepted=True/Accepted", reason, text),
            Refused(_) => panic!("{}", case.name),
        };
        let accepted =
            if accepted.ends_with('/') { format!("{accepted}{reason}") } else { accepted.to_owned() };
        let expected = [accepted, format!("Ready=False/{reason}")];
        let seen = until(
            async || cluster.get(case.kind, case.object).await,
            |object| {
                let seen = conditions(object);
                expected.iter().all(|condition| seen.contains(condition))
                    && object["status"]["observedGeneration"] == object["metadata"]["generation"]
            },
        );
        let said = message(&seen.await, "Ready");
        assert!(said.contains(text), "{}: {said}", case.name);
        cluster.delete(case.kind, case.object).await;
    }
    operator.stop().await;
    cluster.remove().await;
}
