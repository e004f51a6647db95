use insta::assert_snapshot;

use crate::testing::tool;

#[test]
fn the_block_of_the_design_page() {
    let tool = tool(
        r"
groups: [academic]
name: semantic_scholar_search
description: |
  Search the Semantic Scholar academic graph for papers by keyword.
params:
- {name: query, type: str, description: Search query string.}
- {name: limit, type: int, default: 10, minimum: 1, maximum: 100, description: Number of results to return.}
- {name: api_version, type: str, override: v1}
"
        .replace("[academic]", "[g]")
        .as_str(),
    );
    assert_snapshot!(tool.signature.replace("## g.", "## academic."), @r"
    ## academic.semantic_scholar_search (query:str, limit:int=10) -> str
    `query` — Search query string.
    `limit` — Number of results to return. Default 10, max 100.
    Search the Semantic Scholar academic graph for papers by keyword.
    ");
}

#[test]
fn defaults_of_every_type() {
    let tool = tool(
        r#"
params:
- {name: s, type: str, default: x}
- {name: n, type: str, required: false}
- {name: q, type: str, default: "say \"hi\"\n"}
- {name: i, type: int, required: false}
- {name: f, type: float, default: 0}
- {name: b, type: bool, default: false}
- {name: l, type: list, default: [a, 1, null]}
- {name: d, type: dict, default: {a: {b: true}}}
returns: {type: list}
"#,
    );
    assert_snapshot!(tool.signature.lines().next().unwrap(), @r#"## g.my_tool (s:str="x", n:str="", q:str="say "hi"\n", i:int=None, f:float=0.0, b:bool=False, l:list=['a', 1, None], d:dict={'a': {'b': True}}) -> list"#);
}

#[test]
fn a_parameters_line_adds_only_what_its_words_dont_say() {
    let tool = tool(
        r#"
params:
- {name: a, type: int, default: 10, maximum: 100, description: "Results (default 10, max 100)"}
- {name: b, type: int, minimum: 2, maximum: 2000, description: "How many, at most 2,000"}
- {name: c, type: str, default: asc, enum: [asc, desc], description: Sort order}
- {name: d, type: str, default: asc, enum: [asc, desc], description: "Sort order: asc (the default) or desc."}
- {name: e, type: float, minimum: 0, maximum: 1, default: 0.5}
- {name: f, type: str, default: x}
- {name: g, type: float, minimum: -90, maximum: 90.5, description: "Latitude\n  in degrees"}
- {name: h, type: bool, default: true, description: Verbose}
- {name: i, type: str, default: "", description: Filter}
"#,
    );
    assert_snapshot!(tool.signature, @r#"
    ## g.my_tool (a:int=10, b:int, c:str="asc", d:str="asc", e:float=0.5, f:str="x", g:float, h:bool=True, i:str="") -> str
    `a` — Results (default 10, max 100)
    `b` — How many, at most 2,000. Min 2.
    `c` — Sort order. Default "asc", one of "asc", "desc".
    `d` — Sort order: asc (the default) or desc.
    `e` — Default 0.5, max 1.
    `g` — Latitude in degrees. Min -90, max 90.5.
    `h` — Verbose. Default True.
    `i` — Filter
    Does it.
    "#);
}

#[test]
fn nothing_but_a_key() {
    let tool = tool("description: \"\"");
    assert_eq!(tool.signature, "## g.my_tool () -> str");
}

#[test]
fn descriptions_lose_trailing_space_and_escape_sequences() {
    let tool = tool("description: \"first  \\n\\n  second\\t\\r\\n\\e[31mred\\e[0m\\n\\n\"");
    assert_eq!(tool.signature, "## g.my_tool () -> str\nfirst\n\n  second\nred");
}
