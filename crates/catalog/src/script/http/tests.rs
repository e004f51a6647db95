//! Requests as a server gets them, through real shells and curl.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::script::testing::{PARAMS, shells, values};

/// A request as it arrived.
#[derive(Debug, Default, PartialEq)]
struct Received {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Received {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// Serves one request with `answer`, and returns what arrived.
fn serve(answer: &'static str) -> (u16, JoinHandle<Received>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let mut received = Received::default();
        let read_line = |reader: &mut BufReader<_>| {
            let mut line = Vec::new();
            reader.read_until(b'\n', &mut line).unwrap();
            String::from_utf8(line).unwrap().trim_end_matches(['\r', '\n']).to_owned()
        };
        received.line = read_line(&mut reader);
        loop {
            let line = read_line(&mut reader);
            let Some((name, value)) = line.split_once(':') else { break };
            received.headers.push((name.to_owned(), value.trim_start().to_owned()));
        }
        let length = received.header("content-length").map_or(0, |length| length.parse().unwrap());
        received.body = vec![0; length];
        reader.read_exact(&mut received.body).unwrap();
        reader.into_inner().write_all(answer.as_bytes()).unwrap();
        received
    });
    (port, server)
}

#[derive(Default)]
struct Request<'a> {
    method: Option<&'a str>,
    url: &'a str,
    headers: &'a [(&'a str, &'a str)],
    query: &'a [(&'a str, &'a str)],
    body: Option<&'a str>,
}

impl Request<'_> {
    fn compile(&self) -> Result<(HttpTemplate, Found<Warning>), Found<TemplateProblem>> {
        let owned = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let (headers, query) = (owned(self.headers), owned(self.query));
        let source = HttpSource {
            method: self.method,
            url: self.url,
            headers: &headers,
            query: &query,
            body: self.body,
        };
        HttpTemplate::compile(&source, &PARAMS)
    }

    fn render(&self, given: Value) -> Result<HttpCall, RenderError> {
        self.compile().unwrap().0.render(&values(given), Duration::from_secs(30))
    }
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

/// Exit code, standard output, standard error.
fn run(shell: &[&str], call: &HttpCall, env: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let mut child = Command::new(shell[0])
        .args(&shell[1..])
        .args(["-c", &call.script])
        .envs(env.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = call.stdin.clone().unwrap_or_default();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&bytes);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// What a server gets, through each shell.
fn received(request: &Request<'_>, given: &Value, env: &[(&str, &str)]) -> Option<Received> {
    if !curl_is_installed() {
        return None;
    }
    let mut all = Vec::new();
    for (name, shell) in shells() {
        let (port, server) = serve(OK);
        let port = port.to_string();
        let mut given = given.clone();
        given["n"] = json!(port.parse::<u16>().unwrap());
        let call = request.render(given).unwrap();
        let (code, stdout, stderr) = run(shell, &call, &[env, &[("PORT", port.as_str())]].concat());
        assert_eq!((code, stdout.as_str()), (Some(0), "ok"), "{name}: {stderr}\n{}", call.script);
        let mut received = server.join().unwrap();
        received.headers.retain(|(name, _)| !matches!(name.as_str(), "Host" | "User-Agent" | "Accept"));
        all.push((name, received));
    }
    for (name, other) in &all {
        assert_eq!(other, &all[0].1, "{name}");
    }
    all.into_iter().next().map(|(_, received)| received)
}

/// Redirects every request to `location`, and counts the requests. Its thread ends with the process.
fn redirecting(location: &str) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = format!(
        "HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = requests.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
                line.clear();
            }
            counted.fetch_add(1, Ordering::SeqCst);
            drop(reader.into_inner().write_all(answer.as_bytes()));
        }
    });
    (port, requests)
}

/// A server can send a call neither to this machine's files nor round in circles.
#[test]
fn redirects_are_bounded() {
    if !curl_is_installed() {
        return;
    }
    let request = Request { url: "http://127.0.0.1:$(PORT)/", ..Request::default() };
    // Location, requests that the server gets, curl's exit code, what it says.
    let cases = [
        ("file:///etc/passwd", 1, 1, "\"file\""),
        ("dict://127.0.0.1:1/x", 1, 1, "\"dict\""),
        ("/again", 6, 47, "Maximum (5) redirects followed"),
    ];
    for (name, shell) in shells() {
        for (location, count, expected, part) in cases {
            let (port, requests) = redirecting(location);
            let call = request.render(json!({})).unwrap();
            let (code, stdout, stderr) = run(shell, &call, &[("PORT", &port.to_string())]);
            assert_eq!((code, stdout.as_str()), (Some(expected), ""), "{name}, {location}: {stderr}");
            assert!(stderr.starts_with("curl: (") && stderr.contains(part), "{name}, {location}: {stderr}");
            assert_eq!(requests.load(Ordering::SeqCst), count, "{name}, {location}");
        }
    }
}

/// Within the bounds they are followed.
#[test]
fn a_redirect_is_followed() {
    if !curl_is_installed() {
        return;
    }
    let (name, shell) = shells()[0];
    let (port, server) = serve(OK);
    let (first, _) = redirecting(&format!("http://127.0.0.1:{port}/moved"));
    let request = Request { url: "http://127.0.0.1:$(PORT)/", ..Request::default() };
    let call = request.render(json!({})).unwrap();
    let (code, stdout, stderr) = run(shell, &call, &[("PORT", &first.to_string())]);
    assert_eq!((code, stdout.as_str()), (Some(0), "ok"), "{name}: {stderr}");
    assert_eq!(server.join().unwrap().line, "GET /moved HTTP/1.1");
}

fn curl_is_installed() -> bool {
    let installed = Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !installed {
        println!("skipped: curl is not installed");
    }
    installed
}

const HOSTILE: &str = "a b/c?d&e=f#g%h'i\"j$(API_KEY)k`l`\\m\nü+MCC_END;${-+}";

#[test]
fn values_stay_in_their_part_of_the_url() {
    let request = Request {
        url: "http://127.0.0.1:$(PORT)/v1/{{ x }}/y?a={{ y }}&b={{ x | urlencode }}#f{{ x }}",
        query: &[
            ("q", "{{ x }}"),
            ("l", "{{ l }}"),
            ("none", "{{ o | default('') }}"),
            ("z y", "p {{ n - n }}/"),
        ],
        ..Request::default()
    };
    let Some(got) = received(&request, &json!({"x": HOSTILE, "y": "$(API_KEY)"}), &[("API_KEY", "secret")])
    else {
        return;
    };
    let slashless = "a%20b%2Fc%3Fd%26e%3Df%23g%25h%27i%22j%24%28API_KEY%29k%60l%60%5Cm%0A%C3%BC%2BMCC_END%3B%24%7B-%2B%7D";
    let slashed = slashless.replace("%2F", "/");
    assert_eq!(
        got.line,
        format!(
            "GET /v1/{slashless}/y?a=%24%28API_KEY%29&b={slashed}&l=l1&l=l%202&q={slashless}&z%20y=p%200%2F HTTP/1.1"
        )
    );
}

#[test]
fn variables_of_the_environment_are_expanded_in_the_templates_own_text_only() {
    let request = Request {
        url: "$(BASE)/a$$(BASE)?k=$(KEY)",
        headers: &[
            ("Authorization", "Bearer $(TOKEN)"),
            ("X-Both", "$(TOKEN) {{ x }} $$(TOKEN)"),
            ("X-Empty", "{{ o | default('') }}"),
        ],
        query: &[("key", "$(ODD)"), ("t", "{{ x }}")],
        body: Some("{\"a\": \"$(TOKEN)\",\n \"b\": {{ x | tojson }}, \"c\": \"$(KEY)\"}\n\n{{ x }}\n"),
        ..Request::default()
    };
    let run = |base: &str, port: &str| {
        let env = [
            ("BASE", base),
            ("PORT", port),
            ("KEY", "k1"),
            ("TOKEN", "t\"\\$(id)`"),
            ("ODD", "a+b/ü c'\"$x"),
        ];
        env.map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    for (name, shell) in shells() {
        let (port, server) = serve(OK);
        let call =
            request.render(json!({"x": "$(TOKEN) \\ '\n\t${KEY} 100%"})).err().map(|error| error.to_string());
        assert_eq!(
            call.as_deref(),
            Some("parameter 'x': contains a line break, which a header can't have; leave it out")
        );
        let call = request.render(json!({"x": "$(TOKEN) \\ '\"\t${KEY} 100%"})).unwrap();
        let env = run(&format!("http://127.0.0.1:{port}"), &port.to_string());
        let env: Vec<(&str, &str)> =
            env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let (code, stdout, stderr) = super::tests::run(shell, &call, &env);
        assert_eq!((code, stdout.as_str()), (Some(0), "ok"), "{name}: {stderr}\n{}", call.script);
        let got = server.join().unwrap();
        assert_eq!(
            got.line,
            "POST /a$(BASE)?k=k1&key=a%2bb%2f%c3%bc%20c%27%22%24x&t=%24%28TOKEN%29%20%5C%20%27%22%09%24%7BKEY%7D%20100%25 HTTP/1.1"
        );
        assert_eq!(got.header("authorization"), Some("Bearer t\"\\$(id)`"));
        assert_eq!(got.header("x-both"), Some("t\"\\$(id)` $(TOKEN) \\ '\"\t${KEY} 100% $(TOKEN)"));
        assert_eq!(got.header("x-empty"), None);
        assert_eq!(got.header("content-type"), Some("application/json"));
        assert_eq!(got.header("expect"), None);
        assert_eq!(
            String::from_utf8(got.body).unwrap(),
            "{\"a\": \"t\"\\$(id)`\",\n \"b\": \"$(TOKEN) \\\\ \\u0027\\\"\\t${KEY} 100%\", \"c\": \"k1\"}\n\n$(TOKEN) \\ '\"\t${KEY} 100%\n"
        );
    }
}

#[test]
fn large_bodies_arrive_as_they_are() {
    let mut text: String = (1..=0x11_FFFF).step_by(97).filter_map(char::from_u32).collect();
    text.push_str(&"line\n\n'\"$(x)\\\n".repeat(20_000));
    for template in ["{{ x }}", "{{ x }}$(SMALL){{ x }}"] {
        let url = "http://127.0.0.1:{{ n }}/";
        let request = Request {
            url,
            body: Some(template),
            headers: &[("content-type", "text/plain")],
            ..Request::default()
        };
        let Some(got) = received(&request, &json!({ "x": text }), &[("SMALL", "s")]) else { return };
        let expected = if template.contains("SMALL") { format!("{text}s{text}") } else { text.clone() };
        assert!(
            got.body == expected.as_bytes(),
            "{template}: {} of {} bytes",
            got.body.len(),
            expected.len()
        );
        assert_eq!(got.line, "POST / HTTP/1.1");
        assert_eq!(got.headers.len(), 2, "{:?}", got.headers);
    }
}

#[test]
fn methods_and_failures() {
    let methods = [
        (None, None, "GET"),
        (Some("get"), Some("x"), "GET"),
        (Some("POST"), None, "POST"),
        (Some("Patch"), Some("x"), "PATCH"),
    ];
    for (method, body, expected) in methods {
        let request = Request { method, body, url: "http://127.0.0.1:{{ n }}/", ..Request::default() };
        let Some(got) = received(&request, &json!({}), &[]) else { return };
        assert_eq!(got.line, format!("{expected} / HTTP/1.1"));
    }
    let request = Request { url: "http://127.0.0.1:$(PORT)/", ..Request::default() };
    for (_, shell) in shells() {
        let (port, server) =
            serve("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\ngone");
        let port = port.to_string();
        let call = request.render(json!({})).unwrap();
        let (code, stdout, stderr) = run(shell, &call, &[("PORT", port.as_str())]);
        assert_eq!((code, stdout.as_str()), (Some(22), "gone"), "{stderr}");
        server.join().unwrap();
        let (code, _, stderr) = run(shell, &call, &[("PORT", "1\"\nurl = \"file:///etc/passwd")]);
        assert_eq!(
            (code, stderr.as_str()),
            (Some(2), "mcc: environment variable PORT has characters that a URL can not have\n")
        );
        let unset =
            Request { url: "http://127.0.0.1/", headers: &[("A", "$(NOT_SET_HERE)")], ..Request::default() };
        let (code, _, stderr) = run(shell, &unset.render(json!({})).unwrap(), &[]);
        assert_eq!((code, stderr.as_str()), (Some(2), "mcc: environment variable NOT_SET_HERE is not set\n"));
        let header =
            Request { url: "http://127.0.0.1/", headers: &[("A", "$(LINES_HERE)")], ..Request::default() };
        let (code, ..) = run(shell, &header.render(json!({})).unwrap(), &[("LINES_HERE", "a\nB: c")]);
        assert_eq!(code, Some(2));
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let refused = |url: &str, x: &str| {
        let request = Request { url, ..Request::default() };
        request
            .render(json!({ "x": x }))
            .map(|call| call.script)
            .map_err(|error| error.to_string())
            .unwrap_err()
    };
    let report = [
        refused("https://{{ x }}.example.com/", "evil.com/a"),
        refused("https://{{ x }}/", "user@evil"),
        refused("https://a/b/{{ x }}/c", ".."),
        refused("https://a/b/.{{ x }}?c", "."),
        refused("https://a/b/{{ x }}", "a\0"),
        refused("{{ x }}", "file:///etc/passwd"),
        refused("{{ x }}", "example.com"),
        refused("{{ x }}", ""),
        refused("{{ x }}://a/", "ftp"),
    ]
    .join("\n");
    insta::assert_snapshot!(report);
}

#[test]
fn whole_urls_may_be_values() {
    let script = |x: &str| {
        let request = Request { url: "{{ x }}", query: &[("q", "1")], ..Request::default() };
        request.render(json!({ "x": x })).unwrap().script
    };
    for (given, expected) in [
        ("https://a/b?c=d#e", "url = \"https://a/b?c=d&q=1\""),
        (" http://a/b c\"\\$(id) ", "url = \"http://a/b%20c%22%5C\\$(id)?q=1\""),
        ("HTTPS://a", "url = \"HTTPS://a?q=1\""),
    ] {
        let script = script(given);
        assert!(script.contains(&format!("\n{expected}\n")), "{script}");
    }
}

#[test]
fn a_parameter_without_a_value_is_left_out_of_the_query() {
    let query = [("a", "{{ o }}"), ("b", "{{ y }}"), ("c", "x{{ o }}")];
    let request = Request { url: "https://a/", query: &query, ..Request::default() };
    assert_eq!(request.compile().unwrap().1, [], "no warning of what is no failure");
    let script = request.render(json!({})).unwrap().script;
    assert!(script.contains("\nurl = \"https://a/?b=Y\"\n"), "{script}");
    let whole = request.render(json!({"o": "1"})).unwrap().script;
    assert!(whole.contains("?a=1&b=Y&c=x1"), "{whole}");
    let in_url = Request { url: "https://a/{{ o }}", ..Request::default() };
    assert!(in_url.render(json!({})).is_err());
}

#[test]
fn templates_are_checked() {
    fn lines(lines: impl Iterator<Item = String>) -> String {
        lines.collect::<Vec<_>>().concat()
    }
    let report = |request: Request<'_>| match request.compile() {
        Ok((_, warnings)) => {
            lines(warnings.iter().map(|(field, warning)| format!("{field}: warning: {warning}\n")))
        }
        Err(problems) => lines(problems.iter().map(|(field, problem)| format!("{field}: {problem}\n"))),
    };
    let url = |url| report(Request { url, ..Request::default() });
    let reports = [
        url("https://a/{{ x }}"),
        url("https://a{{ x }}/"),
        url("https://{{ x }}/"),
        url("{{ x }}"),
        url("{% if b %}https://a/{% endif %}"),
        url("$(BASE)/{{ x }}"),
        url("ftp://a/"),
        url("a.com/{{ x }}"),
        url("https://a/{{ q }}/$(a-b)"),
        report(Request {
            url: "https://a",
            body: Some(
                r#"{"a": "{{ x }}", "b": {{ y | tojson }}, "c": {{ n }}, "d": "{{ y | urlencode }}"}"#,
            ),
            ..Request::default()
        }),
        report(Request {
            method: Some("GE T"),
            url: "https://a",
            headers: &[("a b", "c"), ("d", "e\nf"), ("g", "{{ x")],
            query: &[("h", "{{ x | nope }}")],
            body: Some("{{ y y }}"),
        }),
    ]
    .join("--\n");
    insta::assert_snapshot!(reports);
}
