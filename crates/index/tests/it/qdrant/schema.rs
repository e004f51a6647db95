//! The number of what is stored.

use mcc_catalog::model::ToolDocument;
use mcc_index::fusion::Plan;
use mcc_index::testsuite::tool;
use mcc_index::{SCHEMA, bm25f, dense_text, names};

/// What is stored of some tools and looked up for them, when [`SCHEMA`] got its number.
const STORED: (u32, u64) = (1, 14_653_290_757_123_467_372);

#[test]
fn whatever_changes_what_is_stored_raises_the_schema() {
    let tools = [
        tool(&["academic"], "semanticScholar_search", "Searches papers and their citations by keyword."),
        tool(&[], "wetter", "Liefert die Wettervorhersagen für eine Stadt."),
        tool(&["погода", "public"], "HTTPServer2", "Показывает прогноз погоды; 天気予報を調べる"),
        ToolDocument {
            keywords: vec!["web pages".to_owned()],
            params: vec![("pageURL".to_owned(), "The address of a webpage".to_owned())],
            ..tool(&["web"], "read_page", "")
        },
    ];
    let mut bytes = Vec::new();
    for tool in &tools {
        let sparse = bm25f::document(tool);
        for number in sparse.terms.iter().copied().chain(sparse.weights.iter().map(|weight| weight.to_bits()))
        {
            bytes.extend(number.to_le_bytes());
        }
        for term in Plan::new(&tool.description).terms {
            bytes.extend(term.to_le_bytes());
        }
        bytes.extend(dense_text(tool).into_bytes());
        bytes.extend(names::of_tool(tool).join(" ").into_bytes());
    }
    // FNV-1a (Fowler, Noll, Vo), 64 bits.
    let digest = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    assert_eq!(
        (SCHEMA, digest),
        STORED,
        "raise SCHEMA in src/qdrant/schema.rs, so that operators build a new collection, and put both numbers here"
    );
}
