//! The addresses of a cluster: those between the machine and the node are chosen, those within the node are fixed,
//! because nobody else sees them.

use std::net::Ipv4Addr;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use super::command;

/// The API server's port.
pub const API_PORT: u16 = 6443;
/// The kubelet's port.
pub const KUBELET_PORT: u16 = 10250;
/// Where CoreDNS says that it has read the cluster's Services (tests/cluster/config/Corefile).
pub const DNS_READY_PORT: u16 = 8181;
/// The Services' addresses.
pub const SERVICES: &str = "10.96.0.0/16";
/// The API server's Service: the first of them.
pub const API_SERVICE: &str = "10.96.0.1";
/// The name server of the pods (tests/cluster/config/{Corefile,kubelet.yaml}).
pub const DNS: &str = "10.96.0.10";
/// The pods' addresses (tests/cluster/config/cni.conflist).
pub const PODS: &str = "10.88.0.0/16";

/// What tells one cluster of this machine from another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses {
    /// The first two bytes of the link's addresses.
    network: [u8; 2],
    /// Their third byte, in the names of the interface and the control group, too.
    index: u8,
}

impl Addresses {
    /// All that could be chosen, in order.
    pub fn candidates(network: [u8; 2]) -> impl Iterator<Item = Self> {
        (0..=u8::MAX).map(move |index| Self { network, index })
    }

    /// The machine's end of the link: how pods reach what the tests serve.
    pub fn machine(self) -> Ipv4Addr {
        self.address(1)
    }

    /// The node's end of the link.
    pub fn node(self) -> Ipv4Addr {
        self.address(2)
    }

    /// The name of the machine's interface.
    pub fn interface(self) -> String {
        format!("mcc{}", self.index)
    }

    /// The name of the control group that holds the pods'.
    pub fn cgroup(self) -> String {
        format!("mcc-cluster-{}", self.index)
    }

    /// Where the API server answers.
    pub fn api(self) -> String {
        format!("https://{}:{API_PORT}", self.node())
    }

    fn address(self, last: u8) -> Ipv4Addr {
        Ipv4Addr::new(self.network[0], self.network[1], self.index, last)
    }

    /// Whether the machine reaches neither end yet, but by its default route.
    pub fn is_free(self) -> Result<bool> {
        for address in [self.machine(), self.node()] {
            let routes = command::call("ip", &format!("-4 route show match {address}"))?;
            if routes.lines().any(|route| !route.starts_with("default")) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Reads `10.87` of the command line.
pub fn prefix(text: &str) -> Result<[u8; 2]> {
    match text.split('.').map(str::parse).collect::<Result<Vec<u8>, _>>().as_deref() {
        Ok([first, second]) => Ok([*first, *second]),
        _ => bail!("`{text}` isn't the first two bytes of an IPv4 address, like 10.87"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_has_two_ends_and_two_names() {
        let addresses = Addresses::candidates([10, 87]).nth(3).unwrap();
        assert_eq!(addresses.machine().to_string(), "10.87.3.1");
        assert_eq!(addresses.api(), "https://10.87.3.2:6443");
        assert_eq!(
            (addresses.interface(), addresses.cgroup()),
            ("mcc3".to_owned(), "mcc-cluster-3".to_owned())
        );
    }

    #[test]
    fn a_network_is_two_bytes() {
        assert_eq!(prefix("172.30").unwrap(), [172, 30]);
        for wrong in ["10", "10.87.0", "10.256", "ten.one", ""] {
            let problem = prefix(wrong).unwrap_err().to_string();
            assert!(problem.contains("like 10.87"), "{problem}");
        }
    }
}
