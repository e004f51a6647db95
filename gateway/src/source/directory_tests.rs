use std::path::Path;
use std::time::{Duration, Instant};

use fs_err as fs;
use tempfile::TempDir;

use super::*;

/// A deadline, not a measurement: a busy machine may be slow.
const DEADLINE: Duration = Duration::from_secs(20);

fn open(path: &Path) -> DirectorySource {
    DirectorySource::open(DirectoryOptions {
        paths: vec![path.to_owned()],
        secrets: Vec::new(),
        settings: CatalogSettings::directory(),
    })
    .unwrap()
}

/// A public tool; JSON is YAML.
fn tool(name: &str, description: &str) -> String {
    format!(
        r#"{{"apiVersion": "mcc.dev/v1alpha1", "kind": "Tool", "metadata": {{"name": "{name}"}},
            "spec": {{"groups": ["public"], "description": "{description}", "shell": {{"script": "true"}}}}}}"#
    )
}

/// `name: description` of all tools.
fn state(catalog: &Catalog) -> String {
    let tools: Vec<String> =
        catalog.tools.values().map(|tool| format!("{}: {}", tool.name, tool.description)).collect();
    tools.join(", ")
}

fn wait_for(source: &DirectorySource, wanted: impl Fn(&Catalog) -> bool) -> Arc<Catalog> {
    let start = Instant::now();
    loop {
        let catalog = source.subscribe().borrow().clone();
        if wanted(&catalog) {
            return catalog;
        }
        assert!(start.elapsed() < DEADLINE, "still {:?} {:#?}", state(&catalog), catalog.problems);
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn expect(source: &DirectorySource, wanted: &str) {
    wait_for(source, |catalog| state(catalog) == wanted);
}

#[test]
fn files_are_added_edited_renamed_and_removed() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.yaml"), tool("a", "1")).unwrap();
    let source = open(dir.path());
    assert_eq!(state(&source.subscribe().borrow()), "a: 1");
    fs::write(dir.path().join("a.yaml"), tool("a", "2")).unwrap();
    expect(&source, "a: 2");
    fs::create_dir(dir.path().join("sub")).unwrap();
    fs::write(dir.path().join("sub/b.yaml"), tool("b", "1")).unwrap();
    expect(&source, "a: 2, b: 1");
    // As editors save: a new file in the place of the old one.
    fs::write(dir.path().join("sub/.b.yaml.swp"), "half").unwrap();
    fs::write(dir.path().join("sub/b.yaml~tmp"), tool("b", "2")).unwrap();
    fs::rename(dir.path().join("sub/b.yaml~tmp"), dir.path().join("sub/b.yaml")).unwrap();
    expect(&source, "a: 2, b: 2");
    fs::rename(dir.path().join("sub"), dir.path().join("other")).unwrap();
    fs::write(dir.path().join("other/b.yaml"), tool("b", "3")).unwrap();
    expect(&source, "a: 2, b: 3");
    fs::remove_file(dir.path().join("a.yaml")).unwrap();
    expect(&source, "b: 3");
    fs::remove_dir_all(dir.path().join("other")).unwrap();
    expect(&source, "");
}

#[test]
fn a_broken_file_keeps_its_last_good_objects_and_heals() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("a.yaml"), tool("a", "1")).unwrap();
    fs::write(dir.path().join("b.yaml"), tool("b", "1")).unwrap();
    let source = open(dir.path());
    assert_eq!(source.problems(), []);
    fs::write(dir.path().join("a.yaml"), "{\"kind\": ").unwrap();
    let catalog = wait_for(&source, |catalog| !catalog.problems.is_empty());
    assert_eq!(state(&catalog), "a: 1, b: 1");
    let problem = source.problems().remove(0);
    assert_eq!(problem.severity, Severity::Error);
    assert!(problem.place.unwrap().file.ends_with("a.yaml"));
    fs::write(dir.path().join("b.yaml"), tool("b", "2")).unwrap();
    expect(&source, "a: 1, b: 2");
    fs::write(dir.path().join("a.yaml"), tool("a", "3")).unwrap();
    let catalog = wait_for(&source, |catalog| catalog.problems.is_empty());
    assert_eq!(state(&catalog), "a: 3, b: 2");
}

#[test]
fn a_folder_that_goes_and_comes_back_is_followed() {
    let dir = TempDir::new().unwrap();
    let folder = dir.path().join("manifests");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a.yaml"), tool("a", "1")).unwrap();
    let source = open(&folder);
    for round in 2..5 {
        fs::remove_dir_all(&folder).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("a.yaml"), tool("a", &round.to_string())).unwrap();
        expect(&source, &format!("a: {round}"));
        // Its new inode is watched too.
        fs::write(folder.join("a.yaml"), tool("a", &format!("{round}.5"))).unwrap();
        expect(&source, &format!("a: {round}.5"));
    }
    // Swapped as a whole.
    let next = dir.path().join("next");
    fs::create_dir(&next).unwrap();
    fs::write(next.join("a.yaml"), tool("a", "swapped")).unwrap();
    fs::rename(&folder, dir.path().join("old")).unwrap();
    fs::rename(&next, &folder).unwrap();
    expect(&source, "a: swapped");
}

#[test]
fn a_single_file_is_followed_through_replacements() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("a.yaml");
    fs::write(&file, tool("a", "1")).unwrap();
    fs::write(dir.path().join("b.yaml"), tool("b", "1")).unwrap();
    let source = open(&file);
    for round in 2..5 {
        fs::write(dir.path().join("new"), tool("a", &round.to_string())).unwrap();
        fs::rename(dir.path().join("new"), &file).unwrap();
        expect(&source, &format!("a: {round}"));
    }
}

#[cfg(unix)]
#[test]
fn a_mounted_config_map_is_followed() {
    use std::os::unix::fs::symlink;
    let dir = TempDir::new().unwrap();
    let version = |number: u8| {
        let data = dir.path().join(format!("..2026_{number}"));
        fs::create_dir(&data).unwrap();
        fs::write(data.join("a.yaml"), tool("a", &number.to_string())).unwrap();
        symlink(format!("..2026_{number}"), dir.path().join("..data_tmp")).unwrap();
        fs::rename(dir.path().join("..data_tmp"), dir.path().join("..data")).unwrap();
    };
    version(1);
    symlink("..data/a.yaml", dir.path().join("a.yaml")).unwrap();
    let source = open(dir.path());
    // The same file under its three names is one file.
    assert_eq!(source.problems(), []);
    for number in 2..5 {
        version(number);
        fs::remove_dir_all(dir.path().join(format!("..2026_{}", number - 1))).unwrap();
        expect(&source, &format!("a: {number}"));
    }
    assert_eq!(source.problems(), []);
}

#[test]
fn each_published_catalog_is_whole_while_files_change_all_the_time() {
    let dir = TempDir::new().unwrap();
    let write = |round: usize| {
        for name in ["a", "b", "c"] {
            let text = tool(name, &round.to_string());
            fs::write(dir.path().join(format!("{name}.yaml")), text).unwrap();
        }
    };
    write(0);
    let source = open(dir.path());
    let receiver = source.subscribe();
    for round in 1..=50 {
        write(round);
        let catalog = receiver.borrow().clone();
        // A file that is read while it is written is a broken one for a moment: its last good tool stays.
        assert_eq!(catalog.tools.len(), 3, "{}", state(&catalog));
        std::thread::sleep(Duration::from_millis(20));
    }
    let last =
        wait_for(&source, |catalog| state(catalog) == "a: 50, b: 50, c: 50" && catalog.problems.is_empty());
    assert_eq!(last.tools.len(), 3);
}

#[test]
fn files_of_variables_are_secrets_and_followed() {
    let dir = TempDir::new().unwrap();
    let text = tool("a", "1").replace(
        r#""shell""#,
        r#""env": [{"name": "K", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "K"}}}], "shell""#,
    );
    fs::create_dir(dir.path().join("manifests")).unwrap();
    fs::write(dir.path().join("manifests/a.yaml"), text).unwrap();
    fs::write(dir.path().join("keys.env"), "OTHER=1\n").unwrap();
    let source = DirectorySource::open(DirectoryOptions {
        paths: vec![dir.path().join("manifests")],
        secrets: vec![("keys".to_owned(), dir.path().join("keys.env"))],
        settings: CatalogSettings::directory(),
    })
    .unwrap();
    let problem = source.problems().remove(0).to_string();
    assert!(problem.contains("has no key K"), "{problem}");
    let revision = source.subscribe().borrow().revision;
    fs::write(dir.path().join("keys.env"), "K=1\n").unwrap();
    let catalog = wait_for(&source, |catalog| catalog.problems.is_empty());
    assert_ne!(catalog.revision, revision);
    assert_eq!(catalog.stats.compiled, 0);
}

#[test]
fn one_changed_file_is_one_compile() {
    let dir = TempDir::new().unwrap();
    for number in 0..30 {
        fs::write(dir.path().join(format!("{number}.yaml")), tool(&format!("t{number}"), "1")).unwrap();
    }
    let source = open(dir.path());
    fs::write(dir.path().join("7.yaml"), tool("t7", "2")).unwrap();
    let catalog = wait_for(&source, |catalog| state(catalog).contains("t7: 2"));
    assert_eq!((catalog.stats.compiled, catalog.stats.reused), (1, 29));
}

#[test]
fn a_path_that_is_not_there_is_an_error() {
    let dir = TempDir::new().unwrap();
    let options = DirectoryOptions {
        paths: vec![dir.path().join("nowhere")],
        secrets: Vec::new(),
        settings: CatalogSettings::directory(),
    };
    let error = DirectorySource::open(options).err().unwrap().to_string();
    assert!(error.contains("nowhere: there is no such file or folder"), "{error}");
}
