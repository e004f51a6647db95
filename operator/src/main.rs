//! `mcc-operator`: see the library.

use clap::Parser;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    mcc_operator::Args::parse().run().await
}
