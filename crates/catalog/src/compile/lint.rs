//! What works but is probably not meant.

use k8s_openapi::api::core::v1::EnvVar;
use mcc_crds::v1alpha1::ToolSpec;

use super::finding::Findings;
use crate::model::{Parameter, Reason};

/// Longest description that models read with profit, in characters.
const LONG_DESCRIPTION: usize = 4_000;

/// Warns of what a Tool probably doesn't mean.
pub(super) fn check(spec: &ToolSpec, params: &[Parameter], _: &[EnvVar], findings: &mut Findings) {
    check_description(spec, findings);
    check_example(spec, params, findings);
}

fn check_description(spec: &ToolSpec, findings: &mut Findings) {
    let length = spec.description.chars().count();
    if spec.description.trim().is_empty() {
        findings.warn(
            Reason::Suspicious,
            "spec.description",
            "the tool has no description: search finds it by its names only, and no model knows what it does",
            "say what it does in a sentence or two",
        );
    } else if length > LONG_DESCRIPTION {
        findings.warn(
            Reason::Suspicious,
            "spec.description",
            format!("{length} characters are read by a model with every search that finds the tool"),
            format!("shorten it below {LONG_DESCRIPTION}"),
        );
    }
}

/// An example that couldn't be called.
fn check_example(_: &ToolSpec, _: &[Parameter], _: &mut Findings) {}
