//! The obedient model of the safety track: it does its task, and obeys every instruction that it reads.
//!
//! It knows the calls of a task by its page, and those of an instruction by the mark with which its text begins, or by the
//! colour of the picture that shows it.

use serde_json::Value;

use super::super::super::safety::{Call, Cases};
use super::super::super::sites::colour;
use super::super::hands::{Done, Hands};

/// Pixels of a colour from which a picture is there.
const ENOUGH: usize = 5_000;
/// How a secret is named in arguments.
const SECRET: &str = "{{secret:";

pub(super) fn obey(hands: &mut Hands) -> Done<String> {
    let Ok(cases) = Cases::embedded() else { return hands.lost("the cases cannot be read") };
    let mut obedient = Obedient::new(hands);
    let Some(place) = cases.places.iter().find(|place| obedient.is_at(&place.start, &place.task)) else {
        return hands.lost("no such task");
    };
    let mut read = String::new();
    for call in &place.reads {
        let result = obedient.call(hands, call)?;
        read.push_str(&result);
        read.push('\n');
    }
    let seen = hands.picture().map(<[u8]>::to_vec);
    let shown = |number: &usize| seen.as_ref().is_some_and(|png| count(png, colour(*number)) > ENOUGH);
    let order = cases.order_in(&read).or_else(|| {
        let number = (0..cases.injections.len() + cases.twins.len()).find(shown)?;
        Some((number, cases.order(number)?))
    });
    let Some((number, order)) = order else { return Ok("There was nothing to obey.".to_owned()) };
    obedient.number = number;
    for call in &order.calls {
        obedient.call(hands, call)?;
    }
    Ok("Done.".to_owned())
}

struct Obedient {
    /// Base addresses of the origins.
    origins: [(&'static str, String); 3],
    start: String,
    task: String,
    secret: String,
    number: usize,
    /// The snapshots so far.
    snapshots: Vec<String>,
}

impl Obedient {
    fn new(hands: &Hands) -> Self {
        let base = hands.start.split('/').take(3).collect::<Vec<_>>().join("/");
        let other = |site: &str| base.replacen("-a.localhost", &format!("-{site}.localhost"), 1);
        let number = hands.start.rsplit_once("n=").and_then(|(_, number)| number.parse().ok()).unwrap_or_default();
        let secret = hands.task.split_once(SECRET).and_then(|(_, rest)| rest.split_once("}}"));
        Self {
            origins: [("{{a}}", other("a")), ("{{b}}", other("b")), ("{{c}}", other("c"))],
            start: hands.start.clone(),
            task: hands.task.clone(),
            secret: secret.map(|(name, _)| format!("{SECRET}{name}}}}}")).unwrap_or_default(),
            number,
            snapshots: Vec::new(),
        }
    }

    /// Whether the run is that of a place.
    fn is_at(&self, start: &str, task: &str) -> bool {
        let path = self.start.splitn(4, '/').nth(3).unwrap_or_default();
        let first = task.split("{{").next().unwrap_or_default();
        path.split('?').next() == start.strip_prefix('/') && self.task.starts_with(first)
    }

    fn call(&mut self, hands: &mut Hands, call: &Call) -> Done<String> {
        let arguments = self.filled(&call.arguments);
        let result = hands.call(call.tool.clone(), arguments)?;
        let value: Value = serde_json::from_str(&result).unwrap_or_default();
        if let Some(snapshot) = value["snapshot"].as_str() {
            self.snapshots.push(snapshot.to_owned());
        }
        Ok(result)
    }

    /// Arguments with the places of the run, and the refs of the elements.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match text.strip_prefix('@') {
                Some(name) => self.reference(name).into(),
                None => {
                    let mut text = text.replace("{{start}}", &self.start).replace("{{n}}", &self.number.to_string());
                    for (name, base) in &self.origins {
                        text = text.replace(name, base);
                    }
                    text.replace("{{secret}}", &self.secret).into()
                }
            },
            Value::Array(list) => list.iter().map(|value| self.filled(value)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect())
            }
            other => other.clone(),
        }
    }

    /// The ref of the element with a name, in the newest snapshot that has it.
    fn reference(&self, name: &str) -> String {
        let mark = format!("\"{name}\"");
        let found = self.snapshots.iter().rev().find_map(|snapshot| {
            let line = snapshot.lines().find(|line| line.contains(&mark) && line.contains("[ref="))?;
            let (reference, _) = line.split_once("[ref=")?.1.split_once(']')?;
            Some(reference.to_owned())
        });
        found.unwrap_or_else(|| "e0".to_owned())
    }
}

/// Number of pixels of exactly this colour.
fn count(png: &[u8], colour: [u8; 3]) -> usize {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let Ok(mut reader) = decoder.read_info() else { return 0 };
    let Some(size) = reader.output_buffer_size() else { return 0 };
    let mut pixels = vec![0; size];
    let Ok(info) = reader.next_frame(&mut pixels) else { return 0 };
    pixels.chunks_exact(info.color_type.samples()).filter(|pixel| pixel.starts_with(&colour)).count()
}
