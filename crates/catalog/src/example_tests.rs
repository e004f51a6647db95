use serde_json::json;

use super::*;

fn args(text: &str) -> Value {
    Value::Object(parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).arguments)
}

#[test]
fn literals_of_python_and_json() {
    for (text, arguments) in [
        ("f()", json!({})),
        (" f ( ) ", json!({})),
        (r#"name(a="x", b=[1], c={"k": None})"#, json!({ "a": "x", "b": [1], "c": { "k": null } })),
        (
            "f(a=True, b=False, c=None, d=true, e=false, g=null)",
            json!({ "a": true, "b": false, "c": null, "d": true, "e": false, "g": null }),
        ),
        (
            "f(a=-7, b=1_000, c=1.5, d=-.5, e=1e3, g=0x1F, h=+2, i=1e-3)",
            json!({ "a": -7, "b": 1000, "c": 1.5, "d": -0.5, "e": 1000.0, "g": 31, "h": 2, "i": 0.001 }),
        ),
        (
            r"f(a='it\'s', b=r'\d+', c='\\d', d='\d')",
            json!({ "a": "it's", "b": "\\d+", "c": "\\d", "d": "\\d" }),
        ),
        ("f(a='x' \"y\"\n  'z',)", json!({ "a": "xyz" })),
        ("f(a='''one\ntwo''', b=\"\"\"a\"b\"\"\")", json!({ "a": "one\ntwo", "b": "a\"b" })),
        (r#"f(a="é\x41\u00e9\U0001F600\n\t\0", b="\ud83d\ude00")"#, json!({ "a": "éAé😀\n\t\0", "b": "😀" })),
        (
            "f(a=(1, 2), b=(3), c=(), d={1, 2}, e={}, g=[[], [1,],])",
            json!({ "a": [1, 2], "b": 3, "c": [], "d": [1, 2], "e": {}, "g": [[], [1]] }),
        ),
        ("f(a=1, # first\n  b=2) # done", json!({ "a": 1, "b": 2 })),
        (
            "opencorporates_search(q=\"Acme\",jurisdiction_code=\"us_de\")",
            json!({ "q": "Acme", "jurisdiction_code": "us_de" }),
        ),
        (
            r#"jq(filter=".items[].name", content="{\"items\":[{\"name\":\"alice\"}]}")"#,
            json!({ "filter": ".items[].name", "content": "{\"items\":[{\"name\":\"alice\"}]}" }),
        ),
    ] {
        assert_eq!(args(text), arguments, "{text}");
    }
    assert_eq!(parse("academic.semantic-scholar(q=1)").unwrap().name, "academic.semantic-scholar");
    assert_eq!(parse("f(1, 'x', b=2)").unwrap().positional, [json!(1), json!("x")]);
}

#[test]
fn everything_else_has_a_place_and_a_reason() {
    for (text, at, part) in [
        ("", 1, "expected name"),
        ("f", 2, "expected '('"),
        ("f(", 3, "ends early"),
        ("f(a=1", 6, "expected ')'"),
        ("f(a=1) g", 8, "after the call"),
        ("f(a=b)", 5, "put texts in quotes"),
        ("f(a='x)", 8, "isn't closed"),
        ("f(a=1, a=2)", 11, "twice"),
        ("f(a=1, 2)", 8, "without a name"),
        ("f(a=f'x')", 5, "prefix f"),
        ("f(a={1: 2})", 6, "keys of an object"),
        ("f(a=1.2.3)", 5, "no number"),
        ("f(a=12abc)", 5, "no number"),
        ("f(a=0x)", 5, "no number"),
        ("f(a=inf)", 5, "no literal"),
        ("f(a=1e999)", 5, "no number"),
        ("f(a='\\xg1')", 8, "hex digits"),
        ("f(a=;)", 5, "begins no value"),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.at == at && error.message.contains(part), "{text}: {error}");
    }
    let deep = format!("f(a={})", "[".repeat(10_000));
    assert!(parse(&deep).unwrap_err().message.contains("nested deeper"));
    let parentheses = format!("f(a={})", "(".repeat(10_000));
    assert!(parse(&parentheses).unwrap_err().message.contains("nested deeper"));
}

#[test]
fn arguments_of_a_tools_example() {
    let of = |spec: &str| arguments(&crate::testing::tool(spec));
    let params = "params:\n- {name: a, type: int}\n- {name: key, type: str, override: k}\n- {name: b, type: int, default: 1}\n";
    let given = of(&format!("{params}example: my_tool(1, 2)"));
    assert_eq!(given, Ok(json!({"a": 1, "b": 2}).as_object().cloned()), "overridden ones take no place");
    assert_eq!(of("params: [{name: a, type: int, default: 1}]"), Ok(Some(Map::new())));
    assert_eq!(of(params), Ok(None));
    for (example, part) in [
        ("my_tool(1", "no call"),
        ("other(a=1)", "calls other, not my_tool"),
        ("my_tool(1, 2, 3)", "3 arguments without a name, but fewer parameters"),
    ] {
        let error = of(&format!("{params}example: {example}")).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

proptest::proptest! {
    #[test]
    fn json_is_an_example_too(text in "\\PC*", number in proptest::num::i64::ANY) {
        let given = json!({ "a": text, "b": [number, null, true], "c": { text.clone(): text } });
        let call = format!("f(a={}, b={}, c={})", given["a"], given["b"], given["c"]);
        proptest::prop_assert_eq!(args(&call), given);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[a-f(){}\\[\\]'\"\\\\=,:0-9xue.+# \n-]{0,60}") {
        drop(parse(&text));
    }
}
