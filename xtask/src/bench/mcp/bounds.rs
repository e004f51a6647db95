//! The bounds of the acceptance list, at 10,000 tools.

use super::{Report, Row};

/// A search may take this many times the echo's median …
const MOST_P50: f64 = 5.0;
/// … or so many microseconds more than it.
const MOST_P50_ABOVE_US: f64 = 600.0;
/// Requests a second of the calls that only read, as a share of the echo's.
const LEAST_THROUGHPUT: f64 = 0.8;
const MOST_LOAD_SECONDS: f64 = 2.0;
const MOST_RSS_MB: f64 = 150.0;

/// What is outside of its bound, in words.
pub fn broken(report: &Report) -> Vec<String> {
    let mut broken = Vec::new();
    let mut most = |figure: f64, most: f64, what: &str| {
        // Not a number is no figure that keeps a bound.
        if figure.is_nan() || figure >= most {
            broken.push(format!("{what}: {figure:.2}, must be less than {most}"));
        }
    };
    most(report.load_seconds, MOST_LOAD_SECONDS, "seconds until the first search is answered");
    most(report.rss_mb_after_load, MOST_RSS_MB, "MB resident after loading");
    most(report.rss_mb_after_bench, MOST_RSS_MB, "MB resident after the bench");
    for row in &report.rows {
        broken.extend(row_broken(row, report));
    }
    for call in ["echo", "search", "whoami", "get_session"] {
        if !report.rows.iter().any(|row| row.call == call) {
            broken.push(format!("{call}: not measured"));
        }
    }
    broken
}

fn row_broken(row: &Row, report: &Report) -> Option<String> {
    let place = format!("{} at {} connections", row.call, row.connections);
    match row.call {
        "search" => {
            let echo =
                report.rows.iter().find(|echo| echo.call == "echo" && echo.connections == row.connections)?;
            let above = row.measured.p50_us - echo.measured.p50_us;
            let keeps = row.p50_ratio <= MOST_P50 || above <= MOST_P50_ABOVE_US;
            (!keeps).then(|| {
                format!(
                    "{place}: p50 {:.2} times the echo's and {above:.0} µs above it, must be at most {MOST_P50} times or \
                     {MOST_P50_ABOVE_US} µs",
                    row.p50_ratio
                )
            })
        }
        "whoami" | "get_session" => {
            let keeps = row.throughput_ratio >= LEAST_THROUGHPUT;
            (!keeps).then(|| {
                format!(
                    "{place}: {:.3} of the echo's requests a second, must be at least {LEAST_THROUGHPUT}",
                    row.throughput_ratio
                )
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::load::Measured;
    use super::*;

    /// What takes one figure out of its bound.
    type Break = fn(&mut Report);

    /// A report on all bounds' good side.
    fn good() -> Report {
        let row = |call, requests_per_second, p50_us| Row {
            call,
            connections: 1,
            measured: Measured { requests_per_second, p50_us, p99_us: 1e6 },
            throughput_ratio: requests_per_second / 1000.0,
            p50_ratio: p50_us / 100.0,
        };
        Report {
            tools: 10_000,
            optimised: true,
            load_seconds: 1.99,
            rss_mb_after_load: 149.0,
            rss_mb_after_bench: 149.9,
            rows: vec![
                row("echo", 1000.0, 100.0),
                row("whoami", 800.0, 9e9),
                row("get_session", 900.0, 9e9),
                row("search", 10.0, 700.0),
            ],
        }
    }

    #[test]
    fn every_bound_can_break() {
        assert_eq!(broken(&good()), Vec::<String>::new());
        let cases: [(&str, Break); 8] = [
            ("until the first search", |report| report.load_seconds = 2.0),
            ("after loading", |report| report.rss_mb_after_load = f64::NAN),
            ("after the bench", |report| report.rss_mb_after_bench = 150.0),
            ("whoami at 1", |report| report.rows[1].throughput_ratio = 0.79),
            ("get_session at 1", |report| report.rows[2].throughput_ratio = f64::NAN),
            ("search at 1", |report| report.rows[3].measured.p50_us = 701.0),
            ("search: not measured", |report| report.rows.truncate(3)),
            ("whoami: not measured", |report| report.rows.retain(|row| row.call != "whoami")),
        ];
        for (part, breaks) in cases {
            let mut report = good();
            breaks(&mut report);
            let broken = broken(&report);
            assert!(broken.len() == 1 && broken[0].contains(part), "{part}: {broken:?}");
        }
        // Either of the two bounds of search is enough.
        let mut slow_machine = good();
        slow_machine.rows[0].measured.p50_us = 10_000.0;
        slow_machine.rows[3].measured.p50_us = 50_000.0;
        slow_machine.rows[3].p50_ratio = 5.0;
        assert_eq!(broken(&slow_machine), Vec::<String>::new());
    }
}
