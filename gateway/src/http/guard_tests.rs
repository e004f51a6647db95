use super::*;
use crate::GatewayConfig;

fn request(headers: &[(&str, &str)]) -> Request {
    let mut request = Request::builder().method("POST").uri("/mcp");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).unwrap()
}

const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");

fn status(guard: &Guard, headers: &[(&str, &str)]) -> u16 {
    guard.check(&request(headers)).map_or_else(|(status, _)| status.as_u16(), |()| 200)
}

#[test]
fn only_loopback_hosts_by_default() {
    let guard = Guard::new(&GatewayConfig::default());
    for host in ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:8080", "LOCALHOST"] {
        assert_eq!(status(&guard, &[("host", host), JSON]), 200, "{host}");
    }
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1"] {
        assert_eq!(status(&guard, &[("host", host), JSON]), 403, "{host}");
    }
    assert_eq!(status(&guard, &[JSON]), 400);
    assert_eq!(status(&guard, &[("host", "a b"), JSON]), 400);
}

#[test]
fn hosts_can_be_named_with_a_port_or_all_allowed() {
    let config = GatewayConfig { allowed_hosts: vec!["mcc.example:443".into()], ..GatewayConfig::default() };
    let guard = Guard::new(&config);
    assert_eq!(status(&guard, &[("host", "mcc.example:443"), JSON]), 200);
    assert_eq!(status(&guard, &[("host", "mcc.example"), JSON]), 403);
    let any = Guard::new(&GatewayConfig { allowed_hosts: Vec::new(), ..GatewayConfig::default() });
    assert_eq!(status(&any, &[("host", "whatever"), JSON]), 200);
}

#[test]
fn an_origin_has_to_be_allowed_and_none_is_fine() {
    let guard = Guard::new(&GatewayConfig::default());
    let host = ("host", "localhost");
    for origin in ["http://localhost", "http://localhost:6274", "http://127.0.0.1:3000", "http://[::1]:9"] {
        assert_eq!(status(&guard, &[host, JSON, ("origin", origin)]), 200, "{origin}");
    }
    for origin in ["http://evil.example", "https://localhost", "null", "", "http://localhost@evil.example"] {
        assert_eq!(status(&guard, &[host, JSON, ("origin", origin)]), 403, "{origin}");
    }
    let two = [host, JSON, ("origin", "http://localhost"), ("origin", "http://evil.example")];
    assert_eq!(status(&guard, &two), 403, "every one counts");
}

#[test]
fn an_origin_without_a_port_means_its_schemes() {
    let allowed = AllowedOrigin::parse("https://mcc.example").unwrap();
    assert!(allowed.matches(&HeaderValue::from_static("https://mcc.example")));
    assert!(allowed.matches(&HeaderValue::from_static("https://mcc.example:443")));
    assert!(!allowed.matches(&HeaderValue::from_static("https://mcc.example:8443")));
}

#[test]
fn writes_are_json() {
    let guard = Guard::new(&GatewayConfig::default());
    let host = ("host", "localhost");
    assert_eq!(status(&guard, &[host]), 415);
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "multipart/form-data"]
    {
        assert_eq!(status(&guard, &[host, ("content-type", kind)]), 415, "{kind}");
    }
}
