//! Where other systems lose requests, and we must not (SEARCH.md, LESSONS.md): each test is one kind of failure.

use mcc_catalog::model::{ToolDocument, Visibility};
use mcc_catalog::seam::{Query, ToolIndex};
use mcc_index::MemoryIndex;
use mcc_index::fusion::{Legs, Plan, Weights, fuse};
use mcc_index::testsuite::{tool, visibility};

use crate::support::{index, keys, search};

type Line = (String, String, String, Vec<(String, String)>);

/// Forty tools of a usual installation.
fn tools() -> Vec<ToolDocument> {
    let lines: Vec<Line> = serde_json::from_str(include_str!("tools.json")).unwrap();
    lines
        .into_iter()
        .map(|(group, name, description, params)| ToolDocument {
            params,
            ..tool(&[&group], &name, &description)
        })
        .collect()
}

async fn usual() -> MemoryIndex {
    index(&tools()).await
}

async fn first(index: &dyn ToolIndex, text: &str) -> String {
    keys(index, text, 1).await.into_iter().next().unwrap_or_default()
}

#[tokio::test]
async fn question_words_do_not_rank() {
    let mut tools = tools();
    // A tool full of question words.
    tools.push(tool(
        &["quiz"],
        "ask",
        "What is it? Who can it be, when and where? How would you find out, please?",
    ));
    let index = index(&tools).await;
    assert_eq!(
        first(&index, "Could you please tell me what it will cost when I convert my currency?").await,
        "finance.convert_currency"
    );
    assert_eq!(first(&index, "who are the members and where is the channel").await, "slack.list_members");
    assert!(!keys(&index, "what would the weather be like", 2).await.contains(&"quiz.ask".to_owned()));
}

#[tokio::test]
async fn meaningful_words_are_no_stop_words() {
    let index = usual().await;
    for (query, key) in [
        ("table", "postgres.describe_table"),
        ("server", "kube.restart_server"),
        ("get the key", "redis.get_key"),
        ("text", "text.translate_text"),
        ("list", "postgres.list_schemas"),
    ] {
        let found = keys(&index, query, 3).await;
        assert!(found.contains(&key.to_owned()), "{query}: {found:?}");
    }
}

#[tokio::test]
async fn a_request_of_stop_words_alone_still_finds() {
    let mut tools = tools();
    tools.push(tool(&["user"], "who_am_i", "Name and groups of the caller"));
    assert_eq!(first(&index(&tools).await, "who am I?").await, "user.who_am_i");
}

#[tokio::test]
async fn identifiers_meet_in_every_style() {
    let index = usual().await;
    for (query, key) in [
        ("create_pull_request from my branch", "github.createPullRequest"),
        ("pull-request create now", "github.createPullRequest"),
        ("reverseGeocode these coordinates", "geo.reverse_geocode"),
        ("fetch webpage", "web.fetchWebPage"),
        ("web pages", "web.fetchWebPage"),
        ("extractAudioFromVideo", "media.extract_audio"),
    ] {
        assert_eq!(first(&index, query).await, key, "{query}");
    }
}

#[tokio::test]
async fn groups_are_searched() {
    let index = usual().await;
    for (query, key) in [
        ("post something on slack", "slack.post_message"),
        ("jira comment", "jira.add_comment"),
        ("redis ttl", "redis.expire_key"),
        ("issues on github", "github.listIssues"),
    ] {
        assert_eq!(first(&index, query).await, key, "{query}");
    }
}

#[tokio::test]
async fn inflections_are_found() {
    let index = usual().await;
    for (query, key) in [
        ("translating texts", "text.translate_text"),
        ("resized images", "media.resize_image"),
        ("renting cars", "travel.rent_car"),
        ("tracked parcels", "shop.track_parcel"),
    ] {
        assert_eq!(first(&index, query).await, key, "{query}");
    }
}

#[tokio::test]
async fn parameters_are_searched() {
    let index = usual().await;
    assert_eq!(first(&index, "iban").await, "finance.convert_currency");
    assert_eq!(first(&index, "attach a file as attachment").await, "mail.send_mail");
    assert_eq!(first(&index, "ticker symbol").await, "finance.stock_price");
}

#[tokio::test]
async fn keywords_are_searched() {
    let mut tools = tools();
    tools[24].keywords = vec!["equities".to_owned(), "NASDAQ".to_owned()];
    let index = index(&tools).await;
    assert_eq!(first(&index, "nasdaq equities").await, "finance.stock_price");
}

/// Both signals add up: what is second in both lists comes before what leads a single one.
#[test]
fn lists_are_fused() {
    let legs = Legs {
        sparse: vec![("words", 12.0), ("both", 10.0), ("few words", 4.0)],
        dense: vec![vec![("meaning", 0.5), ("both", 0.45), ("little meaning", 0.2)]],
    };
    let weights = Weights { dense: 8.0, clause: 0.5, multilingual: false };
    let mut found = fuse(&Plan::new("weather"), &legs, &[], weights);
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let keys: Vec<&str> = found.iter().map(|&(key, _)| key).collect();
    assert_eq!(keys, ["both", "meaning", "words", "little meaning", "few words"]);
}

/// Where both lists hold the same tools, the answer still has as many as were asked for.
#[tokio::test]
async fn no_slot_stays_empty() {
    let index = usual().await;
    for limit in [1, 5, 10, 30] {
        let found = keys(&index, "send a message to the people in a channel", limit).await;
        assert_eq!(found.len(), limit);
        let mut distinct = found.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), limit, "{found:?}");
    }
}

#[tokio::test]
async fn several_intents() {
    let index = usual().await;
    for (query, right) in [
        (
            "Find flights to Rome, book a hotel there for three nights, and rent a car at the airport",
            &["travel.search_flights", "travel.book_hotel", "travel.rent_car"] as &[&str],
        ),
        (
            "Transcribe the recording, then summarize it and send it by e-mail to the customer. Also put an appointment into my calendar",
            &["media.transcribe", "text.summarize", "mail.send_mail", "calendar.create_event"],
        ),
        (
            "Take a screenshot of the website; resize the picture; post it to the design channel",
            &["web.take_screenshot", "media.resize_image", "slack.post_message"],
        ),
        (
            "What is the price of the share? Convert it to euros and write an invoice for the customer",
            &["finance.stock_price", "finance.convert_currency", "finance.create_invoice"],
        ),
    ] {
        let found = keys(&index, query, 8).await;
        for key in right {
            assert!(found.contains(&(*key).to_owned()), "{query}: {key} is not in {found:?}");
        }
    }
}

#[tokio::test]
async fn several_names() {
    let index = usual().await;
    let mut found =
        keys(&index, "slack.post_message, createPullRequest, reverse geocode and expire-key", 4).await;
    found.sort_unstable();
    assert_eq!(
        found,
        ["geo.reverse_geocode", "github.createPullRequest", "redis.expire_key", "slack.post_message"]
    );
    assert_eq!(
        first(&index, "call `jira.add_comment` with the text 'the flight search is broken'").await,
        "jira.add_comment"
    );
}

#[tokio::test]
async fn requests_that_share_no_word() {
    let index = usual().await;
    for (query, key) in [
        ("will it rain tomorrow", "weather.forecast"),
        ("shrink my photo", "media.resize_image"),
        ("how much does Apple trade for on the market", "finance.stock_price"),
    ] {
        let found = keys(&index, query, 5).await;
        assert!(found.contains(&key.to_owned()), "{query}: {found:?}");
    }
}

#[tokio::test]
async fn scripts_without_spaces() {
    let mut tools = tools();
    tools.push(tool(&["cn"], "fapiao", "为客户开具发票"));
    tools.push(tool(&["jp"], "tenki", "都市の天気予報を返します"));
    tools.push(tool(&["kr"], "munseo", "문서를 요약합니다"));
    tools.push(tool(&["th"], "akat", "พยากรณ์อากาศของเมือง"));
    let index = index(&tools).await;
    for (query, key) in [
        ("发票", "cn.fapiao"),
        ("票", "cn.fapiao"),
        ("天気", "jp.tenki"),
        ("문서 요약", "kr.munseo"),
        ("อากาศวันนี้", "th.akat"),
    ] {
        let found = keys(&index, query, 3).await;
        assert!(found.contains(&key.to_owned()), "{query}: {found:?}");
    }
}

/// A request whose words nobody has, filtered: no unrelated tool gets a high score, and none gets one by being alone.
#[tokio::test]
async fn unrelated_tools_do_not_surface() {
    let index = usual().await;
    let caller = visibility(&["dns"], &[], &[]);
    let query = |text: &str, min_score| Query {
        text: text.to_owned(),
        min_score,
        limit: 10,
        visibility: caller.clone(),
    };
    let alone = index.search(&query("bake a chocolate cake", None)).await.unwrap();
    assert!(alone.iter().all(|hit| hit.score < 3.0), "{alone:?}");
    assert!(index.search(&query("bake a chocolate cake", Some(3.0))).await.unwrap().is_empty());
    // What nobody can know has no hit at all.
    assert!(search(&index, "ლობიო", 10).await.is_empty());
    assert!(search(&index, "", 10).await.is_empty());
    // The right tool has a useful score.
    let right = index.search(&query("resolve a host name", Some(3.0))).await.unwrap();
    assert_eq!(right[0].key, "dns.resolve_host");
}

#[tokio::test]
async fn the_same_request_gives_the_same_answer() {
    let (one, two) = (usual().await, usual().await);
    for text in ["send a message", "weather", "customer order state"] {
        assert_eq!(search(&one, text, 20).await, search(&two, text, 20).await);
    }
    let everything = Visibility::everything();
    let query = Query { text: "weather".to_owned(), min_score: None, limit: 3, visibility: everything };
    assert_eq!(one.search(&query).await.unwrap(), two.search(&query).await.unwrap());
}
