//! The programs of a node and how each is called. Paths are those that the node sees (`stage.rs`).

use std::path::PathBuf;

use super::addresses::{API_PORT, Addresses, DNS, PODS, SERVICES};
use super::stage::{CONFIG, PKI, PROGRAMS};

/// The name of the node, and of its kubelet's identity.
pub const NODE: &str = "node";

/// A program of the node.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name, and that of its log.
    pub name: &'static str,
    /// Whether it can do nothing before the API server listens.
    pub needs_api: bool,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Part {
    fn new(name: &'static str, needs_api: bool, arguments: &str) -> Self {
        Self { name, needs_api, arguments: arguments.split_whitespace().map(str::to_owned).collect() }
    }

    /// Its program.
    pub fn program(&self) -> PathBuf {
        match self.name {
            // Debian's: the shim and runc must be of its version.
            "containerd" => PathBuf::from(self.name),
            _ => PathBuf::from(PROGRAMS).join(self.name),
        }
    }

    /// Its name as `/proc` has it.
    pub fn short_name(&self) -> &'static str {
        self.name.get(..15).unwrap_or(self.name)
    }
}

/// All of them, in the order in which they start.
pub fn all(addresses: Addresses) -> Vec<Part> {
    let node = addresses.node();
    let api = addresses.api();
    vec![
        // In memory: it ends with the node, and no slow disk delays a write.
        Part::new(
            "etcd",
            false,
            "--data-dir=/run/etcd --unsafe-no-fsync --listen-client-urls=http://127.0.0.1:2379
             --advertise-client-urls=http://127.0.0.1:2379 --listen-peer-urls=http://127.0.0.1:2380",
        ),
        Part::new("containerd", false, &format!("--config={CONFIG}/containerd.toml")),
        // InternalIP: the node's name is in no DNS, and logs and attach would look it up there.
        Part::new(
            "kube-apiserver",
            false,
            &format!(
                "--etcd-servers=http://127.0.0.1:2379 --bind-address=0.0.0.0 --secure-port={API_PORT}
                 --advertise-address={node} --service-cluster-ip-range={SERVICES} --authorization-mode=Node,RBAC
                 --tls-cert-file={PKI}/apiserver.crt --tls-private-key-file={PKI}/apiserver.key
                 --client-ca-file={PKI}/ca.crt --token-auth-file={PKI}/tokens.csv
                 --service-account-issuer=https://kubernetes.default.svc
                 --service-account-jwks-uri={api}/openid/v1/jwks
                 --service-account-key-file={PKI}/accounts.pub
                 --service-account-signing-key-file={PKI}/accounts.key
                 --kubelet-client-certificate={PKI}/kubelet-client.crt
                 --kubelet-client-key={PKI}/kubelet-client.key
                 --kubelet-preferred-address-types=InternalIP --allow-privileged=true
                 --enable-admission-plugins=NodeRestriction"
            ),
        ),
        Part::new(
            "kube-controller-manager",
            true,
            &format!(
                "--kubeconfig={PKI}/controllers.kubeconfig --leader-elect=false --root-ca-file={PKI}/ca.crt
                 --service-account-private-key-file={PKI}/accounts.key --kube-api-qps=200 --kube-api-burst=400"
            ),
        ),
        Part::new(
            "kube-scheduler",
            true,
            &format!(
                "--kubeconfig={PKI}/scheduler.kubeconfig --leader-elect=false
                 --kube-api-qps=200 --kube-api-burst=400"
            ),
        ),
        Part::new(
            "kubelet",
            true,
            &format!(
                "--kubeconfig={PKI}/kubelet.kubeconfig --config={CONFIG}/kubelet.yaml
                 --hostname-override={NODE} --node-ip={node}"
            ),
        ),
        // The machine's connection tracking is left as it is.
        Part::new(
            "kube-proxy",
            true,
            &format!(
                "--kubeconfig={PKI}/proxy.kubeconfig --hostname-override={NODE} --proxy-mode=iptables
                 --cluster-cidr={PODS} --conntrack-max-per-core=0 --conntrack-tcp-timeout-established=0s
                 --conntrack-tcp-timeout-close-wait=0s"
            ),
        ),
        Part::new("coredns", true, &format!("-conf {CONFIG}/Corefile")),
    ]
}

/// The name server's address belongs to the node itself.
pub const LOCAL_ADDRESSES: [&str; 1] = [DNS];
