//! From a Tool as it is written to what it does.

use std::sync::Arc;

use mcc_catalog::compile::{CatalogSettings, compile};
use mcc_catalog::invoke::prepare;
use mcc_catalog::model::{Entry, NamespacedName, ObjectSet};
use mcc_catalog::params::validate;
use mcc_catalog::seam::{Ending, Executor, Outcome};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::contract::run::text;
use super::{ProcessExecutor, ProcessOptions};

/// Runs a Tool with this spec.
async fn run(spec: Value, params: Value, session: Value) -> Outcome {
    let tool = json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "Tool",
        "metadata": {"name": "sample", "namespace": "mcc-catalog"}, "spec": spec,
    });
    let mut objects = ObjectSet::default();
    let name = NamespacedName::new("mcc-catalog", "sample");
    objects.tools.insert(name, Entry::from_cluster(serde_json::from_value(tool).unwrap()));
    let settings = CatalogSettings { catalog_namespace: "mcc-catalog".into(), ..CatalogSettings::default() };
    let catalog = Arc::new(compile(Arc::new(objects), &settings, None));
    let tool = catalog.tools.get("sample").unwrap_or_else(|| panic!("{:?}", catalog.problems)).clone();
    let params = validate(&tool, params.as_object().unwrap()).unwrap();
    let session = session.as_object().unwrap().clone();
    let invocation = prepare("mcc-1".into(), tool, catalog, params, session).unwrap();
    ProcessExecutor::new(ProcessOptions::default()).execute(invocation, &(), CancellationToken::new()).await
}

#[tokio::test]
async fn a_shell_tool() {
    let spec = json!({
        "params": [{"name": "text", "type": "str"}],
        "env": [{"name": "GREETING", "value": "hello"}],
        "shell": {"script": "echo \"$GREETING {{ text }}\" $MCC_CTX_PLACE; cat; echo 'seen=1' > $MCC_SESSION", "stdin": "Params"},
    });
    let outcome = run(spec, json!({"text": "`w` $(x) \"'"}), json!({"place": "here"})).await;
    assert_eq!(outcome.ending, Ending::Exited(0), "{}", text(&outcome.stderr));
    let output = text(&outcome.stdout);
    let (first, rest) = output.split_once('\n').unwrap();
    assert_eq!(first, "hello `w` $(x) \"' here");
    assert_eq!(serde_json::from_str::<Value>(rest).unwrap(), json!({"text": "`w` $(x) \"'"}));
    assert_eq!(Value::Object(outcome.session.set), json!({"seen": 1}));
}

#[tokio::test]
async fn a_python_tool() {
    let source = "import os\nasync def main(n, context):\n    context['n'] = n\n    return [n, context['place'], os.environ['MCC_CTX_PLACE']]";
    let spec = json!({"params": [{"name": "n", "type": "int"}], "python": {"source": source}});
    let outcome = run(spec, json!({"n": 7}), json!({"place": "here"})).await;
    assert_eq!(outcome.ending, Ending::Exited(0), "{}", text(&outcome.stderr));
    assert_eq!(text(&outcome.result.unwrap()), "[7, \"here\", \"here\"]");
    assert_eq!(Value::Object(outcome.session.set), json!({"n": 7}));
}

#[tokio::test]
async fn an_http_tool_without_curl_is_refused() {
    let spec = json!({
        "env": [{"name": "PATH", "value": "/nowhere"}],
        "http": {"url": "http://127.0.0.1:9/"},
    });
    match run(spec, json!({}), json!({})).await.ending {
        Ending::Refused(refusal) => assert_eq!(refusal.fix, "install curl"),
        other => panic!("{other:?}"),
    }
}
