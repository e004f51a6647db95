//! What has been reached on the public sets stays reached.

use mcc_index::evaluate::measure;
use mcc_index::names;

use crate::support::{index, keys, sets};

#[tokio::test]
async fn mean_ndcg_with_the_default_embedder() {
    let Some(sets) = sets("mean_ndcg_with_the_default_embedder") else { return };
    let mut sum = 0.0;
    for set in &sets {
        let figures = measure(&index(&set.tools).await, set).await.unwrap();
        eprintln!("{:14} {figures:.3?}", set.name);
        sum += figures.ndcg_10;
    }
    let mean = sum / 4.0;
    eprintln!("mean nDCG@10 {mean:.4}");
    assert!(mean >= 0.636, "mean nDCG@10 {mean:.4}");
}

/// Every spelling of every name of every set: a tool of that name is first.
#[tokio::test]
async fn a_name_in_any_spelling_is_first() {
    let Some(sets) = sets("a_name_in_any_spelling_is_first") else { return };
    // The steps have the tools of livemcp.
    for set in sets.iter().filter(|set| set.name != "livemcp_steps") {
        let index = index(&set.tools).await;
        for tool in &set.tools {
            for spelling in spellings(&tool.facets.groups, &tool.name) {
                let found = keys(&index, &spelling, 1).await;
                let first = set.tools.iter().find(|tool| Some(&tool.facets.key) == found.first());
                let same = first.is_some_and(|first| names::of_tool(first).contains(&names::fold(&spelling)));
                assert!(same, "{}: {spelling:?} found {found:?}", set.name);
            }
        }
    }
}

fn spellings(groups: &[String], name: &str) -> Vec<String> {
    let words: Vec<String> = name.split(['_', '-', '.', ' ', '/']).map(str::to_owned).collect();
    let pascal: String = words
        .iter()
        .map(|word| {
            word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)).collect::<String>()
        })
        .collect();
    let mut camel = pascal.clone();
    if let Some(first) = camel.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    // `getUserById` as words.
    let spaced: String = name
        .char_indices()
        .flat_map(|(at, c)| {
            let border = c.is_uppercase() && name[..at].ends_with(char::is_lowercase);
            border.then_some(' ').into_iter().chain([c])
        })
        .collect();
    let mut spellings = vec![
        name.to_owned(),
        name.to_uppercase(),
        format!("`{name}`"),
        spaced.to_lowercase(),
        spaced.replace(' ', "_").to_lowercase(),
        words.join(" "),
        words.join("_"),
        words.join("-"),
        words.join("."),
        pascal,
        camel,
    ];
    if !groups.is_empty() {
        for separator in [".", " ", "/", "_"] {
            spellings.push(format!("{}{separator}{name}", groups.join(separator)));
        }
    }
    spellings.sort_unstable();
    spellings.dedup();
    spellings
}
