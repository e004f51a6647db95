//! Values of parameters, which the schema leaves open: text that isn't quoted.

use mcc_crds::v1alpha1::ParamType;

use crate::model::Reason;

use super::check::Check;
use super::scalar::{self, Plain};
use super::tree::{Content, Fault, Node};

/// Reports defaults, overrides, examples and choices of str parameters that kubectl reads as something else than text:
/// `default: 1.10` would arrive as 1.1.
pub(super) fn check_literals(tool: &Node<'_>, check: &mut Check) {
    let params = tool.get("spec").and_then(|spec| spec.get("params")).map(Node::elements).unwrap_or_default();
    for (at, param) in params.iter().enumerate() {
        let kind = param.get("type").and_then(Node::text);
        let kind = kind.map_or(Some(ParamType::Str), |kind| serde_json::from_value(kind.into()).ok());
        if kind != Some(ParamType::Str) {
            continue;
        }
        for field in ["default", "override", "example"] {
            if let Some(value) = param.get(field) {
                expect_text(value, &format!("spec.params[{at}].{field}"), check);
            }
        }
        for (n, value) in param.get("enum").map(Node::elements).unwrap_or_default().iter().enumerate() {
            expect_text(value, &format!("spec.params[{at}].enum[{n}]"), check);
        }
    }
}

fn expect_text(value: &Node<'_>, path: &str, check: &mut Check) {
    let Content::Scalar { text, plain: true } = &value.content else { return };
    let reading = scalar::read(text);
    // A surprising scalar has been reported already.
    if reading.surprising || matches!(reading.value, Plain::Text | Plain::Null) {
        return;
    }
    check.faults.push(Fault {
        mark: value.mark,
        reason: Reason::AmbiguousScalar,
        path: path.to_owned(),
        message: format!("the parameter is a str, and kubectl reads {text} as {}", reading.describe()),
        fix: format!("quote it: \"{text}\", or set another type"),
    });
}
