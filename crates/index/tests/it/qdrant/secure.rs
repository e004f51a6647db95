//! API key and TLS; settings that make no sense.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mcc_catalog::model::Visibility;
use mcc_catalog::seam::{IndexError, ToolIndex as _};
use mcc_index::testsuite::qdrant::{Options, TestQdrant};
use mcc_index::{QdrantIndex, QdrantSettings};

use super::{ask, bundled, mails, unavailable};

fn settings(url: &str) -> QdrantSettings {
    QdrantSettings { timeout: Duration::from_secs(20), ..QdrantSettings::new(url) }
}

#[tokio::test]
async fn api_key() {
    let options = Options { api_key: Some("right".to_owned()), ..Options::default() };
    let Some(double) = TestQdrant::double("qdrant::secure::api_key", &options) else { return };
    let with = |key: Option<&str>| {
        let settings = QdrantSettings { api_key: key.map(str::to_owned), ..settings(&double.url) };
        QdrantIndex::new(settings, bundled()).unwrap()
    };
    with(Some("right")).replace(mails(20)).await.unwrap();
    for wrong in [None, Some("wrong-secret")] {
        let index = with(wrong);
        for result in [index.replace(mails(1)).await, index.check().await] {
            match result {
                Err(IndexError::Refused(reason)) => {
                    assert!(
                        reason.contains("check the API key") && !reason.contains("wrong-secret"),
                        "{reason}"
                    );
                }
                other => panic!("{other:?}"),
            }
        }
    }
    let settings = QdrantSettings { api_key: Some("a-secret".to_owned()), ..settings(&double.url) };
    assert!(!format!("{settings:?}").contains("a-secret"));
}

/// A CA and a certificate of 127.0.0.1 by it.
fn certificates(folder: &Path) -> Option<(PathBuf, PathBuf, PathBuf)> {
    let run = |arguments: &[&str]| {
        let status = Command::new("openssl").args(arguments).current_dir(folder).output().ok()?.status;
        status.success().then_some(())
    };
    std::fs::write(folder.join("leaf.ext"), "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
        .ok()?;
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let ca =
        ["req", "-x509", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=mcc test CA", "-days", "2"];
    run(&[&ca[..], &key].concat())?;
    let leaf = ["req", "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=127.0.0.1"];
    run(&[&leaf[..], &key].concat())?;
    run(&[
        "x509",
        "-req",
        "-in",
        "leaf.csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-out",
        "leaf.pem",
        "-days",
        "2",
        "-extfile",
        "leaf.ext",
    ])?;
    Some((folder.join("ca.pem"), folder.join("leaf.pem"), folder.join("leaf.key")))
}

#[tokio::test]
async fn tls_with_a_private_ca() {
    let test = "qdrant::secure::tls_with_a_private_ca";
    let folder = tempfile::tempdir().unwrap();
    let Some((ca, certificate, key)) = certificates(folder.path()) else {
        eprintln!("skipped: {test}: no openssl");
        return;
    };
    let options = Options { tls: Some((certificate, key)), ..Options::default() };
    let Some(double) = TestQdrant::double(test, &options) else { return };
    let trusting = QdrantSettings { ca_file: Some(ca), ..settings(&double.url) };
    let index = QdrantIndex::new(trusting, bundled()).unwrap();
    index.replace(mails(20)).await.unwrap();
    assert_eq!(ask(&index, "send a mail", &Visibility::everything()).await.unwrap().len(), 20);
    // Without the CA the certificate is nobody's.
    let reason = unavailable(&QdrantIndex::new(settings(&double.url), bundled()).unwrap()).await;
    assert!(reason.contains("certificate"), "{reason}");
}

#[test]
fn settings_that_make_no_sense() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _context = runtime.enter();
    let usual = || QdrantSettings::new("http://127.0.0.1:6334");
    for (settings, says) in [
        (QdrantSettings::new("127.0.0.1:6334"), "http"),
        (QdrantSettings::new("ftp://127.0.0.1:6334"), "begins with http"),
        (QdrantSettings::new("http://a b"), "http://HOST:6334"),
        (QdrantSettings { ca_file: Some("/no/such.pem".into()), ..usual() }, "https:// only"),
        (
            QdrantSettings {
                ca_file: Some("/no/such.pem".into()),
                ..QdrantSettings::new("https://127.0.0.1")
            },
            "/no/such.pem",
        ),
        (QdrantSettings { api_key: Some("line\nbreak".to_owned()), ..usual() }, "printable ASCII"),
    ] {
        match QdrantIndex::new(settings, bundled()) {
            Err(IndexError::Refused(reason)) => assert!(reason.contains(says), "{reason}"),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("{says}: taken"),
        }
    }
}
