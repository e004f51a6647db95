//! Files and folders over time.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use super::super::{Loaded, Loader, MAX_FILE_BYTES};
use crate::model::{NamespacedName, Reason};

fn manifest(name: &str) -> String {
    format!(
        "apiVersion: mcc.dev/v1alpha1\nkind: Tool\nmetadata: {{name: {name}}}\nspec:\n  shell: {{script: 'true'}}\n"
    )
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        write(&folder, name, text);
    }
    folder
}

fn write(folder: &TempDir, name: &str, text: &str) {
    let path = folder.path().join(name);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

fn loader(folder: &TempDir) -> Loader {
    Loader::new(vec![folder.path().to_path_buf()])
}

fn names(loaded: &Loaded) -> Vec<String> {
    loaded.objects.tools.keys().map(|name| name.name.clone()).collect()
}

fn problems(loaded: &Loaded) -> String {
    loaded.problems.iter().map(|problem| format!("{problem}\n")).collect()
}

#[test]
fn folders_are_searched_and_hidden_files_passed_over() {
    let folder = folder(&[
        ("a.yaml", &manifest("a")),
        ("sub/deep/b.yml", &manifest("b")),
        (
            "c.json",
            &serde_json::json!({"apiVersion": "mcc.dev/v1alpha1", "kind": "Tool", "metadata": {"name": "c"},
            "spec": {"shell": {"script": "true"}}})
            .to_string(),
        ),
        ("README.md", "no manifest"),
        (".hidden.yaml", "{"),
        (".git/x.yaml", "{"),
    ]);
    let loaded = loader(&folder).load();
    assert_eq!(names(&loaded), ["a", "b", "c"]);
    assert_eq!(problems(&loaded), "");
}

#[cfg(unix)]
#[test]
fn mounted_config_maps_and_loops_of_links() {
    let folder = folder(&[("..2026_01_01/a.yaml", &manifest("a")), ("sub/b.yaml", &manifest("b"))]);
    let link = |to: &str, from: &str| std::os::unix::fs::symlink(to, folder.path().join(from)).unwrap();
    link("..2026_01_01", "..data");
    link("..data/a.yaml", "a.yaml");
    link("..", "sub/loop");
    link("nowhere", "broken.yaml");
    let loaded = loader(&folder).load();
    assert_eq!(names(&loaded), ["a", "b"]);
    assert!(problems(&loaded).contains("broken.yaml:1:1: error[UnreadableFile]: there is no such file"));
}

#[test]
fn only_changes_are_reported_and_equal_objects_are_shared() {
    let folder = folder(&[("a.yaml", &manifest("a")), ("b.yaml", &manifest("b"))]);
    let mut manifests = loader(&folder);
    let first = manifests.load();
    assert!(first.changed);
    let again = manifests.load();
    assert!(!again.changed);
    assert!(Arc::ptr_eq(&first.objects, &again.objects));
    write(&folder, "a.yaml", &format!("# moved down\n{}---\n{}", manifest("a"), manifest("c")));
    let third = manifests.load();
    assert!(third.changed);
    assert_eq!(names(&third), ["a", "b", "c"]);
    let key = NamespacedName::new("mcc-catalog", "a");
    assert!(Arc::ptr_eq(&first.objects.tools[&key].object, &third.objects.tools[&key].object));
    assert_eq!(third.objects.tools[&key].origin.start.as_ref().unwrap().line, 2);
    fs_err::remove_file(folder.path().join("a.yaml")).unwrap();
    let fourth = manifests.load();
    assert!(fourth.changed);
    assert_eq!(names(&fourth), ["b"]);
}

#[test]
fn a_broken_file_takes_nothing_away() {
    let both = format!("{}---\n{}", manifest("a"), manifest("b"));
    let folder = folder(&[("f.yaml", &both), ("g.yaml", &manifest("g"))]);
    let mut manifests = loader(&folder);
    manifests.load();
    // A document with a fault of syntax, the other one new.
    write(&folder, "f.yaml", &format!("{}---\na: [\n", manifest("new")));
    let broken = manifests.load();
    assert_eq!(names(&broken), ["a", "b", "g", "new"]);
    assert!(problems(&broken).contains("f.yaml"), "{}", problems(&broken));
    // An object that doesn't fit its schema keeps its last state.
    write(&folder, "f.yaml", &both.replacen("'true'", "5", 1));
    let broken = manifests.load();
    assert_eq!(names(&broken), ["a", "b", "g", "new"]);
    // Emptied by an editor on its way to saving.
    write(&folder, "f.yaml", "");
    assert_eq!(names(&manifests.load()), ["a", "b", "g", "new"]);
    // Unreadable bytes.
    fs_err::write(folder.path().join("f.yaml"), b"\xff\xff").unwrap();
    assert_eq!(names(&manifests.load()), ["a", "b", "g", "new"]);
    // Whole again.
    write(&folder, "f.yaml", &manifest("a"));
    let whole = manifests.load();
    assert_eq!(names(&whole), ["a", "g"]);
    assert_eq!(problems(&whole), "");
}

#[test]
fn what_a_broken_file_held_gives_way_to_where_it_moved() {
    let folder = folder(&[("f.yaml", &manifest("a"))]);
    let mut manifests = loader(&folder);
    manifests.load();
    write(&folder, "f.yaml", "a: [");
    write(&folder, "g.yaml", &manifest("a"));
    let loaded = manifests.load();
    assert_eq!(loaded.problems.len(), 1, "{}", problems(&loaded));
    let tool = loaded.objects.tools.values().next().unwrap();
    assert!(tool.origin.start.as_ref().unwrap().file.ends_with("g.yaml"));
}

#[test]
fn duplicates_name_both_places_and_the_first_counts() {
    let folder = folder(&[
        ("a.yaml", &manifest("x")),
        ("b.yaml", &format!("{}---\n{}", manifest("z"), manifest("x"))),
    ]);
    let mut manifests = loader(&folder);
    for _ in 0..2 {
        let loaded = manifests.load();
        assert_eq!(names(&loaded), ["x", "z"]);
        let [problem] = &loaded.problems[..] else { panic!("{}", problems(&loaded)) };
        assert_eq!(problem.reason, Reason::DuplicateObject);
        let place = problem.place.as_ref().unwrap();
        assert!(place.file.ends_with("b.yaml") && place.line == 7, "{place}");
        assert!(problem.message.contains("a.yaml:1:1"), "{}", problem.message);
    }
}

#[test]
fn a_source_that_is_missing_or_vanishes_is_a_problem() {
    let folder = folder(&[("d/a.yaml", &manifest("a"))]);
    let inner = folder.path().join("d");
    let mut manifests = Loader::new(vec![inner.clone(), folder.path().join("no")]);
    assert_eq!(names(&manifests.load()), ["a"]);
    fs_err::rename(&inner, folder.path().join("e")).unwrap();
    let loaded = manifests.load();
    assert_eq!(names(&loaded), ["a"]);
    assert_eq!(loaded.problems.len(), 2, "{}", problems(&loaded));
}

#[test]
fn large_files_are_refused_with_the_bound() {
    let folder = folder(&[("big.yaml", &"#".repeat(10_000_000))]);
    let loaded = loader(&folder).load();
    let text = problems(&loaded);
    assert!(
        text.contains("big.yaml:1:1: error[UnreadableFile]: the file has 10000000 bytes; at most 8388608"),
        "{text}"
    );
    assert!(text.contains("split it"), "{text}");
    assert_eq!(MAX_FILE_BYTES, 8_388_608);
}

#[test]
fn secrets_from_files_of_variables() {
    let secret =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ns}\nstringData: {A: manifest}\n";
    let tool = manifest("t").replace("name: t", "name: t, namespace: ns");
    let folder = folder(&[("a.yaml", &format!("{tool}---\n{secret}")), ("s.env", "A=flag\n")]);
    let mut manifests = loader(&folder).with_secret("s", folder.path().join("s.env"));
    let value = |loaded: &Loaded, namespace: &str| {
        let secret = &loaded.objects.secrets[&NamespacedName::new(namespace, "s")];
        String::from_utf8(secret.data.as_ref().unwrap()["A"].0.clone()).unwrap()
    };
    let loaded = manifests.load();
    assert_eq!((value(&loaded, "ns"), value(&loaded, "mcc-catalog")), ("flag".into(), "flag".into()));
    write(&folder, "s.env", "A=next\n");
    let loaded = manifests.load();
    assert!(loaded.changed);
    assert_eq!(value(&loaded, "ns"), "next");
    write(&folder, "s.env", "what\n");
    let loaded = manifests.load();
    assert_eq!(value(&loaded, "ns"), "next");
    assert!(problems(&loaded).contains("s.env:1:1: error[InvalidSyntax]"), "{}", problems(&loaded));
    assert!(!format!("{manifests:?}").contains("next"), "{manifests:?}");
    assert!(manifests.watched().contains(&folder.path().join("s.env")));
}

#[test]
fn a_file_named_itself_may_have_any_extension_and_is_read_once() {
    let folder = folder(&[("a.tool", &manifest("a")), ("b.yaml", &manifest("b"))]);
    let path = |name: &str| folder.path().join(Path::new(name));
    let loaded = Loader::new(vec![path("a.tool"), path("b.yaml"), folder.path().to_path_buf()]).load();
    assert_eq!(names(&loaded), ["a", "b"]);
    assert_eq!(problems(&loaded), "");
}
