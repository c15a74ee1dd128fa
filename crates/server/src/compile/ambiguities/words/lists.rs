//! The words. Each list is sorted, because it is searched by halves; a test checks that. Entries are in the form of
//! [`line`](super::line).

/// Names of fields in which a person looks for something.
pub(in super::super) const SEARCH: &[&str] = &[
    "buscar", "busqueda", "búsqueda", "chercher", "find", "keyword", "keywords", "q", "query", "rechercher", "search",
    "suche", "suchen",
];

/// Names of further query parameters of links that sort a list or turn it over.
pub(in super::super) const TURNING_QUERY: &[&str] = &["ascending", "dir", "o", "offset", "p", "page", "sortdir"];

/// Names of controls that sort or filter a list.
pub(in super::super) const LISTING: &[&str] = &[
    "category", "filter", "filtern", "filters", "filtrar", "filtre", "filtrer", "filtres", "filtros", "kategorie",
    "ordenar", "order by", "sort", "sort by", "sortieren", "trier", "trier par",
];

/// Names of query parameters of lists that were searched, sorted or filtered.
pub(in super::super) const LISTING_QUERY: &[&str] = &[
    "filter", "filters", "k", "keyword", "keywords", "order", "order by", "orderby", "q", "query", "s", "search",
    "search query", "sort", "sort by", "sortby", "term",
];

/// Names of links and buttons that show another part of a list.
pub(in super::super) const PAGING: &[&str] = &[
    "anterior", "back", "first", "first page", "last", "last page", "load more", "mehr anzeigen", "mehr laden",
    "more results", "newer", "next", "next page", "nächste", "nächste seite", "older", "page suivante", "prev",
    "previous", "previous page", "précédent", "see more", "show more", "siguiente", "suivant", "ver más", "view more",
    "voir plus", "vorherige", "weiter", "weitere", "zurück",
];

/// Words before the number of a page.
pub(in super::super) const PAGE: &[&str] = &["go to page", "page", "pagina", "página", "seite"];

/// Parts of selectors and attributes of navigation, also around items of lists.
pub(in super::super) const NAVIGATION: &[&str] = &[
    "breadcrumb", "breadcrumbs", "menu", "menubar", "nav", "navbar", "navigation", "pager", "pagination", "paginator",
];

/// Parts of selectors and attributes of headers, footers and bars of pages.
pub(in super::super) const FRAME: &[&str] = &["aside", "footer", "header", "sidebar", "tablist", "toolbar", "topbar"];

/// Parts of selectors of the head of a table, whose links sort it.
pub(in super::super) const HEADER_CELL: &[&str] = &["columnheader", "th", "thead"];

/// Names of links that a page has outside its content.
pub(in super::super) const SITE_LINKS: &[&str] = &[
    "about", "about us", "account", "accueil", "anmelden", "back to search", "basket", "carrito", "cart", "checkout",
    "clear filters", "connexion", "contact", "contact us", "cuenta", "feedback", "help", "hilfe", "home", "impressum",
    "imprint", "iniciar sesión", "inicio", "kasse", "kontakt", "konto", "log in", "log out", "login", "logout",
    "mein konto", "mi cuenta", "mon compte", "my account", "notifications", "panier", "privacy", "privacy policy",
    "profile", "register", "reset", "settings", "shopping cart", "sign in", "sign out", "sign up", "start",
    "startseite", "terms", "view basket", "view cart", "warenkorb", "wishlist",
];

/// Names of months and days, in full or shortened to three or more letters.
pub(in super::super) const CALENDAR: &[&str] = &[
    "abril", "agosto", "août", "apr", "april", "aug", "august", "avril", "dec", "december", "dez", "dezember",
    "diciembre", "dienstag", "dimanche", "domingo", "donnerstag", "décembre", "enero", "feb", "febrero", "februar",
    "february", "freitag", "friday", "février", "jan", "januar", "january", "janvier", "jeudi", "jueves", "juillet",
    "juin", "jul", "juli", "julio", "july", "jun", "june", "juni", "junio", "lundi", "lunes", "mai", "march", "mardi",
    "mars", "martes", "marzo", "mayo", "mercredi", "mittwoch", "miércoles", "monday", "montag", "märz", "nov",
    "november", "novembre", "noviembre", "oct", "october", "octobre", "octubre", "okt", "oktober", "samedi", "samstag",
    "saturday", "sep", "sept", "september", "septembre", "septiembre", "sonntag", "sunday", "sábado", "thursday",
    "today", "tuesday", "vendredi", "viernes", "wednesday",
];

/// Labels of lists whose choice is a value of the task.
pub(in super::super) const VARYING_CHOICE: &[&str] = &[
    "adults", "amount", "anzahl", "año", "betrag", "cantidad", "children", "date", "datum", "day", "dia", "día",
    "erwachsene", "fecha", "guests", "heure", "hora", "hour", "hours", "jahr", "jour", "kinder", "menge", "mes",
    "minute", "minutes", "mois", "monat", "month", "month year", "nights", "number of", "participants", "passengers",
    "persons", "qty", "quantity", "quantité", "recipient", "rooms", "stunde", "tickets", "time", "travelers",
    "travellers", "uhrzeit", "year", "zeit",
];

/// Labels of lists of places: values of a form, or filters.
pub(in super::super) const PLACE: &[&str] = &[
    "city", "country", "land", "pays", "país", "province", "region", "stadt", "ville",
];

/// Labels of lists that change how something is shown.
pub(in super::super) const SHOWN_AS: &[&str] = &[
    "filter", "filtern", "format", "frame", "items per page", "ordenar", "order by", "per page", "period", "pro seite",
    "range", "results per page", "rows", "show", "sort", "sort by", "sortieren", "time zone", "timezone", "trier",
    "view", "zeitraum",
];

/// Names and titles of banners and dialogs that ask for consent to cookies.
pub(in super::super) const CONSENT: &[&str] = &[
    "ccpa", "cmp", "consent", "cookie", "cookiebot", "cookies", "didomi", "gdpr", "onetrust", "rgpd", "usercentrics",
];

/// Titles of dialogs that ask for consent; of other parts of a page, they say little.
pub(in super::super) const PRIVACY: &[&str] = &[
    "datenschutz", "datenschutzeinstellungen", "privacidad", "privacy", "privatsphäre",
];

/// Names of buttons that confirm or close dialogs of any kind.
pub(in super::super) const CONFIRM: &[&str] = &["aceptar", "confirm", "ok", "okay", "save", "speichern", "weiter"];

/// Names of buttons that answer a request for consent.
pub(in super::super) const CONSENT_ANSWER: &[&str] = &[
    "ablehnen", "accept", "acceptar", "accepter", "accetta", "aceptar", "agree", "akzeptieren", "allow", "annehmen",
    "close", "confirm", "continuer sans accepter", "decline", "deny", "einverstanden", "fermer", "got it", "necessary",
    "notwendige", "nur notwendige", "ok", "okay", "only essential", "rechazar", "refuse", "refuser", "reject", "save",
    "schließen", "speichern", "understand", "verstanden", "zustimmen",
];

/// Names of buttons that are used only for consent, wherever they are.
pub(in super::super) const CONSENT_BUTTON: &[&str] = &[
    "accept all", "accept all cookies", "accept cookies", "aceptar todas", "aceptar todo", "alle akzeptieren",
    "alle cookies akzeptieren", "allow all", "allow all cookies", "decline all", "deny all", "only necessary",
    "reject all", "reject all cookies", "tout accepter", "tout refuser", "zustimmen und weiter",
];

/// Titles of banners and dialogs that pages open by themselves.
pub(in super::super) const PROMOTION: &[&str] = &[
    "abonnez vous", "descuento", "discount", "download our app", "encuesta", "feedback", "get our app", "gutschein",
    "install app", "mailing list", "newsletter", "notificaciones", "notifications", "rabatt", "rate us", "remise",
    "special offer", "subscribe", "survey", "suscríbete", "take a tour", "umfrage", "welcome", "what s new",
    "willkommen",
];

/// Names of buttons that only close a message.
pub(in super::super) const DISMISS: &[&str] = &[
    "aceptar todo", "ahora no", "cerrar", "close", "close banner", "close dialog", "close modal", "close popup",
    "close this", "close window", "dialog schließen", "dismiss", "entendido", "fermer", "got it", "ignorer",
    "j ai compris", "jetzt nicht", "later", "maybe later", "más tarde", "nein danke", "no gracias", "no thank you",
    "no thanks", "non merci", "not now", "ok got it", "okay got it", "omitir", "overspringen", "pas maintenant",
    "passer", "plus tard", "remind me later", "saltar", "schließen", "skip", "skip for now", "skip tour", "später",
    "verstanden", "x", "×", "überspringen", "✕", "✖",
];

/// Names of fields that hold a password.
pub(in super::super) const PASSWORD: &[&str] = &[
    "clave", "contraseña", "kennwort", "mot de passe", "motdepasse", "pass", "passcode", "passphrase", "passwd",
    "password", "passwort", "pin", "pwd",
];

/// Names of fields that hold a one-time code.
pub(in super::super) const ONE_TIME_CODE: &[&str] = &[
    "2fa", "authentication code", "authenticator", "bestätigungscode", "code de vérification", "confirmation code",
    "código", "einmalcode", "mfa", "one time", "one time code", "otp", "sicherheitscode", "sms code", "totp",
    "verification code",
];

/// Names of sensitive fields that log nobody in.
pub(in super::super) const OTHER_SECRET: &[&str] = &[
    "access key", "api key", "apikey", "card", "cardnumber", "cc csc", "cc number", "credit card", "csc", "cvc", "cvv",
    "iban", "kartennummer", "private key", "secret", "ssn", "tarjeta", "token",
];

/// Names of fields for a password that is set.
pub(in super::super) const NEW_PASSWORD: &[&str] = &[
    "again", "bestätigen", "confirm", "confirmar", "confirmation", "confirmer", "neue", "neues", "new", "nouveau",
    "nueva", "re enter", "repeat", "repetir", "retype", "verify password", "wiederholen",
];

/// Titles, paths and buttons of logins.
pub(in super::super) const LOGIN: &[&str] = &[
    "2fa", "acceder", "anmelden", "anmeldung", "auth", "authenticate", "authentication", "connexion", "einloggen",
    "entrar", "identifier", "iniciar sesión", "log in", "log on", "login", "logon", "mfa", "se connecter", "sign in",
    "signin", "sso", "two factor", "verify",
];

/// Titles, paths and buttons of pages on which an account is made or changed.
pub(in super::super) const ACCOUNT_CHANGE: &[&str] = &[
    "account settings", "change", "change email", "change password", "create account", "cuenta nueva", "einstellungen",
    "join", "konto erstellen", "neues konto", "paramètres", "profile", "register", "registration", "registrieren",
    "registrierung", "reset password", "security", "settings", "sign up", "signup", "ändern",
];

/// Names of fields for the name of an account.
pub(in super::super) const USER: &[&str] = &[
    "account", "benutzername", "correo", "e mail", "email", "identifiant", "login", "mail", "phone", "telefon", "user",
    "user id", "username", "usuario",
];

/// All lists.
#[cfg(test)]
pub(in super::super) const ALL: &[&[&str]] = &[
    SEARCH, LISTING, LISTING_QUERY, TURNING_QUERY, PAGING, PAGE, NAVIGATION, FRAME, HEADER_CELL, SITE_LINKS, CALENDAR,
    VARYING_CHOICE, PLACE, SHOWN_AS,
    CONSENT, PRIVACY, CONFIRM, CONSENT_ANSWER, CONSENT_BUTTON, PROMOTION, DISMISS, PASSWORD, ONE_TIME_CODE,
    OTHER_SECRET, NEW_PASSWORD, LOGIN, ACCOUNT_CHANGE, USER,
];
