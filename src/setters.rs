//! Chainable setters of option structs.

/// Writes one chainable setter for each named field. The documentation of a setter is a link to its field, which holds the
/// meaning, the unit and the default.
///
/// | form | the setter takes | the field gets |
/// |---|---|---|
/// | `field(T)` | `T` | the value |
/// | `field(into T)` | `impl Into<T>` | the value |
/// | `field(some T)`, `field(some into T)` | `T`, `impl Into<T>` | `Some` of the value |
/// | `field(change T)`, `field(change into T)` | `T`, `impl Into<T>` | `Some(Some(value))` |
/// | `field(each T)` | `impl IntoIterator<Item = impl Into<T>>` | all of them instead of the earlier ones |
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    (<$life:lifetime> $type:ty: $($name:ident $how:tt),+ $(,)?) => {
        impl<$life> $type { $($crate::setters!(@one $name $how);)+ }
    };
    ($type:ty: $($name:ident $how:tt),+ $(,)?) => {
        impl $type { $($crate::setters!(@one $name $how);)+ }
    };
    (@one $name:ident (some into $t:ty)) => { $crate::setters!(@fn $name, impl Into<$t>, |v| Some(v.into())); };
    (@one $name:ident (some $t:ty)) => { $crate::setters!(@fn $name, $t, |v| Some(v)); };
    (@one $name:ident (change into $t:ty)) => {
        $crate::setters!(@fn $name, impl Into<$t>, |v| Some(Some(v.into())));
    };
    (@one $name:ident (change $t:ty)) => { $crate::setters!(@fn $name, $t, |v| Some(Some(v))); };
    (@one $name:ident (each $t:ty)) => {
        $crate::setters!(
            @fn $name, impl IntoIterator<Item = impl Into<$t>>, |v| v.into_iter().map(Into::into).collect()
        );
    };
    (@one $name:ident (into $t:ty)) => { $crate::setters!(@fn $name, impl Into<$t>, |v| v.into()); };
    (@one $name:ident ($t:ty)) => { $crate::setters!(@fn $name, $t, |v| v); };
    (@fn $name:ident, $takes:ty, |$v:ident| $value:expr) => {
        #[doc = concat!("Sets [`", stringify!($name), "`](field@Self::", stringify!($name), ").")]
        #[must_use]
        pub fn $name(mut self, $name: $takes) -> Self {
            let $v = $name;
            self.$name = $value;
            self
        }
    };
}
