//! Labels of form fields that ask for a secret.

/// Words, also as the end of longer ones (`Administratorpasswort`).
const ENDINGS: [&str; 41] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pass phrase",
    "secret",
    "token",
    "credential",
    "api key",
    "apikey",
    "access key",
    "secret key",
    "private key",
    "security code",
    "verification code",
    "authentication code",
    "one time code",
    "recovery code",
    "passwort",
    "kennwort",
    "api schlüssel",
    "mot de passe",
    "jeton",
    "clé api",
    "clé d'api",
    "contraseña",
    "clave api",
    "clave de api",
    "palavra passe",
    "chave de api",
    "chave api",
    "chiave api",
    "wachtwoord",
    "api sleutel",
    "lösenord",
    "adgangskode",
    "salasana",
    "пароль",
    "токен",
    "κωδικός πρόσβασης",
    "mật khẩu",
];
/// Whole words only: they are parts of other words (`shopping`).
const WORDS: [&str; 20] = [
    "pin",
    "otp",
    "pwd",
    "cvc",
    "cvv",
    "clave",
    "senha",
    "parola",
    "hasło",
    "heslo",
    "jelszó",
    "passord",
    "şifre",
    "parolă",
    "парола",
    "kata sandi",
    "lozinka",
    "geslo",
    "slaptažodis",
    "salasõna",
];
/// Words of languages without spaces between words, or with varying endings.
const PARTS: [&str; 16] = [
    "パスワード",
    "暗証番号",
    "トークン",
    "apiキー",
    "密码",
    "密碼",
    "令牌",
    "密钥",
    "金鑰",
    "비밀번호",
    "암호",
    "토큰",
    "كلمة المرور",
    "סיסמה",
    "รหัสผ่าน",
    "पासवर्ड",
];

/// Whether the label of a field asks for a password, a token, an API key or a similar secret.
pub(super) fn is_secret_label(label: &str) -> bool {
    let label = folded(label);
    let ends = |word: &&str| found(&label, word).any(|(_, after)| !after.is_some_and(char::is_alphanumeric));
    let stands = |word: &&str| {
        found(&label, word).any(|(before, after)| ![before, after].into_iter().flatten().any(char::is_alphanumeric))
    };
    PARTS.iter().any(|part| label.contains(part)) || ENDINGS.iter().any(ends) || WORDS.iter().any(stands)
}

/// Lowercase, with single spaces between words.
fn folded(label: &str) -> String {
    let plain = label.to_lowercase().replace('’', "'");
    let words = plain.split(|c: char| c.is_whitespace() || matches!(c, '-' | '_' | '‑' | '–'));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The characters before and after each occurrence of a word in a text.
fn found<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = (Option<char>, Option<char>)> + 'a {
    text.match_indices(word)
        .map(move |(at, word)| (text[..at].chars().next_back(), text[at + word.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::is_secret_label;

    #[test]
    fn labels_of_secrets_are_known_in_many_languages() {
        for label in [
            "Password",
            "Password:",
            "Enter your password *",
            "Confirm new password (required)",
            "API-Key",
            "Personal access token:",
            "PIN",
            "Administratorpasswort:",
            "Mot de passe :",
            "Clé d’API",
            "Contraseña",
            "Senha:",
            "Пароль",
            "パスワード（確認）",
            "用户密码：",
            "비밀번호",
            "Mật khẩu",
        ] {
            assert!(is_secret_label(label), "{label}");
        }
        for label in
            ["Email", "Username:", "Shopping list", "Spinning", "Benutzername", "Search tokens", "Code", "住所", ""]
        {
            assert!(!is_secret_label(label), "{label}");
        }
    }
}
