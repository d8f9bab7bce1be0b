use super::read::read;
use crate::approx::*;
use crate::fuel::Fuel;
use std::time::Instant;
#[test]
fn timing() {
    let p = Point::none().with("x".into(), crate::tree::Rational::from_parts(5.into(), 7_u8.into()));
    for t in [
        "(+ 1 (sqrt 2))",
        "(* 2 (sin (/ pi 7)))",
        "(/ (+ 1 (sqrt 5)) 2)",
        "(+ (^ x 3) (* -3 x) 7)",
        "(exp (* i pi x))",
        "(ln (+ 1 (^ x 2)))",
        "(Gamma 1/3)",
        "(atan x)",
        "(^ 2 1/3)",
        "(cos x)",
    ] {
        let e = read(t);
        for bits in [53, 128, 256, 512] {
            let n = if bits == 53 { 20000 } else { 500 };
            let fuel = Fuel::new(u64::MAX / 2);
            let l = fuel.left();
            let s = Instant::now();
            for _ in 0..n {
                let _ = std::hint::black_box(evaluate(&e, &p, bits, &fuel));
            }
            let ns = s.elapsed().as_nanos() as f64 / n as f64;
            let u = (l - fuel.left()) as f64 / n as f64;
            eprint!("{t} {bits}: {ns:.0} ns, {u:.0} u, {:.1} ns/u | ", ns / u);
        }
        eprintln!();
    }
    for t in [
        "(sum k 1 20000 (sum j 1 20000 (sin (* j k))))",
        "(factorial (factorial (factorial 10)))",
        "(binomial (^ 10 30) (^ 10 29))",
        "(sum k 1 inf (sum j 1 inf (/ 1 (* j j k k))))",
        "(integral x 0 1 (integral y 0 1 (integral z 0 1 (sin (* x y z)))))",
        "(^ (/ 123456789 987654321) 100000)",
        "(product k 1 20000 (^ (+ k 1/3) 5))",
        "(sum k 1 19000 (/ 1 (factorial k)))",
        "(sum k 1 10000 (/ 1 k))",
        "(sum k 1 inf (/ 1 (^ k 2)))",
        "(sum k 1 1000000000 (/ 1 (^ k 2)))",
        "(integral x 0 1 (* (exp (- (^ x 2))) (sin (^ x 3))))",
        "(integral x 0 inf (exp (- (^ x 2))))",
        "(limit x 0 (/ (sin x) x))",
        "(integral x -1 1 (sqrt (- 1 (^ x 2))))",
        "(integral x 0 1 (/ 1 (sqrt (- 1 x))))",
        "(factorial 100000)",
        "(^ 3 60000)",
        "(sum k 1 20000 (factorial k))",
        "(sum k 1 20000 (^ 3 k))",
        "(binomial 20000 10000)",
        "(sum k 1 2000 (binomial 2000 k))",
        "(sqrt (+ (^ 3 40000) 1))",
        "(gcd (factorial 8000) (+ 1 (^ 3 50000)))",
        "(sum k 1 100 (gcd (factorial (+ 7000 k)) (+ k (^ 3 50000))))",
        "(sum k 1 100000 (mod (^ 3 k) 7))",
        "(sum k 1 10000 (mod (^ 3 (+ 30000 k)) (^ 7 10000)))",
        "(sum k 1 10000 (sin (^ 3 (+ 30000 k))))",
        "(sum k 1 10000 (^ (/ 5 7) k))",
        "(product k 1 9000 (/ (+ k 1/3) (+ k 1/7)))",
        "(sum k 1 1000 (^ (^ 3 (* 2 (+ 6000 k))) 1/2))",
        "(sum k 1 1000 (^ (^ 3 (* 31 (+ 300 k))) 1/31))",
    ] {
        let e = read(t);
        let one = read("1");
        let fuel = Fuel::new(5_000_000);
        let s = Instant::now();
        let r = nearness(&e, &one, &p, 512, &fuel);
        let us = s.elapsed().as_micros();
        let used = 5_000_000 - fuel.left();
        eprintln!("{t}: {r:?} {us} us, {used} u, {:.1} ns/u", us as f64 * 1000.0 / used as f64);
    }
}
