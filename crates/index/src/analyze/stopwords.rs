//! Words that say nothing about what a tool does: they neither rank nor count as length, and they tell languages apart.
//!
//! Short lists of function words, question words and politeness. Words that carry meaning in a tool's name or
//! description (`table`, `server`, `key`, `text`, `get`, `list`, `find`) are in none of them.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::language::Language;

/// The languages whose stop word this is, a bit each.
pub(super) fn languages(word: &str) -> u32 {
    static LANGUAGES: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
        let mut languages = HashMap::new();
        for language in Language::ALL {
            for word in list(language).split_ascii_whitespace() {
                *languages.entry(word).or_default() |= bit(language);
            }
        }
        languages
    });
    LANGUAGES.get(word).copied().unwrap_or(0)
}

/// The bit of a language.
pub(super) fn bit(language: Language) -> u32 {
    1 << language as u32
}

const ENGLISH: &str = "a an and are as at be but by for if in into is it no not of on or such that the their then there \
    these they this to was will with \
    i me my i'm i'd i've we us our you your he she his her its what which who whom can could would should do does did \
    doing am been being have has had please want need like some any all from how when where why also so than too very \
    just about up out want's let give what's let's it's";

const CATALAN: &str = "el la els les un una uns unes de del dels al als a en per amb i o que no es com quan on quin quina \
    meu meva vull puc si us plau aquest aquesta són és";

const CZECH: &str = "a i o u v ve s se si k ke na do od po pro za z ze že je jsou jak co kde kdy ten ta to ty ne který \
    která které můj mi mě prosím chci potřebuji jako nebo ale tento tato";

const DANISH: &str = "en et den det de der som og i på til af for med er at ikke jeg vil min mit mine hvordan hvad hvor \
    fra eller om kan skal du dig venligst gerne";

const DUTCH: &str = "de het een en van in op te dat die is voor met aan bij uit ik mijn wil kan hoe wat waar wie of om \
    naar door over als niet je jouw alsjeblieft graag deze dit er zijn";

const FINNISH: &str = "ja on ei se että en joka mitä miten missä kun minun minä haluan voi ole tai sekä tämä nämä kuin \
    mutta olen voinko hyvä jos jonka";

const FRENCH: &str = "le la les l un une des de du d au aux à en et ou où que qui quoi quel quelle quels quelles est sont \
    dans par pour sur avec sans ce cet cette ces mon ma mes je j tu il elle nous vous me m se s ne n pas \
    comment quand plus son sa ses leur leurs y veux voudrais peux peut faut qu c s'il plaît merci";

const GERMAN: &str = "der die das den dem des ein eine einen einem einer eines und oder aber in im ins an am auf aus bei \
    beim mit nach von vom zu zum zur für über unter durch ist sind war wird werden kann können könnte \
    ich mich mir mein meine meinen meinem meiner du dir dich dein deine er sie es wir uns unser ihr man \
    nicht kein keine wie was wer wo wann warum welche welcher welches bitte möchte will soll muss \
    brauche gib zeig mal hat haben als auch dass sich so um";

const HUNGARIAN: &str = "a az egy és vagy nem is hogy ez azt ezt mi hol mikor hogyan van volt én nekem kérem szeretnék kell \
    lehet meg el ki be de ha";

const INDONESIAN: &str = "yang dan di ke dari untuk dengan ini itu pada adalah atau saya aku kamu anda tidak bisa dapat akan \
    bagaimana apa mana tolong ingin mau sebuah dalam oleh";

const ITALIAN: &str = "il lo la i gli le l un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal \
    dalla in nel nella con su sul sulla per tra fra e ed o che chi cui è sono ho ha non come quando dove \
    quale quali mio mia miei mie vorrei voglio posso puoi si mi ti ci questo questa favore";

const NORWEGIAN: &str = "en ei et den det de som og i på til av for med er å ikke jeg vil min mitt mine hvordan hva hvor fra \
    eller om kan skal du deg vennligst gjerne";

const POLISH: &str = "i w we z ze na do od po za o u dla przez przy jest są nie to ten ta te tego tej jak co gdzie kiedy \
    czy który która które mój moja moje mi mnie chcę proszę oraz lub się że";

const PORTUGUESE: &str = "o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para com sem e ou que quem \
    qual quais é são não como quando onde meu minha meus minhas eu me te se quero preciso posso pode \
    este esta isso ao aos à favor seu sua";

const ROMANIAN: &str = "un o unei unui al a ale ai de la în din pe cu pentru și sau că nu este sunt care ce cum când unde \
    meu mea vreau pot te rog să se prin";

const SPANISH: &str = "el la los las un una unos unas de del a al en y e o u que quien qué quién cuál cuáles es son está \
    están por para con sin sobre entre no como cómo cuando cuándo donde dónde mi mis tu tus su sus yo me \
    te se lo le les nos quiero quisiera necesito puedo puedes puede podría favor este esta esto ese esa \
    hay he ha";

const SWEDISH: &str = "en ett den det de som och i på till av för med är att inte jag vill min mitt mina hur vad var från \
    eller om kan ska du dig snälla gärna";

const TURKISH: &str = "bir ve veya ile için bu şu o da de ne nasıl nerede ben bana benim lütfen istiyorum mı mi mu mü olan \
    olarak gibi";

const RUSSIAN: &str = "и в во на не что он она оно они я мне мой моя моё мои меня с со как а то все его её их но да ты вы \
    вас вам к ко у по из за от до для о об при без или ли если бы же это этот эта эти тот так где когда \
    какой какая какие какое каков кто чем хочу хотел можно мочь могу надо нужно нужен пожалуйста есть \
    быть был была были уже там здесь тут";

const UKRAINIAN: &str = "і й в у на не що він вона воно вони я мені мій моя моє мої з із як а то все його її їх але ти ви вам \
    до для про при без або чи якщо це цей ця ці де коли який яка які хто хочу можна треба потрібно будь \
    ласка є бути";

const SERBIAN: &str = "и у на не што је он она они ја ми мој моја са као а то све его али ти ви до за о или ако ово где \
    када који која ко желим молим";

const GREEK: &str = "ο η το οι τα του της των τον την και ή να σε στο στη στην στον με για από που τι πώς πως είναι δεν \
    μου θέλω παρακαλώ ένα μια ένας";

const ARABIC: &str = "في من إلى على عن مع أن إن ما هل هو هي هذا هذه التي الذي كيف أين متى لا لي و أو ثم أريد";

const PERSIAN: &str = "در از به با که و یا این آن را است برای من می چه چگونه کجا لطفا";

const HINDI: &str = "का के की में से को पर और या है हैं यह वह एक मुझे मेरा मेरी क्या कैसे कहाँ कब कृपया लिए";

const TAMIL: &str = "ஒரு மற்றும் அல்லது இந்த அந்த என் எனக்கு எப்படி என்ன எங்கே";

fn list(language: Language) -> &'static str {
    match language {
        Language::English => ENGLISH,
        Language::Catalan => CATALAN,
        Language::Czech => CZECH,
        Language::Danish => DANISH,
        Language::Dutch => DUTCH,
        Language::Finnish => FINNISH,
        Language::French => FRENCH,
        Language::German => GERMAN,
        Language::Hungarian => HUNGARIAN,
        Language::Indonesian => INDONESIAN,
        Language::Italian => ITALIAN,
        Language::Norwegian => NORWEGIAN,
        Language::Polish => POLISH,
        Language::Portuguese => PORTUGUESE,
        Language::Romanian => ROMANIAN,
        Language::Spanish => SPANISH,
        Language::Swedish => SWEDISH,
        Language::Turkish => TURKISH,
        Language::Russian => RUSSIAN,
        Language::Ukrainian => UKRAINIAN,
        Language::Serbian => SERBIAN,
        Language::Greek => GREEK,
        Language::Arabic => ARABIC,
        Language::Persian => PERSIAN,
        Language::Hindi => HINDI,
        Language::Tamil => TAMIL,
        Language::Armenian => "",
    }
}
