//! The objects as the watches see them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::Namespace;
use kube::Resource;
use kube::core::{DeserializeGuard, PartialObjectMeta};
use kube::runtime::watcher::Event;
use mcc_catalog::model::{Catalog, Entry, NamespacedName, ObjectRef, ObjectSet, Problem, Reason, Severity};

use crate::watched::Watched;
use crate::{Observed, Observer};

/// All objects, and what of them can't be read.
#[derive(Default)]
pub(crate) struct Store {
    /// Shared with the catalog that was compiled from them, until the next change.
    objects: Arc<ObjectSet>,
    invalid: BTreeMap<ObjectRef, String>,
    /// What the listings that are under way have brought, by the number of their watch.
    listed: BTreeMap<usize, HashSet<NamespacedName>>,
    listed_namespaces: BTreeSet<String>,
    changed: bool,
}

impl Store {
    /// The objects now.
    pub fn objects(&self) -> Arc<ObjectSet> {
        self.objects.clone()
    }

    /// Adds what is wrong with the objects that can't be read.
    pub fn report_invalid(&self, catalog: &mut Catalog) {
        let mut problems = Vec::new();
        for (object, error) in &self.invalid {
            let problem = Problem {
                severity: Severity::Error,
                reason: Reason::InvalidField,
                object: Some(object.clone()),
                place: None,
                path: String::new(),
                message: format!("the object can't be read: {error}"),
                fix: "correct it, or bring the CRDs and the program to the same version".to_owned(),
            };
            let verdict = catalog.verdicts.entry(object.clone()).or_default();
            verdict.problems = vec![problem.clone()];
            problems.push(problem);
        }
        if !problems.is_empty() {
            catalog.add_problems(problems);
        }
    }

    /// Whether something has changed that a catalog is made of, since this was last asked.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Takes news of a watch over one kind, in one namespace or in all.
    pub fn apply<K: Watched>(
        &mut self,
        watch: usize,
        namespace: Option<&str>,
        event: Event<DeserializeGuard<K>>,
        observer: &dyn Observer,
    ) {
        match event {
            Event::Init => {
                self.listed.insert(watch, HashSet::new());
            }
            Event::InitApply(object) => {
                if let (Some(listed), Some(name)) = (self.listed.get_mut(&watch), name(&object)) {
                    listed.insert(name);
                }
                self.put(object, observer);
            }
            Event::InitDone => {
                if let Some(listed) = self.listed.remove(&watch) {
                    self.keep::<K>(namespace, &listed, observer);
                }
            }
            Event::Apply(object) => self.put(object, observer),
            Event::Delete(object) => {
                if let Some(name) = name(&object) {
                    self.remove::<K>(&name, observer);
                }
            }
        }
    }

    /// Takes news of the namespaces.
    pub fn apply_namespace(&mut self, event: Event<PartialObjectMeta<Namespace>>) {
        let labelled = |namespace: PartialObjectMeta<Namespace>| {
            let metadata = namespace.metadata;
            metadata.name.map(|name| (name, metadata.labels.unwrap_or_default()))
        };
        match event {
            Event::Init => self.listed_namespaces.clear(),
            Event::InitApply(namespace) | Event::Apply(namespace) => {
                if let Some((name, labels)) = labelled(namespace) {
                    self.listed_namespaces.insert(name.clone());
                    if self.objects.namespaces.get(&name) != Some(&labels) {
                        Arc::make_mut(&mut self.objects).namespaces.insert(name, labels);
                        self.changed = true;
                    }
                }
            }
            Event::InitDone => {
                let listed = std::mem::take(&mut self.listed_namespaces);
                if self.objects.namespaces.keys().any(|name| !listed.contains(name)) {
                    Arc::make_mut(&mut self.objects).namespaces.retain(|name, _| listed.contains(name));
                    self.changed = true;
                }
            }
            Event::Delete(namespace) => {
                if let Some((name, _)) = labelled(namespace)
                    && self.objects.namespaces.contains_key(&name)
                {
                    Arc::make_mut(&mut self.objects).namespaces.remove(&name);
                    self.changed = true;
                }
            }
        }
    }

    fn put<K: Watched>(&mut self, object: DeserializeGuard<K>, observer: &dyn Observer) {
        let Some(name) = name(&object) else { return };
        let reference = ObjectRef::new(K::KIND, name.clone());
        let metadata = object.meta();
        let mut news = Observed {
            object: reference.clone(),
            uid: metadata.uid.clone().unwrap_or_default(),
            resource_version: metadata.resource_version.clone().unwrap_or_default(),
            generation: metadata.generation.unwrap_or_default(),
            status: None,
        };
        match object.0 {
            Ok(mut object) => {
                news.status = Some(object.take_status());
                self.changed |= self.invalid.remove(&reference).is_some();
                let known = K::of_ref(&self.objects).get(&name);
                if !known.is_some_and(|known| same(&*known.object, &object)) {
                    K::of(Arc::make_mut(&mut self.objects)).insert(name, Entry::from_cluster(object));
                    self.changed = true;
                }
            }
            Err(invalid) => {
                let error = invalid.error;
                if K::of_ref(&self.objects).contains_key(&name) {
                    K::of(Arc::make_mut(&mut self.objects)).remove(&name);
                    self.changed = true;
                }
                if self.invalid.get(&reference) != Some(&error) {
                    tracing::warn!(object = %reference, %error, "an object can't be read");
                    self.invalid.insert(reference, error);
                    self.changed = true;
                }
            }
        }
        observer.seen(news);
    }

    fn remove<K: Watched>(&mut self, name: &NamespacedName, observer: &dyn Observer) {
        let reference = ObjectRef::new(K::KIND, name.clone());
        self.changed |= self.invalid.remove(&reference).is_some();
        if K::of_ref(&self.objects).contains_key(name) {
            K::of(Arc::make_mut(&mut self.objects)).remove(name);
            self.changed = true;
        }
        observer.gone(&reference);
    }

    /// Removes what a finished listing hasn't brought: it was deleted while nobody watched.
    fn keep<K: Watched>(
        &mut self,
        namespace: Option<&str>,
        listed: &HashSet<NamespacedName>,
        observer: &dyn Observer,
    ) {
        let gone = |name: &NamespacedName| {
            namespace.is_none_or(|namespace| name.namespace == namespace) && !listed.contains(name)
        };
        let valid = K::of_ref(&self.objects).keys();
        let invalid = self.invalid.keys().filter(|object| object.kind == K::KIND).map(|object| &object.name);
        let missing: Vec<NamespacedName> = valid.chain(invalid).filter(|name| gone(name)).cloned().collect();
        for name in missing {
            self.remove::<K>(&name, observer);
        }
    }
}

fn name<K: Watched>(object: &DeserializeGuard<K>) -> Option<NamespacedName> {
    let metadata = object.meta();
    Some(NamespacedName::new(metadata.namespace.clone()?, metadata.name.clone()?))
}

/// Whether a catalog made of one is a catalog made of the other: all but statuses, labels and versions.
fn same<K: Watched>(a: &K, b: &K) -> bool {
    let (meta_a, meta_b) = (a.meta(), b.meta());
    meta_a.uid == meta_b.uid
        && meta_a.generation == meta_b.generation
        && meta_a.creation_timestamp == meta_b.creation_timestamp
        && a.same_spec(b)
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
