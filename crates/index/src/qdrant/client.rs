//! Calls to Qdrant: time-outs, retries, TLS, API key, and errors that say what to do.

use std::fmt::Write as _;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable as _};
use mcc_catalog::seam::IndexError;
use qdrant_client::qdrant::collections_client::CollectionsClient;
use qdrant_client::qdrant::points_client::PointsClient;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Response, Status};

use super::QdrantSettings;

/// Largest answer read: ten thousand points of a scroll are some 5 MiB.
const LARGEST_ANSWER: usize = 64 << 20;
/// First pause before a write is sent again; it doubles each time, with some chance in it.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// How often an idle connection is checked, so that a server that vanished is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

type Service = InterceptedService<Channel, ApiKey>;
pub(super) type Points = PointsClient<Service>;
pub(super) type Collections = CollectionsClient<Service>;

/// How patient a call is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// Somebody waits for the answer, and can be answered by another index: at most one more try, at once.
    Search,
    /// Writes and what prepares them: sent again after pauses. All of them may be repeated.
    Write,
}

/// A failed call.
#[derive(Debug)]
pub(super) struct Failure {
    /// The server's code; [`Code::DeadlineExceeded`] when it didn't answer in time.
    pub code: Code,
    /// For people: what failed, where, why.
    pub reason: String,
}

/// A connection, made when it is first used and again when it was lost.
#[derive(Clone)]
pub(super) struct Client {
    points: Points,
    collections: Collections,
    url: String,
    timeout: Duration,
    retries: usize,
}

/// Puts the API key on each call.
#[derive(Clone)]
pub(super) struct ApiKey(Option<MetadataValue<Ascii>>);

impl Interceptor for ApiKey {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(key) = &self.0 {
            request.metadata_mut().insert("api-key", key.clone());
        }
        Ok(request)
    }
}

impl Client {
    /// Reads the settings; connects later.
    pub(super) fn new(settings: &QdrantSettings) -> Result<Self, IndexError> {
        let channel = channel(settings)?;
        let key = settings
            .api_key
            .as_deref()
            .map(|key| {
                let mut key = MetadataValue::try_from(key).map_err(|_| {
                    IndexError::Refused("the API key of Qdrant isn't printable ASCII".to_owned())
                })?;
                key.set_sensitive(true);
                Ok::<_, IndexError>(key)
            })
            .transpose()?;
        let service = InterceptedService::new(channel, ApiKey(key));
        Ok(Self {
            points: PointsClient::new(service.clone()).max_decoding_message_size(LARGEST_ANSWER),
            collections: CollectionsClient::new(service).max_decoding_message_size(LARGEST_ANSWER),
            url: settings.url.clone(),
            timeout: settings.timeout,
            retries: settings.retries,
        })
    }

    /// A call about points. `what` completes "while it was asked to …".
    pub(super) async fn points<Q: Clone, A>(
        &self,
        patience: Patience,
        what: &str,
        request: Q,
        call: impl AsyncFn(Points, Q) -> Result<Response<A>, Status>,
    ) -> Result<A, Failure> {
        self.patiently(patience, what, || call(self.points.clone(), request.clone())).await
    }

    /// A call about collections and aliases.
    pub(super) async fn collections<Q: Clone, A>(
        &self,
        what: &str,
        request: Q,
        call: impl AsyncFn(Collections, Q) -> Result<Response<A>, Status>,
    ) -> Result<A, Failure> {
        self.patiently(Patience::Write, what, || call(self.collections.clone(), request.clone())).await
    }

    async fn patiently<A, F: Future<Output = Result<Response<A>, Status>>>(
        &self,
        patience: Patience,
        what: &str,
        call: impl Fn() -> F,
    ) -> Result<A, Failure> {
        let pauses = match patience {
            Patience::Search => ExponentialBuilder::new().with_min_delay(Duration::ZERO).with_max_times(1),
            Patience::Write => ExponentialBuilder::new()
                .with_min_delay(FIRST_PAUSE)
                .with_max_times(self.retries)
                .with_jitter(),
        };
        (|| self.once(what, call()))
            .retry(pauses)
            .when(|failure| match patience {
                Patience::Search => failure.connection_lost(),
                Patience::Write => failure.may_pass(),
            })
            .notify(|failure, pause| {
                tracing::debug!(reason = %failure.reason, ?pause, "Qdrant is asked again");
            })
            .await
    }

    async fn once<A>(
        &self,
        what: &str,
        call: impl Future<Output = Result<Response<A>, Status>>,
    ) -> Result<A, Failure> {
        match tokio::time::timeout(self.timeout, call).await {
            Ok(Ok(answer)) => Ok(answer.into_inner()),
            Ok(Err(status)) => Err(Failure { code: status.code(), reason: self.explain(what, &status) }),
            Err(_) => Err(Failure {
                code: Code::DeadlineExceeded,
                reason: format!(
                    "Qdrant at {} didn't {what} within {:?}: it hangs, is overloaded, or the time-out is too short",
                    self.url, self.timeout
                ),
            }),
        }
    }

    fn explain(&self, what: &str, status: &Status) -> String {
        let mut reason = format!("Qdrant at {} didn't {what}: {}", self.url, status.message().trim());
        // The cause of "transport error" is in its sources.
        let mut source = std::error::Error::source(status);
        while let Some(error) = source {
            let cause = error.to_string();
            if !reason.contains(&cause) {
                let _ = write!(reason, ": {cause}");
            }
            source = error.source();
        }
        match status.code() {
            Code::Unauthenticated | Code::PermissionDenied => reason.push_str("; check the API key"),
            Code::Unavailable => reason.push_str("; check its address and that it runs"),
            _ => {}
        }
        reason
    }
}

impl Failure {
    /// The connection broke, or there was none.
    fn connection_lost(&self) -> bool {
        matches!(self.code, Code::Unavailable | Code::Unknown | Code::Cancelled)
    }

    /// Whether another try may help.
    fn may_pass(&self) -> bool {
        self.connection_lost()
            || matches!(self.code, Code::DeadlineExceeded | Code::ResourceExhausted | Code::Aborted)
    }
}

impl From<Failure> for IndexError {
    fn from(failure: Failure) -> Self {
        match failure.code {
            Code::InvalidArgument
            | Code::FailedPrecondition
            | Code::OutOfRange
            | Code::Unimplemented
            | Code::AlreadyExists
            | Code::Unauthenticated
            | Code::PermissionDenied => Self::Refused(failure.reason),
            _ => Self::Unavailable(failure.reason),
        }
    }
}

fn channel(settings: &QdrantSettings) -> Result<Channel, IndexError> {
    let wrong = |reason: String| IndexError::Refused(format!("Qdrant's address {}: {reason}", settings.url));
    let endpoint = Endpoint::from_shared(settings.url.clone())
        .map_err(|error| wrong(format!("{error}; it looks like http://HOST:6334")))?;
    let tls = match endpoint.uri().scheme_str() {
        Some("http") => false,
        Some("https") => true,
        _ => return Err(wrong("it begins with http:// or https://".to_owned())),
    };
    if !tls && settings.ca_file.is_some() {
        return Err(wrong("certificates are trusted with https:// only".to_owned()));
    }
    let mut endpoint = endpoint
        .connect_timeout(settings.timeout)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(settings.timeout)
        .keep_alive_while_idle(true);
    if tls {
        let mut config = ClientTlsConfig::new();
        config = match &settings.ca_file {
            None => config.with_native_roots(),
            Some(file) => {
                let pem = std::fs::read(file).map_err(|error| {
                    wrong(format!("the certificates {} can't be read: {error}", file.display()))
                })?;
                config.ca_certificate(Certificate::from_pem(pem))
            }
        };
        endpoint = endpoint.tls_config(config).map_err(|error| wrong(error.to_string()))?;
    }
    Ok(endpoint.connect_lazy())
}
