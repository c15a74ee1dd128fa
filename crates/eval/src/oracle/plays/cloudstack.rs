//! Plays on the site of the cloud provider: its assistant, and the wizard that creates an instance.

use super::super::hands::{Done, Hands, Want};
use super::super::screen::{Line, groups};
use super::Known;

pub(super) const PLAYS: &[Known] = &[
    ("send it a greeting", greeting),
    ("Have a conversation of three messages", conversation),
    ("Create one ECS instance in this console", create_instance),
];

/// Most pages of the list of types.
const MOST_PAGES: usize = 5;

fn greeting(hands: &mut Hands) -> Done {
    let quoted = hands.quoted();
    let Some(words) = quoted.first() else { return hands.lost("the task quotes no greeting") };
    open_chat(hands)?;
    say(hands, words)
}

fn conversation(hands: &mut Hands) -> Done {
    let (second, third) = (hands.told("The second asks for ", ".")?, hands.told("The third asks ", ".")?);
    open_chat(hands)?;
    say(hands, "Hello")?;
    say(hands, &format!("Please tell me {second}."))?;
    say(hands, &format!("Please tell me {third}."))
}

fn open_chat(hands: &mut Hands) -> Done {
    let (product, agent) = (hands.told("Find the console of the ", " (")?, hands.told("assistant, the ", ".")?);
    hands.click(&Want::text("Maybe later"))?;
    hands.click(&Want::id("console-link"))?;
    hands.click(&Want::html(&format!("{product}</a>")))?;
    hands.click(&Want::text(&agent))?;
    hands.click(&Want::text(&format!("Open {agent}")))
}

/// Sends a message and waits for the answer.
fn say(hands: &mut Hands, words: &str) -> Done {
    hands.write(&Want::id("chat-input"), words, false)?;
    hands.click(&Want::text("Send"))?;
    if hands.wait_gone("Thinking…")? { Ok(()) } else { hands.lost("the agent does not answer") }
}

fn create_instance(hands: &mut Hands) -> Done {
    let region = hands.told("Region: ", ",")?;
    let closed = zones_in_maintenance(hands, &region)?;
    hands.click(&Want::text("Create instance"))?;
    basics(hands, &region, &closed)?;
    instance_type(hands)?;
    image_and_disk(hands)?;
    network_and_billing(hands)?;
    set(hands, "checkbox", "I have checked", true)?;
    hands.click(&button("Create instance"))?;
    if hands.wait_for("is being created")? { Ok(()) } else { hands.lost("the instance was not created") }
}

/// The zones of a region that a notification names, as in `Zone A of Midland is serviced from …`.
fn zones_in_maintenance(hands: &mut Hands, region: &str) -> Done<Vec<String>> {
    hands.click(&Want::id("notification-toggle"))?;
    let lines = hands.read()?;
    let is_note = |line: &&Line| line.name().contains("maintenance") && line.name().contains(region);
    press(hands, lines.iter().find(is_note))?;
    let text = hands.page_text()?;
    let end = format!(" of {region} is serviced");
    let zones = text.split("Zone ").filter_map(|part| part.split_once(&end));
    let zones: Vec<String> = zones.map(|(zone, _)| zone.to_owned()).collect();
    hands.click(&Want::id("notification-close"))?;
    if zones.is_empty() { hands.lost("the notification names no zone") } else { Ok(zones) }
}

fn basics(hands: &mut Hands, region: &str, closed: &[String]) -> Done {
    let (name, centre) = (hands.told("Name: ", ".")?, hands.told("Cost centre: ", ".")?);
    hands.write(&field("name"), &name, false)?;
    hands.choose(&list("costCenter"), &centre)?;
    hands.choose(&list("region"), region)?;
    let lines = hands.read()?;
    let is_open = |line: &Line| is_free(line) && closed.iter().all(|zone| line.name() != format!("Zone {zone}"));
    press(hands, lines.iter().find(|line| line.text.starts_with("radio \"Zone ") && is_open(line)))?;
    hands.click(&button("Next"))
}

/// Chooses the cheapest type with enough processors and memory.
fn instance_type(hands: &mut Hands) -> Done {
    let (cpu, memory) = (hands.told("at least ", " vCPU")?, hands.told("vCPU and at least ", " GiB")?);
    hands.choose(&list("cpu"), &cpu)?;
    hands.choose(&list("memory"), &memory)?;
    hands.click(&Want::text("Per month").lacks("<form"))?;
    // Sorted by price: when all types of a page are sold out, the cheapest one is on a later page.
    for _ in 0..MOST_PAGES {
        let lines = hands.read()?;
        let offers = groups(&lines, "row").filter_map(|row| Some((free_radio(row)?, price(row)?)));
        if let Some((radio, _)) = offers.min_by(|one, other| one.1.total_cmp(&other.1)) {
            press(hands, Some(radio))?;
            return hands.click(&button("Next"));
        }
        hands.click(&Want::text("Next page").lacks("<form"))?;
    }
    hands.lost("all types are sold out")
}

fn free_radio(row: &[Line]) -> Option<&Line> {
    row.iter().find(|line| line.text.starts_with("radio") && is_free(line))
}

/// The price per month, in the last cell.
fn price(row: &[Line]) -> Option<f64> {
    row.iter().rfind(|line| line.text.starts_with("cell"))?.name().parse().ok()
}

fn image_and_disk(hands: &mut Hands) -> Done {
    let (image, disk) = (hands.told("Image: ", ",")?, hands.told("System disk: ", " with ")?);
    let size = hands.told(&format!("{disk} with "), " GiB")?;
    // An image has the name of its system and a version.
    let system = image.rsplit_once(' ').map_or(image.as_str(), |(system, _)| system);
    hands.choose(&list("family"), system)?;
    hands.choose(&list("image"), &image)?;
    set(hands, "radio", &disk, true)?;
    hands.write(&field("diskSize"), &size, false)?;
    hands.click(&button("Next"))
}

fn network_and_billing(hands: &mut Hands) -> Done {
    let (network, billing) = (hands.told("Network: ", ",")?, hands.told("Billing: ", ",")?);
    hands.choose(&list("network"), &network)?;
    let lines = hands.read()?;
    let options = lines.iter().filter(|line| line.text.starts_with("option") && is_free(line)).map(Line::name);
    let mut subnets = options.filter_map(|name| Some((name, addresses(name)?)));
    let Some((subnet, _)) = subnets.find(|(_, free)| *free > 0) else {
        return hands.lost("no subnet has free addresses");
    };
    hands.choose(&list("subnet"), subnet)?;
    set(hands, "checkbox", "public address", false)?;
    set(hands, "radio", &billing, true)?;
    set(hands, "checkbox", "renew automatically", false)?;
    hands.click(&button("Next"))
}

/// The number in the name of a subnet: `reporting-b2, zone B, 117 addresses free`.
fn addresses(subnet: &str) -> Option<u32> {
    subnet.strip_suffix(" addresses free")?.rsplit_once(' ')?.1.parse().ok()
}

// The form of the wizard is an element as well, and its HTML contains what is in it.

fn field(id: &str) -> Want {
    Want::id(id).of("inputable")
}

fn list(id: &str) -> Want {
    Want::id(id).of("selectable")
}

fn button(text: &str) -> Want {
    Want::text(text).has("<button").lacks("<form")
}

fn is_free(line: &Line) -> bool {
    !line.text.contains("[disabled]")
}

/// Sets a box or a radio button whose name contains this, in any case of letters.
fn set(hands: &mut Hands, role: &str, name: &str, on: bool) -> Done {
    let (lines, name) = (hands.read()?, name.to_lowercase());
    let is_meant = |line: &&Line| line.text.starts_with(role) && line.name().to_lowercase().contains(&name);
    let found = lines.iter().find(is_meant);
    if found.is_some_and(|line| line.text.contains("[checked]") == on) { Ok(()) } else { press(hands, found) }
}

fn press(hands: &mut Hands, line: Option<&Line>) -> Done {
    match line.and_then(|line| line.reference.as_deref()) {
        Some(reference) => hands.press(reference)?,
        None => return hands.lost("what is to be pressed is not there"),
    }
    if hands.ok() { Ok(()) } else { hands.lost(format!("cannot press: {}", hands.last)) }
}
