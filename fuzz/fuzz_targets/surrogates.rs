#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| cdpilot_fuzz::surrogates(data));
