//! Each bench on next to nothing: it runs, and every figure that it promises is there. `./test --full` holds the bounds.

use std::process::Command;

use anyhow::{Context as _, ensure};
use mcc_tests::workspace;
use serde_json::Value;

fn bench(arguments: &[&str]) -> anyhow::Result<Value> {
    let output = Command::new(workspace::program("xtask")?)
        .arg("bench")
        .args(arguments)
        .args(["-o", "json"])
        .current_dir(workspace::root())
        .output()?;
    ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// A figure that is more than nothing.
fn positive(report: &Value, pointer: &str) -> anyhow::Result<f64> {
    let figure =
        report.pointer(pointer).and_then(Value::as_f64).with_context(|| format!("{pointer}: {report:#}"))?;
    ensure!(figure > 0.0, "{pointer} is {figure}");
    Ok(figure)
}

#[test]
fn mcp() -> anyhow::Result<()> {
    let report = bench(&["mcp", "--tools", "20", "--seconds", "0.1", "--rounds", "1"])?;
    for figure in ["/load_seconds", "/rss_mb_after_load", "/rss_mb_after_bench"] {
        positive(&report, figure)?;
    }
    let rows = report["rows"].as_array().context("no rows")?;
    let measured: Vec<String> =
        rows.iter().map(|row| format!("{} {}", row["call"].as_str().unwrap(), row["connections"])).collect();
    let calls = ["echo", "whoami", "get_session", "search"];
    let wanted = [1, 16].iter().flat_map(|connections| calls.map(|call| format!("{call} {connections}")));
    assert_eq!(measured, wanted.collect::<Vec<_>>());
    for row in rows {
        for figure in ["/requests_per_second", "/p50_us", "/p99_us", "/throughput_ratio", "/p50_ratio"] {
            positive(row, figure)?;
        }
    }
    Ok(())
}

#[test]
fn search() -> anyhow::Result<()> {
    let report = bench(&["search", "--tools", "20,40", "--searches", "20"])?;
    for (number, tools) in [(0, 20.0), (1, 40.0)] {
        let figure = |name: &str| positive(&report, &format!("/{number}/{name}"));
        assert!((figure("tools")? - tools).abs() < f64::EPSILON);
        for name in
            ["update_us", "everything/p50_us", "filtered/p99_us", "three_clauses/p50_us", "resident_mib"]
        {
            figure(name)?;
        }
    }
    Ok(())
}

#[test]
fn retrieval() -> anyhow::Result<()> {
    if workspace::shared("data/retrieval").is_none() {
        workspace::skip("benches::retrieval", "no shared data");
        return Ok(());
    }
    let report = bench(&["retrieval", "--queries", "5"])?;
    positive(&report, "/0/mean_ndcg_10")?;
    let sets = report[0]["sets"].as_array().context("no sets")?;
    let names: Vec<&str> = sets.iter().filter_map(|set| set["set"].as_str()).collect();
    assert_eq!(names, ["livemcp", "livemcp_steps", "bfcl", "metatool"]);
    for set in sets {
        assert_eq!(set["queries"], 5, "{set}");
        for figure in ["/tools", "/ndcg_10", "/recall_5", "/recall_10", "/mrr"] {
            positive(set, figure)?;
        }
    }
    Ok(())
}
