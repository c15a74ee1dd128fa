use crate::cdp::rt;

/// Command [`Old.disable`](https://chromedevtools.github.io/devtools-protocol/tot/Old/#method-disable). Deprecated.
#[deprecated = "deprecated in the protocol"]
#[derive(Debug, Clone, Default)]
pub struct Disable {}
impl Disable {
    /// Takes what is required; the rest is left out.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}
impl serde::Serialize for Disable {
    fn serialize<S: serde::Serializer>(&self, to_: S) -> Result<S::Ok, S::Error> {
        rt::Out::object(to_)?.end()
    }
}
impl rt::Command for Disable {
    const METHOD: &'static str = "Old.disable";
    type Returns = rt::Empty;
}
