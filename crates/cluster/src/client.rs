//! Reaching the API server.

use std::error::Error as _;
use std::path::PathBuf;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// Time for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Time without a byte after which a response is given up; longer than a watch stays idle
/// ([`crate::watch::IDLE_SECONDS`]).
const READ: Duration = Duration::from_secs(70);
/// Time for sending a request.
const WRITE: Duration = Duration::from_secs(30);

/// Which cluster, as whom.
#[derive(Clone, Debug, Default)]
pub struct ClientOptions {
    /// A kubeconfig; none: that of `$KUBECONFIG` or `~/.kube/config`, else the ServiceAccount of the pod.
    pub kubeconfig: Option<PathBuf>,
    /// A context of the kubeconfig; none: its current one.
    pub context: Option<String>,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The kubeconfig can't be used.
    #[error("{what}: {source}; name a file with --kubeconfig and one of its contexts with --context")]
    Kubeconfig {
        /// The file, or where it was looked for.
        what: String,
        /// Why.
        source: kube::config::KubeconfigError,
    },
    /// There is neither a kubeconfig nor a pod's ServiceAccount.
    #[error("no cluster is configured: {0}; set $KUBECONFIG, or name a file with --kubeconfig")]
    Nowhere(#[from] kube::config::InferConfigError),
    /// The client can't be built: a certificate, a key or a proxy is wrong.
    #[error("the API server's client can't be set up: {}", explain(.0))]
    Client(#[source] kube::Error),
}

/// How to reach the cluster.
pub async fn config(options: &ClientOptions) -> Result<Config, ConnectError> {
    let context = KubeConfigOptions { context: options.context.clone(), ..KubeConfigOptions::default() };
    let mut config = match (&options.kubeconfig, &options.context) {
        (Some(path), _) => {
            let failed = |source| ConnectError::Kubeconfig { what: path.display().to_string(), source };
            let kubeconfig = Kubeconfig::read_from(path).map_err(failed)?;
            Config::from_custom_kubeconfig(kubeconfig, &context).await.map_err(failed)?
        }
        (None, Some(_)) => Config::from_kubeconfig(&context)
            .await
            .map_err(|source| ConnectError::Kubeconfig { what: "kubeconfig".to_owned(), source })?,
        (None, None) => Config::infer().await?,
    };
    config.connect_timeout = Some(CONNECT);
    config.read_timeout = Some(READ);
    config.write_timeout = Some(WRITE);
    // Else the time that a connection was idle in the pool counts as waiting for the next answer.
    config.reset_reader_on_write = true;
    Ok(config)
}

/// A client of the cluster. It doesn't connect yet.
pub fn client(config: Config) -> Result<Client, ConnectError> {
    // Whoever came first has installed the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::try_from(config).map_err(ConnectError::Client)
}

/// What went wrong, in one line: what the API server said, or why it didn't say anything.
pub fn explain(error: &kube::Error) -> String {
    let kube::Error::Api(status) = error else {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            let inner_text = inner.to_string();
            if !text.contains(&inner_text) {
                text = format!("{text}: {inner_text}");
            }
            cause = inner.source();
        }
        return text;
    };
    format!("{} ({})", status.message, status.code)
}
