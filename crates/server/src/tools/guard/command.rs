//! Terminal commands that only read.

/// Programs that change nothing, whatever plain arguments they get.
const READING: &[&str] =
    &["cat", "df", "du", "echo", "grep", "head", "ls", "pwd", "stat", "tail", "uname", "wc", "which", "whoami"];

/// Whether a command is a single program that only reads, with plain arguments: no pipe, redirection, variable or quote. `may_read`
/// says whether a path may be read, with what is below it.
pub(in crate::tools) fn only_reads(command: &str, may_read: impl Fn(&str) -> bool) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || " ._-/,:=+@%".contains(c);
    let command = command.trim();
    let mut words = command.split(' ').filter(|word| !word.is_empty());
    let program = words.next().unwrap_or_default();
    if !command.chars().all(is_plain) || !READING.contains(&program) || !may_read(".") {
        return false;
    }
    words.all(|word| match word.strip_prefix('-') {
        None => may_read(word),
        // Options with a path, and those that follow links.
        Some(option) => {
            let follows =
                !option.starts_with('-') && option.contains(if program == "grep" { ['R', 'L'] } else { ['L', 'H'] });
            !follows && !option.contains(['/', '=']) && !option.contains("..") && !option.contains("deref")
        }
    })
}

/// The words of a command that may be paths.
pub(in crate::tools) fn paths_in(command: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| c.is_whitespace() || "\"'`;|&()<>=".contains(c);
    command.split(ends).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::only_reads;

    #[test]
    fn only_plain_reading_commands_pass() {
        for command in ["ls", "ls -la src", "cat notes.txt", "grep -rn word src", "pwd"] {
            assert!(only_reads(command, |_| true), "{command}");
            assert!(!only_reads(command, |_| false), "{command}");
        }
        let inside = |path: &str| !path.starts_with('/') && !path.contains("..");
        for command in [
            "cat /etc/passwd",
            "grep -o . /home/ada/.cdpilot/token",
            "head -c 3 ../token",
            "grep -R x src",
            "du -L .",
            "grep --file=/etc/passwd x",
        ] {
            assert!(!only_reads(command, inside), "{command}");
        }
        for command in [
            "",
            "rm x",
            "ls; rm x",
            "cat a > b",
            "echo $(rm x)",
            "ls && rm x",
            "ls\nrm x",
            "./ls",
            "cat `x`",
            "find . -delete",
            "env rm x",
            "LS=1 rm x",
        ] {
            assert!(!only_reads(command, |_| true), "{command}");
        }
    }
}
