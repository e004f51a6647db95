//! A catalog of any number of tools, made up but not random: the same number gives the same files.

use std::fmt::Write as _;
use std::path::Path;

const VERBS: [&str; 10] =
    ["Search", "List", "Create", "Delete", "Update", "Export", "Compare", "Summarise", "Validate", "Convert"];
const THINGS: [&str; 25] = [
    "invoices",
    "papers",
    "patients",
    "flights",
    "recipes",
    "tickets",
    "contracts",
    "sensors",
    "articles",
    "parcels",
    "vacancies",
    "trademarks",
    "earthquakes",
    "genes",
    "playlists",
    "tenders",
    "vessels",
    "forecasts",
    "accounts",
    "photos",
    "commits",
    "molecules",
    "auctions",
    "permits",
    "lectures",
];
const PLACES: [&str; 20] = [
    "the city archive",
    "a hospital",
    "the harbour",
    "an airline",
    "the national library",
    "a warehouse",
    "a football league",
    "the tax office",
    "a laboratory",
    "an online shop",
    "the parliament",
    "a bakery",
    "the weather service",
    "a law firm",
    "the museum",
    "a power plant",
    "an insurer",
    "the railway",
    "a newsroom",
    "the observatory",
];
const MANNERS: [&str; 4] = ["by keyword", "between two dates", "with their owners", "as a table"];
/// Tools in one file.
const PER_FILE: usize = 100;

/// Requests as an agent would word them.
pub const QUERIES: [&str; 12] = [
    "search for papers in the national library",
    "which flights leave between two dates",
    "export invoices of an online shop as a table",
    "compare forecasts of the weather service",
    "find the owner of a vessel in the harbour",
    "delete a ticket",
    "summarise court contracts for a law firm",
    "validate sensor data from a power plant",
    "list earthquakes by keyword",
    "convert recipes of a bakery",
    "create a parcel label, then list all parcels of the warehouse",
    "patients and their owners",
];

/// Writes the manifests of `tools` tools in ten groups.
pub fn write(folder: &Path, tools: usize) -> anyhow::Result<()> {
    let mut text = String::new();
    for group in 0..10 {
        writeln!(
            text,
            "---\napiVersion: mcc.dev/v1alpha1\nkind: ToolGroup\nmetadata: {{name: group-{group}}}\nspec: {{}}"
        )?;
    }
    fs_err::write(folder.join("groups.yaml"), &text)?;
    for file in 0..tools.div_ceil(PER_FILE) {
        text.clear();
        for number in (file * PER_FILE)..((file + 1) * PER_FILE).min(tools) {
            tool(&mut text, number)?;
        }
        fs_err::write(folder.join(format!("tools-{file}.yaml")), &text)?;
    }
    Ok(())
}

fn tool(text: &mut String, number: usize) -> std::fmt::Result {
    let verb = VERBS[number % VERBS.len()];
    let thing = THINGS[number / VERBS.len() % THINGS.len()];
    let place = PLACES[number / (VERBS.len() * THINGS.len()) % PLACES.len()];
    let manner = MANNERS[number / (VERBS.len() * THINGS.len() * PLACES.len()) % MANNERS.len()];
    let group = number % 10;
    let name = format!("{}-{thing}-{number}", verb.to_lowercase());
    write!(
        text,
        "---
apiVersion: mcc.dev/v1alpha1
kind: Tool
metadata: {{name: {name}}}
spec:
  groups: [group-{group}]
  description: |
    {verb} {thing} of {place} {manner}.
    Answers with one line for each of the {thing}, the newest first.
  params:
  - {{name: query, type: str, description: What to look for among the {thing}.}}
  - {{name: limit, type: int, default: 10, minimum: 1, maximum: 100, description: Number of {thing} to return.}}
  returns: {{type: str}}
  shell:
    script: printf '%s %s\\n' {{{{ query }}}} {{{{ limit }}}}
"
    )
}
