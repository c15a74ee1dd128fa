//! SipHash-2-4 with a 128-bit result, <https://www.aumasson.jp/siphash/siphash.pdf>. The page script contains the same
//! algorithm in JavaScript.

/// A secret key, as the two words of the definition.
#[derive(Clone, Copy)]
pub(super) struct Key {
    k0: u64,
    k1: u64,
}

impl Key {
    pub(super) fn new(bytes: [u8; 16]) -> Self {
        let word = |half: &[u8]| half.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        Self { k0: word(&bytes[..8]), k1: word(&bytes[8..]) }
    }

    /// The state before the first byte; as secret as the key.
    pub(super) fn start(self) -> [u64; 4] {
        [
            self.k0 ^ 0x736f_6d65_7073_6575,
            self.k1 ^ 0x646f_7261_6e64_6f6d ^ 0xee,
            self.k0 ^ 0x6c79_6765_6e65_7261,
            self.k1 ^ 0x7465_6462_7974_6573,
        ]
    }

    /// The authentication code of a text.
    pub(super) fn code(self, text: &[u8]) -> [u8; 16] {
        let mut v = self.start();
        let mut blocks = text.chunks_exact(8);
        for block in &mut blocks {
            absorb(&mut v, block.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
        let rest = blocks.remainder().iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        absorb(&mut v, rest | (text.len() as u64) << 56);
        v[2] ^= 0xee;
        let first = squeeze(&mut v);
        v[1] ^= 0xdd;
        let second = squeeze(&mut v);
        let mut code = [0; 16];
        code[..8].copy_from_slice(&first.to_le_bytes());
        code[8..].copy_from_slice(&second.to_le_bytes());
        code
    }
}

fn absorb(v: &mut [u64; 4], word: u64) {
    v[3] ^= word;
    round(v);
    round(v);
    v[0] ^= word;
}

fn squeeze(v: &mut [u64; 4]) -> u64 {
    for _ in 0..4 {
        round(v);
    }
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

fn round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[2] = v[2].rotate_left(32);
}

/// Compares two codes in constant time.
pub(super) fn same(a: [u8; 16], b: [u8; 16]) -> bool {
    a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(code: [u8; 16]) -> String {
        code.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Published test vectors: key 00 … 0f, texts of the bytes 00, 01, ….
    #[test]
    fn the_published_vectors() {
        let key = Key::new(std::array::from_fn(|i| u8::try_from(i).unwrap_or_default()));
        assert_eq!(shown(key.code(&[])), "a3817f04ba25a8e66df67214c7550293");
        assert_eq!(shown(key.code(&[0])), "da87c1d86b99af44347659119b22fc45");
        assert_eq!(shown(key.code(&[0, 1, 2, 3, 4, 5, 6, 7])), "3b62a9ba6258f5610f83e264f31497b4");
    }
}
