//! search, describe_tools, resources and whoami show exactly what execute allows; whoever may not run a tool can't tell
//! it from one that isn't there.

use std::collections::BTreeSet;

use mcc_catalog::model::{Entry, NamespacedName, ObjectSet};
use mcc_crds::v1alpha1::{Tool, ToolGroup, UserGrant};
use mcc_tests::in_process::InProcess;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const NAMESPACE: &str = "mcc-catalog";
const WORDS: [&str; 8] = ["apricot", "beetle", "cobalt", "dolphin", "ember", "fjord", "glacier", "hazel"];
const GROUPS: [&str; 5] = ["red", "green", "blue", "public", "admin"];
const GRANTED: [&str; 7] = ["red", "green", "blue", "admin", "red.*", "red.green.*", "green.*"];
/// As the in-process authenticator believes them: anonymous, users, a user with a claim, the dev user.
const CALLERS: [Option<&str>; 5] = [None, Some("ann"), Some("bob"), Some("bob+staff"), Some("*")];

#[derive(Clone, Debug)]
struct Grant {
    kind: &'static str,
    subject: &'static str,
    groups: Vec<&'static str>,
    tools: Vec<usize>,
    expires: Option<&'static str>,
}

#[derive(Clone, Debug)]
struct World {
    /// Declared groups of each tool; its name is the word of the same place.
    tools: Vec<Vec<&'static str>>,
    grants: Vec<Grant>,
}

fn groups() -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(GROUPS.to_vec(), 0..=3).prop_shuffle()
}

fn grant() -> impl Strategy<Value = Grant> {
    (
        select(vec![("User", "ann"), ("User", "bob"), ("Group", "staff"), ("Group", "ann")]),
        subsequence(GRANTED.to_vec(), 0..=2),
        subsequence((0..WORDS.len()).collect::<Vec<_>>(), 0..=2),
        select(vec![None, None, Some("2020-01-01T00:00:00Z"), Some("2999-01-01T00:00:00Z")]),
    )
        .prop_map(|((kind, subject), groups, tools, expires)| Grant {
            kind,
            subject,
            groups,
            tools,
            expires,
        })
}

fn world() -> impl Strategy<Value = World> {
    (prop::collection::vec(groups(), 1..=WORDS.len()), prop::collection::vec(grant(), 0..=5))
        .prop_map(|(tools, grants)| World { tools, grants })
}

fn key(groups: &[&str], word: &str) -> String {
    let (first, rest): (Vec<&str>, Vec<&str>) =
        groups.iter().partition(|group| ["public", "admin"].contains(group));
    let mut first = first;
    first.sort_by_key(|group| *group != "public");
    [first, rest, vec![word]].concat().join(".")
}

impl World {
    fn keys(&self) -> Vec<String> {
        self.tools.iter().zip(WORDS).map(|(groups, word)| key(groups, word)).collect()
    }

    /// The manifests, without the tool at `left_out`.
    fn objects(&self, left_out: Option<usize>) -> ObjectSet {
        let mut objects = ObjectSet::default();
        for name in ["red", "green", "blue"] {
            let group: ToolGroup = object("ToolGroup", name, &json!({}));
            objects.groups.insert(named(name), Entry::from_cluster(group));
        }
        for (number, (groups, word)) in self.tools.iter().zip(WORDS).enumerate() {
            if left_out != Some(number) {
                let description = format!("Handles the {word} of a gadget.");
                let spec = json!({"groups": groups, "description": description, "shell": {"script": "true"}});
                let tool: Tool = object("Tool", word, &spec);
                objects.tools.insert(named(word), Entry::from_cluster(tool));
            }
        }
        let keys = self.keys();
        for (number, grant) in self.grants.iter().enumerate() {
            let tools: Vec<&String> = grant.tools.iter().filter_map(|&tool| keys.get(tool)).collect();
            let mut spec = json!({
                "subject": {"kind": grant.kind, "name": grant.subject},
                "groups": grant.groups,
                "tools": tools,
            });
            if let Some(time) = grant.expires {
                spec["expiresAt"] = json!(time);
            }
            let name = format!("grant-{number}");
            let grant: UserGrant = object("UserGrant", &name, &spec);
            objects.grants.insert(named(&name), Entry::from_cluster(grant));
        }
        objects
    }

    /// The rules once more, written down without looking at the code under test.
    fn allows(&self, caller: Option<&str>, tool: usize) -> bool {
        let declared = &self.tools[tool];
        if declared.contains(&"public") || caller == Some("*") {
            return true;
        }
        let Some(caller) = caller else { return false };
        let mut names = caller.split('+');
        let user = names.next().unwrap_or_default();
        let claims: Vec<&str> = names.collect();
        let mine = self.grants.iter().filter(|grant| {
            grant.expires.is_none_or(|time| time.starts_with("29"))
                && match grant.kind {
                    "User" => grant.subject == user,
                    _ => claims.contains(&grant.subject),
                }
        });
        mine.into_iter().any(|grant| {
            grant.tools.contains(&tool)
                || grant.groups.iter().any(|granted| match granted.strip_suffix(".*") {
                    Some(prefix) => {
                        declared.join(".") == prefix || declared.join(".").starts_with(&format!("{prefix}."))
                    }
                    None => *granted == "admin" || declared.contains(granted),
                })
        })
    }
}

fn named(name: &str) -> NamespacedName {
    NamespacedName::new(NAMESPACE, name)
}

fn object<T: DeserializeOwned>(kind: &str, name: &str, spec: &Value) -> T {
    let object = json!({
        "apiVersion": "mcc.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": spec,
    });
    serde_json::from_value(object).unwrap()
}

/// Keys at the beginning of `## KEY` lines.
fn headings(text: &str) -> BTreeSet<String> {
    let heading = |line: &str| Some(line.strip_prefix("## ")?.split([' ', '(']).next()?.to_owned());
    text.lines().filter_map(heading).collect()
}

async fn check(world: &World) -> anyhow::Result<()> {
    let gateway = InProcess::start(world.objects(None)).await?;
    let keys = world.keys();
    for caller in CALLERS {
        let mut runs = BTreeSet::new();
        let mut found = BTreeSet::new();
        let mut read = BTreeSet::new();
        for (number, key) in keys.iter().enumerate() {
            let (is_error, text) = gateway.call(caller, "execute", json!({"key": key, "params": {}})).await?;
            assert_eq!(!is_error, world.allows(caller, number), "{caller:?} {key}: {text}");
            if is_error {
                assert!(text.starts_with("Unauthorized"), "{text}");
            } else {
                runs.insert(key.clone());
            }
            let (_, text) =
                gateway.call(caller, "search", json!({"query": WORDS[number], "limit": 50})).await?;
            found.extend(headings(&text));
            let uri = format!("catalog://tools/{key}");
            if gateway.request(caller, "resources/read", json!({"uri": uri})).await?.get("result").is_some() {
                read.insert(key.clone());
            }
        }
        let (_, everything) = gateway.call(caller, "search", json!({"query": "gadget", "limit": 50})).await?;
        found.extend(headings(&everything));
        let (_, described) = gateway.call(caller, "describe_tools", json!({})).await?;
        let listed = gateway.request(caller, "resources/read", json!({"uri": "catalog://tools"})).await?;
        let listed = listed["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned();
        let listed: BTreeSet<String> = keys.iter().filter(|key| mentions(&listed, key)).cloned().collect();
        let (_, who) = gateway.call(caller, "whoami", json!({})).await?;
        let reference = json!({"type": "ref/prompt", "name": "explain_tool"});
        let asked = json!({"ref": reference, "argument": {"name": "key", "value": ""}});
        let completed = gateway.request(caller, "completion/complete", asked).await?;
        let completed: Vec<String> =
            serde_json::from_value(completed["result"]["completion"]["values"].clone())?;

        assert_eq!(found, runs, "search, {caller:?}");
        assert_eq!(headings(&described), runs, "describe_tools, {caller:?}");
        assert_eq!(read, runs, "resources of single tools, {caller:?}");
        assert_eq!(listed, runs, "the resource of all tools, {caller:?}");
        assert_eq!(completed.into_iter().collect::<BTreeSet<_>>(), runs, "completion, {caller:?}");
        if caller.is_some() {
            let tools = who.lines().find_map(|line| line.strip_prefix("tools: ")).unwrap_or_default();
            let tools: BTreeSet<String> =
                tools.split(", ").filter(|key| *key != "(none)").map(str::to_owned).collect();
            assert_eq!(tools, runs, "whoami, {caller:?}");
        }
    }
    Ok(())
}

/// Whether a key stands in a text as a whole.
fn mentions(text: &str, key: &str) -> bool {
    text.split(|letter: char| !(letter.is_ascii_alphanumeric() || "._-".contains(letter)))
        .any(|word| word == key)
}

/// Every answer about a forbidden tool is the one that would be given if it weren't there, byte for byte.
async fn check_hidden(world: &World, caller: Option<&str>, hidden: usize) -> anyhow::Result<()> {
    let key = &world.keys()[hidden];
    let with = InProcess::start(world.objects(None)).await?;
    let without = InProcess::start(world.objects(Some(hidden))).await?;
    let params = [
        ("tools/call", json!({"name": "execute", "arguments": {"key": key, "params": {"x": 1}}})),
        ("tools/call", json!({"name": "execute", "arguments": {"key": key, "params": {}, "session": "x"}})),
        ("resources/read", json!({"uri": format!("catalog://tools/{key}")})),
        ("prompts/get", json!({"name": "explain_tool", "arguments": {"key": key}})),
        ("prompts/get", json!({"name": "debug_error", "arguments": {"key": key, "error": "e"}})),
        ("tools/call", json!({"name": "search", "arguments": {"query": key, "min_score": 0}})),
        ("tools/call", json!({"name": "search", "arguments": {"query": WORDS[hidden]}})),
    ];
    for (method, params) in params {
        let there = with.request(caller, method, params.clone()).await?;
        let not_there = without.request(caller, method, params.clone()).await?;
        assert_eq!(unscored(&there), unscored(&not_there), "{caller:?} {method} {params}");
    }
    Ok(())
}

/// Scores depend on how many tools there are, of whomever: word weights are those of the whole catalog.
fn unscored(message: &Value) -> String {
    let text = message["result"]["content"][0]["text"].as_str().unwrap_or_default();
    if headings(text).is_empty() { message.to_string() } else { format!("{:?}", headings(text)) }
}

fn cases() -> ProptestConfig {
    ProptestConfig {
        cases: mcc_tests::workspace::cases(24, 500),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn block_on(future: impl Future<Output = anyhow::Result<()>>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future).unwrap();
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn what_is_shown_is_what_runs(world in world()) {
        block_on(check(&world));
    }

    #[test]
    fn a_forbidden_tool_is_one_that_is_not_there(world in world(), caller in select(&CALLERS[..4]), pick in any::<prop::sample::Index>()) {
        let hidden = pick.index(world.tools.len());
        // Grants of its key would name a tool that isn't there in one world only; they make it visible anyway.
        if !world.allows(caller, hidden) {
            block_on(check_hidden(&world, caller, hidden));
        }
    }
}
