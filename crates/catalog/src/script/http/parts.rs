//! Text with environment variables in it.

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Text as it is.
    Text(String),
    /// The value of an environment variable.
    Variable(String),
    /// The percent-encoded value of an environment variable.
    Encoded(String),
}

/// A text in parts, neighbouring texts joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts(Vec<Part>);

impl From<Part> for Parts {
    fn from(part: Part) -> Self {
        let mut parts = Self::default();
        parts.push(part);
        parts
    }
}

impl Parts {
    pub(super) fn push(&mut self, part: Part) {
        match (self.0.last_mut(), part) {
            (Some(Part::Text(text)), Part::Text(more)) => text.push_str(&more),
            (_, Part::Text(text)) if text.is_empty() => {}
            (_, part) => self.0.push(part),
        }
    }

    pub(super) fn extend(&mut self, parts: Self) {
        parts.0.into_iter().for_each(|part| self.push(part));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Part> {
        self.0.iter()
    }
}

/// Takes a template's own text apart.
pub(super) fn each_static(text: &str, mut take: impl FnMut(Part)) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("$(") {
        if let Some(before) = before.strip_suffix('$') {
            take(Part::Text(format!("{before}$(")));
            rest = after;
        } else if let Some((name, behind)) = variable(after) {
            take(Part::Text(before.to_owned()));
            take(Part::Variable(name.to_owned()));
            rest = behind;
        } else {
            take(Part::Text(format!("{before}$(")));
            rest = after;
        }
    }
    take(Part::Text(rest.to_owned()));
}

/// A variable's name up to `)`, and what follows.
fn variable(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(')')?;
    let letters = name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    (letters && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())).then_some((name, rest))
}

/// References in a template's source that Kubernetes would take for variables and a shell can't: offset and name.
pub(super) fn bad_variables(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (offset, _) in source.match_indices("$(") {
        let rest = &source[offset + 2..];
        let Some((name, _)) = rest.split_once(')') else { continue };
        let kubernetes = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
        if kubernetes && variable(rest).is_none() && !source[..offset].ends_with('$') {
            found.push((offset, name.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<Part> {
        let mut parts = Parts::default();
        each_static(text, |part| parts.push(part));
        parts.0
    }

    #[test]
    fn references_are_those_of_kubernetes() {
        let text = |text: &str| Part::Text(text.to_owned());
        let variable = |name: &str| Part::Variable(name.to_owned());
        assert_eq!(parts("a$(B)c"), [text("a"), variable("B"), text("c")]);
        assert_eq!(parts("$(A)$(B_1)"), [variable("A"), variable("B_1")]);
        assert_eq!(parts("$$(A) $( A) $(a-b $A $() $(1)"), [text("$(A) $( A) $(a-b $A $() $(1)")]);
        assert_eq!(parts("$$$(A)"), [text("$$(A)")]);
        assert_eq!(bad_variables("$(a-b) $$(c-d) $(A) $( x)"), [(0, "a-b".to_owned())]);
    }
}
