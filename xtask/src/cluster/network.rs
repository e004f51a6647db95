//! The link between the machine and the node: a veth pair, whose end on the machine goes with the node's.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};

use super::addresses::Addresses;
use super::command;

const INTERFACES: &str = "/sys/class/net";

/// Takes the first free addresses by making their interface, which fails if another cluster was quicker.
pub fn claim(root: &Path, network: [u8; 2]) -> Result<Addresses> {
    for addresses in Addresses::candidates(network) {
        let name = addresses.interface();
        if interfaces()?.contains(&name) || !addresses.is_free()? {
            continue;
        }
        let arguments =
            format!("link add {name} address {} type veth peer name {name}-node", hardware_address(root));
        match command::call("ip", &arguments) {
            Ok(_) => return Ok(addresses),
            Err(_) if interfaces()?.contains(&name) => {}
            Err(error) => return Err(error).context("can't make a veth pair: does the kernel have veth?"),
        }
    }
    let [first, second] = network;
    bail!("no addresses are free in {first}.{second}.0.0/16: choose another network with --network")
}

/// Gives the node its end.
pub fn connect(addresses: Addresses, init: i32) -> Result<()> {
    let (name, machine) = (addresses.interface(), addresses.machine());
    command::call("ip", &format!("link set {name}-node netns {init} name eth0"))?;
    command::call("ip", &format!("address add {machine}/30 dev {name}"))?;
    command::call("ip", &format!("link set {name} up")).map(drop)
}

/// Removes the pair of a cluster, if it is there.
pub fn remove(root: &Path) -> Result<()> {
    let own = hardware_address(root);
    for name in interfaces()? {
        let address = fs_err::read_to_string(Path::new(INTERFACES).join(&name).join("address"));
        if !address.is_ok_and(|address| address.trim() == own) {
            continue;
        }
        match command::call("ip", &format!("link delete {name}")) {
            // It may have gone with the node's end meanwhile.
            Err(error) if interfaces()?.contains(&name) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// A local address made of the root's path: it says whose interface this is, from the moment it exists.
fn hardware_address(root: &Path) -> String {
    let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
    digest.iter().take(5).fold("02".to_owned(), |address, byte| format!("{address}:{byte:02x}"))
}

/// The machine's interfaces.
fn interfaces() -> Result<BTreeSet<String>> {
    let entries = fs_err::read_dir(INTERFACES)?;
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_root_has_its_own_local_address() {
        let address = hardware_address(Path::new("/var/tmp/one"));
        assert!(address.starts_with("02:") && address.len() == "02:00:00:00:00:00".len(), "{address}");
        assert_eq!(address, hardware_address(Path::new("/var/tmp/one")));
        assert_ne!(address, hardware_address(Path::new("/var/tmp/two")));
    }
}
