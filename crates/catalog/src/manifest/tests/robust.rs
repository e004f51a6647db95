//! Nothing that stands in a file makes the reader panic, and every problem has a place.

use std::path::Path;

use proptest::prelude::*;

use super::super::parse;
use super::{json, yaml};
use crate::testing::cases;

const SAMPLES: [&str; 3] = [
    "apiVersion: mcc.dev/v1alpha1\nkind: Tool\nmetadata: {name: t, labels: {a: b}}\nspec:\n  groups: [a, b]\n  \
     params:\n  - &p {name: q, type: int, default: 5, minimum: 1}\n  - <<: *p\n    name: r\n  env:\n  - name: A\n    \
     value: \"x\"\n  shell:\n    script: |\n      echo {{ q }}\n---\n",
    "apiVersion: mcc.dev/v1alpha1\nkind: UserGrant\nmetadata: {name: g}\nspec:\n  subject: {kind: User, name: alice}\n  \
     groups: [academic, osint.gov.*]\n  expiresAt: 2027-01-01T00:00:00Z\n",
    "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: aGVsbG8=}}\n\
     - apiVersion: mcc.dev/v1alpha1\n  kind: ToolGroup\n  metadata: {name: g}\n  spec: {defaults: {image: x}}\n",
];

/// What is put in where a sample is cut.
const SNIPPETS: [&str; 32] = [
    "\t", "\n", "\r", " ", ":", ": ", "- ", "-", "[", "]", "{", "}", "\"", "'", "#", "&a ", "*a", "<<: ",
    "|\n", ">", "!", "!!str ", "%", "@", "---\n", "...\n", "\u{feff}", "é😀", "yes", "010", "null", "\\",
];

#[derive(Clone, Debug)]
enum Edit {
    Insert(prop::sample::Index, usize),
    Delete(prop::sample::Index, prop::sample::Index),
    Duplicate(prop::sample::Index, prop::sample::Index),
    Flip(prop::sample::Index, u8),
}

fn edit() -> impl Strategy<Value = Edit> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        (index(), 0..SNIPPETS.len()).prop_map(|(at, what)| Edit::Insert(at, what)),
        (index(), index()).prop_map(|(from, to)| Edit::Delete(from, to)),
        (index(), index()).prop_map(|(from, to)| Edit::Duplicate(from, to)),
        (index(), any::<u8>()).prop_map(|(at, byte)| Edit::Flip(at, byte)),
    ]
}

fn apply(mut bytes: Vec<u8>, edits: &[Edit]) -> Vec<u8> {
    for edit in edits {
        let at = |index: &prop::sample::Index, bytes: &[u8]| index.index(bytes.len() + 1);
        let range = |a: &prop::sample::Index, b: &prop::sample::Index, bytes: &[u8]| {
            let (a, b) = (at(a, bytes), at(b, bytes));
            a.min(b)..a.max(b).min(a.min(b) + 40)
        };
        match edit {
            Edit::Insert(index, what) => {
                let at = at(index, &bytes);
                bytes.splice(at..at, SNIPPETS[*what].bytes());
            }
            Edit::Delete(a, b) => drop(bytes.drain(range(a, b, &bytes))),
            Edit::Duplicate(a, b) => {
                let range = range(a, b, &bytes);
                let copy = bytes[range.clone()].to_vec();
                bytes.splice(range.end..range.end, copy);
            }
            Edit::Flip(index, byte) if !bytes.is_empty() => {
                let at = index.index(bytes.len());
                bytes[at] ^= byte;
            }
            Edit::Flip(..) => {}
        }
    }
    bytes
}

fn check(file: &str, bytes: &[u8]) {
    let parsed = parse(Path::new(file), bytes);
    let lines = 1 + bytes.iter().filter(|&&b| b == b'\n' || b == b'\r').count();
    for problem in &parsed.problems {
        let place = problem.place.as_ref().unwrap_or_else(|| panic!("{problem} has no place"));
        assert!(place.line >= 1 && place.column >= 1 && place.line as usize <= lines + 1, "{problem}");
        assert!(!problem.message.is_empty() && !problem.fix.is_empty(), "{problem}");
    }
    for object in &parsed.objects {
        assert!(object.origin.place("spec").is_some());
    }
}

proptest! {
    #![proptest_config(cases(256, 4096))]

    #[test]
    fn mutated_manifests_never_panic(sample in 0..SAMPLES.len(), edits in prop::collection::vec(edit(), 1..6)) {
        let bytes = apply(SAMPLES[sample].as_bytes().to_vec(), &edits);
        check("f.yaml", &bytes);
    }

    #[test]
    fn mutated_json_never_panics(edits in prop::collection::vec(edit(), 1..6)) {
        let text = r#"{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "\u00e9", "b": ""}}"#;
        check("f.json", &apply(text.as_bytes().to_vec(), &edits));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check("f.yaml", &bytes);
        check("f.json", &bytes);
    }

    #[test]
    fn arbitrary_text_of_yaml_marks_never_panics(text in "[ \n\t:\\-\\[\\]{}&*!|>'\"#%a-c0-1<,?]{0,120}") {
        check("f.yaml", text.as_bytes());
        check("f.json", text.as_bytes());
    }
}

/// Anything quadratic in these sizes would run into the test runner's time-out.
#[test]
fn hostile_shapes_are_refused() {
    let wide: String = (0..50_000).map(|n| format!("k{n}: v\n")).collect();
    let deep = "- ".repeat(50_000);
    let flow = "[".repeat(200_000);
    let braces = "{\"a\":".repeat(200_000);
    let aliases = format!("a: &a [x]\nb: [{}]\n", "*a,".repeat(150_000));
    for text in [&wide, &deep, &flow, &braces, &aliases] {
        assert!(!yaml(text).problems.is_empty());
        assert!(!json(text).problems.is_empty());
    }
}
