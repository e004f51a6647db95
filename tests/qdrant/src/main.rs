//! The Qdrant gRPC API, as far as mcc uses it, served over Qdrant's own storage engine: for tests.
//!
//! ```text
//! gRPC ─▶ services (one line a method) ─▶ faults ─▶ collections, points ─▶ qdrant-edge (a folder a collection)
//!                                                     └─ convert: protobuf ◀▶ the engine's types
//! ```
//!
//! No package registry ships the Qdrant server. What isn't here answers `UNIMPLEMENTED`; what is here answers as the
//! server does, errors included, because the same engine code answers.
//!
//! `mcc-qdrant-double --data DIR [--listen 127.0.0.1:0] [--certificate PEM --key PEM]` prints
//! `listening on ADDRESS` once it serves. With `MCC_QDRANT_API_KEY` set, every call needs that `api-key`. The file
//! `DIR/faults` is read before each call: see [`faults`].

mod collections;
mod convert;
mod faults;
mod points;
mod services;
mod store;

use std::path::PathBuf;

use qdrant_client::qdrant::collections_server::CollectionsServer;
use qdrant_client::qdrant::points_server::PointsServer;
use qdrant_client::qdrant::qdrant_server::QdrantServer;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Request, Status};

use crate::store::Store;

/// Largest request read, as the server's default.
const LARGEST_REQUEST: usize = 32 << 20;

struct Arguments {
    data: PathBuf,
    listen: String,
    tls: Option<(PathBuf, PathBuf)>,
}

impl Arguments {
    fn read() -> Result<Self, String> {
        let (mut data, mut listen, mut certificate, mut key) = (None, "127.0.0.1:0".to_owned(), None, None);
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
            match name.as_str() {
                "--data" => data = Some(value.into()),
                "--listen" => listen = value,
                "--certificate" => certificate = Some(value.into()),
                "--key" => key = Some(value.into()),
                _ => return Err(format!("unknown argument {name}")),
            }
        }
        Ok(Self { data: data.ok_or("--data DIR is missing")?, listen, tls: certificate.zip(key) })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::read()?;
    let store = Store::open(&arguments.data)?;
    let mut server = Server::builder();
    if let Some((certificate, key)) = &arguments.tls {
        let identity = Identity::from_pem(std::fs::read(certificate)?, std::fs::read(key)?);
        server = server.tls_config(ServerTlsConfig::new().identity(identity))?;
    }
    let listener = tokio::net::TcpListener::bind(&arguments.listen).await?;
    println!("listening on {}", listener.local_addr()?);
    let api_key = std::env::var("MCC_QDRANT_API_KEY").ok();
    let authenticate = move |request: Request<()>| {
        let sent = request.metadata().get("api-key").and_then(|key| key.to_str().ok());
        match &api_key {
            Some(key) if sent != Some(key) => {
                Err(Status::unauthenticated("Must provide an API key or an Authorization bearer token"))
            }
            _ => Ok(request),
        }
    };
    let points = PointsServer::new(store.clone()).max_decoding_message_size(LARGEST_REQUEST);
    server
        .layer(tonic::service::InterceptorLayer::new(authenticate))
        .add_service(points)
        .add_service(CollectionsServer::new(store.clone()))
        .add_service(QdrantServer::new(store))
        .serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true)))
        .await?;
    Ok(())
}
