use crate::cdp::rt;

/// Type [`Alpha.Echo`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-Echo).
#[derive(Debug, Clone)]
pub struct Echo {
    pub text: String,
    pub names: Names,
    pub raw: Option<Whatever>,
}
impl Echo {
    /// Takes what is required; the rest is left out.
    #[must_use]
    pub fn new(text: impl Into<String>, names: Names) -> Self {
        Self { text: text.into(), names, raw: None }
    }
}
impl serde::Serialize for Echo {
    fn serialize<S: serde::Serializer>(&self, to_: S) -> Result<S::Ok, S::Error> {
        let mut to_ = rt::Out::object(to_)?;
        to_.put("text", &self.text)?;
        to_.put("names", &self.names)?;
        to_.opt("raw", &self.raw)?;
        to_.end()
    }
}
impl<'de> rt::Record<'de> for Echo {
    const NAME: &'static str = "Alpha.Echo";
    fn read<A: rt::MapAccess<'de>>(mut from_: rt::Fields<A>) -> Result<Self, A::Error> {
        let mut text = None; let mut names = None; let mut raw = None;
        while let Some(key_) = from_.key()? {
            match key_.as_str() {
                "text" => text = Some(from_.value("text")?),
                "names" => names = Some(from_.value("names")?),
                "raw" => raw = from_.value("raw")?,
                _ => from_.skip()?,
            }
        }
        Ok(Self { text: rt::need(text, "text")?, names: rt::need(names, "names")?, raw })
    }
}
rt::record!(Echo);

/// Type [`Alpha.Entry`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-Entry).
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    pub text: rt::Str<'a>,
    pub frame_id: FrameId,
    pub at: Option<Point>,
    pub names: Option<Vec<rt::Str<'a>>>,
    pub headers: Option<&'a rt::RawValue>,
    pub args: Option<Vec<&'a rt::RawValue>>,
    pub data: Option<rt::Base64Str<'a>>,
    pub inner: Option<Box<Entry<'a>>>,
    pub more: Option<Vec<Entry<'a>>>,
}
impl<'a> rt::Record<'a> for Entry<'a> {
    const NAME: &'static str = "Alpha.Entry";
    fn read<A: rt::MapAccess<'a>>(mut from_: rt::Fields<A>) -> Result<Self, A::Error> {
        let mut text = None; let mut frame_id = None; let mut at = None; let mut names = None;
        let mut headers = None; let mut args = None; let mut data = None; let mut inner = None;
        let mut more = None;
        while let Some(key_) = from_.key()? {
            match key_.as_str() {
                "text" => text = Some(from_.value("text")?),
                "frameId" => frame_id = Some(from_.value("frameId")?),
                "at" => at = from_.value("at")?,
                "names" => names = from_.value("names")?,
                "headers" => headers = from_.value("headers")?,
                "args" => args = from_.value("args")?,
                "data" => data = from_.value("data")?,
                "inner" => inner = from_.value("inner")?,
                "more" => more = from_.value("more")?,
                _ => from_.skip()?,
            }
        }
        Ok(Self {
            text: rt::need(text, "text")?, frame_id: rt::need(frame_id, "frameId")?, at, names,
            headers, args, data, inner, more,
        })
    }
}
rt::record!(Entry<'a>);

/// Type [`Alpha.Filter`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-Filter).
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub exclude: Option<bool>,
    pub kinds: Option<Vec<Kind>>,
}
impl Filter {
    /// Takes what is required; the rest is left out.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}
impl serde::Serialize for Filter {
    fn serialize<S: serde::Serializer>(&self, to_: S) -> Result<S::Ok, S::Error> {
        let mut to_ = rt::Out::object(to_)?;
        to_.opt("exclude", &self.exclude)?;
        to_.opt("kinds", &self.kinds)?;
        to_.end()
    }
}
impl<'de> rt::Record<'de> for Filter {
    const NAME: &'static str = "Alpha.Filter";
    fn read<A: rt::MapAccess<'de>>(mut from_: rt::Fields<A>) -> Result<Self, A::Error> {
        let mut exclude = None; let mut kinds = None;
        while let Some(key_) = from_.key()? {
            match key_.as_str() {
                "exclude" => exclude = from_.value("exclude")?,
                "kinds" => kinds = from_.value("kinds")?,
                _ => from_.skip()?,
            }
        }
        Ok(Self { exclude, kinds })
    }
}
rt::record!(Filter);

/// Type [`Alpha.Flag`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-Flag).
pub type Flag = bool;

rt::string_id! {
    /// Type [`Alpha.FrameID`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-FrameID).
    FrameId
}

/// Type [`Alpha.Headers`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-Headers).
pub type Headers = Box<rt::RawValue>;

rt::open_enum! {
    /// Type [`Alpha.Kind`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-Kind). Experimental.
    Kind {
        Plain = "plain",
        ConsoleApi = "console-api",
        WithUnderscore = "with_underscore",
        CamelCase = "camelCase",
        HttpCode = "HTTPCode",
        N3d = "3d",
        Minus0 = "-0",
        Empty = "",
        SelfValue = "self",
        OtherValue = "other",
        Type = "type",
    }
}

/// Type [`Alpha.Lonely`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-Lonely).
#[derive(Debug, Clone)]
pub struct Lonely<'a> {
    pub entry: Entry<'a>,
}
impl<'a> rt::Record<'a> for Lonely<'a> {
    const NAME: &'static str = "Alpha.Lonely";
    fn read<A: rt::MapAccess<'a>>(mut from_: rt::Fields<A>) -> Result<Self, A::Error> {
        let mut entry = None;
        while let Some(key_) = from_.key()? {
            match key_.as_str() {
                "entry" => entry = Some(from_.value("entry")?),
                _ => from_.skip()?,
            }
        }
        Ok(Self { entry: rt::need(entry, "entry")? })
    }
}
rt::record!(Lonely<'a>);

/// Type [`Alpha.Names`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-Names).
pub type Names = Vec<String>;

/// Type [`Alpha.Node`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-Node).
#[derive(Debug, Clone)]
pub struct Node {
    pub node_id: NodeId,
    pub r#type: NodeType,
    pub ratio: f64,
    pub visible: bool,
    /// Deprecated.
    pub label: Option<String>,
    /// Experimental.
    pub kind: Option<Kind>,
    pub parent: Option<Box<Node>>,
    pub peer: Option<Box<Peer>>,
    pub children: Option<Vec<Node>>,
    pub grid: Option<Vec<Vec<i64>>>,
    pub self_: Option<String>,
    pub anything: Option<Box<rt::RawValue>>,
    pub headers: Option<Headers>,
    pub image: Option<rt::Base64>,
    pub quad: Option<Quad>,
}
impl<'de> rt::Record<'de> for Node {
    const NAME: &'static str = "Alpha.Node";
    fn read<A: rt::MapAccess<'de>>(mut from_: rt::Fields<A>) -> Result<Self, A::Error> {
        let mut node_id = None; let mut r#type = None; let mut ratio = None; let mut visible = None;
        let mut label = None; let mut kind = None; let mut parent = None; let mut peer = None;
        let mut children = None; let mut grid = None; let mut self_ = None; let mut anything = None;
        let mut headers = None; let mut image = None; let mut quad = None;
        while let Some(key_) = from_.key()? {
            match key_.as_str() {
                "nodeId" => node_id = Some(from_.value("nodeId")?),
                "type" => r#type = Some(from_.value("type")?),
                "ratio" => ratio = Some(from_.value("ratio")?),
                "visible" => visible = Some(from_.value("visible")?),
                "label" => label = from_.value("label")?,
                "kind" => kind = from_.value("kind")?,
                "parent" => parent = from_.value("parent")?,
                "peer" => peer = from_.value("peer")?,
                "children" => children = from_.value("children")?,
                "grid" => grid = from_.value("grid")?,
                "self" => self_ = from_.value("self")?,
                "anything" => anything = from_.value("anything")?,
                "headers" => headers = from_.value("headers")?,
                "image" => image = from_.value("image")?,
                "quad" => quad = from_.value("quad")?,
                _ => from_.skip()?,
            }
        }
        Ok(Self {
            node_id: rt::need(node_id, "nodeId")?, r#type: rt::need(r#type, "type")?,
            ratio: rt::need(ratio, "ratio")?, visible: rt::need(visible, "visible")?, label, kind,
            parent, peer, children, grid, self_, anything, headers, image, quad,
        })
    }
}
rt::record!(Node);

rt::open_enum! {
    /// Values of `type` in `Alpha.Node`.
    NodeType {
        Element = "element",
        Text = "text",
    }
}

/// Type [`Alpha.NodeId`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-NodeId).
pub type NodeId = i64;

/// Type [`Alpha.Peer`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-Peer).
#[derive(Debug, Clone)]
pub struct Peer {
    pub node: Option<Box<Node>>,
    pub stream: super::io::StreamHandle,
}
impl<'de> rt::Record<'de> for Peer {
    const NAME: &'static str = "Alpha.Peer";
    fn read<A: rt::MapAccess<'de>>(mut from_: rt::Fields<A>) -> Result<Self, A::Error> {
        let mut node = None; let mut stream = None;
        while let Some(key_) = from_.key()? {
            match key_.as_str() {
                "node" => node = from_.value("node")?,
                "stream" => stream = Some(from_.value("stream")?),
                _ => from_.skip()?,
            }
        }
        Ok(Self { node, stream: rt::need(stream, "stream")? })
    }
}
rt::record!(Peer);

/// Type [`Alpha.Point`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-Point).
#[derive(Debug, Clone)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}
impl<'de> rt::Record<'de> for Point {
    const NAME: &'static str = "Alpha.Point";
    fn read<A: rt::MapAccess<'de>>(mut from_: rt::Fields<A>) -> Result<Self, A::Error> {
        let mut x = None; let mut y = None;
        while let Some(key_) = from_.key()? {
            match key_.as_str() {
                "x" => x = Some(from_.value("x")?),
                "y" => y = Some(from_.value("y")?),
                _ => from_.skip()?,
            }
        }
        Ok(Self { x: rt::need(x, "x")?, y: rt::need(y, "y")? })
    }
}
rt::record!(Point);

/// Type [`Alpha.Quad`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-Quad).
pub type Quad = Vec<f64>;

/// Type [`Alpha.Stamp`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-Stamp). Deprecated.
pub type Stamp = f64;

/// Type [`Alpha.Whatever`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#type-Whatever).
pub type Whatever = Box<rt::RawValue>;

/// Command [`Alpha.configure`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#method-configure).
#[derive(Debug, Clone, Default)]
pub struct Configure {
    pub mode: Option<ConfigureMode>,
    pub filter: Option<Filter>,
}
impl Configure {
    /// Takes what is required; the rest is left out.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}
impl serde::Serialize for Configure {
    fn serialize<S: serde::Serializer>(&self, to_: S) -> Result<S::Ok, S::Error> {
        let mut to_ = rt::Out::object(to_)?;
        to_.opt("mode", &self.mode)?;
        to_.opt("filter", &self.filter)?;
        to_.end()
    }
}
impl rt::Command for Configure {
    const METHOD: &'static str = "Alpha.configure";
    type Returns = rt::Empty;
}

rt::open_enum! {
    /// Values of `mode` in `Alpha.configure`.
    ConfigureMode {
        Fast = "fast",
        Slow = "slow",
    }
}

/// Command [`Alpha.enable`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#method-enable).
#[derive(Debug, Clone, Default)]
pub struct Enable {}
impl Enable {
    /// Takes what is required; the rest is left out.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}
impl serde::Serialize for Enable {
    fn serialize<S: serde::Serializer>(&self, to_: S) -> Result<S::Ok, S::Error> {
        rt::Out::object(to_)?.end()
    }
}
impl rt::Command for Enable {
    const METHOD: &'static str = "Alpha.enable";
    type Returns = rt::Empty;
}

/// Command [`Alpha.match`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#method-match). Deprecated.
#[deprecated = "deprecated in the protocol"]
#[derive(Debug, Clone)]
pub struct Match {
    pub r#type: String,
}
impl Match {
    /// Takes what is required; the rest is left out.
    #[must_use]
    pub fn new(r#type: impl Into<String>) -> Self {
        Self { r#type: r#type.into() }
    }
}
impl serde::Serialize for Match {
    fn serialize<S: serde::Serializer>(&self, to_: S) -> Result<S::Ok, S::Error> {
        let mut to_ = rt::Out::object(to_)?;
        to_.put("type", &self.r#type)?;
        to_.end()
    }
}
impl rt::Command for Match {
    const METHOD: &'static str = "Alpha.match";
    type Returns = rt::Empty;
}

/// Command [`Alpha.runOnDOMNodes`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#method-runOnDOMNodes). Experimental.
///
/// Served by [`IO`](https://chromedevtools.github.io/devtools-protocol/tot/IO/).
#[derive(Debug, Clone)]
pub struct RunOnDomNodes {
    pub source: String,
    pub frame_id: FrameId,
    pub node_ids: Vec<NodeId>,
    pub kind: Kind,
    pub echo: Echo,
    pub payload: rt::Base64,
    /// Experimental.
    pub timeout: Option<i64>,
    pub extra: Option<Headers>,
}
impl RunOnDomNodes {
    /// Takes what is required; the rest is left out.
    #[must_use]
    pub fn new(
        source: impl Into<String>, frame_id: FrameId, node_ids: Vec<NodeId>, kind: Kind, echo: Echo,
        payload: rt::Base64,
    ) -> Self {
        Self {
            source: source.into(), frame_id, node_ids, kind, echo, payload, timeout: None,
            extra: None,
        }
    }
}
impl serde::Serialize for RunOnDomNodes {
    fn serialize<S: serde::Serializer>(&self, to_: S) -> Result<S::Ok, S::Error> {
        let mut to_ = rt::Out::object(to_)?;
        to_.put("source", &self.source)?;
        to_.put("frameID", &self.frame_id)?;
        to_.put("nodeIds", &self.node_ids)?;
        to_.put("kind", &self.kind)?;
        to_.put("echo", &self.echo)?;
        to_.put("payload", &self.payload)?;
        to_.opt("timeout", &self.timeout)?;
        to_.opt("extra", &self.extra)?;
        to_.end()
    }
}
impl rt::Command for RunOnDomNodes {
    const METHOD: &'static str = "Alpha.runOnDOMNodes";
    const EXPERIMENTAL: bool = true;
    const REDIRECT: Option<&'static str> = Some("IO");
    type Returns = RunOnDomNodesReturns;
}

/// What [`RunOnDomNodes`] returns.
#[derive(Debug, Clone)]
pub struct RunOnDomNodesReturns {
    pub node: Node,
    pub outcome: RunOnDomNodesReturnsOutcome,
    pub echo: Option<Echo>,
    pub stamps: Option<Vec<Stamp>>,
    pub flag: Option<Flag>,
}
impl<'de> rt::Record<'de> for RunOnDomNodesReturns {
    const NAME: &'static str = "Alpha.runOnDOMNodes";
    fn read<A: rt::MapAccess<'de>>(mut from_: rt::Fields<A>) -> Result<Self, A::Error> {
        let mut node = None; let mut outcome = None; let mut echo = None; let mut stamps = None;
        let mut flag = None;
        while let Some(key_) = from_.key()? {
            match key_.as_str() {
                "node" => node = Some(from_.value("node")?),
                "outcome" => outcome = Some(from_.value("outcome")?),
                "echo" => echo = from_.value("echo")?,
                "stamps" => stamps = from_.value("stamps")?,
                "flag" => flag = from_.value("flag")?,
                _ => from_.skip()?,
            }
        }
        Ok(Self {
            node: rt::need(node, "node")?, outcome: rt::need(outcome, "outcome")?, echo, stamps,
            flag,
        })
    }
}
rt::record!(RunOnDomNodesReturns);

rt::open_enum! {
    /// Values of `outcome` in `Alpha.runOnDOMNodes`.
    RunOnDomNodesReturnsOutcome {
        Done = "done",
        LeftOut = "left-out",
    }
}

/// Event [`Alpha.cleared`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#event-cleared).
#[derive(Debug, Clone)]
pub struct ClearedEvent {}
impl<'de> rt::Record<'de> for ClearedEvent {
    const NAME: &'static str = "Alpha.cleared";
    fn read<A: rt::MapAccess<'de>>(mut from_: rt::Fields<A>) -> Result<Self, A::Error> {
        while from_.key()?.is_some() {
            from_.skip()?;
        }
        Ok(Self {})
    }
}
rt::record!(ClearedEvent);
impl rt::Event<'_> for ClearedEvent {
    const METHOD: &'static str = "Alpha.cleared";
}

/// Event [`Alpha.entryAdded`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#event-entryAdded). Experimental. Deprecated.
#[derive(Debug, Clone)]
pub struct EntryAddedEvent<'a> {
    pub entry: Entry<'a>,
    pub url: rt::Str<'a>,
    pub cause: EntryAddedCause,
    pub filter: Option<Filter>,
    pub details: Option<&'a rt::RawValue>,
}
impl<'a> rt::Record<'a> for EntryAddedEvent<'a> {
    const NAME: &'static str = "Alpha.entryAdded";
    fn read<A: rt::MapAccess<'a>>(mut from_: rt::Fields<A>) -> Result<Self, A::Error> {
        let mut entry = None; let mut url = None; let mut cause = None; let mut filter = None;
        let mut details = None;
        while let Some(key_) = from_.key()? {
            match key_.as_str() {
                "entry" => entry = Some(from_.value("entry")?),
                "url" => url = Some(from_.value("url")?),
                "cause" => cause = Some(from_.value("cause")?),
                "filter" => filter = from_.value("filter")?,
                "details" => details = from_.value("details")?,
                _ => from_.skip()?,
            }
        }
        Ok(Self {
            entry: rt::need(entry, "entry")?, url: rt::need(url, "url")?,
            cause: rt::need(cause, "cause")?, filter, details,
        })
    }
}
rt::record!(EntryAddedEvent<'a>);
impl<'a> rt::Event<'a> for EntryAddedEvent<'a> {
    const METHOD: &'static str = "Alpha.entryAdded";
}

rt::open_enum! {
    /// Values of `cause` in `Alpha.entryAdded`.
    EntryAddedCause {
        User = "user",
        Script = "script",
    }
}

/// Event [`Alpha.moved`](https://chromedevtools.github.io/devtools-protocol/tot/Alpha/#event-moved).
#[derive(Debug, Clone)]
pub struct MovedEvent {
    pub to: Point,
    pub count: i64,
}
impl<'de> rt::Record<'de> for MovedEvent {
    const NAME: &'static str = "Alpha.moved";
    fn read<A: rt::MapAccess<'de>>(mut from_: rt::Fields<A>) -> Result<Self, A::Error> {
        let mut to = None; let mut count = None;
        while let Some(key_) = from_.key()? {
            match key_.as_str() {
                "to" => to = Some(from_.value("to")?),
                "count" => count = Some(from_.value("count")?),
                _ => from_.skip()?,
            }
        }
        Ok(Self { to: rt::need(to, "to")?, count: rt::need(count, "count")? })
    }
}
rt::record!(MovedEvent);
impl rt::Event<'_> for MovedEvent {
    const METHOD: &'static str = "Alpha.moved";
}
