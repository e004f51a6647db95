//! Stub.
/// Stub.
pub struct EndpointEmbedder;
/// Stub.
pub struct EndpointSettings;
