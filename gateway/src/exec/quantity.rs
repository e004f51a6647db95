//! Kubernetes quantities of bytes.

/// Bytes of a quantity such as `64Mi`, `1.5G`, `1e9` or `100000`; none: it is not one, or not positive.
pub fn bytes(quantity: &str) -> Option<u64> {
    let split = quantity.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(quantity.len());
    let (number, suffix) = quantity.split_at(split);
    let factor = match suffix {
        "" => 1.0,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => 1024.0,
        "Mi" => 1024.0 * 1024.0,
        "Gi" => 1024.0 * 1024.0 * 1024.0,
        "Ti" => 1024f64.powi(4),
        "Pi" => 1024f64.powi(5),
        "Ei" => 1024f64.powi(6),
        _ => 10f64.powi(suffix.strip_prefix(['e', 'E'])?.parse().ok()?),
    };
    let bytes = number.parse::<f64>().ok()? * factor;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and a bound beyond u64 is as good as u64::MAX"
    )]
    (bytes >= 1.0).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn reads_quantities() {
        for (text, expected) in [
            ("64Mi", Some(67_108_864)),
            ("1.5G", Some(1_500_000_000)),
            ("1e9", Some(1_000_000_000)),
            ("12E2", Some(1200)),
            ("100000", Some(100_000)),
            ("128000m", Some(128)),
            ("1E", Some(1_000_000_000_000_000_000)),
            ("0", None),
            ("64MB", None),
            ("-1", None),
            ("", None),
            ("Mi", None),
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }
}
