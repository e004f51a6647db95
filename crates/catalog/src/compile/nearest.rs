//! Names that look like another one.

/// At most `n` of the candidates that look like `name`, the most alike first. Cheap for 100 000 candidates: bigram
/// signatures choose the few that are compared letter by letter.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>, n: usize) -> Vec<&'a str> {
    const COMPARED: usize = 64;
    const ALIKE: f64 = 0.6;
    let name: String = fold(&name.chars().take(200).collect::<String>());
    let wanted = Bigrams::of(&name);
    let mut rough: Vec<(u32, &str)> =
        candidates.map(|candidate| (wanted.overlap_permille(Bigrams::of(candidate)), candidate)).collect();
    if rough.len() > COMPARED {
        rough.select_nth_unstable_by(COMPARED, |a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        rough.truncate(COMPARED);
    }
    let mut close: Vec<(f64, &str)> = rough
        .into_iter()
        .map(|(_, candidate)| (similarity(&name, &fold(candidate)), candidate))
        .filter(|(similarity, _)| *similarity >= ALIKE)
        .collect();
    close.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    close.into_iter().take(n).map(|(_, candidate)| candidate).collect()
}

/// Between 0 and 1. Keys are also compared by their last part: the groups are what callers leave out or get wrong.
fn similarity(a: &str, b: &str) -> f64 {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let whole = strsim::normalized_damerau_levenshtein(a, b);
    if !b.contains('.') {
        return whole;
    }
    let (last_a, last_b) = (last(a), last(b));
    whole.max(0.95 * strsim::normalized_damerau_levenshtein(&last_a, &last_b))
}

fn fold(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

/// The set of a name's letter pairs, hashed to 128 bits.
#[derive(Clone, Copy)]
struct Bigrams(u128);

impl Bigrams {
    fn of(name: &str) -> Self {
        let lower = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
        let pairs = name.as_bytes().windows(2);
        let bits = pairs.fold(0_u128, |bits, pair| {
            let hash = u32::from(lower(pair[0])).wrapping_mul(31).wrapping_add(u32::from(lower(pair[1])));
            bits | 1 << (hash.wrapping_mul(0x9e37_79b1) >> 25)
        });
        // Single letters have no pair; let them match each other.
        Self(if bits == 0 { 1 } else { bits })
    }

    /// Shared pairs in thousandths of the smaller set (a name may be the last part of a key).
    fn overlap_permille(self, other: Self) -> u32 {
        let smaller = self.0.count_ones().min(other.0.count_ones()).max(1);
        (self.0 & other.0).count_ones() * 1000 / smaller
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_misspellings_other_groups_and_hyphens() {
        let keys = [
            "academic.semantic_scholar_search",
            "geo.reverse_geocode",
            "public.text.jq",
            "admin.fs.read_file",
        ];
        let near = |name| nearest(name, keys.into_iter(), 1);
        assert_eq!(nearest("nmae", ["name", "table"].into_iter(), 3), ["name"]);
        assert_eq!(near("academic.semantic_scholar_serach"), ["academic.semantic_scholar_search"]);
        assert_eq!(near("semantic-scholar-search"), ["academic.semantic_scholar_search"]);
        assert_eq!(near("text.jq"), ["public.text.jq"]);
        assert_eq!(near("reverse_geocode"), ["geo.reverse_geocode"]);
        assert_eq!(near("zzz"), Vec::<&str>::new());
        assert_eq!(near(""), Vec::<&str>::new());
        assert_eq!(near("日本語"), Vec::<&str>::new());
    }
}
