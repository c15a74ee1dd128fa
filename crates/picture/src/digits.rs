//! The digits of labels, drawn by hand for this crate.

/// Columns and rows of a digit.
pub(crate) const WIDTH: i64 = 7;
pub(crate) const HEIGHT: i64 = 10;
/// Columns between two digits.
pub(crate) const GAP: i64 = 2;

/// Bold digits with strokes of two pixels. `#` is a set pixel.
const DIGITS: [[&str; 10]; 10] = [
    [" ##### ", "#######", "##   ##", "##   ##", "##   ##", "##   ##", "##   ##", "##   ##", "#######", " ##### "],
    ["   ##  ", "  ###  ", " ####  ", "   ##  ", "   ##  ", "   ##  ", "   ##  ", "   ##  ", " ######", " ######"],
    [" ##### ", "#######", "##   ##", "     ##", "    ###", "  ###  ", " ###   ", "###    ", "#######", "#######"],
    [" ##### ", "#######", "##   ##", "     ##", "  #### ", "  #### ", "     ##", "##   ##", "#######", " ##### "],
    ["    ## ", "   ### ", "  #### ", " ## ## ", "##  ## ", "##  ## ", "#######", "#######", "    ## ", "    ## "],
    ["#######", "#######", "##     ", "##     ", "###### ", "#######", "     ##", "##   ##", "#######", " ##### "],
    ["  #### ", " ##### ", "###    ", "##     ", "###### ", "#######", "##   ##", "##   ##", "#######", " ##### "],
    ["#######", "#######", "     ##", "    ## ", "    ## ", "   ##  ", "   ##  ", "  ##   ", "  ##   ", "  ##   "],
    [" ##### ", "#######", "##   ##", "##   ##", " ##### ", " ##### ", "##   ##", "##   ##", "#######", " ##### "],
    [" ##### ", "#######", "##   ##", "##   ##", "#######", " ######", "     ##", "    ###", " ##### ", " ####  "],
];

/// The width of a number, in columns.
pub(crate) fn width_of(number: u32) -> i64 {
    let digits = i64::from(number.checked_ilog10().unwrap_or(0)) + 1;
    digits * (WIDTH + GAP) - GAP
}

/// The set pixels of a number, as column and row.
pub(crate) fn ink(number: u32) -> Vec<(i64, i64)> {
    let mut inked = Vec::new();
    let mut left = 0;
    for digit in number.to_string().bytes() {
        let rows = DIGITS.get(usize::from(digit - b'0')).into_iter().flatten();
        for (y, row) in (0..).zip(rows) {
            inked.extend(
                (0..).zip(row.bytes()).filter(|(_, byte)| *byte == b'#').map(|(x, _): (i64, u8)| (left + x, y)),
            );
        }
        left += WIDTH + GAP;
    }
    inked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_fill_their_cells_and_differ() {
        for (digit, rows) in DIGITS.iter().enumerate() {
            assert!(rows.iter().all(|row| row.len() == 7), "{digit}");
            assert!(DIGITS.iter().enumerate().all(|(other, with)| other == digit || with != rows), "{digit}");
        }
        assert_eq!((width_of(0), width_of(7), width_of(10), width_of(105)), (7, 7, 16, 25));
        assert!(ink(105).iter().all(|(x, y)| (0..25).contains(x) && (0..HEIGHT).contains(y)));
    }
}
