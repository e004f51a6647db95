//! The contract of every index, and what only Qdrant could get wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcc_catalog::model::{ToolDocument, Visibility};
use mcc_catalog::seam::{Embedder, ToolIndex as _};
use mcc_index::testsuite::qdrant::TestQdrant;
use mcc_index::testsuite::{contract, tool, visibility};

use super::{ask, built, bundled, connect, mails};
use crate::support::{Custom, index, search};

#[tokio::test]
async fn keeps_the_contract() {
    let Some(server) = TestQdrant::start("qdrant::contract::keeps_the_contract") else { return };
    let made = AtomicUsize::new(0);
    contract(async || {
        let prefix = format!("{}-{}", server.prefix, made.fetch_add(1, Ordering::Relaxed));
        let index = connect(&server.url, &prefix, bundled());
        index.replace(Vec::new()).await.unwrap();
        index
    })
    .await;
}

#[tokio::test]
async fn documents_it_has_cost_nothing() {
    let Some(server) = TestQdrant::start("qdrant::contract::documents_it_has_cost_nothing") else { return };
    let embedder = Arc::new(Custom::default());
    let index = connect(&server.url, &server.prefix, Arc::clone(&embedder) as Arc<dyn Embedder>);
    let mut tools = mails(300);
    index.replace(tools.clone()).await.unwrap();
    index.replace(tools.clone()).await.unwrap();
    tools[3] = tool(&["g3"], "send_3", "Something else");
    index.replace(tools.clone()).await.unwrap();
    index.update(tools.clone(), Vec::new()).await.unwrap();
    // Another process, that has no memory of them.
    let later = connect(&server.url, &server.prefix, Arc::clone(&embedder) as Arc<dyn Embedder>);
    later.replace(tools).await.unwrap();
    assert_eq!(embedder.documents.load(Ordering::SeqCst), 301);
}

/// Inverse document frequencies forget what was changed and removed.
#[tokio::test]
async fn updates_give_what_a_fresh_index_gives() {
    let tools = mails(300);
    let Some((_server, grown)) =
        built("qdrant::contract::updates_give_what_a_fresh_index_gives", &tools[..40]).await
    else {
        return;
    };
    for chunk in tools.chunks(37) {
        let wrong: Vec<ToolDocument> = chunk
            .iter()
            .map(|right| ToolDocument {
                digest: "wrong".into(),
                description: "wrong".into(),
                ..right.clone()
            })
            .collect();
        grown.update(wrong, vec!["g1.send_1".to_owned()]).await.unwrap();
    }
    for chunk in tools.chunks(53).rev() {
        grown.update(chunk.to_vec(), vec!["no.such".to_owned()]).await.unwrap();
    }
    assert_eq!(grown.len().await.unwrap(), 300);
    let fresh = index(&tools).await;
    assert_eq!(grown.stored().await.unwrap(), fresh.stored().await.unwrap());
    for text in ["send a mail", "wrong", "send_77", "number 12", "mail for people and a mail for nobody"] {
        super::order::same(&search(&grown, text, 50).await, &search(&fresh, text, 50).await, text).unwrap();
    }
}

/// More tools of one name, and more equal tools, than a page of a leg holds.
#[tokio::test]
async fn many_equal_tools() {
    let tools: Vec<ToolDocument> =
        (0..700).map(|at| tool(&[&format!("g{}", at * 7919 % 700)], "search", "Searches")).collect();
    let Some((_server, qdrant)) = built("qdrant::contract::many_equal_tools", &tools).await else { return };
    let memory = index(&tools).await;
    for text in ["search", "searches for something", "search, search"] {
        let (found, expected) = (search(&qdrant, text, 1000).await, search(&memory, text, 1000).await);
        super::order::same(&found, &expected, text).unwrap();
        assert!(found.len() >= 100, "{text}: {}", found.len());
    }
}

#[tokio::test]
async fn a_caller_with_five_thousand_granted_keys() {
    let tools = mails(6000);
    let Some((_server, index)) =
        built("qdrant::contract::a_caller_with_five_thousand_granted_keys", &tools).await
    else {
        return;
    };
    let granted: Vec<&str> = tools[500..5500].iter().map(|tool| tool.facets.key.as_str()).collect();
    let caller = visibility(&[], &[], &granted);
    for (text, is) in [("send_499", false), ("send_500", true), ("send_5499", true), ("send_5500", false)] {
        let hits = ask(&index, text, &caller).await.unwrap();
        assert_eq!(hits.len(), 50, "{text}");
        assert!(hits.iter().all(|hit| caller.keys.contains(&hit.key)), "{text}");
        assert_eq!(hits[0].key.ends_with(text), is, "{text}: {:?}", hits[0]);
    }
}

#[tokio::test]
async fn hostile_requests_and_callers() {
    let tools = mails(20);
    let Some((_server, index)) = built("qdrant::contract::hostile_requests_and_callers", &tools).await else {
        return;
    };
    let everything = Visibility::everything();
    for text in ["", " ", "\0", "…", &"a".repeat(100_000), &"search, ".repeat(5_000), "\u{202e}\u{0301}"] {
        ask(&index, text, &everything).await.unwrap();
    }
    // No grant at all, not even `public`: an empty filter must not be no filter.
    assert_eq!(ask(&index, "send a mail", &Visibility::default()).await.unwrap(), []);
    for odd in ["", "g1\0", "g1\" or true", "*", "g1.*"] {
        let caller = visibility(&[odd], &[odd], &[odd]);
        assert_eq!(ask(&index, "send a mail", &caller).await.unwrap(), [], "{odd:?}");
    }
}

#[tokio::test]
async fn words_that_no_visible_tool_has() {
    let tools = [
        tool(&["public"], "send_mail", "Sends letters to people"),
        tool(&["hidden"], "unicorn", "Draws a unicorn"),
    ];
    let Some((_server, index)) = built("qdrant::contract::words_that_no_visible_tool_has", &tools).await
    else {
        return;
    };
    let text = "please send a letter to a unicorn by pigeon";
    let unmatched = async |visibility| index.unmatched_words(text, &visibility).await.unwrap();
    assert_eq!(unmatched(Visibility::everything()).await, ["pigeon"]);
    assert_eq!(unmatched(Visibility::public()).await, ["unicorn", "pigeon"]);
    assert_eq!(unmatched(Visibility::default()).await.len(), 4);
    assert_eq!(index.unmatched_words("", &Visibility::everything()).await.unwrap(), Vec::<String>::new());
}

/// Rule 2: the index is derived. What is missing comes back, what doesn't belong goes.
#[tokio::test]
async fn replace_mends_what_others_did() {
    let tools = mails(50);
    let Some((server, index)) = built("qdrant::contract::replace_mends_what_others_did", &tools).await else {
        return;
    };
    let other = connect(&server.url, &server.prefix, bundled());
    let gone: Vec<String> = tools[..20].iter().map(|tool| tool.facets.key.clone()).collect();
    other.update(vec![tool(&["x"], "stray", "Not in the catalog")], gone).await.unwrap();
    assert_eq!(index.stored().await.unwrap().len(), 31);
    index.replace(tools.clone()).await.unwrap();
    let expected: Vec<String> = index.stored().await.unwrap().into_keys().collect();
    let mut keys: Vec<String> = tools.into_iter().map(|tool| tool.facets.key).collect();
    keys.sort_unstable();
    assert_eq!(expected, keys);
}
