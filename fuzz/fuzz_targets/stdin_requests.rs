#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| cdpilot_fuzz::stdin_requests(data));
