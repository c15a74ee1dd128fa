//! Plays on the stock screener.

use serde_json::json;

use super::super::hands::{Done, Hands, Want};
use super::super::screen::{Line, groups};
use super::Known;

pub(super) const PLAYS: &[Known] = &[
    ("show only the stocks with a market cap over", one_filter),
    ("find large companies that are cheap and traded a lot", filters),
    ("open the first three stocks of the sorted table", filters_order_and_quotes),
];

/// The filter that the instruction of the first play is about.
const CAP: &str = "Market Cap";
/// Number of stocks that are opened.
const QUOTES: usize = 3;
/// Most clicks on a header until it sorts as it should.
const MOST_CLICKS: usize = 3;

fn one_filter(hands: &mut Hands) -> Done {
    let Some(limit) = limit(&hands.task) else { return hands.lost("the task names no limit") };
    show(hands, CAP, "selectable")?;
    let Some(html) = hands.screen.elements.first().map(|filter| filter.html.clone()) else {
        return hands.lost("the filter is not there");
    };
    let mut options = html.split("</option>").filter_map(|option| option.rsplit('>').next());
    let Some(option) = options.find(|option| option.ends_with(&limit)) else {
        return hands.lost(format!("no option {limit:?}"));
    };
    hands.choose(&Want::html(&html), option)
}

/// How the options write the limit of a task: `$10 billion` is `(over $10bln)`.
fn limit(task: &str) -> Option<String> {
    let mut words = task.split_once('$')?.1.split([' ', '.']);
    let (number, unit) = (words.next()?, words.next()?);
    let unit = if unit == "billion" { "bln" } else { "mln" };
    Some(format!("(over ${number}{unit})"))
}

fn filters(hands: &mut Hands) -> Done {
    for (name, value) in settings(&hands.task) {
        set(hands, &name, &value)?;
    }
    Ok(())
}

fn filters_order_and_quotes(hands: &mut Hands) -> Done {
    filters(hands)?;
    let named = [" view of the table", " with the highest value first"].map(|words| quoted_before(&hands.task, words));
    let [Some(view), Some(column)] = named else { return hands.lost("the task names no view and column") };
    click(hands, &Want::text(&view).has("data-view="), &view)?;
    sort(hands, &column)?;
    let first = hands.read_for(|lines| Some(tickers(lines)).filter(|tickers| tickers.len() == QUOTES))?;
    for ticker in first {
        click(hands, &Want::text(&ticker).has("<a").lacks("<tr"), &ticker)?;
    }
    Ok(())
}

/// Names and values of the filters in a task: `set Sector to "Healthcare" and Beta to "Over 1"`.
fn settings(task: &str) -> Vec<(String, String)> {
    let parts: Vec<&str> = task.split('"').collect();
    let setting = |pair: &[&str]| {
        let [before, value] = pair else { return None };
        let before = before.strip_suffix(" to ")?;
        let name = ["set ", "and ", ", "].iter().fold(before, |name, word| name.rsplit(word).next().unwrap_or(name));
        Some((name.to_owned(), (*value).to_owned()))
    };
    parts.chunks(2).filter_map(setting).collect()
}

/// The last text in quotes before these words.
fn quoted_before(task: &str, words: &str) -> Option<String> {
    let (before, _) = task.split_once(words)?;
    before.strip_suffix('"')?.rsplit('"').next().map(str::to_owned)
}

/// Looks at the elements of the viewport that have this text, name or value.
fn show(hands: &mut Hands, text: &str, kind: &str) -> Done {
    hands.call("highlight", json!({ "element_type": kind, "keywords": [text] })).map(drop)
}

/// Clicks an element with this text.
fn click(hands: &mut Hands, want: &Want, text: &str) -> Done {
    show(hands, text, "clickable")?;
    hands.click(want)
}

/// Sets a filter, under whichever tab it is.
fn set(hands: &mut Hands, name: &str, value: &str) -> Done {
    show(hands, name, "selectable")?;
    if hands.screen.elements.is_empty() {
        for tab in hands.read_for(other_tabs)? {
            click(hands, &Want::text(&tab).has("data-tab="), &tab)?;
            show(hands, name, "selectable")?;
            if !hands.screen.elements.is_empty() {
                break;
            }
        }
    }
    match hands.screen.elements.first().map(|filter| Want::html(&filter.html)) {
        Some(filter) => hands.choose(&filter, value),
        None => hands.lost(format!("no filter {name:?}")),
    }
}

/// The tabs of filters that are not shown.
fn other_tabs(lines: &[Line]) -> Option<Vec<String>> {
    let tabs = groups(lines, "tablist \"Filter groups\"").next()?;
    Some(tabs.iter().filter(|tab| !tab.text.contains("[selected]")).map(|tab| tab.name().to_owned()).collect())
}

/// Sorts the table by a column with the highest value first, by its header.
fn sort(hands: &mut Hands, column: &str) -> Done {
    let header = Want::text(column).has("<th").lacks("<tr");
    show(hands, column, "clickable")?;
    for _ in 0..MOST_CLICKS {
        hands.click(&header)?;
        show(hands, column, "clickable")?;
        if hands.screen.elements.iter().any(|element| element.html.contains("aria-sort=\"descending\"")) {
            return Ok(());
        }
    }
    hands.lost(format!("the table is not sorted by {column:?}"))
}

/// The tickers of the first rows.
fn tickers(lines: &[Line]) -> Vec<String> {
    let links = groups(lines, "row ").filter_map(|row| row.iter().find(|line| line.text.starts_with("link ")));
    links.take(QUOTES).map(|link| link.name().to_owned()).collect()
}
