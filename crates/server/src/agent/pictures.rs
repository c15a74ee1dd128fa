//! Which images a model still gets. They are dropped in blocks, so that the beginning of requests stays equal in between.

use super::Error;
use super::messages::{DROPPED, Entry, Kind};
use super::turn::{Draft, Turn};
use crate::store::KEPT_IMAGES;

impl Turn<'_> {
    /// Drops the oldest half of the images once there are twice as many as `agent.image_window`.
    pub(super) fn drop_old_pictures(&mut self) -> Result<(), Error> {
        let window = u64::from(self.inner.control.config().agent.image_window).clamp(1, KEPT_IMAGES / 2);
        let window = usize::try_from(window).unwrap_or(1);
        let old = dropped(&self.entries, window);
        if old.is_empty() {
            return Ok(());
        }
        let mut draft = Draft::default();
        for at in old {
            let Some(entry) = self.entries.get_mut(at) else { continue };
            *entry = Entry::user(Kind::Notice, DROPPED);
            let body = entry.body();
            draft.change(|batch| batch.replace_message(at as u64 + 1, body));
        }
        self.commit(draft).map(drop)
    }
}

/// The places of the messages whose images are dropped: the oldest ones, until at most `window` images are left.
fn dropped(entries: &[Entry], window: usize) -> Vec<usize> {
    let mut left: usize = entries.iter().map(Entry::pictures).sum();
    if left < 2 * window {
        return Vec::new();
    }
    let with_pictures = entries.iter().enumerate().filter(|(_, entry)| entry.pictures() > 0);
    let mut picture_indexes: Vec<(usize, usize)> = with_pictures.map(|(at, entry)| (at, entry.pictures())).collect();
    picture_indexes.pop(); // the newest ones always stay
    let old = picture_indexes.into_iter().map_while(|(at, count)| {
        let is_old = left > window;
        left -= count;
        is_old.then_some(at)
    });
    old.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_half_goes_at_once() {
        let entries = |counts: &[usize]| -> Vec<Entry> {
            let entry = |count: &usize| {
                let mut entry = Entry::user(Kind::Pictures, "Picture.");
                for _ in 0..*count {
                    entry.message = entry.message.with_image("image/png", vec![1]);
                }
                entry
            };
            counts.iter().map(entry).collect()
        };
        for (counts, expected) in [
            (&[1, 1, 1, 1, 1][..], vec![]),
            (&[1, 1, 0, 1, 1, 1, 1], vec![0, 1, 3]),
            (&[2, 2, 2], vec![0, 1]),
            (&[6], vec![]),
            (&[1, 8], vec![0]),
            (&[], vec![]),
        ] {
            assert_eq!(dropped(&entries(counts), 3), expected, "{counts:?}");
        }
    }
}
