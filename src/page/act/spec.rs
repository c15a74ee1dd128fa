//! Descriptions of actions: the types of the table [`ACTIONS`](super::ACTIONS), and the macros that make types and table
//! of one text.

use super::request::Locator;

/// An action: everything that entry points derive from it. See [`ACTIONS`](super::ACTIONS).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ActionSpec {
    /// The `kind` in requests.
    pub kind: &'static str,
    /// What the action does: one sentence.
    pub description: &'static str,
    /// The fields, without those that every action has.
    pub fields: &'static [FieldSpec],
    /// The command of the program, if its arguments are the fields. Commands with a syntax of their own are not listed.
    pub command: Option<CommandSpec>,
    /// The tool for models, if there is one.
    pub tool: Option<ToolSpec>,
    /// Whether `force` has an effect: the action can name an element by its ref, which is then not compared with what was
    /// shown.
    pub takes_force: bool,
    /// Whether `input` has an effect: the action sends mouse or key events.
    pub takes_input: bool,
}

/// A field of an action.
#[derive(Debug, Clone, Copy)]
pub struct FieldSpec {
    /// The name in requests. Several fields for [`FieldType::Element`], which has no name of its own.
    pub name: &'static str,
    /// The name as an argument of a tool: in snake_case, and that of the field in Rust.
    pub snake_name: &'static str,
    /// The name as an option of a command: in kebab-case.
    pub kebab_name: &'static str,
    /// The name of a value in the help of a command: in upper case.
    pub upper_name: &'static str,
    /// The type of the value.
    pub value: FieldType,
    /// Whether a request without the field is refused.
    pub required: bool,
    /// What it means, with unit and default.
    pub description: &'static str,
    /// The argument of the command, if it has one for this field.
    pub argument: Option<ArgumentSpec>,
    /// The argument of the tool, if it has one for this field.
    pub tool: Option<ToolArgumentSpec>,
}

/// The type of a field.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum FieldType {
    /// The fields of [`Locator`], beside those of the action.
    Element,
    /// A JSON boolean.
    Boolean,
    /// A JSON string.
    Text,
    /// A whole number of at least 1.
    Count,
    /// A whole number of at least 0.
    Integer,
    /// A whole number, also below 0.
    Signed,
    /// A JSON number, fractions included.
    Number,
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// A string, number, boolean or list of strings, for a form field.
    FormValue,
    /// A list of values of one type.
    List(&'static FieldType),
    /// An object with these fields.
    Object(&'static [FieldSpec]),
    /// A value of one of these types.
    Either(&'static [FieldType]),
    /// An action, with the fields of its kind.
    Action,
    /// Not a field of requests.
    Internal,
}

/// A command of the program.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CommandSpec {
    /// Name of the command, as typed after `cdpilot browser`.
    pub name: &'static str,
    /// Another name, not shown in the help.
    pub alias: Option<&'static str>,
    /// What it does, in the imperative, without a full stop.
    pub about: &'static str,
}

/// An argument of a command. An element is given by position if it is required, else as `--ref`.
#[derive(Debug, Clone, Copy)]
pub struct ArgumentSpec {
    /// Whether it is given by position, not as `--name`.
    pub positional: bool,
    /// What it means, without a full stop. For an element: what follows the usual description of `--ref`, such as its
    /// default; empty for one by position.
    pub help: &'static str,
    /// The name of its value in the help, if not its own name.
    pub value_name: Option<&'static str>,
    /// The value without the argument, if it is not that of the field.
    pub default: Option<&'static str>,
    /// The smallest and the largest number, if not those of the type.
    pub range: Option<(u64, u64)>,
    /// Another name of the option, not shown in the help.
    pub alias: Option<&'static str>,
}

/// How an action appears as a tool for models.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ToolSpec {
    /// Name of the tool.
    pub name: &'static str,
    /// What it does, for models.
    pub description: &'static str,
    /// Description of the argument `timeout_ms`, if the tool has it.
    pub timeout: Option<&'static str>,
}

/// An argument of a tool. An element is given as a ref.
#[derive(Debug, Clone, Copy)]
pub struct ToolArgumentSpec {
    /// The name, if not that of the field in Rust.
    pub name: Option<&'static str>,
    /// What it means, for models; empty if the name says it.
    pub description: &'static str,
    /// Whether a call without it is refused.
    pub required: bool,
}

impl FieldSpec {
    /// The names in requests: several for an element, none for what requests do not have.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let (own, element): (_, &[Self]) = match self.value {
            FieldType::Element => (None, Locator::FIELDS),
            FieldType::Internal => (None, &[]),
            _ => (Some(self.name), &[]),
        };
        own.into_iter().chain(element.iter().map(|field| field.name))
    }
}

/// A command with the fields as arguments.
#[must_use]
pub const fn command(name: &'static str, about: &'static str) -> CommandSpec {
    CommandSpec { name, alias: None, about }
}

/// An argument that is given by position.
#[must_use]
pub const fn positional(help: &'static str) -> ArgumentSpec {
    ArgumentSpec { positional: true, help, value_name: None, default: None, range: None, alias: None }
}

/// An argument that is given as `--name`.
#[must_use]
pub const fn option(help: &'static str) -> ArgumentSpec {
    ArgumentSpec { positional: false, ..positional(help) }
}

/// A tool with some fields as arguments.
#[must_use]
pub const fn tool(name: &'static str, description: &'static str) -> ToolSpec {
    ToolSpec { name, description, timeout: None }
}

/// An argument of a tool that must be given.
#[must_use]
pub const fn needs(description: &'static str) -> ToolArgumentSpec {
    ToolArgumentSpec { name: None, description, required: true }
}

/// An argument of a tool that may be omitted.
#[must_use]
pub const fn takes(description: &'static str) -> ToolArgumentSpec {
    ToolArgumentSpec { required: false, ..needs(description) }
}

impl CommandSpec {
    /// Adds another name.
    #[must_use]
    pub const fn alias(self, alias: &'static str) -> Self {
        Self { alias: Some(alias), ..self }
    }
}

impl ArgumentSpec {
    /// Sets the name of the value.
    #[must_use]
    pub const fn value(self, name: &'static str) -> Self {
        Self { value_name: Some(name), ..self }
    }

    /// Limits the number.
    #[must_use]
    pub const fn within(self, least: u64, most: u64) -> Self {
        Self { range: Some((least, most)), ..self }
    }

    /// Adds another name.
    #[must_use]
    pub const fn or(self, alias: &'static str) -> Self {
        Self { alias: Some(alias), ..self }
    }

    /// Sets the value without the argument.
    #[must_use]
    pub const fn default(self, value: &'static str) -> Self {
        Self { default: Some(value), ..self }
    }
}

impl ToolSpec {
    /// Adds the argument `timeout_ms`.
    #[must_use]
    pub const fn timeout(self, description: &'static str) -> Self {
        Self { timeout: Some(description), ..self }
    }
}

impl ToolArgumentSpec {
    /// Sets the name.
    #[must_use]
    pub const fn named(self, name: &'static str) -> Self {
        Self { name: Some(name), ..self }
    }
}

/// A type with fields that are described. See [`FieldSpec`].
#[doc(hidden)]
pub trait Fields {
    /// The fields in requests.
    const FIELDS: &'static [FieldSpec];
}

/// A type that a field can have.
#[doc(hidden)]
pub trait Described {
    /// The type in requests.
    const TYPE: FieldType;

    /// The element that the value names.
    fn element(&self) -> Option<&Locator> {
        None
    }

    /// As [`element`](Self::element), mutable, and without the fields of a form.
    fn element_mut(&mut self) -> Option<&mut Locator> {
        None
    }
}

impl<T: Described> Described for Option<T> {
    const TYPE: FieldType = T::TYPE;
}

impl<T: Described> Described for Vec<T> {
    const TYPE: FieldType = FieldType::List(&T::TYPE);

    fn element(&self) -> Option<&Locator> {
        self.first().and_then(T::element)
    }
}

macro_rules! of_type {
    ($($rust:ty => $type:expr),* $(,)?) => { $(
        impl crate::page::act::spec::Described for $rust {
            const TYPE: crate::page::act::spec::FieldType = $type;
        }
    )* };
}

of_type! {
    bool => FieldType::Boolean,
    String => FieldType::Text,
    u32 => FieldType::Count,
    u64 => FieldType::Integer,
    usize => FieldType::Integer,
    u8 => FieldType::Count,
    i32 => FieldType::Signed,
    f64 => FieldType::Number,
    super::super::Format => FieldType::Choice(&["ai", "aria"]),
    super::super::PictureType => FieldType::Choice(&["png", "jpeg"]),
    crate::redact::Secrets => FieldType::Internal,
    crate::page::act::secrets::TypedSecrets => FieldType::Internal,
}

/// Whether a value is the one that a request has without the field.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A name in kebab-case.
#[must_use]
pub const fn kebab<const N: usize>(snake: &str) -> [u8; N] {
    let mut name = [0; N];
    let mut at = 0;
    while at < N {
        name[at] = if snake.as_bytes()[at] == b'_' { b'-' } else { snake.as_bytes()[at] };
        at += 1;
    }
    name
}

/// A name in upper case.
#[must_use]
pub const fn upper<const N: usize>(name: &str) -> [u8; N] {
    let mut upper = [0; N];
    let mut at = 0;
    while at < N {
        upper[at] = name.as_bytes()[at].to_ascii_uppercase();
        at += 1;
    }
    upper
}

/// Bytes as text, else another text.
#[must_use]
pub const fn as_text(bytes: &'static [u8], otherwise: &'static str) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => otherwise,
    }
}

/// Whether a name is in a list.
#[must_use]
pub const fn is_among(name: &str, names: &[&str]) -> bool {
    let mut at = 0;
    while at < names.len() {
        if same(names[at].as_bytes(), name.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    one.len() == other.len() && at == one.len()
}

/// A description in one line; its lines begin with a space.
#[must_use]
pub const fn sentence(lines: &'static str) -> &'static str {
    lines.trim_ascii()
}

/// The description of one field, see [`described!`].
#[doc(hidden)]
#[macro_export]
macro_rules! described_field {
    (
        [$($doc:literal)+] $field:ident [$($json:literal)?] [$ty:ty] [$($optional:ident)?]
        [$($argument:expr)?] [$($tool:expr)?]
    ) => {{
        #[allow(unused_imports)]
        use $crate::page::spec::*;
        const SNAKE: &str = stringify!($field);
        const KEBAB: [u8; SNAKE.len()] = kebab(SNAKE);
        const UPPER: [u8; SNAKE.len()] = upper(SNAKE);
        FieldSpec {
            name: [$($json,)? SNAKE][0],
            snake_name: SNAKE,
            kebab_name: as_text(&KEBAB, SNAKE),
            upper_name: as_text(&UPPER, SNAKE),
            value: if matches!(stringify!($($optional)?).as_bytes(), b"skip") {
                FieldType::Internal
            } else {
                <$ty as Described>::TYPE
            },
            required: stringify!($($optional)?).is_empty(),
            description: sentence(concat!($($doc),+)),
            argument: [$(Some($argument),)? None][0],
            tool: [$(Some($tool),)? None][0],
        }
    }};
}

/// A struct, and its fields as `FIELDS`. A field is
///
/// ```text
/// /// What it means.
/// name as "nameInRequests": Type = default [attribute of schemars]; cli argument; tool argument,
/// ```
///
/// with `= default` if it may be omitted, `=> flatten` and `=> skip` as for serde, and an argument if a command or a tool
/// has one for it.
macro_rules! described {
    (
        $(#[$meta:meta])*
        $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $(as $json:literal)? : $ty:ty $(= $default:ident)? $(=> $how:ident)? $([$schema:meta])?
                $(; cli $argument:expr)? $(; tool $tool:expr)?
            ),* $(,)?
        }
    ) => {
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[$meta])*
        pub struct $name { $(
            $(#[doc = $doc])+
            $(#[serde(rename = $json)])?
            $(#[serde($default, skip_serializing_if = "crate::page::act::spec::is_default")])?
            $(#[serde($how)])?
            $(#[cfg_attr(feature = "schema", schemars($schema))])?
            pub $field: $ty,
        )* }

        impl $name {
            /// The fields in requests.
            pub(crate) const FIELDS: &'static [crate::page::act::spec::FieldSpec] = &[$(
                described_field!([$($doc)+] $field [$($json)?] [$ty] [$($default)? $($how)?] [$($argument)?] [$($tool)?]),
            )*];
        }
    };
}

/// A set of values, with their names in requests.
macro_rules! choices {
    ($(
        $(#[$meta:meta])*
        $name:ident { $( $(#[$variant_meta:meta])* $variant:ident = $text:literal ),* $(,)? }
    )*) => { $(
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[$meta])*
        pub enum $name {
            $( $(#[$variant_meta])* #[serde(rename = $text)] $variant, )*
        }

        impl $name {
            /// The names of the values in requests.
            pub const NAMES: &'static [&'static str] = &[$($text),*];

            /// The value with a name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $( $text => Some(Self::$variant), )*
                    _ => None,
                }
            }
        }

        of_type!($name => crate::page::act::spec::FieldType::Choice($name::NAMES));
    )* };
}

/// The enum of all kinds, their table, and what follows from them. An entry is
///
/// ```text
/// /// What it does.
/// Variant "kind" { fields, see `described!` }
///     ; ignores force input
///     ; cli command(…)
///     ; tool tool(…)
///     => the call that performs it;
/// ```
///
/// or `Variant "kind" (name: Type)` with the fields of a struct. Of the fields that all actions have, `force` and `input` are
/// refused where they are listed as ignored.
macro_rules! actions {
    (
        perform($tab:ident, $act:ident, $deadline:ident);
        $(
            $(#[doc = $summary:literal])+
            $variant:ident $kind:literal
            $({ $(
                $(#[doc = $doc:literal])+
                $field:ident $(as $json:literal)? : $ty:ty $(= $default:ident)? $(=> $how:ident)? $([$schema:meta])?
                $(; cli $argument:expr)? $(; tool $field_tool:expr)?
            ),* $(,)? })?
            $(($inner:ident: $inner_ty:ty))?
            $(; ignores $($ignored:ident)+)?
            $(; cli $command:expr)?
            $(; tool $tool:expr)?
            => $perform:expr;
        )*
    ) => {
        /// The kind of action.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = "kind")]
        #[non_exhaustive]
        pub enum ActKind { $(
            $(#[doc = $summary])+
            #[serde(rename = $kind)]
            $variant $({ $(
                $(#[doc = $doc])+
                $(#[serde(rename = $json)])?
                $(
                    #[serde($default, skip_serializing_if = "crate::page::act::spec::is_default")]
                    #[cfg_attr(feature = "schema", schemars(!skip_serializing_if))]
                )?
                $(#[serde($how)])?
                $(#[cfg_attr(feature = "schema", schemars($schema))])?
                $field: $ty,
            )* })? $(($inner_ty))?,
        )* }

        /// All actions, in the order of [`ActKind`].
        pub const ACTIONS: &[ActionSpec] = &[$(
            ActionSpec {
                kind: $kind,
                description: sentence(concat!($($summary),+)),
                fields: $(&[$(
                    described_field!(
                        [$($doc)+] $field [$($json)?] [$ty] [$($default)? $($how)?] [$($argument)?] [$($field_tool)?]
                    ),
                )*])? $(<$inner_ty>::FIELDS)?,
                command: [$(Some($command),)? None][0],
                tool: [$(Some($tool),)? None][0],
                takes_force: !is_among("force", &[$($(stringify!($ignored)),+)?]),
                takes_input: !is_among("input", &[$($(stringify!($ignored)),+)?]),
            },
        )*];

        impl ActKind {
            /// The `kind` in requests.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $( Self::$variant { .. } => $kind, )* }
            }

            /// The description of the kind.
            #[must_use]
            pub fn spec(&self) -> Option<&'static ActionSpec> {
                ACTIONS.iter().find(|action| action.kind == self.name())
            }

            /// The element of the action, if it has one; the first field of a form.
            #[must_use]
            #[allow(unused_variables)]
            pub fn locator(&self) -> Option<&Locator> {
                match self { $(
                    Self::$variant $({ $($field),* })? $(($inner))? => None $($(.or_else(|| $field.element()))*)?,
                )* }
            }

            /// As [`locator`](Self::locator), mutable, and without the fields of a form.
            #[allow(unused_variables)]
            pub fn locator_mut(&mut self) -> Option<&mut Locator> {
                match self { $(
                    Self::$variant $({ $($field),* })? $(($inner))? => None $($(.or_else(|| $field.element_mut()))*)?,
                )* }
            }

            /// Performs the action on a tab, without waiting for its effects.
            #[allow(unused_variables)]
            pub(super) fn perform(&self, $tab: &Tab, $act: &Act, $deadline: Deadline<'_>) -> Result<Performed, Error> {
                match self { $(
                    Self::$variant $({ $($field),* })? $(($inner))? => $perform,
                )* }
            }
        }
    };
}
