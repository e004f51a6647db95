//! Requests that name tools.
//!
//! A request that is a tool's name, in any spelling and with or without its groups, must find that tool first; one
//! that lists several names must bring them all. Names are compared by their letters and digits alone.

use unicode_normalization::UnicodeNormalization as _;

use mcc_catalog::model::ToolDocument;

/// Longest request that is looked at for names, in bytes.
const LONGEST: usize = 4 * 1024;
/// Most names looked up of one request.
const MOST: usize = 32;

/// Letters and digits of a name, folded: `getWeb_page` → `getwebpage`.
pub fn fold(name: &str) -> String {
    name.nfkc().flat_map(char::to_lowercase).filter(|c| c.is_alphanumeric()).collect()
}

/// The folded names of a tool: the bare name, and behind each end of its groups (`name`, `gov.name`,
/// `osint.gov.name`), and the key.
pub fn of_tool(tool: &ToolDocument) -> Vec<String> {
    let name = fold(&tool.name);
    let mut forms = vec![name.clone()];
    let mut prefixed = name;
    for group in tool.facets.groups.iter().rev() {
        prefixed.insert_str(0, &fold(group));
        forms.push(prefixed.clone());
    }
    forms.push(fold(&tool.facets.key));
    forms.retain(|form| !form.is_empty());
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// What in a request may be a tool's name, folded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// The whole request.
    whole: String,
    /// Items of a list, when there are several.
    items: Vec<String>,
    /// Words written as identifiers (`get_page`, `getPage`, `web.get-page`).
    identifiers: Vec<String>,
}

impl Mentions {
    /// Reads a request.
    pub fn of(query: &str) -> Self {
        if query.len() > LONGEST {
            return Self::default();
        }
        let separators = |c: char| matches!(c, ',' | ';' | '\n' | '、' | '，' | '；');
        let mut items: Vec<String> =
            query.split(separators).flat_map(|item| item.split(" and ")).map(fold).collect();
        items.retain(|item| !item.is_empty());
        let mut identifiers: Vec<String> = query
            .split(|c: char| c.is_whitespace() || separators(c))
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
            .filter(|word| is_identifier(word))
            .map(fold)
            .collect();
        identifiers.truncate(MOST);
        Self {
            whole: fold(query),
            items: if items.len() > 1 && items.len() <= MOST { items } else { Vec::new() },
            identifiers,
        }
    }

    /// Every form that has to be looked up.
    pub fn forms(&self) -> Vec<&str> {
        let mut forms: Vec<&str> = std::iter::once(&self.whole)
            .chain(&self.items)
            .chain(&self.identifiers)
            .map(String::as_str)
            .filter(|form| !form.is_empty())
            .collect();
        forms.sort_unstable();
        forms.dedup();
        forms
    }

    /// The tools that the request names. `lookup` gives the tools with a folded name **that the caller may see**: what
    /// others are called must not change the answer.
    ///
    /// The whole request, when it is a name; else the items of a list, when every one is a name; and words written as
    /// identifiers. A plain word in a sentence names nothing: `search` is a tool here and a verb there.
    pub fn resolve<Id: Ord>(&self, mut lookup: impl FnMut(&str) -> Vec<Id>) -> Vec<Id> {
        let whole = if self.whole.is_empty() { Vec::new() } else { lookup(&self.whole) };
        if !whole.is_empty() {
            return whole;
        }
        let items: Vec<Vec<Id>> = self.items.iter().map(|item| lookup(item)).collect();
        let mut named: Vec<Id> = if items.iter().all(|item| !item.is_empty()) {
            items.into_iter().flatten().collect()
        } else {
            Vec::new()
        };
        named.extend(self.identifiers.iter().flat_map(|identifier| lookup(identifier)));
        named.sort_unstable();
        named.dedup();
        named
    }
}

/// Whether a word is written as identifiers are: joined inside by `_`, `.`, `-`, `/`, `:`, or with a capital after a small letter.
fn is_identifier(word: &str) -> bool {
    let mut before = ' ';
    for c in word.chars() {
        if matches!(c, '_' | '.' | '-' | '/' | ':') || (before.is_lowercase() && c.is_uppercase()) {
            return true;
        }
        before = c;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(query: &str) -> Vec<&'static str> {
        let names = ["search", "fetch", "get_weather", "read_file"];
        Mentions::of(query).resolve(|form| names.iter().copied().filter(|name| fold(name) == form).collect())
    }

    #[test]
    fn whole_requests() {
        for query in
            ["get_weather", "getWeather", "Get Weather", "get-weather", "GET.WEATHER", "`get_weather`"]
        {
            assert_eq!(resolve(query), ["get_weather"], "{query}");
        }
        assert_eq!(resolve("Search"), ["search"]);
    }

    #[test]
    fn lists_and_identifiers() {
        assert_eq!(resolve("search, fetch and get weather"), ["fetch", "get_weather", "search"]);
        assert_eq!(resolve("get_weather readFile"), ["get_weather", "read_file"]);
        assert_eq!(resolve("use read_file, please"), ["read_file"]);
        assert_eq!(resolve("search for papers, and fetch them"), Vec::<&str>::new());
        assert_eq!(resolve("..."), Vec::<&str>::new());
    }

    #[test]
    fn forms_of_a_tool() {
        let tool = ToolDocument {
            facets: mcc_catalog::model::Facets::new("osint.gov.find_person", &["osint".into(), "gov".into()]),
            name: "find_person".into(),
            ..ToolDocument::default()
        };
        assert_eq!(of_tool(&tool), ["findperson", "govfindperson", "osintgovfindperson"]);
    }
}
