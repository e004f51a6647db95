//! Keys, tokens and kubeconfigs of a cluster: made anew with each, good for a year.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

use super::addresses::{API_PORT, API_SERVICE, Addresses};
use super::command;
use super::root::Root;
use super::stage::PKI;

/// Who talks to the API server with a token: kubeconfig, user, group.
const USERS: [(&str, &str, &str); 5] = [
    ("kubelet", "system:node:node", "system:nodes"),
    ("controllers", "system:kube-controller-manager", "system:masters"),
    ("scheduler", "system:kube-scheduler", ""),
    ("proxy", "system:kube-proxy", ""),
    ("dns", "mcc:dns", "system:masters"),
];

const NEW_KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365";

/// Makes everything.
pub fn write(root: &Root, addresses: Addresses) -> Result<()> {
    let folder = root.pki();
    fs_err::create_dir_all(&folder)?;
    let names = format!(
        "subjectAltName=IP:127.0.0.1,IP:{API_SERVICE},IP:{},DNS:localhost,DNS:kubernetes.default.svc",
        addresses.node()
    );
    openssl(&folder, &format!("req -x509 {NEW_KEY} -subj /CN=mcc-cluster-ca -keyout ca.key -out ca.crt"))?;
    sign(&folder, "apiserver", "/CN=kube-apiserver", &names)?;
    sign(&folder, "kubelet-client", "/O=system:masters/CN=kubelet-client", "extendedKeyUsage=clientAuth")?;
    openssl(&folder, "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out accounts.key")?;
    openssl(&folder, "pkey -in accounts.key -pubout -out accounts.pub")?;

    let mut tokens = String::new();
    let ca = format!("certificate-authority: {PKI}/ca.crt");
    for (name, user, group) in USERS {
        let token = token(&mut tokens, user, group)?;
        let config = kubeconfig(&format!("https://127.0.0.1:{API_PORT}"), &ca, &token);
        fs_err::write(folder.join(format!("{name}.kubeconfig")), config)?;
    }
    let token = token(&mut tokens, "admin", "system:masters")?;
    let ca = openssl(&folder, "base64 -A -in ca.crt")?;
    let ca = format!("certificate-authority-data: {}", ca.trim());
    fs_err::write(root.kubeconfig(), kubeconfig(&addresses.api(), &ca, &token))?;
    Ok(fs_err::write(folder.join("tokens.csv"), tokens)?)
}

fn openssl(folder: &Path, arguments: &str) -> Result<String> {
    command::run(command::command("openssl").args(arguments.split_whitespace()).current_dir(folder))
}

fn sign(folder: &Path, name: &str, subject: &str, extension: &str) -> Result<()> {
    let files = format!("-CA ca.crt -CAkey ca.key -keyout {name}.key -out {name}.crt");
    openssl(folder, &format!("req -x509 {NEW_KEY} -subj {subject} {files} -addext {extension}")).map(drop)
}

/// Adds a user to the API server's token file.
fn token(tokens: &mut String, user: &str, group: &str) -> Result<String> {
    let token = command::call("openssl", "rand -hex 16")?.trim().to_owned();
    writeln!(tokens, "{token},{user},{user},\"{group}\"")?;
    Ok(token)
}

fn kubeconfig(server: &str, ca: &str, token: &str) -> String {
    format!(
        "apiVersion: v1
kind: Config
current-context: mcc
contexts: [{{name: mcc, context: {{cluster: mcc, user: mcc}}}}]
clusters: [{{name: mcc, cluster: {{server: \"{server}\", {ca}}}}}]
users: [{{name: mcc, user: {{token: {token}}}}}]
"
    )
}
