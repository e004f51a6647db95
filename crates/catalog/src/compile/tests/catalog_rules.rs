//! Rules between objects: groups, keys, namespaces, grants, references.

use insta::assert_snapshot;

use crate::compile::{CatalogSettings, compile};
use crate::model::{Catalog, Identity, NamespacedName, ObjectKind, ObjectRef, Origin, Place, Severity};
use crate::testing::{access, catalog, lines, objects, outcome, user};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

const NOW: &str = "2026-06-01T00:00:00Z";

fn tool(namespace: &str, name: &str, groups: &str) -> String {
    format!(
        "---\nkind: Tool\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
         spec: {{groups: {groups}, description: x, shell: {{script: 'true'}}}}\n"
    )
}

fn group(name: &str, spec: &str) -> String {
    format!("---\nkind: ToolGroup\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}

fn grant(name: &str, spec: &str) -> String {
    format!("---\nkind: UserGrant\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}

fn cluster(yaml: &str) -> Catalog {
    let settings = CatalogSettings::cluster("mcc-catalog", BTreeSet::from(["mcc-tools".to_owned()]));
    compile(Arc::new(objects(yaml)), &settings, None)
}

#[test]
fn keys_are_groups_and_name_public_and_admin_first() {
    let all = group("osint", "{}") + &group("gov", "{}");
    for (groups, key) in [
        ("[osint]", "osint.my_tool"),
        ("[gov, osint]", "gov.osint.my_tool"),
        ("[osint, public]", "public.osint.my_tool"),
        ("[osint, admin, public, gov]", "public.admin.osint.gov.my_tool"),
        ("[]", "my_tool"),
    ] {
        let catalog = catalog(&(all.clone() + &tool("mcc-catalog", "my-tool", groups)));
        assert_eq!(outcome(&catalog, "mcc-catalog", "my-tool"), key);
    }
}

#[test]
fn a_tools_groups_must_exist_and_allow_its_namespace() {
    let groups = group("here", "{}")
        + &group("anyone", "{allowedNamespaces: {from: All}}")
        + &group(
            "some",
            "{allowedNamespaces: {from: Selector, selector: {matchLabels: {team: a}, matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [mcc-tools]}, {key: old, operator: DoesNotExist}]}}}",
        );
    let check = |namespace: &str, groups_of_tool: &str, more: &str| {
        let yaml = groups.clone() + more + &tool(namespace, "t", groups_of_tool);
        outcome(&cluster(&yaml), namespace, "t")
    };
    let labels =
        |labels: &str| format!("---\nkind: Namespace\nmetadata: {{name: mcc-tools, labels: {labels}}}\n");
    assert_eq!(check("mcc-catalog", "[here]", ""), "here.t");
    assert_eq!(check("mcc-tools", "[here]", ""), "NamespaceNotAllowed");
    assert_eq!(check("mcc-tools", "[anyone]", ""), "anyone.t");
    assert_eq!(check("mcc-tools", "[anyone, here]", ""), "NamespaceNotAllowed");
    assert_eq!(check("mcc-tools", "[public]", ""), "NamespaceNotAllowed");
    assert_eq!(check("mcc-catalog", "[public]", ""), "public.t");
    assert_eq!(
        check("mcc-tools", "[public]", &group("public", "{allowedNamespaces: {from: All}}")),
        "public.t"
    );
    assert_eq!(check("mcc-tools", "[]", ""), "NamespaceNotAllowed");
    assert_eq!(check("mcc-tools", "[some]", ""), "NamespaceNotAllowed");
    assert_eq!(check("mcc-tools", "[some]", &labels("{team: a}")), "some.t");
    assert_eq!(check("mcc-tools", "[some]", &labels("{team: a, old: x}")), "NamespaceNotAllowed");
    assert_eq!(check("mcc-tools", "[ghost]", ""), "GroupNotFound");
    assert_eq!(check("elsewhere", "[anyone]", ""), "OutsideCatalog");
}

#[test]
fn a_missing_group_names_the_nearest_and_heals() {
    let yaml = group("academic", "{}") + &tool("mcc-catalog", "t", "[acedemic]");
    assert_snapshot!(lines(&catalog(&yaml).problems).join("\n"), @"error[GroupNotFound]: Tool mcc-catalog/t: spec.groups[0]: there is no ToolGroup acedemic in namespace mcc-catalog; did you mean academic? else declare a ToolGroup acedemic in namespace mcc-catalog");
    let before = catalog(&yaml);
    let after = compile(
        Arc::new(objects(&(yaml + &group("acedemic", "{}")))),
        &CatalogSettings::directory(),
        Some(&before),
    );
    assert_eq!(outcome(&after, "mcc-catalog", "t"), "acedemic.t");
}

#[test]
fn a_group_with_errors_keeps_its_tools_out_and_nobody_elses() {
    let yaml = group("bad", "{defaults: {env: [{name: MCC_X, value: a}]}}")
        + &group("good", "{}")
        + &tool("mcc-catalog", "a", "[bad]")
        + &tool("mcc-catalog", "b", "[good]");
    let catalog = catalog(&yaml);
    assert_eq!(outcome(&catalog, "mcc-catalog", "a"), "GroupNotFound");
    assert_eq!(outcome(&catalog, "mcc-catalog", "b"), "good.b");
    assert_eq!(catalog.groups.keys().collect::<Vec<_>>(), ["good"]);
}

#[test]
fn the_older_keeps_the_key_and_the_other_heals() {
    let aged = |namespace: &str, name: &str, created: &str| {
        format!(
            "---\nkind: Tool\nmetadata: {{name: {name}, namespace: {namespace}, creationTimestamp: '{created}'}}\n\
             spec: {{name: same, groups: [g], description: x, shell: {{script: 'true'}}}}\n"
        )
    };
    let groups = group("g", "{allowedNamespaces: {from: All}}");
    let old = aged("z", "z", "2026-01-01T00:00:00Z");
    let new = aged("a", "a", "2026-01-02T00:00:00Z");
    let both = catalog(&(groups.clone() + &old + &new));
    assert_eq!(outcome(&both, "z", "z"), "g.same");
    assert_snapshot!(lines(&both.problems).join("\n"), @"error[KeyConflict]: Tool a/a: spec.name: the key g.same belongs to the Tool z/z, which is older; change name or groups of one of them, or remove one");
    let healed = compile(Arc::new(objects(&(groups + &new))), &CatalogSettings::directory(), Some(&both));
    assert_eq!(outcome(&healed, "a", "a"), "g.same");
    assert_eq!((healed.stats.compiled, healed.stats.reused), (0, 1));
}

#[test]
fn without_times_namespace_and_name_decide() {
    let named = |name: &str| tool("mcc-catalog", name, "[g]").replace("spec: {", "spec: {name: same, ");
    let catalog = catalog(&(group("g", "{}") + &named("b") + &named("a")));
    assert_eq!(outcome(&catalog, "mcc-catalog", "a"), "g.same");
    assert_eq!(outcome(&catalog, "mcc-catalog", "b"), "KeyConflict");
}

#[test]
fn a_tool_with_errors_holds_no_key() {
    let broken = tool("mcc-catalog", "a", "[g, ghost]").replace("spec: {", "spec: {name: same, ");
    let fine = tool("mcc-catalog", "b", "[g]").replace("spec: {", "spec: {name: same, ");
    let catalog = catalog(&(group("g", "{}") + &broken + &fine));
    assert_eq!(outcome(&catalog, "mcc-catalog", "b"), "g.same");
}

#[test]
fn groups_and_grants_count_in_the_catalog_namespace_only() {
    let yaml = tool("mcc-catalog", "t", "[public]")
        + "---\nkind: ToolGroup\nmetadata: {name: g, namespace: mcc-tools}\nspec: {}\n"
        + "---\nkind: UserGrant\nmetadata: {name: u, namespace: mcc-tools}\nspec: {subject: {name: alice}, groups: [admin]}\n";
    let catalog = cluster(&yaml);
    assert!(catalog.groups.is_empty() && catalog.grants.is_empty());
    assert_snapshot!(lines(&catalog.problems).join("\n"), @r"
    warning[OutsideCatalog]: ToolGroup mcc-tools/g: metadata.namespace: the object counts for nothing in namespace mcc-tools: ToolGroups are taken from mcc-catalog; move it there, or change the program's namespaces
    warning[OutsideCatalog]: UserGrant mcc-tools/u: metadata.namespace: the object counts for nothing in namespace mcc-tools: UserGrants are taken from mcc-catalog; move it there, or change the program's namespaces
    ");
    assert!(!access(&catalog, user("alice"), NOW).visibility.all);
}

#[test]
fn what_a_group_may_say() {
    let problems = |name: &str, spec: &str| lines(&catalog(&group(name, spec)).problems).join("\n");
    assert_snapshot!(problems("a.b", "{}"), @r#"error[InvalidField]: ToolGroup mcc-catalog/a.b: metadata.name: group name "a.b" is not a DNS label; use lower-case letters, digits and hyphens, at most 63, no dot: a-b"#);
    assert_snapshot!(problems("g", "{allowedNamespaces: {from: Selector}}"), @"error[InvalidField]: ToolGroup mcc-catalog/g: spec.allowedNamespaces.selector: from: Selector needs a selector; give the labels of the namespaces: selector: {matchLabels: {…}}");
    assert_snapshot!(problems("g", "{allowedNamespaces: {from: All, selector: {matchExpressions: [{key: a, operator: Is}]}}}"), @r"
    error[InvalidField]: ToolGroup mcc-catalog/g: spec.allowedNamespaces.selector.matchExpressions[0]: Is is not an operator; use In or NotIn with values, Exists or DoesNotExist without
    warning[Suspicious]: ToolGroup mcc-catalog/g: spec.allowedNamespaces.selector: the selector counts for nothing without from: Selector; write from: Selector, or remove the selector
    ");
    assert_snapshot!(problems("public", "{defaults: {image: x}, allowed: {}}"), @r"
    warning[Suspicious]: ToolGroup mcc-catalog/public: spec.defaults: counts for nothing: a ToolGroup public sets allowedNamespaces only; put it into a group of your own and name that in the Tools too
    warning[Suspicious]: ToolGroup mcc-catalog/public: spec.allowed: counts for nothing: a ToolGroup public sets allowedNamespaces only; put it into a group of your own and name that in the Tools too
    ");
    assert_snapshot!(problems("g", "{allowed: {imagePrefixes: [docker.io, 'ghcr.io/x'], maxLimits: {memory: 1Gib}}}"), @r#"
    error[InvalidField]: ToolGroup mcc-catalog/g: spec.allowed.maxLimits.memory: "1Gib" is not a quantity, write a number and a unit such as 500m, 2, 256Mi or 1.5Gi; for example 500m or 256Mi
    warning[Suspicious]: ToolGroup mcc-catalog/g: spec.allowed.imagePrefixes[0]: docker.io also allows registries whose name only begins so, such as docker.io.example.com; end it with a slash: docker.io/
    "#);
    assert_snapshot!(problems("g", "{defaults: {pod: {labels: {app.kubernetes.io/name: x, mine/ok: y}, annotations: {mcc.dev/key: z}}}}"), @r"
    error[InvalidField]: ToolGroup mcc-catalog/g: spec.defaults.pod.labels: app.kubernetes.io/name: names under mcc.dev/ and kubernetes.io/ can't be set by Tools and groups; choose a prefix of your own
    error[InvalidField]: ToolGroup mcc-catalog/g: spec.defaults.pod.annotations: mcc.dev/key: names under mcc.dev/ and kubernetes.io/ can't be set by Tools and groups; choose a prefix of your own
    ");
}

#[test]
fn grants_are_checked_and_united() {
    let yaml = group("osint", "{}")
        + &group("gov", "{}")
        + &tool("mcc-catalog", "a", "[osint, gov]")
        + &tool("mcc-catalog", "b", "[gov, osint]")
        + &tool("mcc-catalog", "c", "[gov]")
        + &tool("mcc-catalog", "d", "[]")
        + &tool("mcc-catalog", "e", "[public, gov]")
        + &tool("mcc-catalog", "f", "[admin]")
        + &grant(
            "one",
            "{subject: {name: alice}, groups: [osint.gov.*], tools: [d, d], email: one@example.com}",
        )
        + &grant(
            "two",
            "{subject: {name: alice}, tools: [gov.c], expiresAt: '2026-07-01T00:00:00Z', email: two@example.com}",
        )
        + &grant("old", "{subject: {name: alice}, groups: [admin], expiresAt: '2026-05-01T00:00:00Z'}")
        + &grant("now", "{subject: {name: alice}, groups: [admin], expiresAt: '2026-06-01T00:00:00Z'}")
        + &grant("sa", "{subject: {kind: ServiceAccount, name: bot, namespace: ci}, groups: [gov]}")
        + &grant("claim", "{subject: {kind: Group, name: staff}, groups: [osint]}")
        + &grant("boss", "{subject: {name: root}, groups: [admin]}");
    let catalog = catalog(&yaml);
    assert_eq!(lines(&catalog.problems), Vec::<String>::new());
    let keys = |identity: Identity, now: &str| {
        let access = access(&catalog, identity, now);
        catalog.reachable(&access).map(|tool| tool.key.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(keys(user("alice"), NOW), "d gov.c osint.gov.a public.gov.e");
    assert_eq!(keys(user("alice"), "2026-07-01T00:00:00Z"), "d osint.gov.a public.gov.e");
    assert_eq!(
        keys(user("alice"), "2026-04-01T00:00:00Z"),
        "admin.f d gov.c gov.osint.b osint.gov.a public.gov.e"
    );
    assert_eq!(keys(user("nobody"), NOW), "public.gov.e");
    assert_eq!(keys(user("root"), NOW), "admin.f d gov.c gov.osint.b osint.gov.a public.gov.e");
    let bot = Identity {
        kind: mcc_crds::v1alpha1::SubjectKind::ServiceAccount,
        namespace: Some("ci".to_owned()),
        ..user("bot")
    };
    assert_eq!(keys(bot.clone(), NOW), "gov.c gov.osint.b osint.gov.a public.gov.e");
    assert_eq!(keys(user("bot"), NOW), "public.gov.e");
    assert_eq!(keys(Identity { namespace: Some("other".to_owned()), ..bot }, NOW), "public.gov.e");
    let staff = Identity { provider_groups: vec!["staff".to_owned(), "admin".to_owned()], ..user("x") };
    assert_eq!(keys(staff, NOW), "gov.osint.b osint.gov.a public.gov.e");
    assert_eq!(
        keys(Identity { builtin_groups: vec!["admin".to_owned()], ..user("dev") }, NOW).split(' ').count(),
        6
    );

    let alice = access(&catalog, user("alice"), NOW);
    assert_eq!(alice.groups, ["osint.gov.*"]);
    assert_eq!(alice.tools, ["d", "gov.c"]);
    assert_eq!(alice.email.as_deref(), Some("one@example.com"));
    assert_eq!(
        alice.valid_until,
        Some("2026-07-01T00:00:00Z".parse::<jiff::Timestamp>().unwrap().as_second())
    );
    let verified =
        access(&catalog, Identity { email: Some("v@example.com".to_owned()), ..user("alice") }, NOW);
    assert_eq!(verified.email.as_deref(), Some("v@example.com"));
}

#[test]
fn what_a_grant_may_say() {
    let yaml = group("academic", "{}") + &tool("mcc-catalog", "t", "[academic]");
    let problems = |spec: &str| {
        let settings = CatalogSettings { now: Some(NOW.parse().unwrap()), ..CatalogSettings::directory() };
        lines(&compile(Arc::new(objects(&(yaml.clone() + &grant("u", spec)))), &settings, None).problems)
            .join("\n")
    };
    let of = |targets: &str| problems(&format!("{{subject: {{name: a}}, {targets}}}"));
    assert_eq!(of("groups: [academic, public, admin, 'academic.*'], tools: [academic.t]"), "");
    for refused in
        ["*", ".*", "academic*", "*.academic", "a.*.b", "public.*", "admin.*", "a..*", "Big.*", "a.b"]
    {
        let text = of(&format!("groups: ['{refused}']"));
        assert!(
            text.starts_with("error[InvalidField]: UserGrant mcc-catalog/u: spec.groups[0]"),
            "{refused}: {text}"
        );
    }
    assert_snapshot!(of("groups: [acedemic, 'gov.x.*'], tools: [academic.tt, 'academic.*']"), @r"
    warning[GrantTargetNotFound]: UserGrant mcc-catalog/u: spec.groups[0]: there is no ToolGroup acedemic; did you mean academic? it counts once there is one
    warning[GrantTargetNotFound]: UserGrant mcc-catalog/u: spec.groups[1]: no tool's groups begin gov, x; it counts once there is one; the groups are compared in the order in which the Tool declares them
    warning[GrantTargetNotFound]: UserGrant mcc-catalog/u: spec.tools[0]: there is no tool with the key academic.tt; did you mean academic.t? it counts once there is one
    warning[GrantTargetNotFound]: UserGrant mcc-catalog/u: spec.tools[1]: there is no tool with the key academic.*; wildcards are written under groups
    ");
    assert_snapshot!(of("expiresAt: '2026-05-31T23:00:00Z'"), @r"
    warning[Suspicious]: UserGrant mcc-catalog/u: spec: the grant names nothing; name groups or tools
    warning[GrantExpired]: UserGrant mcc-catalog/u: spec.expiresAt: the grant ended at 2026-05-31T23:00:00Z; remove it, or set a later time
    ");
    assert_snapshot!(problems("{subject: {kind: ServiceAccount, name: a}, groups: [public]}"), @"error[InvalidField]: UserGrant mcc-catalog/u: spec.subject.namespace: a ServiceAccount is known by namespace and name; give its namespace");
    assert_snapshot!(problems("{subject: {name: 'system:serviceaccount:a:b'}, groups: [public]}"), @"warning[Suspicious]: UserGrant mcc-catalog/u: spec.subject: system:serviceaccount:a:b is no User; write kind: ServiceAccount with its namespace and name");
}

#[test]
fn a_refused_grant_grants_nothing() {
    let catalog = catalog(&grant("u", "{subject: {name: alice}, groups: ['*', admin]}"));
    assert!(catalog.grants.is_empty());
    assert!(!access(&catalog, user("alice"), NOW).visibility.all);
}

#[test]
fn missing_secrets_are_said_in_a_folder_and_heal() {
    let yaml =
        group("g", "{defaults: {env: [{name: G, valueFrom: {secretKeyRef: {name: shared, key: k}}}]}}")
            + r"
---
kind: Tool
metadata: {name: t}
spec:
  groups: [g]
  description: x
  shell: {script: 'true'}
  env:
  - {name: A, valueFrom: {secretKeyRef: {name: s2, key: token}}}
  - {name: B, valueFrom: {secretKeyRef: {name: s3, key: token, optional: true}}}
  - {name: C, valueFrom: {configMapKeyRef: {name: conf, key: nope}}}
  envFrom: [{secretRef: {name: s4}}, {configMapRef: {name: conf}}]
---
kind: ConfigMap
metadata: {name: conf}
data: {yes: x}
";
    let catalog = catalog(&yaml);
    assert_eq!(outcome(&catalog, "mcc-catalog", "t"), "g.t");
    assert_snapshot!(lines(&catalog.problems).join("\n"), @r"
    warning[ReferenceNotFound]: Tool mcc-catalog/t: spec.groups: there is no Secret mcc-catalog/shared, so the tool can't run; add its manifest to the folder, give --secret shared=FILE.env, or mark the reference optional: true
    warning[ReferenceNotFound]: Tool mcc-catalog/t: spec.env[0]: there is no Secret mcc-catalog/s2, so the tool can't run; add its manifest to the folder, give --secret s2=FILE.env, or mark the reference optional: true
    warning[ReferenceNotFound]: Tool mcc-catalog/t: spec.env[2]: the ConfigMap mcc-catalog/conf has no key nope, so the tool can't run; add the key, or mark the reference optional: true
    warning[ReferenceNotFound]: Tool mcc-catalog/t: spec.envFrom: there is no Secret mcc-catalog/s4, so the tool can't run; add its manifest to the folder, give --secret s4=FILE.env, or mark the reference optional: true
    ");
    let secrets = "\n---\nkind: Secret\nmetadata: {name: s2}\nstringData: {token: x}\n---\nkind: Secret\nmetadata: {name: s4}\n\
        \n---\nkind: Secret\nmetadata: {name: shared}\ndata: {k: eA==}\n";
    let after =
        compile(Arc::new(objects(&(yaml.clone() + secrets))), &CatalogSettings::directory(), Some(&catalog));
    assert_eq!((after.problems.len(), after.stats.compiled), (1, 0));
    assert_ne!(after.revision, catalog.revision);
    assert!(cluster(&yaml).problems.is_empty());
}

#[test]
fn problems_have_the_place_of_their_field_and_follow_it() {
    let yaml = group("g", "{}") + &tool("mcc-catalog", "t", "[g]").replace("script: 'true'", "script: ''");
    let at = |line: u32| {
        let mut set = objects(&yaml);
        for entry in set.tools.values_mut() {
            let file = Arc::new(PathBuf::from("tools/t.yaml"));
            entry.origin = Origin {
                start: Some(Place { file, line, column: 1 }),
                fields: Arc::new([("spec.shell.script", (line + 3, 20))].into_iter().collect()),
            };
        }
        Arc::new(set)
    };
    let before = compile(at(1), &CatalogSettings::directory(), None);
    assert_eq!(before.problems[0].place.as_ref().unwrap().to_string(), "tools/t.yaml:4:20");
    let after = compile(at(11), &CatalogSettings::directory(), Some(&before));
    assert_eq!(after.problems[0].place.as_ref().unwrap().to_string(), "tools/t.yaml:14:20");
    assert_eq!((after.stats.compiled, after.stats.reused), (0, 1));
    assert_eq!(after.revision, before.revision);
}

#[test]
fn a_problem_within_a_script_has_its_line_in_the_file() {
    let yaml = "apiVersion: mcc.dev/v1alpha1\nkind: Tool\nmetadata:\n  name: t\nspec:\n  description: x\n  shell:\n    \
        script: |\n      echo one\n      echo {{ nothing }}\n";
    let parsed = crate::manifest::parse(std::path::Path::new("t.yaml"), yaml.as_bytes());
    assert_eq!(lines(&parsed.problems), Vec::<String>::new());
    let mut set = crate::model::ObjectSet::default();
    for object in parsed.objects {
        let name = object.object.reference().unwrap().name;
        let crate::manifest::Object::Tool(tool) = object.object else { panic!() };
        set.tools.insert(name, crate::model::Entry { object: tool, origin: object.origin });
    }
    let problems = compile(Arc::new(set), &CatalogSettings::directory(), None).problems;
    let place = problems[0].place.as_ref().unwrap();
    assert_eq!((place.line, problems.len()), (10, 1), "{problems:#?}");
}

#[test]
fn every_object_has_a_verdict_whose_errors_come_first() {
    let yaml = group("g", "{}")
        + &tool("mcc-catalog", "t", "[g, ghost]").replace("description: x", "description: ''")
        + &grant("u", "{subject: {name: a}, groups: [nowhere]}")
        + "---\nkind: Secret\nmetadata: {name: s}\n";
    let catalog = catalog(&yaml);
    let verdict =
        |kind, name: &str| &catalog.verdicts[&ObjectRef::new(kind, NamespacedName::new("mcc-catalog", name))];
    let tool = verdict(ObjectKind::Tool, "t");
    assert!(!tool.accepted && tool.key.is_none());
    assert_eq!(
        tool.problems.iter().map(|p| p.severity).collect::<Vec<_>>(),
        [Severity::Error, Severity::Warning]
    );
    let grant = verdict(ObjectKind::UserGrant, "u");
    assert!(grant.accepted && grant.problems.len() == 1);
    assert!(verdict(ObjectKind::ToolGroup, "g").accepted && verdict(ObjectKind::Secret, "s").accepted);
}

#[test]
fn equal_objects_have_equal_revisions_status_and_all() {
    let yaml = group("g", "{}")
        + &tool("mcc-catalog", "t", "[g]")
        + &grant("u", "{subject: {name: a}, groups: [g]}");
    let first = catalog(&yaml);
    assert_eq!(first.revision, catalog(&yaml).revision);
    let mut set = objects(&yaml);
    for entry in set.tools.values_mut() {
        let mut object = (*entry.object).clone();
        object.metadata.resource_version = Some("7".to_owned());
        object.status =
            Some(mcc_crds::v1alpha1::ToolStatus { key: Some("x".to_owned()), ..Default::default() });
        entry.object = Arc::new(object);
    }
    let same = compile(Arc::new(set), &CatalogSettings::directory(), Some(&first));
    assert_eq!((same.revision, same.stats.compiled), (first.revision, 0));
    for (old, new) in [
        ("description: x", "description: y"),
        ("groups: [g]}", "groups: [g, public]}"),
        ("{name: a}", "{name: b}"),
    ] {
        assert_ne!(catalog(&yaml.replace(old, new)).revision, first.revision, "{new}");
    }
}

#[test]
fn documents_say_what_an_index_needs() {
    let yaml = group("g", "{}")
        + "---\nkind: Tool\nmetadata: {name: t}\nspec: {groups: [g, public], description: 'D ', keywords: [k], shell: {script: 'true'}, \
           params: [{name: a, description: A}, {name: b, override: x, description: B}]}\n";
    let document = catalog(&yaml).documents().remove(0);
    assert_eq!(document.facets.prefixes, ["g", "g.public"]);
    assert_eq!((document.facets.key.as_str(), document.description.as_str()), ("public.g.t", "D"));
    assert_eq!(document.params, [("a".to_owned(), "A".to_owned())]);
    let script = catalog(&yaml.replace("'true'", "'false'")).documents().remove(0);
    assert_eq!(script.digest, document.digest);
    let words = catalog(&yaml.replace("[k]", "[k, l]")).documents().remove(0);
    assert_ne!(words.digest, document.digest);
}
