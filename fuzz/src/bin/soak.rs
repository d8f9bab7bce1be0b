//! Many random answers without a fuzzer's bookkeeping: `soak EXECUTIONS [SEED]`.
//!
//! Grows pairs from random bytes as the target `tokens` does and asserts the same, at the speed of the engine.

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let executions = arguments.next().unwrap_or(1_000_000);
    let mut state = arguments.next().unwrap_or(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut compared = 0_u64;
    let mut data = Vec::new();
    for execution in 0..executions {
        data.clear();
        // xorshift64*
        let mut next = || {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            state.wrapping_mul(0x2545_f491_4f6c_dd1d)
        };
        let length = 2 + next() % 10;
        for _ in 0..length {
            data.extend_from_slice(&next().to_le_bytes()[..1]);
        }
        if let Some((a, b)) = aske_fuzz::pair(&data) {
            aske_fuzz::check_pair(&a, &b);
            compared += 1;
        }
        if execution % 1_000_000 == 999_999 {
            eprintln!("{} executions, {compared} pairs", execution + 1);
        }
    }
    println!("{executions} executions, {compared} pairs compared by both rules: nothing found");
}
