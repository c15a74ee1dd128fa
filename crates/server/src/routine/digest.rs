//! Digest of a step, by which an edit is noticed.

use super::model::Step;

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl Step {
    /// Digest of what the step says: title, keyword and instructions, neither its number nor its reasoning. 16 hex
    /// digits of FNV-1a, the same in every version of the program. It detects edits; it is no protection against
    /// texts made to collide.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hash = OFFSET;
        field(&mut hash, &self.title);
        match &self.keyword {
            Some(keyword) => field(&mut hash, keyword),
            None => bytes(&mut hash, &[0xff]),
        }
        for instruction in &self.instructions {
            field(&mut hash, &instruction.text);
        }
        format!("{hash:016x}")
    }
}

/// A text followed by a byte that no UTF-8 text contains, so that fields cannot run into each other.
fn field(hash: &mut u64, text: &str) {
    bytes(hash, text.as_bytes());
    bytes(hash, &[0xfe]);
}

fn bytes(hash: &mut u64, bytes: &[u8]) {
    for byte in bytes {
        *hash = (*hash ^ u64::from(*byte)).wrapping_mul(PRIME);
    }
}
