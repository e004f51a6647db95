//! Another embedder: a new collection beside the old one, and an alias that moves in one step.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcc_catalog::model::Visibility;
use mcc_catalog::seam::{IndexError, ToolIndex as _};
use mcc_index::QdrantIndex;
use mcc_index::QdrantSettings;
use mcc_index::testsuite::qdrant::TestQdrant;

use super::{ask, bundled, connect, mails, renamed, unavailable};

const TOOLS: usize = 400;

/// Searches go on: by the program of before until the switch, by the new one from then on, and never in a collection
/// that is half built.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_gap_in_search() {
    let Some(server) = TestQdrant::start("qdrant::switch::no_gap_in_search") else { return };
    let before = Arc::new(connect(&server.url, &server.prefix, bundled()));
    before.replace(mails(TOOLS)).await.unwrap();
    let after = Arc::new(connect(&server.url, &server.prefix, renamed("new-model")));
    let done = Arc::new(AtomicBool::new(false));
    let searching = tokio::spawn({
        let (before, after, done) = (Arc::clone(&before), Arc::clone(&after), Arc::clone(&done));
        async move {
            let (mut old, mut new) = (0, 0);
            while !(done.load(Ordering::SeqCst) && new > 5) {
                match ask(&*before, "send a mail", &Visibility::everything()).await {
                    Ok(hits) => {
                        assert_eq!(hits.len(), 50);
                        assert_eq!(new, 0, "the alias moves once");
                        old += 1;
                    }
                    Err(IndexError::Unavailable(reason)) => {
                        assert!(reason.contains("another embedder"), "{reason}");
                        let hits = ask(&*after, "send a mail", &Visibility::everything()).await.unwrap();
                        assert_eq!(hits.len(), 50);
                        assert_eq!(after.len().await.unwrap(), TOOLS, "complete");
                        new += 1;
                    }
                    Err(other) => panic!("{other}"),
                }
            }
            (old, new)
        }
    });
    // One tool a write, so that the building takes a while.
    let settings =
        QdrantSettings { batch: 1, prefix: server.prefix.clone(), ..QdrantSettings::new(&server.url) };
    let builder = QdrantIndex::new(settings, renamed("new-model")).unwrap();
    builder.replace(mails(TOOLS)).await.unwrap();
    done.store(true, Ordering::SeqCst);
    let (old, new) = searching.await.unwrap();
    eprintln!("{old} searches before the switch, {new} after");
    assert!(old > 0 && new > 5);

    let (old_collection, _) = before.collection();
    assert_eq!(builder.delete_superseded().await.unwrap(), [old_collection]);
    assert_eq!(builder.delete_superseded().await.unwrap(), Vec::<String>::new());
    assert!(unavailable(&*before).await.contains("another embedder"));
    assert_eq!(ask(&*after, "send a mail", &Visibility::everything()).await.unwrap().len(), 50);
}

/// Going back to a collection that is still there costs only what changed meanwhile.
#[tokio::test]
async fn there_and_back() {
    let Some(server) = TestQdrant::start("qdrant::switch::there_and_back") else { return };
    let first = connect(&server.url, &server.prefix, bundled());
    let second = connect(&server.url, &server.prefix, renamed("Model/2 (new)"));
    first.replace(mails(20)).await.unwrap();
    second.replace(mails(30)).await.unwrap();
    assert_eq!(second.len().await.unwrap(), 30);
    unavailable(&first).await;
    first.replace(mails(10)).await.unwrap();
    assert_eq!(first.len().await.unwrap(), 10);
    unavailable(&second).await;
}
