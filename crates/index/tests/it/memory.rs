//! The index in memory.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcc_catalog::model::{ToolDocument, Visibility};
use mcc_catalog::seam::{Embedder, Query, ToolIndex};
use mcc_index::MemoryIndex;
use mcc_index::testsuite::{contract, tool, visibility};

use crate::support::{Custom, index, search};

#[tokio::test]
async fn keeps_the_contract() {
    contract(async || index(&[]).await).await;
}

#[tokio::test]
async fn documents_it_has_cost_nothing() {
    let embedder = Arc::new(Custom::default());
    let index = MemoryIndex::new(Arc::clone(&embedder) as Arc<dyn Embedder>);
    let mut tools = many(100);
    index.replace(tools.clone()).await.unwrap();
    index.replace(tools.clone()).await.unwrap();
    tools[3] = tool(&["g3"], "tool_3", "Something else");
    index.replace(tools.clone()).await.unwrap();
    index.update(tools, Vec::new()).await.unwrap();
    assert_eq!(embedder.documents.load(Ordering::SeqCst), 101);
}

#[tokio::test]
async fn an_embedder_that_breaks_its_contract_is_refused() {
    let index = MemoryIndex::new(Arc::new(Custom { dimensions: Some(3), ..Custom::default() }));
    let error = index.replace(many(2)).await.unwrap_err().to_string();
    assert!(error.contains("256 numbers"), "{error}");
    assert_eq!(index.len().await.unwrap(), 0);
}

fn many(n: usize) -> Vec<ToolDocument> {
    let (verbs, things) = (
        ["read", "write", "send", "delete", "convert"],
        ["mail", "file", "page", "invoice", "map", "song", "table"],
    );
    (0..n)
        .map(|at| {
            let (verb, thing) = (verbs[at % 5], things[at / 5 % 7]);
            tool(
                &[&format!("g{}", at % 9)],
                &format!("tool_{at}"),
                &format!("{verb} a {thing} with number {at}"),
            )
        })
        .collect()
}

/// Scores are the same however the documents came in.
#[tokio::test]
async fn updates_give_what_a_fresh_index_gives() {
    let tools = many(300);
    let fresh = index(&tools).await;
    let grown = index(&many(40)).await;
    for (at, chunk) in tools.chunks(7).enumerate() {
        // Changed first, and put right afterwards.
        let wrong: Vec<ToolDocument> = chunk
            .iter()
            .map(|right| ToolDocument {
                digest: format!("{at}"),
                description: "wrong".into(),
                ..right.clone()
            })
            .collect();
        grown.update(wrong, vec![format!("g1.tool_{at}")]).await.unwrap();
    }
    for chunk in tools.chunks(13).rev() {
        grown.update(chunk.to_vec(), vec!["no.such".to_owned()]).await.unwrap();
    }
    assert_eq!(grown.len().await.unwrap(), 300);
    for text in ["send a mail", "convert the invoice", "tool_77", "number 12", "a song and a map of rivers"] {
        assert_eq!(search(&grown, text, 50).await, search(&fresh, text, 50).await, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_during_updates_never_lose_tools() {
    let index = Arc::new(index(&many(200)).await);
    let writer = Arc::clone(&index);
    let writing = tokio::spawn(async move {
        for round in 0..40 {
            let mut changed = many(200).swap_remove(round * 3 % 150 + 7);
            changed.digest = format!("round {round}");
            writer.update(vec![changed], Vec::new()).await.unwrap();
        }
    });
    while !writing.is_finished() {
        assert_eq!(search(&*index, "send a mail", 50).await.len(), 50);
        assert_eq!(index.len().await.unwrap(), 200);
        tokio::task::yield_now().await;
    }
    writing.await.unwrap();
}

#[tokio::test]
async fn words_that_no_visible_tool_has() {
    let index = index(&[
        tool(&["public"], "send_mail", "Sends letters to people"),
        tool(&["hidden"], "unicorn", "Draws a unicorn"),
    ])
    .await;
    let request = "please send a letter to a unicorn by pigeon";
    let unmatched = async |visibility| index.unmatched_words(request, &visibility).await.unwrap();
    assert_eq!(unmatched(Visibility::everything()).await, ["pigeon"]);
    assert_eq!(unmatched(Visibility::public()).await, ["unicorn", "pigeon"]);
}

/// A hidden tool's name in a list of names must not change what is found.
#[tokio::test]
async fn hidden_names_leave_no_trace() {
    let tools =
        [tool(&["public"], "map", "Draws a map"), tool(&["public"], "atlas", "Has many maps of the world")];
    let caller = visibility(&[], &[], &[]);
    let open = index(&tools).await;
    let hiding = index(&[tools.as_slice(), &[tool(&["secret"], "globe", "Turns")]].concat()).await;
    let ask =
        |text: &str| Query { text: text.to_owned(), min_score: None, limit: 9, visibility: caller.clone() };
    let keys = |hits: Vec<mcc_catalog::seam::Hit>| hits.into_iter().map(|hit| hit.key).collect::<Vec<_>>();
    let query = ask("globe, map");
    assert_eq!(keys(open.search(&query).await.unwrap()), keys(hiding.search(&query).await.unwrap()));
}

#[tokio::test]
async fn hostile_requests() {
    let index = index(&many(20)).await;
    for text in [
        "",
        " ",
        "\0",
        "…",
        "a".repeat(100_000).as_str(),
        "search, ".repeat(5_000).as_str(),
        "\u{202e}\u{0301}",
    ] {
        let _ = search(&index, text, 5).await;
    }
}
