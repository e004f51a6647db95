use proptest::prelude::*;

use super::*;

fn meets(request: &str, tool: &str) -> bool {
    let [tool] = fields([(tool, Content::Prose)]);
    let tool: Vec<u32> = tool.into_iter().flat_map(|word| word.terms).map(|(term, _)| term).collect();
    query(request).iter().any(|word| word.terms.iter().any(|(term, _)| tool.contains(term)))
}

#[test]
fn stop_words_go_and_a_text_of_stop_words_stays() {
    let texts =
        |text| query(text).into_iter().filter(|word| !word.repeats).map(|word| word.text).collect::<Vec<_>>();
    assert_eq!(texts("Could you please list the tables of my server?"), ["list", "tables", "server"]);
    assert_eq!(texts("who am I"), ["who", "am", "i"]);
    assert_eq!(texts("what's the key"), ["key"]);
    assert_eq!(texts("bitte die Rechnung an den Kunden"), ["rechnung", "kunden"]);
}

#[test]
fn inflections_meet() {
    for (request, tool) in [
        ("listing tables", "list a table"),
        ("Rechnungen an die Kunden", "Erstellt eine Rechnung für den Kunden"),
        ("Rechnungen", "Erstellt eine Rechnung für den Kunden"),
        ("enviar facturas", "Envía una factura al cliente"),
        ("погоду в городе", "Показывает погоды на неделю"),
        ("paginas", "Busca páginas en la web"),
        ("送って", "メールを送る"),
        ("the user's key", "user"),
        ("webpage", "Fetches web pages"),
        ("web pages", "Fetches a webpage"),
        ("webpage", "Fetches web pages"),
        ("web pages", "Fetches a webpage"),
    ] {
        assert!(meets(request, tool), "{request} / {tool}");
    }
    assert!(!meets("погоду", "Переводит текст"));
}

#[test]
fn term_ids_are_stable() {
    assert_eq!(term_id("", "weather"), term_id("", "weather"));
    assert_ne!(term_id("de", "wetter"), term_id("", "wetter"));
}

proptest! {
    #[test]
    fn any_text_is_analysed_the_same_twice(text in any::<String>()) {
        prop_assert_eq!(query(&text), query(&text));
        let [words] = fields([(text.as_str(), Content::Prose)]);
        prop_assert!(words.iter().all(|word| !word.text.is_empty() && !word.terms.is_empty()));
    }

    #[test]
    fn stemmers_survive_any_letters(word in "\\p{L}{1,12}") {
        for language in Language::ALL {
            let _ = language.stem(&word.to_lowercase());
        }
    }
}
