//! `cargo xtask bench mcp`: what a call costs over MCP, as a ratio to a bare rmcp server measured in the same run: absolute
//! figures of a shared machine say little.

mod bounds;
mod catalog;
pub mod echo;
mod load;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::Serialize;
use serde_json::json;

use self::load::{Connection, Measured};
use super::Format;

/// Connections at the same time.
const CONNECTIONS: [usize; 2] = [1, 16];

/// Arguments of `cargo xtask bench mcp`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Tools in the catalog.
    #[arg(long, default_value_t = 10_000)]
    tools: usize,
    /// Seconds of one measurement; every figure is the median of the rounds.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Rounds, each of which measures everything once.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The program to measure [default: mcc beside this one].
    #[arg(long)]
    mcc: Option<PathBuf>,
    /// Fail where a figure is outside of its bound. Only a release build at 10,000 tools says something.
    #[arg(long)]
    check: bool,
    /// Form of the figures.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

#[derive(Debug, Serialize)]
struct Report {
    tools: usize,
    optimised: bool,
    /// Seconds from the start of the program to the first search answered.
    load_seconds: f64,
    rss_mb_after_load: f64,
    rss_mb_after_bench: f64,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    call: &'static str,
    connections: usize,
    #[serde(flatten)]
    measured: Measured,
    /// Requests a second as a share of the echo's.
    throughput_ratio: f64,
    /// Median latency as a multiple of the echo's.
    p50_ratio: f64,
}

/// A program that serves, killed when it goes out of scope.
struct Serving {
    process: Child,
    address: String,
}

impl Serving {
    fn start(mut command: Command) -> anyhow::Result<Self> {
        let process = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut serving =
            Self { process: process.with_context(|| format!("{command:?}"))?, address: String::new() };
        let (found, address) = std::sync::mpsc::channel();
        let streams: [Option<Box<dyn std::io::Read + Send>>; 2] = [
            serving.process.stdout.take().map(|stream| Box::new(stream) as _),
            serving.process.stderr.take().map(|stream| Box::new(stream) as _),
        ];
        for stream in streams.into_iter().flatten() {
            let found = found.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let url = line.split_once("http://").and_then(|(_, rest)| rest.split_once("/mcp"));
                    if let Some((address, _)) = url {
                        let _ = found.send(address.to_owned());
                    }
                }
            });
        }
        drop(found);
        serving.address =
            address.recv_timeout(Duration::from_secs(120)).context("the server didn't start")?;
        Ok(serving)
    }

    /// Resident memory in megabytes.
    fn rss_mb(&self) -> anyhow::Result<f64> {
        let status = fs_err::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Measures and prints.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let report = tokio::runtime::Runtime::new()?.block_on(measure(args))?;
    match args.output {
        Format::Json => println!("{}", serde_json::to_string_pretty(&report)?),
        Format::Table => print(&report),
    }
    if args.check { super::verdict(&bounds::broken(&report)) } else { Ok(()) }
}

async fn measure(args: &Args) -> anyhow::Result<Report> {
    let this = std::env::current_exe()?;
    let mcc = args.mcc.clone().unwrap_or_else(|| this.with_file_name("mcc"));
    let folder = tempfile::tempdir()?;
    catalog::write(folder.path(), args.tools)?;

    let began = Instant::now();
    let gateway = Serving::start(up(&mcc, folder.path()))?;
    first_search(&gateway.address).await?;
    let load_seconds = began.elapsed().as_secs_f64();
    let rss_mb_after_load = gateway.rss_mb()?;
    let mut bare = Command::new(&this);
    bare.args(["bench", "echo"]);
    let echo = Serving::start(bare)?;

    let rows = rows(args, &echo.address, &gateway.address).await?;
    let rss_mb_after_bench = gateway.rss_mb()?;
    let optimised = !cfg!(debug_assertions);
    Ok(Report { tools: args.tools, optimised, load_seconds, rss_mb_after_load, rss_mb_after_bench, rows })
}

fn up(mcc: &Path, folder: &Path) -> Command {
    let mut command = Command::new(mcc);
    command.arg("up").arg(folder).args(["--listen", "127.0.0.1:0"]);
    command
}

/// Waits until a search finds something.
async fn first_search(address: &str) -> anyhow::Result<()> {
    let request = load::request(address, "search", &json!({"query": catalog::QUERIES[0]}));
    let mut connection = Connection::open(address).await?;
    for _ in 0..60_000 {
        if String::from_utf8_lossy(connection.exchange(&request).await?).contains("## ") {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    anyhow::bail!("the gateway finds nothing")
}

/// Rounds over everything, so that a slow moment of the machine meets all of it; medians of the rounds.
async fn rows(args: &Args, echo: &str, gateway: &str) -> anyhow::Result<Vec<Row>> {
    let searches = catalog::QUERIES.map(|query| load::request(gateway, "search", &json!({"query": query})));
    let calls = [
        ("echo", echo, vec![load::request(echo, "echo", &json!({"text": "hello"}))]),
        ("whoami", gateway, vec![load::request(gateway, "whoami", &json!({}))]),
        ("get_session", gateway, vec![load::request(gateway, "get_session", &json!({"name": "colour"}))]),
        ("search", gateway, searches.to_vec()),
    ]
    .map(|(call, address, requests)| (call, address, Arc::new(requests)));
    let time = Duration::from_secs_f64(args.seconds);
    let mut rounds: Vec<Vec<Measured>> = vec![Vec::new(); calls.len() * CONNECTIONS.len()];
    for _ in 0..args.rounds.max(1) {
        let all =
            CONNECTIONS.into_iter().flat_map(|connections| calls.iter().map(move |call| (connections, call)));
        for (slot, (connections, (_, address, requests))) in rounds.iter_mut().zip(all) {
            slot.push(load::run(address, requests.clone(), connections, time).await?);
        }
    }
    let mut rows: Vec<Row> = Vec::new();
    for (number, measured) in rounds.iter().map(|measured| median(measured)).enumerate() {
        let (connections, call) = (CONNECTIONS[number / calls.len()], calls[number % calls.len()].0);
        let base = rows.iter().rfind(|row| row.call == "echo").map_or(measured, |row| row.measured);
        let base = if call == "echo" { measured } else { base };
        rows.push(Row {
            call,
            connections,
            measured,
            throughput_ratio: measured.requests_per_second / base.requests_per_second,
            p50_ratio: measured.p50_us / base.p50_us,
        });
    }
    Ok(rows)
}

fn median(rounds: &[Measured]) -> Measured {
    let middle = |figure: fn(&Measured) -> f64| {
        let mut figures: Vec<f64> = rounds.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    };
    Measured {
        requests_per_second: middle(|round| round.requests_per_second),
        p50_us: middle(|round| round.p50_us),
        p99_us: middle(|round| round.p99_us),
    }
}

fn print(report: &Report) {
    let build = if report.optimised { "release" } else { "debug: figures say nothing" };
    println!("{} tools ({build})", report.tools);
    println!(
        "load {:.2} s, RSS {:.0} MB, after the bench {:.0} MB\n",
        report.load_seconds, report.rss_mb_after_load, report.rss_mb_after_bench
    );
    println!(
        "{:<12} {:>5} {:>10} {:>10} {:>10} {:>8} {:>8}",
        "call", "conn", "req/s", "p50 µs", "p99 µs", "req/s ×", "p50 ×"
    );
    for row in &report.rows {
        let Measured { requests_per_second, p50_us, p99_us } = row.measured;
        println!(
            "{:<12} {:>5} {requests_per_second:>10.0} {p50_us:>10.0} {p99_us:>10.0} {:>8.2} {:>8.2}",
            row.call, row.connections, row.throughput_ratio, row.p50_ratio
        );
    }
}
