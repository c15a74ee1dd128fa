//! Tabs and navigation.

use super::super::error::ApiError;
use super::Call;
use crate::api::{FocusTab, HistoryNavigation, LabelTab, NavigateTo, NoFields, OpenTab, RescueAnswer, TabOpened, Tabs};
use crate::control::{ClosedTab, LabelledTab, Navigate, Navigated, NewTab, TabInfo, Travel};

pub(super) fn list(call: &Call<'_>, _: NoFields) -> Result<Tabs, ApiError> {
    let profile = call.profile()?;
    Ok(Tabs { running: profile.status().running, tabs: profile.tabs() })
}

pub(super) fn open(call: &Call<'_>, open: OpenTab) -> Result<TabOpened, ApiError> {
    let new = NewTab { url: open.url, label: open.label, background: open.background };
    let opened = call.profile()?.open(new, call.deadline)?;
    Ok(TabOpened { tab: opened.tab, downloads: opened.downloads, label_taken_from: opened.label_taken_from })
}

pub(super) fn focus(call: &Call<'_>, focus: FocusTab) -> Result<TabInfo, ApiError> {
    Ok(call.profile()?.focus(&focus.target_id, call.deadline)?)
}

pub(super) fn label(call: &Call<'_>, label: LabelTab) -> Result<LabelledTab, ApiError> {
    Ok(call.profile()?.label(&label.target_id, &label.label)?)
}

pub(super) fn close(call: &Call<'_>, _: NoFields) -> Result<ClosedTab, ApiError> {
    Ok(call.profile()?.close_tab(call.path_param(0), call.deadline)?)
}

pub(super) fn navigate(call: &Call<'_>, to: NavigateTo) -> Result<Navigated, ApiError> {
    let to = Navigate {
        url: to.url,
        target: call.target.clone(),
        wait_until: to.wait_until,
        dismiss_dialogs: to.dismiss_dialogs,
    };
    Ok(call.profile()?.navigate(to, call.deadline)?)
}

pub(super) fn back(call: &Call<'_>, to: HistoryNavigation) -> Result<Navigated, ApiError> {
    travel(call, to, Travel::Back)
}

pub(super) fn forward(call: &Call<'_>, to: HistoryNavigation) -> Result<Navigated, ApiError> {
    travel(call, to, Travel::Forward)
}

pub(super) fn reload(call: &Call<'_>, to: HistoryNavigation) -> Result<Navigated, ApiError> {
    travel(call, to, Travel::Reload)
}

pub(super) fn rescue(call: &Call<'_>, _: NoFields) -> Result<RescueAnswer, ApiError> {
    let handle = call.tab_to_read()?;
    let busy = call.rescue(&handle)?.busy;
    Ok(RescueAnswer {
        rescued: busy.is_some(),
        busy_ms: busy.map(|busy| u64::try_from(busy.as_millis()).unwrap_or(u64::MAX)),
        target_id: handle.tab.target().to_string(),
    })
}

fn travel(call: &Call<'_>, to: HistoryNavigation, way: Travel) -> Result<Navigated, ApiError> {
    let HistoryNavigation { wait_until, dismiss_dialogs } = to;
    Ok(call.profile()?.travel(call.target.as_deref(), way, wait_until, dismiss_dialogs, call.deadline)?)
}
