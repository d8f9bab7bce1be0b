//! Questions and replies of a realistic length, and some that attack whoever shows them.

use fastrand::Rng;
use std::fmt::Write;

/// How many hostile texts there are.
pub(crate) const HOSTILE: usize = 8;

/// A text that must be shown as text.
pub(crate) fn hostile(number: usize) -> String {
    match number % HOSTILE {
        0 => "<script>alert(1)</script><script>window.__pwned = 1</script>".to_owned(),
        1 => "<img src=x onerror=alert(1)><svg onload=window.__pwned=1>".to_owned(),
        2 => "[x](javascript:alert(1)) <a href=\"javascript:alert(1)\">y</a>".to_owned(),
        3 => "A".repeat(1 << 20),
        4 => "answer \u{202e}gnirts desrever\u{202c} \u{2066}isolated\u{2069} \u{200f}end".to_owned(),
        5 => (1_u8..32).map(char::from).chain("\u{7f}\u{85}\u{2028}\u{feff}end".chars()).collect(),
        6 => "$\\href{javascript:alert(1)}{x}$ </math><script>alert(1)</script> $$\\frac{".to_owned(),
        _ => "__proto__\"';--></style></title><iframe srcdoc=\"<script>alert(1)</script>\">".to_owned(),
    }
}

/// A question in LaTeX with its answer, about as long as real ones.
pub(crate) fn question(rng: &mut Rng) -> (String, String) {
    let (task, answer) = task(rng);
    let first = rng.u8(0..4);
    let settings = [first, (first + 1) % 4].map(|kind| setting(rng, kind));
    (format!("{} {} {task}", settings[0], settings[1]), answer)
}

fn setting(rng: &mut Rng, kind: u8) -> String {
    let (n, m) = (rng.u32(3..30), rng.u32(3..30));
    match kind {
        0 => format!(
            "A workshop keeps a ledger with ${n}$ columns and ${m}$ rows. Every entry $a_{{i,j}}$ with $1 \\le i \\le {m}$ \
             and $1 \\le j \\le {n}$ is a positive integer, and no two neighbouring entries share a prime factor. The \
             clerk wants to check one of the computations below before the ledger is closed for the year, and \
             records every intermediate value with full precision, so that nothing is rounded on the way."
        ),
        1 => format!(
            "Consider the sequence defined by $u_0 = {n}$ and $u_{{k+1}} = u_k + \\frac{{{m}}}{{k+1}}$ for all $k \\ge 0$. \
             It is not needed for the first part of the problem, but a careful reader may use it to verify the \
             result. Work throughout over the real numbers, and state which of the given facts you have used."
        ),
        2 => format!(
            "Two friends play a game on a board of ${n} \\times {m}$ unit squares. They agree that whoever first \
             solves the following problem, with a complete argument and not only a numerical guess, moves first. \
             You may assume that $\\gcd({n}, {m})$ is known to both of them and that neither has a calculator."
        ),
        _ => format!(
            "In what follows, let $\\mathbb{{N}} = \\{{1, 2, 3, \\dots\\}}$ and write $\\lfloor x \\rfloor$ for the greatest \
             integer not exceeding $x$. All quantities are exact; in particular $\\sqrt{{{n}}}$ and \
             $\\log_{{{m}}} 7$ are not to be replaced by decimals at any step of the argument."
        ),
    }
}

fn task(rng: &mut Rng) -> (String, String) {
    let (a, b, c) = (rng.i64(2..40), rng.i64(2..30), rng.i64(3..60));
    match rng.u8(0..6) {
        0 => (
            format!(
                "Let $f(x) = x^2 - {}x + {}$. Determine the sum of the squares of its roots, counted with \
                 multiplicity, and justify that both are real.",
                a + b,
                a * b
            ),
            format!("{}", a * a + b * b),
        ),
        1 => (
            format!(
                "Evaluate the sum $$\\sum_{{k=1}}^{{{c}}} \\left( {a}k + {b} \\right)$$ and give the result as a \
                 single integer."
            ),
            format!("{}", a * c * (c + 1) / 2 + b * c),
        ),
        2 => (
            format!(
                "A tank is filled by two pipes. The first alone takes ${a}$ hours, the second alone ${}$ hours. \
                 How many hours do both take together? Answer as a reduced fraction $\\frac{{p}}{{q}}$.",
                a + b
            ),
            reduced(a * (a + b), 2 * a + b),
        ),
        3 => (
            format!(
                "Compute the definite integral $\\displaystyle \\int_0^{{{a}}} \\left(3x^2 + {}x\\right) \\, dx$.",
                2 * b
            ),
            format!("{}", a * a * a + b * a * a),
        ),
        4 => (
            format!(
                "How many positive integers $n \\le {}$ are divisible by ${a}$ but leave remainder $0$ modulo no \
                 prime other than the primes dividing ${a}$, if repeated factors of $2$ are ignored? Suppose further \
                 that exactly ${b}$ of the candidates are removed; what is $\\lfloor {c}^2 / {b} \\rfloor$?",
                a * 100
            ),
            format!("{}", c * c / b),
        ),
        _ => (
            format!(
                "Find the determinant of $$M = \\begin{{pmatrix}} {a} & {b} & 0 \\\\ 0 & {c} & {a} \\\\ {b} & 0 & {c} \
                 \\end{{pmatrix}}.$$"
            ),
            format!("{}", a * c * c + b * a * b),
        ),
    }
}

fn reduced(p: i64, q: i64) -> String {
    let (mut a, mut b) = (p, q);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    if q == a { format!("{}", p / a) } else { format!("\\frac{{{}}}{{{}}}", p / a, q / a) }
}

/// A wrong answer that looks like a right one.
pub(crate) fn wrong(rng: &mut Rng, answer: &str) -> String {
    match answer.parse::<i64>() {
        Ok(value) => format!("{}", value + rng.i64(1..20) * if rng.bool() { 1 } else { -1 }),
        Err(_) => format!("\\frac{{{}}}{{{}}}", rng.i32(1..99), rng.i32(100..200)),
    }
}

/// A solver's reply.
pub(crate) fn reply(rng: &mut Rng, question: &str, answer: Option<&str>) -> String {
    let mut text = format!("We are asked: {question}\n\nFirst, write the quantities down and simplify.\n\n");
    for step in 1..=rng.u32(3..9) {
        let (a, b) = (rng.u32(2..90), rng.u32(2..90));
        let _ = write!(
            text,
            "**Step {step}.** Using $x_{{{step}}} = {a} \\cdot {b}$ we obtain $$x_{{{step}}} = {},$$ so the partial \
             result is consistent with what was given.\n\n",
            a * b
        );
    }
    match answer {
        Some(answer) => text + &format!("Therefore the answer is $\\boxed{{{answer}}}$."),
        None => text + "Therefore, continuing in the same way, the next term would be",
    }
}

/// An asker's private text before its question.
pub(crate) fn asked(question: &str, answer: &str, turn: usize) -> String {
    format!(
        "#Reasoning#\nAfter {turn} turns Model 1 seems quick with algebra and weak with counting; Model 2 the other \
         way round. A question between both is needed.\n#Draft#\n{question} Worked: \\boxed{{{answer}}}\n\
         #Question#\n{question}"
    )
}
