//! Tabs and navigation.

use super::super::failure::Failure;
use super::super::types::{FocusTab, LabelTab, NavigateTo, Nothing, OpenTab, Tabs};
use super::Call;
use crate::control::{Navigate, Navigated, NewTab, TabInfo};

pub(super) fn list(call: &Call<'_>, _: Nothing) -> Result<Tabs, Failure> {
    let profile = call.profile()?;
    Ok(Tabs { running: profile.status().running, tabs: profile.tabs() })
}

pub(super) fn open(call: &Call<'_>, open: OpenTab) -> Result<TabInfo, Failure> {
    let new = NewTab { url: open.url, label: open.label, background: open.background };
    Ok(call.profile()?.open_tab(new, call.deadline)?)
}

pub(super) fn focus(call: &Call<'_>, focus: FocusTab) -> Result<TabInfo, Failure> {
    Ok(call.profile()?.focus(&focus.target_id, call.deadline)?)
}

pub(super) fn label(call: &Call<'_>, label: LabelTab) -> Result<TabInfo, Failure> {
    Ok(call.profile()?.label(&label.target_id, &label.label)?)
}

pub(super) fn close(call: &Call<'_>, _: Nothing) -> Result<TabInfo, Failure> {
    Ok(call.profile()?.close_tab(call.at(0), call.deadline)?)
}

pub(super) fn navigate(call: &Call<'_>, to: NavigateTo) -> Result<Navigated, Failure> {
    let to = Navigate {
        url: to.url,
        target: call.target.clone(),
        wait_until: to.wait_until,
        dismiss_dialogs: to.dismiss_dialogs,
    };
    Ok(call.profile()?.navigate(to, call.deadline)?)
}
