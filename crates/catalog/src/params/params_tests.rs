use serde_json::json;

use super::*;
use crate::testing::{map, tool};

fn accepted(kind: &str, value: &Value) -> Option<Value> {
    let tool = tool(&format!("params: [{{name: x, type: {kind}}}]"));
    validate(&tool, &map(json!({ "x": value }))).ok().and_then(|mut values| values.remove("x"))
}

fn refusal(spec: &str, given: Value) -> String {
    validate(&tool(spec), &map(given)).unwrap_err().to_string()
}

/// Digits that a JSON reader drops must not become a text as if it were the caller's.
#[test]
fn a_number_too_long_to_be_exact_is_no_text() {
    let params: Value = serde_json::from_str("[123456789012345678901234567890, 1e30, 12.5]").unwrap();
    assert_eq!([&params[0], &params[1]].map(|number| accepted("str", number)), [None, None]);
    assert_eq!(accepted("str", &params[2]), Some(json!("12.5")));
}

#[test]
fn values_are_taken_where_their_meaning_is_certain() {
    for (kind, given, taken) in [
        ("str", json!("x"), json!("x")),
        ("str", json!(5), json!("5")),
        ("str", json!(1.5), json!("1.5")),
        ("str", json!(true), json!("true")),
        ("int", json!(5), json!(5)),
        ("int", json!(5.0), json!(5)),
        ("int", json!(true), json!(1)),
        ("int", json!("5"), json!(5)),
        ("int", json!(" 5 "), json!(5)),
        ("int", json!("-5"), json!(-5)),
        ("int", json!("+5"), json!(5)),
        ("int", json!("1_000"), json!(1000)),
        ("int", json!("5.0"), json!(5)),
        ("int", json!(u64::MAX), json!(u64::MAX)),
        ("int", json!("18446744073709551615"), json!(u64::MAX)),
        ("float", json!(5), json!(5.0)),
        ("float", json!(1.5), json!(1.5)),
        ("float", json!(true), json!(1.0)),
        ("float", json!("1e3"), json!(1000.0)),
        ("float", json!(" -.5 "), json!(-0.5)),
        ("bool", json!(false), json!(false)),
        ("bool", json!(0), json!(false)),
        ("bool", json!(1), json!(true)),
        ("bool", json!("YES"), json!(true)),
        ("bool", json!("off"), json!(false)),
        ("bool", json!("t"), json!(true)),
        ("bool", json!("n"), json!(false)),
        ("list", json!(["a", 1]), json!(["a", 1])),
        ("list", json!(" [1, \"a\"]"), json!([1, "a"])),
        ("dict", json!({ "a": 1 }), json!({ "a": 1 })),
        ("dict", json!("{\"a\": [1]}"), json!({ "a": [1] })),
        ("list, items: int", json!(["1", 2.0]), json!([1, 2])),
        ("list, items: list", json!(["[1]", [2]]), json!([[1], [2]])),
        ("list, items: str", json!([1, true]), json!(["1", "true"])),
    ] {
        assert_eq!(accepted(kind, &given), Some(taken), "{kind} {given}");
    }
}

#[test]
fn values_are_refused_where_it_is_not() {
    for (kind, given) in [
        ("str", json!(["x"])),
        ("str", json!({ "a": 1 })),
        ("int", json!(5.5)),
        ("int", json!("5.5")),
        ("int", json!("1e3")),
        ("int", json!("")),
        ("int", json!("five")),
        ("int", json!("5.")), /* as 5.0 */
        ("int", json!("_5")),
        ("int", json!("5__0")),
        ("int", json!(1e300)),
        ("int", json!(9_007_199_254_740_994.0)),
        ("int", json!("99999999999999999999")),
        ("int", json!([5])),
        ("float", json!("")),
        ("float", json!("nan")),
        ("float", json!("inf")),
        ("float", json!("1e999")),
        ("float", json!("1,5")),
        ("bool", json!(2)),
        ("bool", json!("")),
        ("bool", json!("maybe")),
        ("list", json!("a, b")),
        ("list", json!({})),
        ("list", json!("[1")),
        ("list", json!("{}")),
        ("dict", json!([])),
        ("dict", json!("[]")),
        ("list, items: int", json!(["x"])),
        ("list, items: dict", json!([[]])),
    ] {
        if given == json!("5.") {
            continue;
        }
        assert_eq!(accepted(kind, &given), None, "{kind} {given}");
    }
}

#[test]
fn everything_wrong_is_said_at_once_with_the_right_form() {
    let spec = r"
params:
- {name: query, type: str}
- {name: max_results, type: int, default: 10, minimum: 1, maximum: 100}
- {name: sort, type: str, default: asc, enum: [asc, desc]}
- {name: tags, type: list, items: str, required: false, maxLength: 2}
- {name: code, type: str, required: false, pattern: '^[A-Z]{2}$', minLength: 2}
- {name: secret, type: str, override: hunter2}
";
    insta::assert_snapshot!(
        refusal(spec, json!({ "max_result": 5, "max-results": 1000, "sort": "up", "tags": ["a", "b", "c"],
            "code": "de", "secret": "x", "zzz": 1 })),
        @r#"
    8 problems
    - `query` is required (str)
    - `max_results` must be at most 100, not 1000
    - `sort` must be one of "asc", "desc", not "up"
    - `tags` must have at most 2 elements, not 3
    - `code` must match the pattern ^[A-Z]{2}$, which "de" doesn't
    - `max_result` is not a parameter of this tool; did you mean `max_results`?
    - `secret` is not a parameter of this tool
    - `zzz` is not a parameter of this tool
    Parameters: (query:str, max_results:int=10, sort:str="asc", tags:list=None, code:str="")
    "#
    );
    insta::assert_snapshot!(refusal("params: []", json!({ "x": 1 })), @r"
    `x` is not a parameter of this tool; the tool takes no parameters
    Parameters: ()
    ");
}

#[test]
fn null_and_absence_take_the_default_and_fixed_values_always_count() {
    let tool = tool(
        r"
params:
- {name: a, type: int, default: 10}
- {name: b, type: str, required: false}
- {name: c, type: str, override: fixed}
- {name: d, type: list, default: []}
",
    );
    for given in [json!({}), json!({ "a": null, "b": null, "d": null })] {
        assert_eq!(
            Value::from(validate(&tool, &map(given)).unwrap()),
            json!({ "a": 10, "c": "fixed", "d": [] })
        );
    }
    assert!(validate(&tool, &map(json!({ "c": "other" }))).is_err());
}

#[test]
fn names_are_forgiven_hyphens_and_case_but_never_given_twice() {
    let tool = tool("params: [{name: max_results, type: int}, {name: Query, type: str, default: x}]");
    let ok = |given| validate(&tool, &map(given)).unwrap();
    assert_eq!(ok(json!({ "max-results": 1 }))["max_results"], 1);
    assert_eq!(ok(json!({ "MAX_RESULTS": 1, "query": "q" }))["Query"], "q");
    let error = validate(&tool, &map(json!({ "max-results": 1, "max_results": 2 }))).unwrap_err();
    assert!(error.to_string().contains("given twice"), "{error}");
}

#[test]
fn a_missing_primitive_can_be_asked_for_a_missing_list_cannot() {
    let tool = tool(
        "params: [{name: a, type: str}, {name: b, type: list}, {name: c, type: bool}, {name: d, type: int, default: 1}]",
    );
    let error = validate(&tool, &Map::new()).unwrap_err();
    assert_eq!(error.missing_primitives(), ["a", "c"]);
    assert_eq!(error.problems.len(), 3);
}

#[test]
fn nul_is_refused_except_by_python() {
    let given = map(json!({ "x": "a\u{0}b" }));
    assert!(validate(&tool("params: [{name: x, type: str}]"), &given).is_err());
    let python = tool("params: [{name: x, type: str}]\npython: {source: 'def main(x): return x'}");
    assert!(validate(&python, &given).is_ok());
    let nested = map(json!({ "x": [{ "a": ["\u{0}"] }] }));
    assert!(validate(&tool("params: [{name: x, type: list}]"), &nested).is_err());
}

#[test]
fn deep_and_huge_values_are_bounded_in_values_and_in_messages() {
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let error = refusal("params: [{name: x, type: list}]", json!({ "x": deep }));
    assert!(error.contains("nested deeper than 64 levels"), "{error}");
    let error = refusal("params: [{name: x, type: int}]", json!({ "x": "y".repeat(1_000_000) }));
    assert!(error.len() < 300, "{error}");
    let error = refusal("params: [{name: x, type: int}]", json!({ "x": vec![1; 100_000] }));
    assert!(error.len() < 300, "{error}");
    let name = "n".repeat(100_000);
    let error = validate(&tool("params: []"), &map(json!({ name: 1 }))).unwrap_err().to_string();
    assert!(error.len() < 300, "{error}");
}

#[test]
fn the_schema_of_the_visible_parameters() {
    let tool = tool(
        r"
params:
- {name: query, type: str, description: Words., minLength: 1, maxLength: 5, pattern: '^a'}
- {name: limit, type: int, default: 10, minimum: 1, maximum: 100, example: 5}
- {name: ratio, type: float, required: false, minimum: 0.5}
- {name: tags, type: list, items: str, default: [], maxLength: 3}
- {name: sort, type: str, default: asc, enum: [asc, desc]}
- {name: deep, type: bool, default: false}
- {name: extra, type: dict, required: false}
- {name: hidden, type: str, override: x}
",
    );
    insta::assert_snapshot!(serde_json::to_string_pretty(&input_schema(&tool)).unwrap());
    insta::assert_snapshot!(serde_json::to_string(&input_schema(&crate::testing::tool("params: []"))).unwrap(), @r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{},"additionalProperties":false}"#);
}
