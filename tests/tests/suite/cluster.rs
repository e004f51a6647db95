//! The cluster that other suites stand on is a real one: what they rely on holds in it.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;

use anyhow::ensure;
use mcc_tests::cluster::{BUSYBOX, Cluster, PYTHON, pod};
use mcc_tests::workspace;
use serde_json::json;

#[test]
fn the_node_is_ready() -> anyhow::Result<()> {
    let Some(cluster) = Cluster::of_this_run("cluster::the_node_is_ready") else { return Ok(()) };
    let node = cluster.run(&["get", "nodes", "--output=json"])?;
    let node: serde_json::Value = serde_json::from_str(&node)?;
    let conditions = node["items"][0]["status"]["conditions"].as_array().unwrap();
    let ready = conditions.iter().find(|condition| condition["type"] == "Ready").unwrap();
    assert_eq!(ready["status"], "True", "{ready}");
    let version = &node["items"][0]["status"]["nodeInfo"]["kubeletVersion"];
    assert!(version.as_str().unwrap().starts_with("v1."), "{version}");
    Ok(())
}

#[test]
fn a_job_of_each_image_runs() -> anyhow::Result<()> {
    let Some(cluster) = Cluster::of_this_run("cluster::a_job_of_each_image_runs") else { return Ok(()) };
    let namespace = cluster.namespace(&[])?;
    let programs =
        "python3 -c 'import json, ssl; print(json.dumps([6 * 7]))' | jq -c '.[0] + 1' && curl --version";
    for (name, image, script, wanted) in
        [("busybox", BUSYBOX, "echo one | sed s/one/two/", "two"), ("python", PYTHON, programs, "43\ncurl ")]
    {
        let job = json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name},
            "spec": {"backoffLimit": 0, "template": {"spec": pod(name, image, script)["spec"]}},
        });
        namespace.apply(&job.to_string())?;
        namespace.until(
            "end of the Job",
            &["get", "job", name, "--output=jsonpath={.status.succeeded}{.status.failed}"],
            |ended| !ended.is_empty(),
        )?;
        let log = namespace.run(&["logs", &format!("job/{name}")])?;
        assert!(log.starts_with(wanted), "{name}: {log}");
    }
    Ok(())
}

#[test]
fn names_of_services_resolve_and_lead_to_pods() -> anyhow::Result<()> {
    let Some(cluster) = Cluster::of_this_run("cluster::names_of_services_resolve_and_lead_to_pods") else {
        return Ok(());
    };
    let namespace = cluster.namespace(&[])?;
    let serve = "mkdir /tmp/www && echo quokka >/tmp/www/index.html && exec httpd -f -p 8080 -h /tmp/www";
    namespace.apply(&pod("server", BUSYBOX, serve).to_string())?;
    namespace.run(&["expose", "pod", "server", "--port=80", "--target-port=8080"])?;
    // A policy that denies everything changes nothing: no plugin of this cluster enforces one, and tests must not rely on it.
    namespace.apply(
        r#"{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "none"},
            "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}}"#,
    )?;
    namespace.run(&["wait", "pod/server", "--for=condition=Ready", "--timeout=120s"])?;
    let name = namespace.name();
    let ask = format!(
        "getent hosts kubernetes.default.svc.cluster.local
         curl --silent --show-error --fail --retry 20 --retry-delay 1 --retry-all-errors http://server
         curl --silent --show-error --fail http://server.{name}.svc.cluster.local"
    );
    let (phase, log) = namespace.script("asker", PYTHON, &ask)?;
    assert_eq!(phase, "Succeeded", "{log}");
    assert!(log.ends_with("quokka\nquokka\n"), "{log}");
    let (_, log) = namespace.script("resolver", BUSYBOX, "nslookup kubernetes.default.svc.cluster.local")?;
    assert!(log.contains("10.96.0.1"), "{log}");
    Ok(())
}

#[test]
fn attach_carries_input_and_both_outputs() -> anyhow::Result<()> {
    let Some(cluster) = Cluster::of_this_run("cluster::attach_carries_input_and_both_outputs") else {
        return Ok(());
    };
    let namespace = cluster.namespace(&[])?;
    // It reads only after the attach: what it prints before would be in the log alone.
    let mut reader = pod("reader", BUSYBOX, "read line; echo \"out $line\"; echo \"err $line\" >&2; cat");
    reader["spec"]["containers"][0]["stdin"] = json!(true);
    reader["spec"]["containers"][0]["stdinOnce"] = json!(true);
    namespace.apply(&reader.to_string())?;
    namespace.run(&["wait", "pod/reader", "--for=condition=Ready", "--timeout=120s"])?;
    let mut attach = cluster
        .kubectl()
        .args(["--namespace", namespace.name(), "attach", "--quiet", "--stdin", "reader"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    attach.stdin.take().unwrap().write_all(b"numbat\nrest\n")?;
    let output = attach.wait_with_output()?;
    let (phase, log) = namespace.finished("reader")?;
    assert_eq!(phase, "Succeeded", "{log}");
    let (out, err) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    assert!(out.contains("out numbat\nrest\n") && !out.contains("err"), "{out}");
    assert!(err.contains("err numbat"), "{err}");
    assert!(log.contains("out numbat") && log.contains("err numbat"), "{log}");
    Ok(())
}

#[test]
fn our_kinds_are_taken_and_explained() -> anyhow::Result<()> {
    let Some(cluster) = Cluster::of_this_run("cluster::our_kinds_are_taken_and_explained") else {
        return Ok(());
    };
    let manifests = workspace::root().join("crds/manifests");
    cluster.run(&[
        "apply",
        "--server-side",
        "--force-conflicts",
        "--filename",
        &manifests.to_string_lossy(),
    ])?;
    cluster.run(&["wait", "crd", "--all", "--for=condition=Established", "--timeout=120s"])?;
    let namespace = cluster.namespace(&[])?;
    let text = namespace.until(
        "explanation",
        &["explain", "tool.spec.shell", "--api-version=mcc.dev/v1alpha1"],
        |text| text.contains("FIELDS"),
    )?;
    assert!(text.contains("script\t<string>"), "{text}");
    let tool = r"{apiVersion: mcc.dev/v1alpha1, kind: Tool, metadata: {name: greet},
                  spec: {groups: [public], description: Greets., shell: {script: echo hello}}}";
    namespace.apply(tool)?;
    let wrong = namespace.apply(&tool.replace("groups: [public]", "groups: [public, public]"));
    let problem = format!("{:#}", wrong.unwrap_err());
    assert!(problem.contains("groups"), "{problem}");
    Ok(())
}

#[test]
fn a_service_account_is_known_and_has_no_rights() -> anyhow::Result<()> {
    let Some(cluster) = Cluster::of_this_run("cluster::a_service_account_is_known_and_has_no_rights") else {
        return Ok(());
    };
    let namespace = cluster.namespace(&[])?;
    let name = namespace.name();
    let ask = format!(
        r#"cd /var/run/secrets/kubernetes.io/serviceaccount
           ask() {{ curl --silent --cacert ca.crt --write-out '\n%{{http_code}}\n' "$@"; }}
           pods=https://kubernetes.default.svc/api/v1/namespaces/{name}/pods
           ask $pods | tail -n 1
           ask --header "Authorization: Bearer wrong" $pods | tail -n 1
           ask --header "Authorization: Bearer $(cat token)" $pods | tail -n 1
           ask --header "Authorization: Bearer $(cat token)" --header 'Content-Type: application/json' \
             --data '{{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}}' \
             https://kubernetes.default.svc/apis/authentication.k8s.io/v1/selfsubjectreviews | grep username"#
    );
    let (phase, log) = namespace.script("asker", PYTHON, &ask)?;
    assert_eq!(phase, "Succeeded", "{log}");
    let lines: Vec<_> = log.lines().map(str::trim).collect();
    let user = format!("\"username\": \"system:serviceaccount:{name}:default\",");
    assert_eq!(lines, ["403", "401", "403", user.as_str()]);
    Ok(())
}

#[test]
fn a_restricted_namespace_takes_restricted_pods_only() -> anyhow::Result<()> {
    let Some(cluster) = Cluster::of_this_run("cluster::a_restricted_namespace_takes_restricted_pods_only")
    else {
        return Ok(());
    };
    let namespace = cluster.namespace(&["pod-security.kubernetes.io/enforce=restricted"])?;
    let mut restricted = pod("restricted", PYTHON, "id -u; touch /file 2>&1; python3 -c 'print(1 + 1)'");
    let refused = namespace.apply(&restricted.to_string()).unwrap_err().to_string();
    assert!(refused.contains("violates PodSecurity \"restricted"), "{refused}");
    restricted["spec"]["automountServiceAccountToken"] = json!(false);
    restricted["spec"]["securityContext"] =
        json!({"runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}});
    restricted["spec"]["containers"][0]["securityContext"] = json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": {"drop": ["ALL"]},
    });
    namespace.apply(&restricted.to_string())?;
    let (phase, log) = namespace.finished("restricted")?;
    assert_eq!(phase, "Succeeded", "{log}");
    assert!(
        log.starts_with("65532\n") && log.contains("Read-only file system") && log.ends_with("2\n"),
        "{log}"
    );
    Ok(())
}

/// A tool that forks without end is stopped by the kubelet's podPidsLimit.
#[test]
fn a_pod_has_a_bounded_number_of_processes() -> anyhow::Result<()> {
    let Some(cluster) = Cluster::of_this_run("cluster::a_pod_has_a_bounded_number_of_processes") else {
        return Ok(());
    };
    let namespace = cluster.namespace(&[])?;
    let fork = "import subprocess, sys
sleepers = []
try:
    for _ in range(2000):
        sleepers.append(subprocess.Popen(['sleep', '600']))
except OSError as error:
    print(error.strerror)
print(len(sleepers))
for sleeper in sleepers:
    sleeper.kill()
";
    let (phase, log) = namespace.script("forker", PYTHON, &format!("python3 -c \"{fork}\""))?;
    assert_eq!(phase, "Succeeded", "{log}");
    let (problem, count) = log.trim().split_once('\n').unwrap();
    assert_eq!(problem, "Resource temporarily unavailable");
    assert!((400..512).contains(&count.parse::<u32>()?), "{log}");
    Ok(())
}

#[test]
fn pods_reach_what_a_test_serves() -> anyhow::Result<()> {
    let Some(cluster) = Cluster::of_this_run("cluster::pods_reach_what_a_test_serves") else { return Ok(()) };
    let namespace = cluster.namespace(&[])?;
    let server = TcpListener::bind((cluster.machine()?, 0))?;
    let address = server.local_addr()?;
    let thread = std::thread::spawn(move || -> anyhow::Result<()> {
        let (mut stream, _) = server.accept()?;
        let mut request = [0; 1024];
        let length = stream.read(&mut request)?;
        ensure!(
            request[..length].starts_with(b"GET / "),
            "{:?}",
            String::from_utf8_lossy(&request[..length])
        );
        Ok(stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nbilby")?)
    });
    let (phase, log) = namespace.script("asker", BUSYBOX, &format!("wget -q -O - http://{address}/"))?;
    assert_eq!((phase.as_str(), log.as_str()), ("Succeeded", "bilby"));
    thread.join().expect("no panic")
}
