//! Character n-grams for scripts without spaces between words.

use unicode_normalization::char::is_combining_mark;

use super::script::{CharClass, class};
use super::split::{Form, RawWord};

/// Chinese function words and politeness: they separate the words around them.
const CHINESE_STOPS: [&str; 36] = [
    "能不能",
    "可不可以",
    "有没有",
    "是不是",
    "为什么",
    "怎么样",
    "帮我",
    "帮忙",
    "我想",
    "我要",
    "想要",
    "需要",
    "一下",
    "一个",
    "怎么",
    "怎样",
    "什么",
    "如何",
    "可以",
    "我的",
    "你的",
    "他的",
    "我们",
    "你们",
    "请问",
    "请",
    "的",
    "了",
    "吗",
    "呢",
    "吧",
    "把",
    "我",
    "你",
    "和",
    "并",
];

/// Pushes the n-grams of a run of characters.
///
/// Pairs of neighbours; a run of one character gives that character. In Japanese text a Chinese character whose
/// neighbours are no Chinese characters is given alone too: it is the stem of an inflected word (送 of 送る and 送って).
/// Pairs of hiragana alone are grammar, and left out where the run has anything else.
///
/// With `characters` (on the side of the tool) every Chinese character is given alone too, so that a request of a
/// single character finds the words it is in.
pub(super) fn push(run: &[char], characters: bool, words: &mut Vec<RawWord>) {
    if characters && run.len() > 1 {
        for c in run.iter().filter(|&&c| class(c) == CharClass::Han) {
            words.push(RawWord { text: c.to_string(), form: Form::Character });
        }
    }
    for piece in content(run) {
        let clusters = clusters(piece);
        if let [only] = clusters.as_slice() {
            gram(&[only], words);
            continue;
        }
        let kinds: Vec<CharClass> = clusters.iter().map(|cluster| class(cluster[0])).collect();
        let only_hiragana = kinds.iter().all(|&kind| kind == CharClass::Hiragana);
        for at in 0..clusters.len() {
            let han = |index: Option<usize>| {
                index.and_then(|index| kinds.get(index)).is_some_and(|&kind| kind == CharClass::Han)
            };
            if kinds[at] == CharClass::Han && !han(at.checked_sub(1)) && !han(Some(at + 1)) {
                gram(&[clusters[at]], words);
            }
            let Some(next) = kinds.get(at + 1) else { break };
            let grammar = kinds[at] == CharClass::Hiragana && *next == CharClass::Hiragana;
            if only_hiragana || !grammar {
                gram(&[clusters[at], clusters[at + 1]], words);
            }
        }
    }
}

fn gram(clusters: &[&[char]], words: &mut Vec<RawWord>) {
    words.push(RawWord { text: clusters.iter().copied().flatten().collect(), form: Form::Gram });
}

/// The pieces of a run between function words; the whole run when nothing else is left.
fn content(run: &[char]) -> Vec<&[char]> {
    if !run.iter().any(|&c| class(c) == CharClass::Han)
        || run.iter().any(|&c| class(c) == CharClass::Hiragana)
    {
        return vec![run];
    }
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < run.len() {
        match CHINESE_STOPS.iter().find(|stop| starts_with(&run[at..], stop)) {
            Some(stop) => {
                pieces.push(&run[start..at]);
                at += stop.chars().count();
                start = at;
            }
            None => at += 1,
        }
    }
    pieces.push(&run[start..]);
    pieces.retain(|piece| !piece.is_empty());
    if pieces.is_empty() { vec![run] } else { pieces }
}

fn starts_with(run: &[char], word: &str) -> bool {
    let mut run = run.iter();
    word.chars().all(|c| run.next() == Some(&c))
}

/// A character with the marks that follow it (vowels and tones of the South-East Asian scripts).
fn clusters(run: &[char]) -> Vec<&[char]> {
    let mut clusters = Vec::new();
    let mut start = 0;
    for at in 1..=run.len() {
        if at == run.len() || !is_combining_mark(run[at]) {
            clusters.push(&run[start..at]);
            start = at;
        }
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grams(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        push(&text.chars().collect::<Vec<_>>(), false, &mut words);
        words.into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn pairs_and_single_characters() {
        assert_eq!(grams("天气预报"), ["天气", "气预", "预报"]);
        assert_eq!(grams("图"), ["图"]);
        assert_eq!(grams("문서를"), ["문서", "서를"]);
    }

    #[test]
    fn japanese_inflections_share_their_stem() {
        assert!(grams("送る").contains(&"送".to_owned()));
        assert!(grams("メールを送って").contains(&"送".to_owned()));
        assert!(!grams("送信してください").iter().any(|gram| gram == "くだ"));
        assert_eq!(grams("おすすめ"), ["おす", "すす", "すめ"]);
    }

    #[test]
    fn chinese_function_words_separate() {
        assert_eq!(grams("请帮我查询天气"), ["查询", "询天", "天气"]);
        assert_eq!(grams("我的"), ["我的"]);
    }

    #[test]
    fn thai_marks_stay_with_their_letter() {
        assert_eq!(grams("ที่นี่"), ["ที่นี่"]);
    }
}
