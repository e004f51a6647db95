//! An API server in memory, for tests that need no real one (feature `testsuite`): lists, watches and status patches of
//! mcc's kinds, lists and watches of Namespaces. It checks nothing.

#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "for tests")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, StreamBody};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

/// A piece of an answer: all of it, or one event of a watch.
type Piece = Result<http_body::Frame<Bytes>, Infallible>;
type Answer = Response<StreamBody<UnboundedReceiver<Piece>>>;

/// Plural, namespace and name.
type Id = (String, String, String);

/// A request that changes something.
#[derive(Clone, Debug)]
pub struct Write {
    /// Method and path.
    pub request: String,
    /// Its body.
    pub body: Value,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<Id, Value>,
    version: u64,
    watches: Vec<(String, Option<String>, UnboundedSender<Piece>)>,
    writes: Vec<Write>,
    down: bool,
}

/// The API server.
#[derive(Clone, Default)]
pub struct FakeApi {
    state: Arc<Mutex<State>>,
}

impl FakeApi {
    /// A client of it.
    pub fn client(&self) -> Client {
        let state = self.clone();
        Client::new(
            tower::service_fn(move |request: Request<Body>| {
                let state = state.clone();
                async move { state.answer(request).await }
            }),
            "default",
        )
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Creates or changes an object, as `kubectl apply` does: its generation follows its spec, its status stays.
    pub fn apply(&self, mut object: Value) {
        let mut state = self.lock();
        let id = id(&object);
        state.version += 1;
        let version = state.version;
        let known = state.objects.get(&id);
        let (uid, created, generation) = match known {
            None => (json!(format!("uid-{version}")), json!(created(version)), 1),
            Some(known) => {
                let metadata = &known["metadata"];
                let changed = known["spec"] != object["spec"];
                let generation = metadata["generation"].as_i64().unwrap() + i64::from(changed);
                (metadata["uid"].clone(), metadata["creationTimestamp"].clone(), generation)
            }
        };
        let metadata = object["metadata"].as_object_mut().unwrap();
        metadata.insert("uid".into(), uid);
        metadata.entry("creationTimestamp").or_insert(created);
        metadata.insert("generation".into(), json!(generation));
        if let Some(status) = known.map(|known| known["status"].clone()).filter(|status| !status.is_null()) {
            object["status"] = status;
        }
        state.put(&id, object);
    }

    /// Deletes an object.
    pub fn delete(&self, kind: &str, namespace: &str, name: &str) {
        let mut state = self.lock();
        let id = (plural(kind), namespace.to_owned(), name.to_owned());
        if let Some(mut object) = state.objects.remove(&id) {
            state.version += 1;
            object["metadata"]["resourceVersion"] = json!(state.version.to_string());
            state.tell(&id, "DELETED", &object);
        }
    }

    /// Changes the status of an object, as somebody else would.
    pub fn set_status(&self, kind: &str, namespace: &str, name: &str, status: Value) {
        let mut state = self.lock();
        let id = (plural(kind), namespace.to_owned(), name.to_owned());
        let mut object = state.objects[&id].clone();
        object["status"] = status;
        state.version += 1;
        state.put(&id, object);
    }

    /// An object as it is.
    pub fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<Value> {
        self.lock().objects.get(&(plural(kind), namespace.to_owned(), name.to_owned())).cloned()
    }

    /// The writes since this was last asked.
    pub fn take_writes(&self) -> Vec<Write> {
        std::mem::take(&mut self.lock().writes)
    }

    /// Whether it is away: every request fails, and watches end.
    pub fn set_down(&self, down: bool) {
        let mut state = self.lock();
        state.down = down;
        if down {
            state.watches.clear();
        }
    }

    async fn answer(&self, request: Request<Body>) -> Result<Answer, Infallible> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let mut state = self.lock();
        if state.down {
            return Ok(failure(StatusCode::SERVICE_UNAVAILABLE, "down"));
        }
        let path: Vec<&str> = head.uri.path().split('/').filter(|part| !part.is_empty()).collect();
        let rest = match path.as_slice() {
            ["api", _, rest @ ..] | ["apis", _, _, rest @ ..] => rest,
            _ => &[],
        };
        let (namespace, rest) = match rest {
            ["namespaces", namespace, rest @ ..] => (Some((*namespace).to_owned()), rest),
            rest => (None, rest),
        };
        if head.method != Method::GET {
            state
                .writes
                .push(Write { request: format!("{} {}", head.method, head.uri.path()), body: body.clone() });
        }
        let query = head.uri.query().unwrap_or_default();
        Ok(match (head.method, rest) {
            (Method::GET, [plural]) if query.contains("watch=true") => state.watch(plural, namespace, query),
            (Method::GET, [plural]) => whole(StatusCode::OK, &state.list(plural, namespace.as_deref())),
            (Method::PATCH, [plural, name, "status"]) => {
                state.patch_status((*plural).to_owned(), namespace.unwrap_or_default(), name, &body)
            }
            (Method::POST, [_]) => whole(StatusCode::CREATED, &body),
            _ => failure(StatusCode::NOT_FOUND, "not found"),
        })
    }
}

impl State {
    fn put(&mut self, id: &Id, mut object: Value) {
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let event = if self.objects.contains_key(id) { "MODIFIED" } else { "ADDED" };
        self.tell(id, event, &object);
        self.objects.insert(id.clone(), object);
    }

    fn tell(&mut self, (plural, namespace, _): &Id, event: &str, object: &Value) {
        let line = piece(&json!({ "type": event, "object": object }));
        self.watches.retain(|(kind, within, sender)| {
            let concerned = kind == plural && within.as_ref().is_none_or(|within| within == namespace);
            !concerned || sender.unbounded_send(Ok(line())).is_ok()
        });
    }

    fn list(&self, plural: &str, namespace: Option<&str>) -> Value {
        let listed = self.objects.iter().filter(|((kind, within, _), _)| {
            kind == plural && namespace.is_none_or(|namespace| namespace == within)
        });
        let items: Vec<&Value> = listed.map(|(_, object)| object).collect();
        json!({ "apiVersion": "v1", "kind": "List", "metadata": { "resourceVersion": self.version.to_string() }, "items": items })
    }

    /// Everything since the version that the watch begins at; deletions before it are forgotten.
    fn watch(&mut self, plural: &str, namespace: Option<String>, query: &str) -> Answer {
        let since = query.split('&').find_map(|part| part.strip_prefix("resourceVersion="));
        let since: u64 = since.and_then(|since| since.parse().ok()).unwrap_or_default();
        let (sender, receiver) = unbounded();
        for object in self.list(plural, namespace.as_deref())["items"].as_array().unwrap() {
            let version: u64 = object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
            if version > since {
                sender.unbounded_send(Ok(piece(&json!({ "type": "MODIFIED", "object": object }))())).unwrap();
            }
        }
        self.watches.push((plural.to_owned(), namespace, sender));
        Response::new(StreamBody::new(receiver))
    }

    fn patch_status(&mut self, plural: String, namespace: String, name: &str, body: &Value) -> Answer {
        let id = (plural, namespace, name.to_owned());
        let Some(object) = self.objects.get(&id) else {
            return failure(StatusCode::NOT_FOUND, "not found");
        };
        if body["metadata"]["uid"] != object["metadata"]["uid"] {
            return failure(StatusCode::CONFLICT, "uid mismatch");
        }
        let mut object = object.clone();
        if object["status"] != body["status"] {
            object["status"] = body["status"].clone();
            self.version += 1;
            self.put(&id, object);
        }
        whole(StatusCode::OK, &self.objects[&id])
    }
}

fn id(object: &Value) -> Id {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &object["metadata"];
    (plural(object["kind"].as_str().unwrap()), text(&metadata["namespace"]), text(&metadata["name"]))
}

fn plural(kind: &str) -> String {
    format!("{}s", kind.to_lowercase())
}

/// Times in the order of versions.
fn created(version: u64) -> String {
    format!("2026-01-01T{:02}:{:02}:{:02}Z", version / 3600 % 24, version / 60 % 60, version % 60)
}

fn piece(value: &Value) -> impl Fn() -> http_body::Frame<Bytes> + use<> {
    let line = Bytes::from(format!("{value}\n"));
    move || http_body::Frame::data(line.clone())
}

fn whole(status: StatusCode, value: &Value) -> Answer {
    let (sender, receiver) = unbounded();
    sender.unbounded_send(Ok(piece(value)())).unwrap();
    let mut answer = Response::new(StreamBody::new(receiver));
    *answer.status_mut() = status;
    answer
}

fn failure(status: StatusCode, message: &str) -> Answer {
    let code = status.as_u16();
    whole(
        status,
        &json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": "Test", "code": code }),
    )
}

/// The documents of a YAML text.
pub fn documents(yaml: &str) -> Vec<Value> {
    let documents = serde_yaml::Deserializer::from_str(yaml);
    documents.map(|document| serde::Deserialize::deserialize(document).unwrap()).collect()
}
