//! Places in files, and where the fields of an object are.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A place in a file: 1-based line and column (in characters).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as it was named to the program.
    pub file: Arc<PathBuf>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// Line and column of every field of an object, by its path: `spec.params[2].default`, `metadata.labels[app]`.
///
/// A catalog of 10 000 tools has half a million fields, so paths are kept as 64-bit hashes: 16 bytes a field.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FieldPlaces {
    /// Hash of the path, line, column; sorted by hash.
    places: Box<[(u64, u32, u32)]>,
}

impl FieldPlaces {
    /// The place of exactly this path.
    pub fn get(&self, path: &str) -> Option<(u32, u32)> {
        let hash = hash(path);
        let at = self.places.binary_search_by_key(&hash, |&(hash, ..)| hash).ok()?;
        let (_, line, column) = self.places[at];
        Some((line, column))
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether no field has a place.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

impl fmt::Debug for FieldPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FieldPlaces({} fields)", self.places.len())
    }
}

impl<P: AsRef<str>> FromIterator<(P, (u32, u32))> for FieldPlaces {
    fn from_iter<I: IntoIterator<Item = (P, (u32, u32))>>(fields: I) -> Self {
        let mut places: FieldPlacesBuilder = FieldPlacesBuilder::default();
        for (path, (line, column)) in fields {
            places.add(path.as_ref(), line, column);
        }
        places.build()
    }
}

impl From<BTreeMap<String, (u32, u32)>> for FieldPlaces {
    fn from(fields: BTreeMap<String, (u32, u32)>) -> Self {
        fields.into_iter().collect()
    }
}

/// Collects the places of an object's fields.
#[derive(Clone, Debug, Default)]
pub struct FieldPlacesBuilder {
    places: Vec<(u64, u32, u32)>,
}

impl FieldPlacesBuilder {
    /// Notes where the field at `path` is.
    pub fn add(&mut self, path: &str, line: u32, column: u32) {
        self.places.push((hash(path), line, column));
    }

    /// Everything noted. Of two notes of one path the first counts.
    pub fn build(mut self) -> FieldPlaces {
        self.places.sort_by_key(|&(hash, ..)| hash);
        self.places.dedup_by_key(|&mut (hash, ..)| hash);
        FieldPlaces { places: self.places.into_boxed_slice() }
    }
}

/// FNV-1a, 64 bits: a clash only moves the place of a message.
fn hash(path: &str) -> u64 {
    path.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Where an object came from. The default is an object of a cluster, which has no file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// File and line of the document's first node.
    pub start: Option<Place>,
    /// Line and column of every field.
    pub fields: Arc<FieldPlaces>,
}

impl Origin {
    /// The place of the field at `path`, or of the nearest field around it, or of the object.
    pub fn place(&self, path: &str) -> Option<Place> {
        let start = self.start.as_ref()?;
        let mut at = path;
        loop {
            if let Some((line, column)) = self.fields.get(at) {
                return Some(Place { file: start.file.clone(), line, column });
            }
            match at.rfind(['.', '[']) {
                Some(end) => at = &at[..end],
                None => return Some(start.clone()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_falls_back_to_the_field_around() {
        let start = Place { file: Arc::new("a.yaml".into()), line: 1, column: 1 };
        let fields = [("spec", (3, 1)), ("spec.params[0]", (4, 5))].into_iter().collect();
        let origin = Origin { start: Some(start), fields: Arc::new(fields) };
        let at = |path: &str| origin.place(path).map(|p| (p.line, p.column));
        assert_eq!(at("spec.params[0].default"), Some((4, 5)));
        assert_eq!(at("spec.params[1].default"), Some((3, 1)));
        assert_eq!(at("metadata.labels[a.b/c]"), Some((1, 1)));
        assert_eq!(Origin::default().place("spec"), None);
    }
}
