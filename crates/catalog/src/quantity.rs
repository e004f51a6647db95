//! Kubernetes quantities (`500m`, `1.5Gi`, `1e3`), compared and converted exactly.

use std::fmt;

/// A quantity of the Kubernetes API in billionths of its unit; larger than [`i128`] counts as the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity {
    nanos: i128,
}

/// Why a text is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a quantity, write a number and a unit such as 500m, 2, 256Mi or 1.5Gi")]
pub struct QuantityError(String);

const NANO: i128 = 1_000_000_000;

impl Quantity {
    /// Parses the serialized form of the Kubernetes API: a signed decimal number with an SI suffix (`n u m k M G T P
    /// E`), a binary one (`Ki` … `Ei`), or a decimal exponent. Digits below a billionth are rounded up, as there.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let fail = || QuantityError(text.chars().take(40).collect());
        let end = text
            .char_indices()
            .find(|&(at, c)| !(c.is_ascii_digit() || c == '.' || (at == 0 && (c == '+' || c == '-'))))
            .map_or(text.len(), |(at, _)| at);
        let (number, suffix) = text.split_at(end);
        let (negative, digits) = match number.as_bytes().first() {
            Some(b'-') => (true, &number[1..]),
            Some(b'+') => (false, &number[1..]),
            _ => (false, number),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return Err(fail());
        }
        let (multiplier, exponent) = scale(suffix).ok_or_else(fail)?;
        let nanos = nanos(whole, fraction, multiplier, exponent);
        Ok(Self { nanos: if negative { -nanos } else { nanos } })
    }

    /// This many whole units.
    pub fn from_units(units: u32) -> Self {
        Self { nanos: i128::from(units) * NANO }
    }

    /// The number of whole units, rounded up; none below zero.
    pub fn units(self) -> Option<u64> {
        let units = self.nanos.checked_add(NANO - 1).unwrap_or(i128::MAX).div_euclid(NANO);
        if self.nanos < 0 { None } else { Some(u64::try_from(units).unwrap_or(u64::MAX)) }
    }

    /// Whether it is above zero.
    pub fn is_positive(self) -> bool {
        self.nanos > 0
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos % NANO == 0 { write!(f, "{}", self.nanos / NANO) } else { write!(f, "{}n", self.nanos) }
    }
}

/// Multiplier and decimal exponent of a suffix.
fn scale(suffix: &str) -> Option<(i128, i32)> {
    Some(match suffix {
        "" => (1, 0),
        "n" => (1, -9),
        "u" => (1, -6),
        "m" => (1, -3),
        "k" => (1, 3),
        "M" => (1, 6),
        "G" => (1, 9),
        "T" => (1, 12),
        "P" => (1, 15),
        "E" => (1, 18),
        "Ki" => (1 << 10, 0),
        "Mi" => (1 << 20, 0),
        "Gi" => (1 << 30, 0),
        "Ti" => (1 << 40, 0),
        "Pi" => (1 << 50, 0),
        "Ei" => (1 << 60, 0),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            (1, exponent.parse::<i16>().ok()?.into())
        }
    })
}

/// The value in billionths, saturating upwards, rounded away from zero.
fn nanos(whole: &str, fraction: &str, multiplier: i128, exponent: i32) -> i128 {
    let digits: String = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return 0;
    }
    let Ok(mantissa) = digits.parse::<i128>() else { return i128::MAX };
    let fraction_digits = i32::try_from(fraction.len()).unwrap_or(i32::MAX);
    let power = 9 + exponent - fraction_digits;
    let Some(scaled) = mantissa.checked_mul(multiplier) else { return i128::MAX };
    let Some(factor) = 10_i128.checked_pow(power.unsigned_abs()) else {
        return if power > 0 { i128::MAX } else { 1 };
    };
    if power >= 0 {
        scaled.checked_mul(factor).unwrap_or(i128::MAX)
    } else {
        scaled / factor + i128::from(scaled % factor != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::Quantity;

    fn q(text: &str) -> Quantity {
        Quantity::parse(text).unwrap()
    }

    #[test]
    fn equal_values_in_different_spellings_are_equal() {
        for (a, b) in [
            ("1", "1000m"),
            ("0.5", "500m"),
            ("1Ki", "1024"),
            ("1.5Gi", "1610612736"),
            ("1e3", "1k"),
            ("1E3", "1000"),
            ("100n", "0.1u"),
            (".5", "0.50"),
            ("1.", "1"),
            ("+2", "2"),
            ("0", "-0"),
        ] {
            assert_eq!(q(a), q(b), "{a} {b}");
        }
    }

    #[test]
    fn they_are_ordered_by_value_not_by_text() {
        for (small, large) in
            [("9", "10"), ("500m", "1"), ("1G", "1Gi"), ("128Mi", "1G"), ("-1", "0"), ("2", "1Ei")]
        {
            assert!(q(small) < q(large), "{small} {large}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in
            ["", "abc", "1.2.3", "1 Gi", "1gi", "1K", "--1", "Mi", "1e", "1ee3", "1Gib", ".", "0x10", "é"]
        {
            assert!(Quantity::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn extremes_saturate() {
        assert!(q(&"9".repeat(100)) >= q("1Ei"));
        assert!(q("1e9999").is_positive());
        assert!(q("1e-9999").is_positive());
        assert_eq!(q("1.5Gi").units(), Some(1_610_612_736));
        assert_eq!(q("1500m").units(), Some(2));
        assert_eq!(q("-1").units(), None);
        assert_eq!(q("1e99").units(), Some(u64::MAX));
    }
}
