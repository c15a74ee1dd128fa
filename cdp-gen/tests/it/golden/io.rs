use crate::cdp::rt;

rt::string_id! {
    /// Type [`IO.StreamHandle`](https://chromedevtools.github.io/devtools-protocol/tot/IO/#type-StreamHandle). Experimental.
    StreamHandle
}

/// Command [`IO.read`](https://chromedevtools.github.io/devtools-protocol/tot/IO/#method-read). Experimental.
#[derive(Debug, Clone)]
pub struct Read {
    pub handle: StreamHandle,
    pub size: Option<i64>,
}
impl Read {
    /// Takes what is required; the rest is left out.
    #[must_use]
    pub fn new(handle: StreamHandle) -> Self {
        Self { handle, size: None }
    }
}
impl serde::Serialize for Read {
    fn serialize<S: serde::Serializer>(&self, to_: S) -> Result<S::Ok, S::Error> {
        let mut to_ = rt::Out::object(to_)?;
        to_.put("handle", &self.handle)?;
        to_.opt("size", &self.size)?;
        to_.end()
    }
}
impl rt::Command for Read {
    const METHOD: &'static str = "IO.read";
    const EXPERIMENTAL: bool = true;
    type Returns = ReadReturns;
}

/// What [`Read`] returns.
#[derive(Debug, Clone)]
pub struct ReadReturns {
    pub data: rt::Base64,
    pub eof: bool,
}
impl<'de> rt::Record<'de> for ReadReturns {
    const NAME: &'static str = "IO.read";
    fn read<A: rt::MapAccess<'de>>(mut from_: rt::Fields<A>) -> Result<Self, A::Error> {
        let mut data = None; let mut eof = None;
        while let Some(key_) = from_.key()? {
            match key_.as_str() {
                "data" => data = Some(from_.value("data")?),
                "eof" => eof = Some(from_.value("eof")?),
                _ => from_.skip()?,
            }
        }
        Ok(Self { data: rt::need(data, "data")?, eof: rt::need(eof, "eof")? })
    }
}
rt::record!(ReadReturns);
