//! Qdrant killed, hung, wiped, slow, full, of the wrong form: the index says so, never shows too little or too much,
//! and goes on when Qdrant does.

use std::sync::Arc;
use std::time::Duration;

use mcc_catalog::model::{ToolDocument, Visibility};
use mcc_catalog::seam::{Embedder, IndexError, ToolIndex as _};
use mcc_index::testsuite::qdrant::{Double, Options, TestQdrant};
use mcc_index::testsuite::{tool, visibility};
use mcc_index::{QdrantIndex, QdrantSettings};

use super::{ask, bundled, connect, mails, renamed, unavailable};
use crate::support::Custom;

const TOOLS: usize = 60;

/// A double with [`TOOLS`] tools in it, and an index that waits `timeout`.
async fn broken_on_demand(test: &str, timeout: Duration) -> Option<(Double, QdrantIndex)> {
    let double = TestQdrant::double(test, &Options::default())?;
    connect(&double.url, "mcc", bundled()).replace(mails(TOOLS)).await.unwrap();
    let index = impatient(&double.url, timeout);
    Some((double, index))
}

fn impatient(url: &str, timeout: Duration) -> QdrantIndex {
    QdrantIndex::new(QdrantSettings { timeout, ..QdrantSettings::new(url) }, bundled()).unwrap()
}

/// Tries until the index is there again; a broken connection may take a moment to be noticed.
async fn recovered(index: &QdrantIndex) {
    for _ in 0..200 {
        if let Ok(hits) = ask(index, "send a mail", &Visibility::everything()).await {
            assert_eq!(hits.len(), 50);
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("not recovered: {}", unavailable(index).await);
}

#[tokio::test]
async fn killed_and_started_again() {
    let Some((mut double, index)) =
        broken_on_demand("qdrant::faults::killed_and_started_again", Duration::from_secs(20)).await
    else {
        return;
    };
    recovered(&index).await;
    double.kill();
    let reason = unavailable(&index).await;
    assert!(reason.contains(&double.url) && reason.contains("check its address"), "{reason}");
    assert!(matches!(index.check().await, Err(IndexError::Unavailable(_))));
    assert!(matches!(index.replace(mails(3)).await, Err(IndexError::Unavailable(_))));
    double.restart(true).unwrap();
    recovered(&index).await;
    index.check().await.unwrap();
    assert_eq!(index.len().await.unwrap(), TOOLS, "what was acknowledged is there");
}

#[tokio::test]
async fn hung() {
    let Some((double, index)) = broken_on_demand("qdrant::faults::hung", Duration::from_millis(700)).await
    else {
        return;
    };
    double.hang().unwrap();
    let reason = unavailable(&index).await;
    assert!(reason.contains("didn't search within 700ms"), "{reason}");
    double.resume().unwrap();
    recovered(&index).await;
}

#[tokio::test]
async fn wiped() {
    let Some((mut double, index)) = broken_on_demand("qdrant::faults::wiped", Duration::from_secs(20)).await
    else {
        return;
    };
    double.restart(false).unwrap();
    let mut reason = unavailable(&index).await;
    // The connection was lost first.
    for _ in 0..100 {
        if reason.contains("mcc-operator builds it") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        reason = unavailable(&index).await;
    }
    assert!(reason.contains("no index behind the alias mcc_tools: mcc-operator builds it"), "{reason}");
    assert!(matches!(index.len().await, Err(IndexError::Unavailable(_))));
    assert!(matches!(index.stored().await, Err(IndexError::Unavailable(_))));
    // One changed tool must not look like the whole catalog.
    let one = mails(1);
    assert!(matches!(index.update(one, Vec::new()).await, Err(IndexError::Unavailable(_))));
    assert!(matches!(
        index.update(Vec::new(), vec!["g0.send_0".into()]).await,
        Err(IndexError::Unavailable(_))
    ));
    index.replace(mails(TOOLS)).await.unwrap();
    recovered(&index).await;
}

#[tokio::test]
async fn slow() {
    let Some((double, patient)) = broken_on_demand("qdrant::faults::slow", Duration::from_secs(20)).await
    else {
        return;
    };
    double.fault("slow 400").unwrap();
    recovered(&patient).await;
    double.fault("slow 30000").unwrap();
    let reason = unavailable(&impatient(&double.url, Duration::from_millis(700))).await;
    assert!(reason.contains("within 700ms"), "{reason}");
    double.fault("").unwrap();
    recovered(&patient).await;
}

#[tokio::test]
async fn full_disk() {
    let Some((double, index)) = broken_on_demand("qdrant::faults::full_disk", Duration::from_secs(20)).await
    else {
        return;
    };
    double.fault("full").unwrap();
    let mut tools = mails(TOOLS);
    tools.push(tool(&["new"], "almanac", "Facts of the year"));
    for result in [index.replace(tools.clone()).await, index.update(tools.clone(), Vec::new()).await] {
        match result {
            Err(IndexError::Unavailable(reason)) => assert!(reason.contains("No space left"), "{reason}"),
            other => panic!("{other:?}"),
        }
    }
    recovered(&index).await;
    double.fault("").unwrap();
    index.replace(tools).await.unwrap();
    assert_eq!(index.len().await.unwrap(), TOOLS + 1);
}

/// Writes wait for a Qdrant that starts.
#[tokio::test]
async fn refusing_for_a_moment() {
    let Some((double, index)) =
        broken_on_demand("qdrant::faults::refusing_for_a_moment", Duration::from_secs(20)).await
    else {
        return;
    };
    double.fault("refuse").unwrap();
    let reason = unavailable(&index).await;
    assert!(reason.contains("Service is starting up"), "{reason}");
    let more = mails(TOOLS + 1);
    let (written, ()) = tokio::join!(index.replace(more), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        double.fault("").unwrap();
    });
    written.unwrap();
    assert_eq!(index.len().await.unwrap(), TOOLS + 1);
}

/// Killed while the first index is built: nothing is found until the rest is there.
#[tokio::test]
async fn killed_while_building() {
    let test = "qdrant::faults::killed_while_building";
    let Some(mut double) = TestQdrant::double(test, &Options::default()) else { return };
    let settings = QdrantSettings {
        batch: 1,
        retries: 0,
        timeout: Duration::from_secs(20),
        ..QdrantSettings::new(&double.url)
    };
    let builder = Arc::new(QdrantIndex::new(settings, bundled()).unwrap());
    double.fault("slow 20").unwrap();
    let building = tokio::spawn({
        let builder = Arc::clone(&builder);
        async move { builder.replace(mails(TOOLS)).await }
    });
    // Some are there by then, and not all: sixty writes of 20 ms each, after a dozen other calls.
    let other = connect(&double.url, "mcc", bundled());
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(unavailable(&other).await.contains("mcc-operator builds it"), "searched before it is complete");
    double.kill();
    assert!(building.await.unwrap().is_err());
    double.fault("").unwrap();
    double.restart(true).unwrap();
    for _ in 0..100 {
        if unavailable(&other).await.contains("mcc-operator builds it") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    builder.replace(mails(TOOLS)).await.unwrap();
    assert_eq!(other.len().await.unwrap(), TOOLS);
    recovered(&other).await;
}

#[tokio::test]
async fn wrong_dimension() {
    let Some(server) = TestQdrant::start("qdrant::faults::wrong_dimension") else { return };
    let shorter = Custom { dimensions: Some(128), honest: true, ..Custom::default() };
    let wrong = connect(&server.url, &server.prefix, Arc::new(shorter));
    wrong.replace(mails(TOOLS)).await.unwrap();
    // The same name of the embedder, and vectors of another length.
    let right = connect(&server.url, &server.prefix, bundled());
    for result in [
        ask(&right, "send a mail", &Visibility::everything()).await.map(|_| ()),
        right.update(vec![tool(&["new"], "almanac", "Facts of the year")], Vec::new()).await,
    ] {
        match result {
            Err(IndexError::Refused(reason)) => {
                assert!(reason.contains("expected dim: 128, got 256"), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
    right.replace(mails(TOOLS)).await.unwrap();
    recovered(&right).await;
    // An embedder that breaks its own contract changes nothing.
    let broken = Custom { dimensions: Some(3), ..Custom::default() };
    let broken = connect(&server.url, &server.prefix, Arc::new(broken));
    let changed = vec![tool(&["g0"], "send_0", "Something else")];
    assert!(matches!(broken.update(changed, Vec::new()).await, Err(IndexError::Refused(_))));
    recovered(&right).await;
}

#[tokio::test]
async fn another_embedder_is_refused_its_search() {
    let Some(server) = TestQdrant::start("qdrant::faults::another_embedder_is_refused_its_search") else {
        return;
    };
    connect(&server.url, &server.prefix, bundled()).replace(mails(TOOLS)).await.unwrap();
    let other = connect(&server.url, &server.prefix, renamed("another-model"));
    let reason = unavailable(&other).await;
    assert!(reason.contains("another embedder") && reason.contains("dense_another-model"), "{reason}");
    // It would write vectors of its model among those of the other.
    let written = other.update(vec![tool(&["new"], "almanac", "Facts")], Vec::new()).await;
    assert!(matches!(written, Err(IndexError::Unavailable(_))), "{written:?}");
}

/// A tool that changed its groups is shown by its new groups at once, to nobody by its old ones.
#[tokio::test]
async fn revoked_at_once() {
    let Some(server) = TestQdrant::start("qdrant::faults::revoked_at_once") else { return };
    let index = connect(&server.url, &server.prefix, bundled());
    let mut tools: Vec<ToolDocument> = mails(TOOLS);
    index.replace(tools.clone()).await.unwrap();
    let caller = visibility(&["g1"], &[], &[]);
    assert!(!ask(&index, "send a mail", &caller).await.unwrap().is_empty());
    for tool in &mut tools {
        tool.facets.groups = vec!["other".to_owned()];
        tool.facets.prefixes = vec!["other".to_owned()];
    }
    let embedder = Arc::new(Custom::default());
    let writer = connect(&server.url, &server.prefix, Arc::clone(&embedder) as Arc<dyn Embedder>);
    writer.update(tools, Vec::new()).await.unwrap();
    assert_eq!(ask(&index, "send a mail", &caller).await.unwrap(), []);
    assert_eq!(ask(&index, "send a mail", &visibility(&["other"], &[], &[])).await.unwrap().len(), 50);
}
