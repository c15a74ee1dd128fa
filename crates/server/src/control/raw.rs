//! Raw CDP commands, within the limits that apply to all operations.

use serde_json::{Value, json};

use super::raw_methods::check;
use super::{Error, Profile, RawCall, Running};
use crate::config::RawCdp;
use cdpilot::supervisor::{FrameId, FrameRef, PageState, PageView, TargetId};
use cdpilot::sync::Deadline;

/// Commands that navigate to their `url` parameter.
const GOING: [&str; 2] = ["Page.navigate", "Target.createTarget"];

/// Commands that could leave the confinement to hosts: other contexts, and worlds and documents without its script.
const UNCONFINED: [&str; 6] = [
    "Page.addScriptToEvaluateOnNewDocument",
    "Page.createIsolatedWorld",
    "Page.removeScriptToEvaluateOnNewDocument",
    "Page.setPrerenderingAllowed",
    "Target.createBrowserContext",
    "Target.exposeDevToolsProtocol",
];

/// Commands whose results show a page in a form in which secrets are not found.
const PICTURES: [&str; 4] =
    ["Page.captureScreenshot", "Page.captureSnapshot", "Page.printToPDF", "Page.startScreencast"];
const SHOWS_SECRETS: &str =
    "could show a stored secret, because a raw result is not painted over; take a screenshot without a raw command";

impl Profile {
    /// Sends a raw CDP command: to a frame, to a tab, or, for commands of `Browser` and `Target` without either, to the
    /// browser itself. `Target.closeTarget` and `Page.close` dismiss dialogs first. Secrets in the result are redacted.
    /// [`raw_methods`](super::raw_methods) lists the allowed commands.
    ///
    /// # Errors
    /// [`Error::RawCdpDisabled`], [`Error::RawLevel`], [`Error::EvaluateDisabled`], [`Error::NavigationBlocked`],
    /// [`Error::PathRefused`], [`Error::BadRequest`], those of [`tab`](Self::tab), [`Error::Page`].
    pub fn raw(&self, mut call: RawCall, deadline: Deadline<'_>) -> Result<Value, Error> {
        self.may_call(&call)?;
        if self.session.hosts().is_some() && UNCONFINED.contains(&&*call.method) {
            let problem = format!("{} is refused in a conversation with hosts: it could reach other ones", call.method);
            return Err(Error::BadRequest { problem });
        }
        if PICTURES.contains(&&*call.method) && !self.core.shared.secret_store.covers().is_empty() {
            return Err(Error::BadRequest { problem: format!("{} {SHOWS_SECRETS}", call.method) });
        }
        self.only_uploads(&mut call)?;
        let running = self.running()?;
        let supervisor = running.supervisor();
        self.within_session(&running, &mut call, deadline)?;
        let url = call.params.get("url").and_then(Value::as_str);
        if GOING.contains(&&*call.method)
            && let Some(url) = url.filter(|url| !url.is_empty())
        {
            self.may_go(&running, url, deadline)?;
        }
        let frame = call.frame.clone().filter(|frame| !frame.is_empty());
        let of_browser = call.method.starts_with("Browser.") || call.method.starts_with("Target.");
        // For any tab, these use the same code as opening and closing tabs.
        let of_tabs = matches!(&*call.method, "Target.createTarget" | "Target.closeTarget");
        if of_tabs || (of_browser && frame.is_none() && call.target.is_none()) {
            let result = match &*call.method {
                "Target.closeTarget" => {
                    let target = match (call.params.get("targetId").and_then(Value::as_str), &call.target) {
                        (None, Some(named)) => self.find(&running, Some(named), false)?,
                        (target, _) => TargetId::from(target.unwrap_or_default()),
                    };
                    self.close(&running, &target, deadline)?;
                    json!({ "success": true })
                }
                "Target.createTarget" => self.counted(&running, &call, deadline)?,
                method => {
                    let result = supervisor.browser_raw(method, &call.params, deadline)?;
                    self.only_visible(&running, method, result)
                }
            };
            return Ok(self.core.shared.secrets.cover_json(result));
        }
        let target = self.find(&running, call.target.as_deref(), false)?;
        self.handle(&running, &target)?;
        if OF_CONTEXT.contains(&&*call.method)
            && let Some(context) = running.view().page(target.as_str()).and_then(|page| page.context.clone())
            && self.is_created_context(&running, context.as_str(), deadline)?
        {
            // Sent to a page, these commands use the default context, also for a page of another one.
            add_context(&mut call, context.as_str());
            return Ok(self.core.shared.secrets.cover_json(supervisor.browser_raw(
                &call.method,
                &call.params,
                deadline,
            )?));
        }
        let page = match frame {
            None => FrameRef::TopOf(target),
            Some(frame) => self.frame_of(&running, &target, &frame)?,
        };
        if let ("Page.close", FrameRef::TopOf(target)) = (&*call.method, &page) {
            self.close(&running, target, deadline)?;
            return Ok(json!({}));
        }
        let answer = supervisor.call_raw(&page, &call.method, &call.params, deadline)?;
        let result = answer.result.value().map_err(cdpilot::supervisor::Error::from)?;
        Ok(self.core.shared.secrets.cover_json(result))
    }

    /// Whether a browser context was created by a command: the default one is not.
    fn is_created_context(&self, running: &Running, id: &str, deadline: Deadline<'_>) -> Result<bool, Error> {
        let created = running.supervisor().browser_raw("Target.getBrowserContexts", &Value::Null, deadline)?;
        let ids = created.get("browserContextIds").and_then(Value::as_array);
        Ok(ids.is_some_and(|ids| ids.iter().any(|known| known == id)))
    }

    /// Restricts a command to the tabs and browser contexts of the session. The default session has all of them.
    fn within_session(&self, running: &Running, call: &mut RawCall, deadline: Deadline<'_>) -> Result<(), Error> {
        if self.session.is_default() || !(call.method.starts_with("Browser.") || call.method.starts_with("Target.")) {
            return Ok(());
        }
        if let Some(target) = call.params.get("targetId").and_then(Value::as_str)
            && self.sees(&TargetId::from(target), deadline.within(SEEN)) != Some(true)
        {
            return Err(Error::NoTab { wanted: target.chars().take(80).collect(), nearest: None });
        }
        let refuse = |problem: &str| Err(Error::BadRequest { problem: format!("browserContextId: {problem}") });
        match call.params.get("browserContextId").and_then(Value::as_str) {
            Some(id) if !self.may_use_context(id) => refuse("not a browser context of this session; omit it"),
            Some(id) if call.method == "Target.disposeBrowserContext" && self.is_own_context(id) => {
                refuse("the context of an isolated session ends with the session; end the session instead")
            }
            None if IN_CONTEXT.contains(&&*call.method) => {
                if let Some(context) = self.context(running, deadline)? {
                    add_context(call, context.as_str());
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A result without the tabs and browser contexts of other sessions.
    fn only_visible(&self, running: &Running, method: &str, mut result: Value) -> Value {
        if self.session.is_default() {
            return result;
        }
        if let Some(id) = result.get("browserContextId").filter(|_| method == "Target.createBrowserContext") {
            self.created_context(id.as_str().unwrap_or_default());
        }
        if let Some(contexts) = result.get_mut("browserContextIds").and_then(Value::as_array_mut) {
            contexts.retain(|id| id.as_str().is_some_and(|id| self.may_use_context(id)));
        }
        if let Some(targets) = result.get_mut("targetInfos").and_then(Value::as_array_mut) {
            let now = running.view();
            let tabs = self.core.tab_index.lock().list(&self.session, &now.pages);
            targets.retain(|info| tabs.iter().any(|tab| info.get("targetId").is_some_and(|id| *id == *tab.target_id)));
        }
        result
    }

    /// Checks a command against the settings.
    fn may_call(&self, call: &RawCall) -> Result<(), Error> {
        let bad = |problem: String| Err(Error::BadRequest { problem });
        let browser = &self.core.shared.config.browser;
        if browser.raw_cdp_enabled == RawCdp::Off {
            return Err(Error::RawCdpDisabled);
        }
        let word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric());
        if !call.method.split_once('.').is_some_and(|(domain, name)| word(domain) && word(name)) {
            return bad(format!(
                "method {:?} is not a CDP command; use Domain.command, such as Page.getFrameTree",
                call.method
            ));
        }
        if !call.params.is_null() && !call.params.is_object() {
            return bad("params: expected an object".to_owned());
        }
        // `Page.reload` counts as running a script only with this parameter.
        let with_script = call.method == "Page.reload" && call.params.get("scriptToEvaluateOnLoad").is_some();
        check(&call.method, with_script, browser.raw_cdp_enabled, browser.evaluate_enabled)?;
        only_harmless(&call.method, &call.params)
    }

    /// Checks files passed to a page like uploads.
    fn only_uploads(&self, call: &mut RawCall) -> Result<(), Error> {
        let files = match &*call.method {
            "DOM.setFileInputFiles" => call.params.get_mut("files"),
            "Input.dispatchDragEvent" => call.params.get_mut("data").and_then(|data| data.get_mut("files")),
            _ => None,
        };
        for file in files.and_then(Value::as_array_mut).into_iter().flatten() {
            let path = file.as_str().unwrap_or_default().to_owned();
            let found = self.core.shared.files.check_upload(std::path::Path::new(&path))?;
            *file = found.to_string_lossy().into_owned().into();
        }
        Ok(())
    }

    /// `Target.createTarget`, counted towards the limit of tabs.
    fn counted(&self, running: &Running, call: &RawCall, deadline: Deadline<'_>) -> Result<Value, Error> {
        let now = running.view();
        self.core.tab_index.lock().open_one(&self.session, self.core.shared.config.browser.tabs.max, &now.pages)?;
        // The browser requests the document of a new page before the request can be intercepted, so the page is opened
        // empty and navigated afterwards. This also applies the policy to redirects.
        let mut params = call.params.clone();
        let url = params.get("url").and_then(Value::as_str).filter(|url| !url.is_empty()).map(str::to_owned);
        if url.is_some() {
            params["url"] = json!(BLANK);
        }
        let created = running.supervisor().browser_raw(&call.method, &params, deadline);
        if let Ok(created) = &created
            && let Some(id) = created.get("targetId").and_then(Value::as_str)
        {
            // The event arrives shortly before or after the answer.
            let ready = |page: &PageView| page.state != PageState::Attaching;
            running.supervisor().wait_until(deadline.within(SEEN), |now| now.page(id).is_some_and(ready));
            if let Some(url) = url.filter(|url| url != BLANK) {
                // As for any new page, a failed navigation shows when the page is used.
                let page = FrameRef::TopOf(TargetId::from(id));
                let _ = running.supervisor().start_navigation(&page, &url, deadline.within(SEEN));
            }
        }
        let now = running.view();
        let mut index = self.core.tab_index.lock();
        if let Some(id) = created.as_ref().ok().and_then(|created| created.get("targetId")?.as_str()) {
            index.give(&self.session, &TargetId::from(id), &now.pages);
        }
        index.opened(&self.session);
        self.core.owner_known.notify_all();
        index.list(&self.session, &now.pages);
        Ok(created?)
    }

    /// A frame of a tab.
    fn frame_of(&self, running: &Running, target: &TargetId, frame: &str) -> Result<FrameRef, Error> {
        let now = running.view();
        if now.frame(frame).is_some_and(|found| found.target_id == *target) {
            return Ok(FrameRef::Id(FrameId::from(frame)));
        }
        let known = now.frames_of(target.as_str()).take(10).map(|f| f.frame_id.to_string()).collect();
        Err(cdpilot::supervisor::Error::FrameNotFound { frame: frame.to_owned(), known }.into())
    }
}

/// Rejects parameters that are not allowed.
fn only_harmless(method: &str, params: &Value) -> Result<(), Error> {
    let refuse = |problem: String| Err(Error::BadRequest { problem });
    match method {
        // A proxy would bypass the navigation policy, and universal origin access would let a page read every site.
        "Target.createBrowserContext" => {
            let given = params.as_object().into_iter().flatten().map(|(name, _)| name);
            match given.into_iter().find(|name| *name != "disposeOnDetach") {
                Some(name) => {
                    refuse(format!("{method} does not allow the parameter {name}; only disposeOnDetach is allowed"))
                }
                None => Ok(()),
            }
        }
        // Chromium blocks private networks for public pages; the permission would lift that.
        "Browser.setPermission" | "Browser.grantPermissions" => {
            let named = params.get("permission").or_else(|| params.get("permissions"));
            match named.is_some_and(|named| named.to_string().to_ascii_lowercase().contains("network")) {
                true => refuse(format!("{method} must not grant access to local networks")),
                false => Ok(()),
            }
        }
        // A size that the browser cannot draw blocks the tab for ever, including navigations.
        "Page.captureScreenshot" => match params.get("clip").filter(|clip| !clip.is_null()) {
            Some(clip) if !is_drawable(clip, "scale") => refuse(format!(
                "clip: {method} draws at most {DRAWN} pixels per side, within {FARTHEST} pixels of the page's origin; reduce clip or scale"
            )),
            _ => Ok(()),
        },
        "Emulation.setDeviceMetricsOverride" if !is_drawable(params, "deviceScaleFactor") => {
            refuse(format!("{method} draws at most {DRAWN} pixels per side; reduce width, height or deviceScaleFactor"))
        }
        _ => Ok(()),
    }
}

/// Whether the browser can draw a rectangle at a scale. Values that are not numbers are left to the browser to reject.
fn is_drawable(params: &Value, scale: &str) -> bool {
    let number = |name: &str| params.get(name).and_then(Value::as_f64);
    let scale = number(scale).filter(|scale| *scale != 0.0).unwrap_or(1.0);
    let sides = ["width", "height"].into_iter().filter_map(number).all(|side| side.abs() * scale.abs() <= DRAWN);
    sides && ["x", "y"].into_iter().filter_map(number).all(|at| at.abs() <= FARTHEST)
}

/// Maximum number of device pixels per side.
const DRAWN: f64 = 16_384.0;
/// Maximum distance from the page's origin, in CSS pixels.
const FARTHEST: f64 = 1e8;

/// Commands that apply to the default browser context unless they name another one.
const IN_CONTEXT: [&str; 4] =
    ["Target.createTarget", "Browser.setPermission", "Browser.grantPermissions", "Browser.resetPermissions"];
/// The same for commands that are sent to a tab.
const OF_CONTEXT: [&str; 3] = ["Storage.getCookies", "Storage.setCookies", "Storage.clearCookies"];

/// Adds a browser context to the parameters of a command that names none.
fn add_context(call: &mut RawCall, context: &str) {
    if call.params.is_null() {
        call.params = json!({});
    }
    if let Some(params) = call.params.as_object_mut() {
        params.entry("browserContextId").or_insert_with(|| context.into());
    }
}

/// Initial URL of a new page.
const BLANK: &str = "about:blank";
/// How long to wait until a created page is known.
const SEEN: std::time::Duration = std::time::Duration::from_secs(2);
