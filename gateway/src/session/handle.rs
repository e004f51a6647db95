//! Handles: names of scratchpads for callers without an identity.
//!
//! A handle is 16 random bytes and a keyed digest over them, the catalog and the principal: a caller can't make one up,
//! and one that leaks is useless to another principal. Nothing is stored for it.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const PREFIX: &str = "ses_";
const RANDOM: usize = 16;
const DIGEST: usize = 8;

/// Makes and checks handles.
#[derive(Clone)]
pub(crate) struct Handles {
    mac: Hmac<Sha256>,
}

impl Handles {
    pub(crate) fn new(secret: &[u8; 32], catalog: &str) -> Self {
        let mut key = Vec::from(b"mcc session handle\0".as_slice());
        key.extend_from_slice(secret);
        key.extend_from_slice(catalog.as_bytes());
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
        let mac = Hmac::new_from_slice(&key).expect("a key of any length");
        Self { mac }
    }

    /// A new handle for `principal`.
    pub(crate) fn mint(&self, principal: &str) -> String {
        let random: [u8; RANDOM] = rand::random();
        format!("{PREFIX}{}{}", hex(&random), hex(&self.digest(&random, principal)))
    }

    /// Whether this is a handle that was made for `principal`.
    pub(crate) fn check(&self, handle: &str, principal: &str) -> bool {
        let Some(bytes) = handle.strip_prefix(PREFIX).and_then(unhex) else { return false };
        let Some((random, digest)) = bytes.split_at_checked(RANDOM) else { return false };
        let mut mac = self.mac.clone();
        mac.update(random);
        mac.update(principal.as_bytes());
        digest.len() == DIGEST && mac.verify_truncated_left(digest).is_ok()
    }

    fn digest(&self, random: &[u8], principal: &str) -> [u8; DIGEST] {
        let mut mac = self.mac.clone();
        mac.update(random);
        mac.update(principal.as_bytes());
        let mut digest = [0; DIGEST];
        digest.copy_from_slice(&mac.finalize().into_bytes()[..DIGEST]);
        digest
    }
}

/// Bytes as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_bound_to_its_principal_catalog_and_secret() {
        let handles = Handles::new(&[7; 32], "c");
        let handle = handles.mint("anonymous");
        assert!(handles.check(&handle, "anonymous"));
        assert!(!handles.check(&handle, "alice"));
        assert!(!Handles::new(&[8; 32], "c").check(&handle, "anonymous"));
        assert!(!Handles::new(&[7; 32], "d").check(&handle, "anonymous"));
        assert_ne!(handle, handles.mint("anonymous"));
    }

    #[test]
    fn what_was_not_made_here_is_refused() {
        let handles = Handles::new(&[7; 32], "c");
        let mut changed = handles.mint("anonymous");
        changed.replace_range(4..5, if &changed[4..5] == "0" { "1" } else { "0" });
        for handle in ["", "ses_", "ses_zz", "default", &"ses_".repeat(20), &changed, "ses_é"] {
            assert!(!handles.check(handle, "anonymous"), "{handle}");
        }
    }
}
