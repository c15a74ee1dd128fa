//! Bytes that a browser sends: WebSocket frames, valid and malformed, and JSON messages.

use serde_json::{Value, json};

pub const CONTINUATION: u8 = 0;
pub const TEXT: u8 = 1;
pub const BINARY: u8 = 2;
pub const CLOSE: u8 = 8;
pub const PING: u8 = 9;

/// A frame as a server sends it. The fields allow invalid frames.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    pub opcode: u8,
    pub fin: bool,
    /// The three reserved bits, as a number below eight.
    pub reserved: u8,
    /// Servers must not mask.
    pub mask: Option<[u8; 4]>,
}

impl Frame {
    pub fn of(opcode: u8) -> Self {
        Self { opcode, fin: true, reserved: 0, mask: None }
    }

    /// The header of a frame with a payload of `length` bytes.
    pub fn head(self, length: usize) -> Vec<u8> {
        let mut out = vec![u8::from(self.fin) << 7 | self.reserved << 4 | self.opcode];
        let masked = if self.mask.is_some() { 0x80 } else { 0 };
        match length {
            0..126 => out.push(masked | u8::try_from(length).unwrap()),
            126..65_536 => {
                out.push(masked | 126);
                out.extend(u16::try_from(length).unwrap().to_be_bytes());
            }
            _ => {
                out.push(masked | 127);
                out.extend((length as u64).to_be_bytes());
            }
        }
        out.extend(self.mask.iter().flatten());
        out
    }

    pub fn encode(self, payload: &[u8]) -> Vec<u8> {
        let mut out = self.head(payload.len());
        match self.mask {
            Some(mask) => out.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key)),
            None => out.extend_from_slice(payload),
        }
        out
    }
}

/// An unfragmented text message.
pub fn text(text: &str) -> Vec<u8> {
    Frame::of(TEXT).encode(text.as_bytes())
}

/// A text message in as many fragments as there are pieces.
pub fn fragments(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    let last = pieces.len().saturating_sub(1);
    let fragment = |(i, piece): (usize, &&[u8])| {
        let opcode = if i == 0 { TEXT } else { CONTINUATION };
        Frame { fin: i == last, ..Frame::of(opcode) }.encode(piece)
    };
    pieces.iter().enumerate().map(fragment).collect()
}

/// A close frame.
pub fn close(code: Option<u16>) -> Vec<u8> {
    Frame::of(CLOSE).encode(&code.map(|code| code.to_be_bytes().to_vec()).unwrap_or_default())
}

/// An event as text.
pub fn event(session: Option<&str>, method: &str, params: &Value) -> String {
    let mut message = json!({ "method": method, "params": params });
    if let Some(session) = session {
        message["sessionId"] = session.into();
    }
    message.to_string()
}

/// A successful answer as text.
pub fn answer(id: u64, session: Option<&str>, result: &Value) -> String {
    let mut message = json!({ "id": id, "result": result });
    if let Some(session) = session {
        message["sessionId"] = session.into();
    }
    message.to_string()
}
