//! Bounds of runs: a Tool's own over its groups' defaults, within what the groups allow.

use std::time::Duration;

use mcc_crds::v1alpha1::Limits;

use super::finding::Findings;
use super::groups::GroupRules;
use crate::model::{Reason, ResolvedLimits};
use crate::quantity::Quantity;

/// Longest run, in seconds (DECISIONS 10).
pub const MAX_TIMEOUT_SECONDS: i64 = 86_400;
/// Most bytes of output kept of a stream (DECISIONS 10).
pub const MAX_OUTPUT_BYTES: i64 = 8 * 1024 * 1024;

type Number = fn(&Limits) -> Option<i64>;
type Text = fn(&Limits) -> Option<&String>;

/// The numeric limits: name, field, largest value.
const NUMBERS: [(&str, Number, i64); 6] = [
    ("timeoutSeconds", |limits| limits.timeout_seconds, MAX_TIMEOUT_SECONDS),
    ("outputBytes", |limits| limits.output_bytes, MAX_OUTPUT_BYTES),
    ("cpuSeconds", |limits| limits.cpu_seconds, i64::MAX),
    ("fileBytes", |limits| limits.file_bytes, i64::MAX),
    ("openFiles", |limits| limits.open_files, i64::MAX),
    ("processes", |limits| limits.processes, i64::MAX),
];

/// The limits that are quantities.
const QUANTITIES: [(&str, Text); 3] = [
    ("cpu", |limits| limits.cpu.as_ref()),
    ("memory", |limits| limits.memory.as_ref()),
    ("ephemeralStorage", |limits| limits.ephemeral_storage.as_ref()),
];

/// Checks the limits at `path` by themselves.
pub(super) fn check(limits: &Limits, path: &str, findings: &mut Findings) {
    for (name, field, most) in NUMBERS {
        if let Some(value) = field(limits).filter(|value| !(1..=most).contains(value)) {
            let bound = if most == i64::MAX { "at least 1".to_owned() } else { format!("from 1 to {most}") };
            findings.error(
                Reason::InvalidField,
                format!("{path}.{name}"),
                format!("{value} is out of bounds"),
                format!("choose a value {bound}"),
            );
        }
    }
    for (name, field) in QUANTITIES {
        let Some(text) = field(limits) else { continue };
        let path = format!("{path}.{name}");
        match Quantity::parse(text) {
            Err(error) => {
                findings.error(Reason::InvalidField, path, error.to_string(), "for example 500m or 256Mi");
            }
            Ok(quantity) if !quantity.is_positive() => {
                findings.error(Reason::InvalidField, path, format!("{text} is not above zero"), "raise it");
            }
            Ok(quantity) if name != "cpu" && quantity < small_memory() => findings.warn(
                Reason::Suspicious,
                path,
                format!("{text} is less than 1 MiB: nothing can run in it"),
                "write a unit: Mi is mebibytes, m is thousandths",
            ),
            Ok(_) => {}
        }
    }
}

/// The limits of a Tool, all filled in. A group's bound that the Tool and the defaults leave open is itself the limit.
pub(super) fn resolve(own: &Limits, groups: &[GroupRules<'_>], findings: &mut Findings) -> ResolvedLimits {
    let defaults = || {
        groups
            .iter()
            .filter_map(|group| group.spec.defaults.as_ref())
            .filter_map(|defaults| defaults.limits.as_ref())
    };
    let bounds = || {
        groups.iter().filter_map(|group| {
            let most = group.spec.allowed.as_ref()?.max_limits.as_ref()?;
            Some((group.name, most))
        })
    };
    let mut number = |index: usize, standard: Option<i64>| -> Option<i64> {
        let (name, field, _) = NUMBERS[index];
        let chosen = field(own).or_else(|| defaults().find_map(field));
        let Some(chosen) = chosen else {
            let tightest = bounds().filter_map(|(_, most)| field(most)).min();
            return match (standard, tightest) {
                (Some(standard), Some(tightest)) => Some(standard.min(tightest)),
                (standard, tightest) => standard.or(tightest),
            };
        };
        for (group, most) in bounds() {
            if let Some(most) = field(most).filter(|most| chosen > *most) {
                exceeded(findings, name, group, &chosen.to_string(), &most.to_string());
            }
        }
        Some(chosen)
    };
    let standard = ResolvedLimits::default();
    let timeout = number(0, Some(seconds(standard.timeout)));
    let output = number(1, i64::try_from(standard.output_bytes).ok());
    let [cpu_seconds, file_bytes, open_files, processes] =
        [2, 3, 4, 5].map(|index| number(index, None).and_then(|value| u64::try_from(value).ok()));
    let mut quantity = |index: usize| -> Option<String> {
        let (name, field) = QUANTITIES[index];
        let Some(chosen) = field(own).or_else(|| defaults().find_map(field)) else {
            let parsed = bounds()
                .filter_map(|(_, most)| field(most))
                .filter_map(|text| Quantity::parse(text).ok().map(|quantity| (quantity, text)));
            return parsed.min().map(|(_, text)| text.clone());
        };
        // What doesn't parse is reported by `check`.
        let value = Quantity::parse(chosen).ok()?;
        for (group, most) in bounds() {
            let Some(most) = field(most) else { continue };
            if Quantity::parse(most).is_ok_and(|most| value > most) {
                exceeded(findings, name, group, chosen, most);
            }
        }
        Some(chosen.clone())
    };
    let [cpu, memory, ephemeral_storage] = [quantity(0), quantity(1), quantity(2)];
    ResolvedLimits {
        timeout: timeout
            .and_then(|value| u64::try_from(value).ok())
            .map_or(standard.timeout, Duration::from_secs),
        output_bytes: output.and_then(|value| usize::try_from(value).ok()).unwrap_or(standard.output_bytes),
        cpu,
        memory,
        ephemeral_storage,
        cpu_seconds,
        file_bytes,
        open_files,
        processes,
    }
}

fn exceeded(findings: &mut Findings, name: &str, group: &str, value: &str, most: &str) {
    findings.error(
        Reason::NotAllowedByGroup,
        format!("spec.limits.{name}"),
        format!("{value} is above the {most} that group {group} allows"),
        format!("set it to {most} or less, or raise spec.allowed.maxLimits.{name} of the ToolGroup {group}"),
    );
}

fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
}

fn small_memory() -> Quantity {
    Quantity::from_units(1 << 20)
}
