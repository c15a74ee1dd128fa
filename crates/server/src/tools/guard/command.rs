//! Terminal commands that only read.

/// Programs that change nothing, whatever plain arguments they get.
const READING: &[&str] =
    &["cat", "df", "du", "echo", "grep", "head", "ls", "pwd", "stat", "tail", "uname", "wc", "which", "whoami"];

/// Whether a command is a single program that only reads, with plain arguments: no pipe, redirection, variable or quote.
pub(in crate::tools) fn only_reads(command: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || " ._-/,:=+@%".contains(c);
    let command = command.trim();
    let program = command.split(' ').next().unwrap_or_default();
    command.chars().all(is_plain) && READING.contains(&program)
}

#[cfg(test)]
mod tests {
    use super::only_reads;

    #[test]
    fn only_plain_reading_commands_pass() {
        for command in ["ls", "ls -la src", "cat notes.txt", "grep -rn word src", "pwd"] {
            assert!(only_reads(command), "{command}");
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
            assert!(!only_reads(command), "{command}");
        }
    }
}
