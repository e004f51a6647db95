//! When to end.

/// Resolves when this process is told to end: SIGINT, SIGTERM, or SIGHUP (its terminal is gone). Never where signals
/// can't be watched.
#[cfg(unix)]
pub async fn end_requested() {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = kinds.map(signal) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
}

/// Resolves when this process is told to end (Ctrl-C). Never where signals can't be watched.
#[cfg(not(unix))]
pub async fn end_requested() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
