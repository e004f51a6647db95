//! Who calls: authenticators.

mod dev;

pub use dev::DevAuthenticator;
