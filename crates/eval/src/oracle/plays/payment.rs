//! Plays on the shop with frames of a payment service, a bank and parcel lockers.

use super::super::hands::{Done, Hands, Want};
use super::super::screen::Line;
use super::Known;

pub(super) const PLAYS: &[Known] = &[
    ("if the shop does not accept it, use the coupon", to_the_door_with_coupon),
    ("Have it delivered to the parcel locker", gift_to_a_locker),
];

/// Most codes of the bank that are entered.
const MOST_CODES: usize = 4;
/// How often an answer is waited for.
const MOST_WAITS: usize = 3;
/// How often the messages are read until a new one is there.
const MOST_READS: usize = 10;
/// What follows the code in a message of the bank.
const IS_CODE: &str = " is your code for the payment";

struct Card {
    number: String,
    expiry: String,
    security_code: String,
}

fn to_the_door_with_coupon(hands: &mut Hands) -> Done {
    fill_basket(hands)?;
    apply_coupon(hands)?;
    to_checkout(hands)?;
    choose_day(hands)?;
    pay(hands)
}

fn gift_to_a_locker(hands: &mut Hands) -> Done {
    let locker = hands.told("parcel locker \"", "\"")?;
    let text = hands.told("with the text \"", "\"")?;
    fill_basket(hands)?;
    to_checkout(hands)?;
    choose_locker(hands, &locker)?;
    choose_day(hands)?;
    hands.click(&Want::id("wrap"))?;
    hands.write(&Want::id("gift-text"), &text, false)?;
    pay(hands)
}

/// Puts what the task orders into the basket, and opens the basket.
fn fill_basket(hands: &mut Hands) -> Done {
    let word = hands.told("Order ", " ")?;
    let (Some(count), Some(name)) = (number(&word), hands.quoted().into_iter().next()) else {
        return hands.lost("the task does not say what to order");
    };
    let heading = format!("heading \"{name}\"");
    let button = hands.read_for(|lines| button_after(lines, |text| text.starts_with(&heading)))?;
    for _ in 0..count {
        hands.press(&button)?;
    }
    if !hands.wait_for(&format!("{name} is in your basket ({count})."))? {
        return hands.lost(format!("{count} of {name:?} are not in the basket"));
    }
    hands.click(&Want::html("href=\"basket.html\""))
}

/// Tries the coupons of the task until one is accepted.
fn apply_coupon(hands: &mut Hands) -> Done {
    let task = hands.task.clone();
    for part in task.split("coupon ").skip(1) {
        let coupon = part.split([' ', ';', '.']).next().unwrap_or_default();
        hands.write(&Want::id("coupon"), coupon, true)?;
        if hands.page_text()?.contains(&format!("Coupon {coupon}")) {
            return Ok(());
        }
    }
    hands.lost("no coupon is accepted")
}

fn to_checkout(hands: &mut Hands) -> Done {
    hands.click(&Want::html("href=\"checkout.html\""))?;
    if !hands.wait_for("Payment by")? {
        return hands.lost("the frame of the card does not appear");
    }
    Ok(())
}

fn choose_day(hands: &mut Hands) -> Done {
    let is_day = |word: &&str| word.len() == 10 && word.split('-').count() == 3;
    let day = hands.task.split([' ', ',', '.']).find(is_day).map(str::to_owned);
    let Some(day) = day else { return hands.lost("the task names no day") };
    hands.write(&Want::id("date"), &day, false)
}

fn choose_locker(hands: &mut Hands, name: &str) -> Done {
    hands.click(&Want::id("by-locker"))?;
    uses_frames(hands)?;
    hands.wait_for(name)?;
    let title = format!("text: {name}");
    let button = hands.read_for(|lines| button_after(lines, |text| text == title))?;
    hands.press(&button)?;
    if !hands.wait_for(&format!("Selected: {name}"))? {
        return hands.lost(format!("the locker {name:?} is not selected"));
    }
    Ok(())
}

/// Pays with the first card of the task that is not declined. The name on the card is kept when one is declined.
fn pay(hands: &mut Hands) -> Done {
    let name = hands.told("name on ", ". ")?;
    let name = name.split('"').nth(1).unwrap_or_default();
    uses_frames(hands)?;
    hands.write(&Want::id("holder"), name, false)?;
    for card in cards(&hands.task) {
        enter_card(hands, &card)?;
        hands.click(&Want::id("pay"))?;
        wait_for_answer(hands)?;
        if !hands.page_text()?.contains("was declined") {
            return confirm_payment(hands);
        }
    }
    hands.lost("no card is accepted")
}

/// Waits until the payment service has answered. A wait fails where a frame goes away meanwhile, and is repeated.
fn wait_for_answer(hands: &mut Hands) -> Done {
    for _ in 0..MOST_WAITS {
        if hands.wait_gone("One moment …")? {
            return Ok(());
        }
    }
    hands.lost("the payment service does not answer")
}

fn enter_card(hands: &mut Hands, card: &Card) -> Done {
    let fields = [
        ("Card number", &card.number),
        ("Expiry date, month and year", &card.expiry),
        ("Security code", &card.security_code),
    ];
    for (label, text) in fields {
        hands.write(&Want::html(&format!("aria-label=\"{label}\"")), text, false)?;
    }
    Ok(())
}

/// Enters the codes of the bank until the order is placed.
fn confirm_payment(hands: &mut Hands) -> Done {
    uses_frames(hands)?;
    let mut code = String::new();
    for _ in 0..MOST_CODES {
        code = newer_code(hands, &code)?;
        hands.write(&Want::id("code"), &code, false)?;
        hands.click(&Want::text("Confirm"))?;
        if !hands.page_text()?.contains("code has expired") {
            break;
        }
        hands.click(&Want::text("Send a new code"))?;
        hands.wait_for("A new code is on its way")?;
    }
    if !hands.wait_for("Thank you")? {
        return hands.lost("the order is not placed");
    }
    Ok(())
}

/// The code of the latest message of the bank, once it is another one than the last.
fn newer_code(hands: &mut Hands, last: &str) -> Done<String> {
    hands.wait_for(IS_CODE.trim())?;
    for _ in 0..MOST_READS {
        let text = hands.page_text()?;
        let message = text.lines().find_map(|line| line.split_once(IS_CODE));
        let code = message.and_then(|(before, _)| before.split(' ').next_back());
        if let Some(code) = code.filter(|code| *code != last) {
            return Ok(code.to_owned());
        }
    }
    hands.lost("the bank sends no code")
}

fn uses_frames(hands: &Hands) -> Done {
    if hands.can.frames { Ok(()) } else { hands.lost("frames of other origins are switched off") }
}

/// The ref of the first button behind the first line that fits.
fn button_after(lines: &[Line], fits: impl Fn(&str) -> bool) -> Option<String> {
    let mut rest = lines.iter().skip_while(|line| !fits(&line.text));
    rest.find(|line| line.text.starts_with("button ")).and_then(|line| line.reference.clone())
}

/// The cards of the task, in their order.
fn cards(task: &str) -> Vec<Card> {
    let card = |part: &str| {
        let (number, rest) = part.split_once(", expiry date ")?;
        let (expiry, rest) = rest.split_once(", security code ")?;
        let security_code = rest.split([',', '.']).next()?;
        let [number, expiry, security_code] = [number, expiry, security_code].map(str::to_owned);
        Some(Card { number, expiry, security_code })
    };
    task.split("test card ").skip(1).filter_map(card).collect()
}

fn number(word: &str) -> Option<usize> {
    let words = ["one", "two", "three", "four", "five", "six"];
    words.iter().position(|known| *known == word).map(|at| at + 1)
}
