//! Libraries that pages load, as `scripts/ensure-page-libraries.sh` installs them.

use std::io::Write as _;
use std::path::PathBuf;

use super::site::{Answer, Site};

/// Serves files of the packages below `/lib/`. `None` with a message if the libraries are not installed;
/// `CDPILOT_REQUIRE_PAGE_LIBRARIES=1` turns that into a failure.
pub fn serve(site: &Site, files: &[&str]) -> Option<()> {
    for file in files {
        site.put(&format!("/lib/{file}"), Answer::bytes("text/javascript", read(file)?.into_bytes()));
    }
    Some(())
}

/// A file of the packages; `None` as for [`serve`].
pub fn read(file: &str) -> Option<String> {
    let root = crate::root();
    let place =
        std::env::var_os("CDPILOT_PAGE_LIBRARIES").map_or_else(|| root.join("target/page-libraries"), PathBuf::from);
    if !place.join("stamp").is_file() {
        let required = std::env::var_os("CDPILOT_REQUIRE_PAGE_LIBRARIES").is_some_and(|value| value == "1");
        assert!(!required, "no libraries in {}; run scripts/ensure-page-libraries.sh", place.display());
        let name = std::thread::current().name().unwrap_or("a test").to_owned();
        // Written past the test harness, which shows the output of failed tests only.
        let _ = writeln!(std::io::stderr(), "OMITTED, run scripts/ensure-page-libraries.sh: {name}");
        return None;
    }
    let path = place.join("node_modules").join(file);
    Some(std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// A form of React; `state` is what it was last rendered with, "Again" renders it again.
pub const REACT: &str = r#"<!doctype html><title>React</title><style>input, select, textarea, button { margin: 12px } textarea { width: 240px }</style>
<div id=root></div><script src=/lib/react/umd/react.production.min.js></script><script src=/lib/react-dom/umd/react-dom.production.min.js></script>
<script>
const e = React.createElement;
function App() {
  const [state, set] = React.useState({ name: "old", code: "X", note: "old\ntext", size: "s", news: false, way: "mail", zoom: 10, sent: [], renders: 0 });
  window.state = state;
  const put = (field, value) => set((old) => ({ ...old, [field]: value }));
  const field = (name, more) => ({ "aria-label": name[0].toUpperCase() + name.slice(1), value: state[name], onChange: (event) => put(name, event.target.value), ...more });
  return e("form", { onSubmit: (event) => { event.preventDefault(); put("sent", [...state.sent, state.name]); } },
    e("input", field("name")), e("input", field("code", { onChange: (event) => put("code", event.target.value.toUpperCase()) })),
    e("textarea", field("note")), e("select", field("size"), e("option", { value: "s" }, "Small"), e("option", { value: "l" }, "Large")),
    e("input", { type: "checkbox", checked: state.news, onChange: (event) => put("news", event.target.checked) }),
    ["mail", "post"].map((way) => e("input", { key: way, type: "radio", name: "way", value: way, checked: state.way === way, onChange: () => put("way", way) })),
    e("input", field("zoom", { type: "range", min: 0, max: 100 })),
    e("button", { type: "button", onClick: () => set((old) => ({ ...old, renders: old.renders + 1 })) }, "Again"), e("button", null, "Send"));
}
ReactDOM.createRoot(document.getElementById("root")).render(e(App));
</script>"#;

/// The same form, of Vue.
pub const VUE: &str = r##"<!doctype html><title>Vue</title><style>input, select, textarea, button { margin: 12px } textarea { width: 240px }</style>
<div id=app><form @submit.prevent="state.sent.push(state.name)">
  <input aria-label=Name v-model="state.name"><input aria-label=Code :value="state.code" @input="state.code = $event.target.value.toUpperCase()">
  <textarea aria-label=Note v-model.lazy="state.note"></textarea>
  <select aria-label=Size v-model="state.size"><option value=s>Small</option><option value=l>Large</option></select>
  <input type=checkbox v-model="state.news"><input type=radio name=way value=mail v-model="state.way"><input type=radio name=way value=post v-model="state.way">
  <input type=range aria-label=Zoom min=0 max=100 v-model.number="state.zoom">
  <button type=button @click="state.renders++">Again</button><button>Send</button><i :key="state.renders">{{ state.renders }}</i>
</form></div><script src=/lib/vue/dist/vue.global.prod.js></script>
<script>
window.state = Vue.reactive({ name: "old", code: "X", note: "old\ntext", size: "s", news: false, way: "mail", zoom: 10, sent: [], renders: 0 });
Vue.createApp({ setup: () => ({ state }) }).mount("#app");
</script>"##;
