//! Words that say what a control does, in some languages.

use super::EffectKind;
use EffectKind::{Account, Delete, Purchase, Send};

/// How a word has to occur in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum In {
    /// Anywhere: the word is hardly used for anything else.
    Any,
    /// As the whole name, but for words of [`FILLING`].
    Whole,
}

/// Words and phrases that are written with spaces between words.
const WORDS: &[(EffectKind, In, &str)] = &[
    // English
    (
        Delete,
        In::Any,
        "delete|erase|destroy|wipe|discard|trash|unpublish|permanently remove|empty trash|close account|deactivate",
    ),
    (
        Delete,
        In::Whole,
        "remove|clear all|clear data|reset|revoke|terminate|uninstall|cancel order|cancel subscription|cancel booking|archive all",
    ),
    (
        Purchase,
        In::Any,
        "buy now|buy it now|place order|place your order|confirm order|submit order|complete order|complete purchase|confirm purchase|pay now|confirm payment|make payment|order now|confirm and pay|start subscription|start trial|place bid|confirm booking|confirm reservation|book now|reserve now|transfer money|send money|withdraw|donate",
    ),
    (Purchase, In::Whole, "buy|pay|purchase|order|book|reserve|bid|transfer|invest|sell|trade|subscribe|upgrade|renew"),
    (
        Send,
        In::Any,
        "send message|send email|send mail|send reply|send invite|send invitation|send request|post comment|post reply|post message|publish|submit review|submit comment|submit application|submit request|reply all|sign and submit|file complaint",
    ),
    (
        Send,
        In::Whole,
        "send|submit|post|reply|share|tweet|retweet|repost|forward|invite|comment|report|apply now|vote|rsvp|sign|approve|merge|deploy|release",
    ),
    (
        Account,
        In::Any,
        "create account|sign up|change password|reset password|change email|update email|grant access|allow access|authorize|authorise|give consent|accept invitation|unsubscribe|unfollow|accept offer|merge pull request|deploy to production|generate token|create token|add user|make admin|share access|change owner|transfer ownership",
    ),
    (Account, In::Whole, "register|join|allow|grant|authorize|connect account|i agree|agree|install"),
    // German
    (Delete, In::Any, "löschen|entfernen|vernichten|verwerfen|kündigen|stornieren|deaktivieren"),
    (
        Purchase,
        In::Any,
        "kaufen|bestellen|bezahlen|zahlungspflichtig|kostenpflichtig|buchen|reservieren|überweisen|spenden|bestellung abschicken|kauf abschließen|bieten",
    ),
    (
        Send,
        In::Any,
        "senden|absenden|abschicken|einreichen|veröffentlichen|antworten|weiterleiten|posten|teilen|kommentieren|einladen|abstimmen",
    ),
    (
        Account,
        In::Any,
        "registrieren|konto erstellen|passwort ändern|abmelden vom newsletter|abbestellen|zugriff erlauben|freigeben|zustimmen",
    ),
    // French
    (Delete, In::Any, "supprimer|effacer|retirer|détruire|résilier|désactiver"),
    (
        Purchase,
        In::Any,
        "acheter|commander|payer|réserver|passer la commande|valider la commande|confirmer le paiement|virer|donner",
    ),
    (Send, In::Any, "envoyer|publier|répondre|soumettre|transférer|partager|commenter|inviter|voter"),
    (Account, In::Any, "créer un compte|s'inscrire|changer le mot de passe|se désabonner|autoriser"),
    // Spanish
    (Delete, In::Any, "eliminar|borrar|quitar|suprimir|descartar|desactivar"),
    (
        Purchase,
        In::Any,
        "comprar|pagar|realizar pedido|confirmar pedido|hacer pedido|reservar|transferir|donar|pujar|suscribirse",
    ),
    (Send, In::Any, "enviar|publicar|responder|compartir|comentar|invitar|votar|reenviar"),
    (Account, In::Any, "crear cuenta|registrarse|cambiar contraseña|darse de baja|autorizar|conceder acceso"),
    // Italian
    (Delete, In::Any, "elimina|eliminare|cancella|cancellare|rimuovi|rimuovere|disattiva"),
    (Purchase, In::Any, "acquista|acquistare|compra|comprare|paga|pagare|ordina|prenota|conferma ordine|dona"),
    (Send, In::Any, "invia|inviare|pubblica|pubblicare|rispondi|condividi|commenta|invita|vota|inoltra"),
    (Account, In::Any, "crea account|registrati|iscriviti|cambia password|disiscriviti|autorizza"),
    // Portuguese
    (Delete, In::Any, "excluir|apagar|remover|deletar|descartar|desativar"),
    (
        Purchase,
        In::Any,
        "comprar|pagar|finalizar compra|finalizar pedido|fazer pedido|confirmar pedido|reservar|transferir|doar|assinar",
    ),
    (Send, In::Any, "enviar|publicar|responder|compartilhar|partilhar|comentar|convidar|votar|encaminhar"),
    (Account, In::Any, "criar conta|cadastrar|registar|alterar senha|cancelar inscrição|autorizar"),
    // Dutch
    (Delete, In::Any, "verwijderen|wissen|opzeggen|annuleer bestelling|deactiveren"),
    (Purchase, In::Any, "kopen|bestellen|betalen|afrekenen|boeken|reserveren|overmaken|doneren|bieden"),
    (Send, In::Any, "verzenden|versturen|verstuur|plaatsen|publiceren|beantwoorden|delen|indienen|uitnodigen|stemmen"),
    (Account, In::Any, "registreren|account aanmaken|wachtwoord wijzigen|afmelden|toestaan"),
    // Polish
    (Delete, In::Any, "usuń|skasuj|wyrzuć|dezaktywuj"),
    (Purchase, In::Any, "kup|kup teraz|zamów|zapłać|zarezerwuj|przelej|złóż zamówienie|kupuję i płacę"),
    (Send, In::Any, "wyślij|opublikuj|odpowiedz|udostępnij|skomentuj|zaproś|zagłosuj"),
    (Account, In::Any, "załóż konto|zarejestruj|zmień hasło|wypisz|zezwól"),
    // Swedish, Danish, Norwegian
    (Delete, In::Any, "ta bort|radera|avsluta konto|slet|slett|fjern|fjerne"),
    (Purchase, In::Any, "köp|köpa|slutför köp|betala|beställ|boka|köb|køb|betal|bestil|kjøp|bestill"),
    (Send, In::Any, "skicka|publicera|svara|dela|lägg upp|svar|offentliggør|publiser"),
    (Account, In::Any, "skapa konto|registrera|avregistrera|opret konto|opprett konto|tillåt|tillad|tillat"),
    // Finnish, Czech, Turkish, Greek
    (Delete, In::Any, "poista|smazat|odstranit|zrušit účet|sil|kaldır|διαγραφή|κατάργηση"),
    (Purchase, In::Any, "osta|tilaa|maksa|koupit|objednat|zaplatit|satın al|öde|sipariş ver|αγορά|πληρωμή|παραγγελία"),
    (Send, In::Any, "lähetä|julkaise|odeslat|zveřejnit|gönder|yayınla|paylaş|αποστολή|δημοσίευση"),
    (Account, In::Any, "luo tili|rekisteröidy|vytvořit účet|registrovat|hesap oluştur|kaydol|εγγραφή"),
    // Arabic
    (Delete, In::Any, "حذف|إزالة|مسح"),
    (Purchase, In::Any, "شراء|دفع|اطلب|حجز"),
    (Send, In::Any, "إرسال|ارسال|نشر|رد|مشاركة"),
    (Account, In::Any, "تسجيل|إنشاء حساب|السماح"),
    // Russian
    (Delete, In::Any, "удалить|стереть|очистить|деактивировать"),
    (Purchase, In::Any, "купить|заказать|оплатить|оформить заказ|забронировать|перевести деньги|пожертвовать"),
    (Send, In::Any, "отправить|опубликовать|ответить|поделиться|переслать|пригласить|проголосовать"),
    (Account, In::Any, "зарегистрироваться|создать аккаунт|сменить пароль|отписаться|разрешить"),
];

/// Words of languages that are written without spaces.
const UNSPACED: &[(EffectKind, &str)] = &[
    (Delete, "删除|刪除|移除|清空|注销|削除|消去|삭제|제거"),
    (
        Purchase,
        "购买|購買|立即购买|付款|支付|下单|提交订单|结算|预订|转账|購入|注文|支払|予約|구매|결제|주문|예약|송금",
    ),
    (Send, "发送|發送|发布|發佈|提交|回复|转发|分享|评论|送信|投稿|返信|公開|送る|보내기|전송|게시|답글|공유|제출"),
    (Account, "注册|註冊|修改密码|退订|授权|同意授权|登録|パスワード変更|許可|가입|비밀번호 변경|허용"),
];

/// Signs that controls show instead of words.
const SIGNS: &[(EffectKind, &str)] = &[(Delete, "🗑"), (Delete, "🚮"), (Send, "📤"), (Send, "✉"), (Purchase, "💳")];

/// Words that add nothing to a name.
const FILLING: &[&str] = &[
    "a", "all", "and", "anyway", "it", "me", "my", "now", "please", "ok", "okay", "the", "this", "yes", "your", "ja",
    "oui", "sí", "si", "sim", "tak", "да", "confirm", "jetzt", "i", "want", "to", "item", "file", "selected", "here",
    "click",
];

/// What the answers of a page dialog that keep everything as it is are called.
const REFUSING: &[&str] = &[
    "cancel",
    "no",
    "no thanks",
    "not now",
    "close",
    "dismiss",
    "keep",
    "back",
    "go back",
    "later",
    "never mind",
    "×",
    "x",
    "✕",
    "abbrechen",
    "nein",
    "schließen",
    "zurück",
    "behalten",
    "annuler",
    "non",
    "fermer",
    "retour",
    "cancelar",
    "no gracias",
    "cerrar",
    "volver",
    "annulla",
    "chiudi",
    "indietro",
    "não",
    "fechar",
    "voltar",
    "annuleren",
    "nee",
    "sluiten",
    "terug",
    "anuluj",
    "nie",
    "zamknij",
    "wstecz",
    "отмена",
    "нет",
    "закрыть",
    "назад",
    "取消",
    "关闭",
    "關閉",
    "返回",
    "いいえ",
    "キャンセル",
    "閉じる",
    "戻る",
    "취소",
    "아니요",
    "닫기",
];

/// What buttons are called that send a form of a site to itself and can be repeated or undone.
const HARMLESS: &[&str] = &[
    "search",
    "find",
    "filter",
    "apply filters",
    "sort",
    "show",
    "show more",
    "load more",
    "more",
    "refresh",
    "reload",
    "next",
    "continue",
    "previous",
    "back",
    "log in",
    "login",
    "sign in",
    "log out",
    "logout",
    "sign out",
    "add to cart",
    "add to basket",
    "add to bag",
    "update cart",
    "calculate",
    "preview",
    "check availability",
    "view",
    "compare",
    "accept all",
    "accept cookies",
    "reject all",
    "got it",
    "suchen",
    "filtern",
    "weiter",
    "anmelden",
    "einloggen",
    "in den warenkorb",
    "anzeigen",
    "rechercher",
    "chercher",
    "filtrer",
    "suivant",
    "continuer",
    "se connecter",
    "connexion",
    "ajouter au panier",
    "buscar",
    "filtrar",
    "siguiente",
    "continuar",
    "iniciar sesión",
    "entrar",
    "añadir al carrito",
    "cerca",
    "filtra",
    "avanti",
    "continua",
    "accedi",
    "aggiungi al carrello",
    "pesquisar",
    "próximo",
    "adicionar ao carrinho",
    "zoeken",
    "volgende",
    "doorgaan",
    "inloggen",
    "szukaj",
    "dalej",
    "zaloguj",
    "найти",
    "поиск",
    "далее",
    "продолжить",
    "войти",
    "в корзину",
    "搜索",
    "搜尋",
    "下一步",
    "继续",
    "登录",
    "登入",
    "加入购物车",
    "検索",
    "次へ",
    "続ける",
    "ログイン",
    "カートに入れる",
    "검색",
    "다음",
    "계속",
    "로그인",
    "장바구니",
];

/// What buttons are called that log in.
const LOGIN: &[&str] = &[
    "log in",
    "login",
    "log on",
    "sign in",
    "signin",
    "continue",
    "next",
    "submit",
    "ok",
    "go",
    "enter",
    "anmelden",
    "einloggen",
    "weiter",
    "se connecter",
    "connexion",
    "continuer",
    "suivant",
    "valider",
    "iniciar sesión",
    "entrar",
    "acceder",
    "continuar",
    "accedi",
    "entra",
    "continua",
    "inloggen",
    "aanmelden",
    "doorgaan",
    "zaloguj",
    "zaloguj się",
    "dalej",
    "войти",
    "вход",
    "далее",
    "продолжить",
    "登录",
    "登入",
    "下一步",
    "ログイン",
    "次へ",
    "로그인",
    "다음",
    "계속",
];

/// Verbs in attributes and addresses, which are mostly English.
const CODED: &[(EffectKind, &str)] = &[
    (Delete, "delete|del|remove|destroy|erase|purge|wipe|trash|deactivate|terminate|revoke|drop"),
    (Purchase, "purchase|buy|pay|payment|placeorder|submitorder|confirmorder|transfer|withdraw|donate|charge|bid"),
    (Send, "send|sendmail|sendmessage|publish|postcomment|tweet|share|forward|invite|vote|approve|merge|deploy"),
    (Account, "unsubscribe|unfollow|grant|authorize|changepassword|resetpassword|addadmin|makeadmin|addkey"),
];

/// Longest name that is read as that of a control, in words.
const MOST_NAME_WORDS: usize = 8;
/// Longest name of a link that is read as that of an action, in words.
const MOST_LINK_WORDS: usize = 3;
/// Longest part of an address that is read as the name of an action, in words: longer ones are titles.
const MOST_PART_WORDS: usize = 2;

fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'').map(|word| word.trim_matches('\''));
    words.filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
}

/// Whether the words of a phrase occur one after the other.
fn has_phrase(words: &[String], phrase: &str) -> bool {
    let wanted: Vec<&str> = phrase.split(' ').collect();
    words.windows(wanted.len()).any(|part| part.iter().zip(&wanted).all(|(word, wanted)| word == wanted))
}

/// A name as it is read by a person: without invisible characters, with wide letters as plain ones, spaced letters joined.
fn readable(name: &str) -> String {
    let plain = name.chars().filter(|c| !is_invisible(*c)).map(|c| match u32::from(c) {
        wide @ 0xff01..=0xff5e => char::from_u32(wide - 0xfee0).unwrap_or(c),
        _ => c,
    });
    let plain: String = plain.collect();
    let letters: Vec<&str> = plain.split_whitespace().collect();
    let is_spaced = letters.len() > 2
        && letters.iter().all(|letter| letter.chars().count() == 1 && letter.chars().all(char::is_alphabetic));
    if is_spaced && plain.is_ascii() { letters.concat() } else { plain }
}

fn is_invisible(c: char) -> bool {
    matches!(u32::from(c), 0xad | 0x180e | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x2064 | 0xfeff | 0x300..=0x36f)
}

/// Whether a name is written so that a program reads another one than a person: text that runs backwards, letters of several
/// scripts in a word, letters made of mathematical signs, invisible characters in a word.
pub(super) fn is_disguised(name: &str) -> bool {
    let odd = |c: char| matches!(u32::from(c), 0x202d | 0x202e | 0x1d400..=0x1d7ff);
    let in_word = |word: &str| {
        let inner: Vec<char> = word.trim_matches(|c: char| !c.is_alphabetic()).chars().collect();
        let hidden = inner.iter().any(|c| matches!(u32::from(*c), 0xad | 0x200b | 0x2060..=0x2064 | 0xfeff));
        let latin = inner.iter().any(|c| c.is_alphabetic() && u32::from(*c) < 0x250);
        let other = inner.iter().any(|c| matches!(u32::from(*c), 0x370..=0x3ff | 0x400..=0x52f | 0x531..=0x58f));
        hidden || (latin && other)
    };
    name.chars().any(odd) || name.split_whitespace().any(in_word)
}

/// What the name of a control says that it does. `is_link`: only the names of actions count, not titles.
pub(super) fn of_name(name: &str, is_link: bool) -> Option<(EffectKind, &'static str)> {
    if let Some((kind, sign)) = SIGNS.iter().find(|(_, sign)| name.contains(sign)) {
        return Some((*kind, sign));
    }
    let name = &*readable(name);
    let words = words(name);
    let most = if is_link { MOST_LINK_WORDS } else { MOST_NAME_WORDS };
    if words.len() <= most {
        let bare: Vec<&str> = words.iter().map(String::as_str).filter(|word| !FILLING.contains(word)).collect();
        let bare = bare.join(" ");
        for (kind, place, all) in WORDS {
            let found = all.split('|').find(|phrase| match place {
                In::Any => has_phrase(&words, phrase),
                In::Whole => bare == **phrase,
            });
            if let Some(found) = found {
                return Some((*kind, found));
            }
        }
    }
    unspaced(name, if is_link { 8 } else { 24 })
}

fn unspaced(text: &str, most: usize) -> Option<(EffectKind, &'static str)> {
    if text.is_ascii() || text.chars().count() > most {
        return None;
    }
    UNSPACED.iter().find_map(|(kind, all)| all.split('|').find(|word| text.contains(word)).map(|word| (*kind, word)))
}

/// What a longer text, such as the question of a dialog, says that would be done.
pub(super) fn of_text(text: &str) -> Option<(EffectKind, &'static str)> {
    let words = words(text);
    let spaced = WORDS.iter().filter(|(_, place, _)| *place == In::Any).find_map(|(kind, _, all)| {
        all.split('|').find(|phrase| has_phrase(&words, phrase)).map(|phrase| (*kind, phrase))
    });
    let common = || {
        let plain = [(Delete, "remove"), (Purchase, "pay"), (Purchase, "buy"), (Purchase, "purchase"), (Send, "send")];
        plain.into_iter().find(|(_, word)| words.iter().any(|one| one == word))
    };
    spaced.or_else(common).or_else(|| unspaced(text, usize::MAX))
}

/// Whether a name is that of a field to search with.
pub(super) fn is_search(name: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "search",
        "find",
        "filter",
        "query",
        "lookup",
        "such",
        "recherch",
        "cherch",
        "busca",
        "busq",
        "cerca",
        "pesquis",
        "zoek",
        "szuka",
        "sök",
        "søg",
        "søk",
        "hled",
        "vyhled",
        "поиск",
        "найти",
        "αναζήτηση",
        "بحث",
    ];
    const UNSPACED: &[&str] = &["搜", "検索", "검색"];
    let begins = |word: &String| BEGINNINGS.iter().any(|beginning| word.starts_with(beginning));
    words(name).iter().any(begins) || UNSPACED.iter().any(|part| name.contains(part))
}

/// Whether a name is that of an answer which keeps everything as it is.
pub(super) fn is_refusing(name: &str) -> bool {
    is_one_of(name, REFUSING)
}

/// Whether a name is that of a button whose form can be sent again or undone.
pub(super) fn is_harmless(name: &str) -> bool {
    is_one_of(name, HARMLESS)
}

/// Whether a name may be that of a button that logs in.
pub(super) fn is_login(name: &str) -> bool {
    name.trim().is_empty() || is_one_of(name, LOGIN)
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    let name = name.to_lowercase();
    let name = name.trim_matches(|c: char| !c.is_alphanumeric() && c != '×' && c != '✕');
    names.contains(&name)
}

/// The words of an identifier: `deleteItem`, `delete-item` and `DELETE_ITEM` have two.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in text.chars() {
        let begins = !c.is_alphabetic() || (was_lower && c.is_uppercase());
        was_lower = c.is_lowercase();
        if begins && parts.last().is_some_and(|last| !last.is_empty()) {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut().filter(|_| c.is_alphabetic()) {
            last.extend(c.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn coded(word: &str) -> Option<(EffectKind, &'static str)> {
    CODED.iter().find_map(|(kind, all)| all.split('|').find(|known| *known == word).map(|known| (*kind, known)))
}

/// What the attributes of a control say that it does.
pub(super) fn of_attributes(text: &str) -> Option<(EffectKind, &'static str)> {
    parts(text).iter().find_map(|part| coded(part))
}

/// What a part of an address says that opening it does; titles of pages say nothing.
pub(super) fn of_part(text: &str) -> Option<(EffectKind, &'static str)> {
    let stem = text.rsplit_once('.').map_or(text, |(stem, _)| stem);
    let parts = parts(stem);
    if parts.len() > MOST_PART_WORDS {
        return None;
    }
    let whole = parts.concat();
    coded(&whole).or_else(|| parts.iter().find_map(|part| coded(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_controls_do() {
        for (name, expected) in [
            ("Delete", Some(Delete)),
            ("Yes, delete it", Some(Delete)),
            ("Remove", Some(Delete)),
            ("Remove item", Some(Delete)),
            ("Place order", Some(Purchase)),
            ("Buy now for 12 €", Some(Purchase)),
            ("Jetzt kaufen", Some(Purchase)),
            ("Zahlungspflichtig bestellen", Some(Purchase)),
            ("Nachricht senden", Some(Send)),
            ("Send", Some(Send)),
            ("Submit", Some(Send)),
            ("Post comment", Some(Send)),
            ("Удалить сообщение", Some(Delete)),
            ("立即购买", Some(Purchase)),
            ("送信", Some(Send)),
            ("삭제", Some(Delete)),
            ("🗑", Some(Delete)),
            ("Create account", Some(Account)),
            ("Order history", None),
            ("Sort by order", None),
            ("Add to cart", None),
            ("Search", None),
            ("Next", None),
            ("Settings", None),
            ("Post", Some(Send)),
            ("Read this post about shares and orders today", None),
            ("", None),
        ] {
            assert_eq!(of_name(name, false).map(|(kind, _)| kind), expected, "{name}");
        }
        for title in
            ["How to delete your account safely", "Buy now, pay later: what it costs", "Send flowers to Berlin today"]
        {
            assert_eq!(of_name(title, true), None, "{title}");
        }
        assert!(of_name("Delete", true).is_some() && of_name("Place order", true).is_some());
    }

    #[test]
    fn disguised_names_are_read_as_a_person_reads_them_or_recognised() {
        for name in ["De\u{200b}lete", "De\u{ad}lete", "\u{ff24}\u{ff45}lete", "D e l e t e"] {
            assert!(of_name(name, false).is_some(), "{name:?}");
        }
        for name in ["D\u{435}lete", "\u{202e}eteleD", "\u{1d403}elete", "De\u{200b}tails"] {
            assert!(is_disguised(name), "{name:?}");
        }
        for name in ["Café", "Войти", "Σύνδεση", "Search Яндекс", "日本語 OK", "👩\u{200d}💻 Team"]
        {
            assert!(!is_disguised(name), "{name:?}");
        }
    }

    #[test]
    fn answers_and_harmless_buttons_are_known() {
        assert!(is_refusing("Cancel") && is_refusing("×") && is_refusing("Abbrechen") && !is_refusing("OK"));
        assert!(
            is_harmless("Search")
                && is_harmless("Log in")
                && is_harmless("Next »")
                && !is_harmless("Submit")
                && !is_harmless("Update")
        );
        assert_eq!(of_text("Do you really want to delete 3 files?").map(|(kind, _)| kind), Some(Delete));
        assert_eq!(of_text("Leave this page?"), None);
        assert!(is_search("Search the shop") && is_search("Suchbegriff") && is_search("検索ワード"));
        assert!(!is_search("Para") && !is_search("Research notes") && of_name("Página del producto", false).is_none());
    }

    #[test]
    fn attributes_and_addresses_are_read_word_by_word() {
        assert_eq!(of_attributes("btn deleteItem(3)").map(|(kind, _)| kind), Some(Delete));
        assert_eq!(of_attributes("postal-code repayment"), None);
        for (part, expected) in [
            ("delete", Some(Delete)),
            ("delete-item.php", Some(Delete)),
            ("deleteItem", Some(Delete)),
            ("unsubscribe", Some(Account)),
            ("checkout", None),
            ("pay", Some(Purchase)),
            ("how-to-delete-files", None),
            ("posts", None),
            ("items", None),
            ("3", None),
        ] {
            assert_eq!(of_part(part).map(|(kind, _)| kind), expected, "{part}");
        }
    }
}
