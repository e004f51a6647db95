//! A real API server: the guard, and what tests do with it.

use std::path::{Path, PathBuf};

use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Client, Config};
use mcc_cluster::ClientOptions;
use serde_json::{Value, json};

use crate::support::until;

/// An API server with mcc's CRDs, and two namespaces of this test's own.
pub struct Cluster {
    pub client: Client,
    /// The namespace of ToolGroups and UserGrants.
    pub catalog: String,
    /// The namespace of Tools.
    pub tools: String,
}

/// The kubeconfig of the cluster that the tests may use; without one the test says that it is skipped.
pub fn kubeconfig(test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("MCC_TEST_KUBECONFIG").filter(|path| !path.is_empty());
    if path.is_none() {
        println!("skipped: {test}: no cluster");
    }
    path.map(PathBuf::from)
}

/// A new client, as another program would have it.
pub async fn client(kubeconfig: &Path) -> Client {
    let options = ClientOptions { kubeconfig: Some(kubeconfig.to_path_buf()), context: None };
    let config: Config = mcc_cluster::config(&options).await.unwrap();
    mcc_cluster::client(config).unwrap()
}

impl Cluster {
    /// The cluster with new namespaces; none without a cluster.
    pub async fn new(test: &str) -> Option<Self> {
        let client = client(&kubeconfig(test)?).await;
        install_crds(&client).await;
        let cluster = Self::with_namespaces(client).await;
        Some(cluster)
    }

    /// Two more namespaces.
    pub async fn with_namespaces(client: Client) -> Self {
        let suffix = format!("{:08x}", rand::random::<u32>());
        let (catalog, tools) = (format!("mcc-test-{suffix}"), format!("mcc-test-{suffix}-tools"));
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource("Namespace"));
        for name in [&catalog, &tools] {
            let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
            api.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
        }
        Self { client, catalog, tools }
    }

    /// Removes the namespaces and what is in them. Without a namespace controller they stay as empty shells.
    pub async fn remove(self) {
        for kind in ["Tool", "ToolGroup", "UserGrant"] {
            for namespace in [&self.catalog, &self.tools] {
                let _ = self
                    .api(kind, namespace)
                    .delete_collection(&DeleteParams::default(), &ListParams::default())
                    .await;
            }
        }
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource("Namespace"));
        for name in [&self.catalog, &self.tools] {
            let _ = api.delete(name, &DeleteParams::default()).await;
        }
    }

    pub fn api(&self, kind: &str, namespace: &str) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), namespace, &resource(kind))
    }

    fn place(&self, object: &Value) -> (Api<DynamicObject>, String) {
        let kind = object["kind"].as_str().unwrap();
        let default = if kind == "Tool" { &self.tools } else { &self.catalog };
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or(default);
        (self.api(kind, namespace), object["metadata"]["name"].as_str().unwrap().to_owned())
    }

    /// As `kubectl apply --server-side`. Tools go to the tool namespace and the rest to the catalog's, unless they say
    /// otherwise.
    pub async fn apply(&self, object: &Value) -> Result<Value, kube::Error> {
        let (api, name) = self.place(object);
        let params = PatchParams::apply("test").force();
        let applied = api.patch(&name, &params, &Patch::Apply(object)).await?;
        Ok(serde_json::to_value(applied).unwrap())
    }

    pub async fn delete(&self, kind: &str, name: &str) {
        let (api, name) = self.place(&json!({ "kind": kind, "metadata": { "name": name } }));
        api.delete(&name, &DeleteParams::default()).await.unwrap();
    }

    pub async fn get(&self, kind: &str, name: &str) -> Value {
        let (api, name) = self.place(&json!({ "kind": kind, "metadata": { "name": name } }));
        let found = api.get_opt(&name).await.unwrap();
        found.map_or(Value::Null, |object| serde_json::to_value(object).unwrap())
    }

    /// All objects of mcc's kinds, in both namespaces.
    pub async fn all(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for kind in ["ToolGroup", "UserGrant", "Tool"] {
            for namespace in [&self.catalog, &self.tools] {
                let listed = self.api(kind, namespace).list(&ListParams::default()).await.unwrap();
                all.extend(listed.items.into_iter().map(|object| serde_json::to_value(object).unwrap()));
            }
        }
        all
    }

    /// Waits until every object says something of its newest generation.
    pub async fn settled(&self) -> Vec<Value> {
        let observed = |objects: &Vec<Value>| {
            objects
                .iter()
                .all(|object| object["status"]["observedGeneration"] == object["metadata"]["generation"])
        };
        until(async || self.all().await, observed).await
    }
}

fn resource(kind: &str) -> ApiResource {
    let (group, version) = match kind {
        "Namespace" => ("", "v1"),
        "CustomResourceDefinition" => ("apiextensions.k8s.io", "v1"),
        _ => ("mcc.dev", "v1alpha1"),
    };
    let plural = format!("{}s", kind.to_lowercase());
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), &plural)
}

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Every manifest below a folder of the workspace, by its documents.
pub fn manifests(folder: &str) -> Vec<Value> {
    fn visit(path: &Path, documents: &mut Vec<Value>) {
        if path.is_dir() {
            let mut entries: Vec<PathBuf> =
                fs_err::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
            entries.sort();
            for entry in &entries {
                visit(entry, documents);
            }
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = fs_err::read_to_string(path).unwrap();
            documents.extend(
                mcc_cluster::testing::documents(&text).into_iter().filter(|document| !document.is_null()),
            );
        }
    }
    let mut documents = Vec::new();
    visit(&root().join(folder), &mut documents);
    documents
}

async fn install_crds(client: &Client) {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource("CustomResourceDefinition"));
    for document in manifests("crds/manifests") {
        let name = document["metadata"]["name"].as_str().unwrap();
        api.patch(name, &PatchParams::apply("mcc-test").force(), &Patch::Apply(&document)).await.unwrap();
        let established = async || {
            let seen = serde_json::to_value(api.get(name).await.unwrap()).unwrap();
            let conditions = seen["status"]["conditions"].as_array().cloned().unwrap_or_default();
            conditions
                .iter()
                .any(|condition| condition["type"] == "Established" && condition["status"] == "True")
        };
        until(established, |established| *established).await;
    }
    // The API server serves a kind a moment after it says so.
    let tools: Api<DynamicObject> = Api::all_with(client.clone(), &resource("Tool"));
    until(async || tools.list(&ListParams::default().limit(1)).await.is_ok(), |served| *served).await;
}
