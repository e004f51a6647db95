//! How fast tools are found, without a server around; with the feature `qdrant`, in Qdrant too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args as ClapArgs;
use mcc_catalog::model::{Facets, ToolDocument, Visibility};
use mcc_catalog::seam::{Query, ToolIndex};
use mcc_index::{MemoryIndex, StaticEmbedder};
use serde::Serialize;

use super::Format;

/// Arguments.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Numbers of tools.
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000")]
    tools: Vec<usize>,
    /// Searches measured at each size.
    #[arg(long, default_value_t = 2000)]
    searches: usize,
    /// The same in Qdrant up to this many tools: at `$MCC_TEST_QDRANT_URL`, else the double of the tests, if one of
    /// them is there (feature `qdrant`).
    #[arg(long, default_value_t = 10_000)]
    qdrant_tools: usize,
    /// How the figures are printed.
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

/// Figures at one size. Times in microseconds unless named otherwise.
#[derive(Serialize)]
struct Report {
    /// `memory` or `qdrant`.
    index: &'static str,
    tools: usize,
    /// Analysing, embedding and indexing all tools, milliseconds.
    load_ms: u128,
    /// One changed tool, until searches see it.
    update_us: u128,
    /// Requests of one intent by a caller who sees every tool.
    everything: Percentiles,
    /// The same by a caller who sees a tenth of them.
    filtered: Percentiles,
    /// Requests of three clauses.
    three_clauses: Percentiles,
    /// Resident memory of this process, MiB; none where the system doesn't say, and for Qdrant.
    resident_mib: Option<u64>,
}

#[derive(Serialize)]
struct Percentiles {
    p50_us: u128,
    p99_us: u128,
}

/// Runs it.
pub async fn run(args: &Args) -> Result<()> {
    let embedder = Arc::new(StaticEmbedder::bundled()?);
    let mut reports = Vec::new();
    for &size in &args.tools {
        let index = MemoryIndex::new(embedder.clone());
        let mut report = report("memory", &index, size, args).await?;
        report.resident_mib = resident_mib();
        reports.push(report);
    }
    #[cfg(feature = "qdrant")]
    qdrant(args, &embedder, &mut reports).await?;
    match args.output {
        Format::Json => println!("{}", serde_json::to_string_pretty(&reports)?),
        Format::Table => print(&reports),
    }
    Ok(())
}

#[cfg(feature = "qdrant")]
async fn qdrant(args: &Args, embedder: &Arc<StaticEmbedder>, reports: &mut Vec<Report>) -> Result<()> {
    use mcc_index::{QdrantIndex, QdrantSettings};
    let Some(server) = mcc_index::testsuite::qdrant::TestQdrant::start("bench search in Qdrant") else {
        return Ok(());
    };
    for &size in args.tools.iter().filter(|&&size| size <= args.qdrant_tools) {
        let prefix = format!("{}-{size}", server.prefix);
        let settings =
            QdrantSettings { prefix, timeout: Duration::from_secs(60), ..QdrantSettings::new(&server.url) };
        let index = QdrantIndex::new(settings, embedder.clone())?;
        reports.push(report("qdrant", &index, size, args).await?);
    }
    Ok(())
}

/// Loads, changes and searches made-up tools.
async fn report(name: &'static str, index: &dyn ToolIndex, size: usize, args: &Args) -> Result<Report> {
    let mut words = Words(size as u64);
    let tools: Vec<ToolDocument> = (0..size).map(|at| words.tool(at)).collect();
    let started = Instant::now();
    index.replace(tools).await?;
    let load_ms = started.elapsed().as_millis();
    let mut updates = Vec::new();
    for at in 0..10 {
        let mut changed = words.tool(at);
        changed.digest.push('x');
        let started = Instant::now();
        index.update(vec![changed], Vec::new()).await?;
        updates.push(started.elapsed());
    }
    let tenth = Visibility {
        groups: (0..20).map(|group| format!("group_{group}")).collect(),
        ..Visibility::default()
    };
    let all = Visibility::everything();
    Ok(Report {
        index: name,
        tools: size,
        load_ms,
        update_us: percentiles(updates).p50_us,
        everything: measure(index, &mut words, &all, 1, args.searches).await?,
        filtered: measure(index, &mut words, &tenth, 1, args.searches).await?,
        three_clauses: measure(index, &mut words, &all, 3, args.searches).await?,
        resident_mib: None,
    })
}

async fn measure(
    index: &dyn ToolIndex,
    words: &mut Words,
    visibility: &Visibility,
    clauses: usize,
    searches: usize,
) -> Result<Percentiles> {
    let mut times = Vec::with_capacity(searches);
    for _ in 0..searches {
        let text = (0..clauses).map(|_| words.request()).collect::<Vec<_>>().join(". ");
        let query = Query { text, min_score: None, limit: 10, visibility: visibility.clone() };
        let started = Instant::now();
        std::hint::black_box(index.search(&query).await?);
        times.push(started.elapsed());
    }
    Ok(percentiles(times))
}

fn percentiles(mut times: Vec<Duration>) -> Percentiles {
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).map_or(0, Duration::as_micros);
    Percentiles { p50_us: at(50), p99_us: at(99) }
}

fn resident_mib() -> Option<u64> {
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

fn print(reports: &[Report]) {
    println!(
        "{:>7} {:>7} {:>8} {:>10} {:>19} {:>19} {:>19} {:>8}",
        "index",
        "tools",
        "load ms",
        "update µs",
        "all p50/p99 µs",
        "tenth p50/p99 µs",
        "3 clauses p50/p99",
        "RSS MiB"
    );
    for report in reports {
        let pair = |percentiles: &Percentiles| format!("{}/{}", percentiles.p50_us, percentiles.p99_us);
        println!(
            "{:>7} {:>7} {:>8} {:>10} {:>19} {:>19} {:>19} {:>8}",
            report.index,
            report.tools,
            report.load_ms,
            report.update_us,
            pair(&report.everything),
            pair(&report.filtered),
            pair(&report.three_clauses),
            report.resident_mib.map_or_else(|| "-".to_owned(), |mib| mib.to_string()),
        );
    }
}

const VERBS: &str = "get list find create update delete send search convert translate upload download analyze compare \
    merge split validate schedule cancel export import render resize track book reserve estimate monitor restart archive";
const NOUNS: &str = "invoice customer order ticket repository branch issue message channel calendar event flight hotel car \
    weather forecast temperature city address route distance image video audio recording document page website server pod \
    container cluster database table column schema key cache queue topic user group role permission token file folder \
    report chart metric alert log trace budget payment currency stock price portfolio patient appointment recipe \
    ingredient song playlist movie book paper citation dataset model experiment sensor device parcel";
const QUALIFIERS: &str = "new old open closed recent daily weekly monthly public private shared active pending failed \
    external internal primary secondary encrypted compressed large small nearest cheapest available duplicate";

/// Made-up tools and requests: the same ones for the same size.
struct Words(u64);

impl Words {
    /// splitmix64 (Steele, Lea, Flood 2014).
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn one(&mut self, words: &'static str) -> &'static str {
        let count = words.split_whitespace().count().max(1) as u64;
        let at = usize::try_from(self.next() % count).unwrap_or(0);
        words.split_whitespace().nth(at).unwrap_or_default()
    }

    fn tool(&mut self, at: usize) -> ToolDocument {
        let group = format!("group_{}", self.next() % 200);
        let (verb, qualifier, noun) = (self.one(VERBS), self.one(QUALIFIERS), self.one(NOUNS));
        let name = format!("{verb}_{qualifier}_{noun}_{at}");
        let description = format!(
            "{verb} the {qualifier} {noun} of a {} by its {}. Returns the {} {} with {} and {}.",
            self.one(NOUNS),
            self.one(NOUNS),
            self.one(QUALIFIERS),
            self.one(NOUNS),
            self.one(NOUNS),
            self.one(NOUNS),
        );
        let params = (0..self.next() % 6)
            .map(|_| {
                let name = format!("{}_{}", self.one(NOUNS), self.one(NOUNS));
                (name, format!("The {} {} to {}", self.one(QUALIFIERS), self.one(NOUNS), self.one(VERBS)))
            })
            .collect();
        ToolDocument {
            facets: Facets::new(format!("{group}.{name}"), &[group]),
            digest: format!("{at}"),
            name,
            description,
            keywords: Vec::new(),
            params,
        }
    }

    fn request(&mut self) -> String {
        format!(
            "Please {} the {} {} for my {} and its {}",
            self.one(VERBS),
            self.one(QUALIFIERS),
            self.one(NOUNS),
            self.one(NOUNS),
            self.one(NOUNS)
        )
    }
}
