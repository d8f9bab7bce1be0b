//! Generates answers from bytes, most of them well-formed, so that fuzzing reaches more than the reader.
//!
//! Each byte selects a template, whose holes (`#`) the following bytes fill; a tree in prefix order. Where the
//! bytes end, holes are filled with `1`.

use std::fmt::Write as _;

/// Leaves first, then what has holes.
const TEMPLATES: &[&str] = &[
    // Numbers.
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "10",
    "12",
    "60",
    "100",
    "-1",
    "-2",
    "0.5",
    "1.50",
    ".25",
    "0.333333",
    "3.14159",
    "0.\\overline{3}",
    "1,000",
    "1\\,000",
    "123456789",
    "1e-7",
    "3 \\times 10^8",
    "101_2",
    "1A_{16}",
    "3\\frac12",
    "½",
    "5!",
    "99999999999999999999",
    // Names.
    "x",
    "y",
    "n",
    "k",
    "a",
    "i",
    "e",
    "\\pi",
    "π",
    "\\theta",
    "\\infty",
    "-\\infty",
    "x_1",
    "AB",
    // Other kinds.
    "\\emptyset",
    "\\mathbb{R}",
    "\\text{no solution}",
    "\\text{(B)}",
    "\\ldots",
    "12:30 \\text{ pm}",
    "yes",
    "",
    // Sums, products, powers.
    "#+#",
    "#-#",
    "-#",
    "# \\cdot #",
    "#\\times#",
    "##",
    "# #",
    "#/#",
    "#*#",
    "\\frac{#}{#}",
    "\\frac##",
    "\\dfrac{#}{#}",
    "{#\\over#}",
    "# \\div #",
    "#^{#}",
    "#^#",
    "#²",
    "#^{-1}",
    "(#)^{#}",
    "#^{1/2}",
    "\\sqrt{#}",
    "\\sqrt[3]{#}",
    "\\sqrt[#]{#}",
    "\\sqrt#",
    "√#",
    "#!",
    "\\binom{#}{#}",
    "\\pm #",
    "# \\pm #",
    "# \\bmod #",
    "#_{#}",
    // Functions.
    "\\sin #",
    "\\cos(#)",
    "\\tan{#}",
    "\\sin^2 #",
    "\\arctan(#)",
    "\\arcsin #",
    "\\sinh(#)",
    "\\tanh #",
    "\\ln #",
    "\\log_{#} #",
    "\\log(#)",
    "e^{#}",
    "\\exp(#)",
    "|#|",
    "\\lfloor # \\rfloor",
    "\\lceil # \\rceil",
    "\\gcd(#,#)",
    "\\max(#,#)",
    "\\operatorname{lcm}(#,#)",
    "f(#)",
    "\\overline{#}",
    "\\Re(#)",
    "\\arg #",
    // Bound variables.
    "\\sum_{k=#}^{#} #",
    "\\prod_{k=#}^{#} #",
    "\\int_{#}^{#} # \\, dx",
    "\\int # \\, dx",
    "\\lim_{x \\to #} #",
    "\\frac{d}{dx} #",
    // Brackets and collections.
    "(#)",
    "\\left(#\\right)",
    "{#}",
    "[#]",
    "\\{#\\}",
    "(#,#)",
    "(#, #, #)",
    "[#,#]",
    "(#,#]",
    "[#,#)",
    "]#,#[",
    "\\{#, #\\}",
    "\\{#, #, #\\}",
    "#, #",
    "#; #",
    "\\langle #, # \\rangle",
    "\\begin{pmatrix} # \\\\ # \\end{pmatrix}",
    "\\begin{bmatrix} # & # \\\\ # & # \\end{bmatrix}",
    "\\begin{cases} # \\\\ # \\end{cases}",
    "# \\cup #",
    "# \\cap #",
    "# \\setminus #",
    "\\{x \\mid #\\}",
    "\\{x \\in # : #\\}",
    "#:#",
    // Relations.
    "# = #",
    "#=#=#",
    "# < #",
    "# \\le #",
    "# ≥ #",
    "# < # \\leq #",
    "# \\ne #",
    "# \\approx #",
    "x = #",
    "x \\in #",
    "# \\text{ or } #",
    "# \\text{ and } #",
    // Delimiters, units, options.
    "$#$",
    "\\boxed{#}",
    "\\text{#}",
    "\\mathbf{#}",
    "# .",
    "#\\%",
    "#^\\circ",
    "#^{\\circ}",
    "# \\text{ cm}",
    "# m/s",
    "\\$#",
    "\\text{(A) } #",
    "# \\mathbf{i} + # \\mathbf{j}",
];

const MAX_DEPTH: usize = 60;
const MAX_LENGTH: usize = 4 << 10;

/// A cursor over bytes.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }
}

/// The template a byte selects; `1` at the end of the bytes.
fn template(byte: Option<u8>) -> &'static str {
    byte.map_or("1", |byte| TEMPLATES[usize::from(byte) % TEMPLATES.len()])
}

fn generate(bytes: &mut Bytes<'_>, depth: usize, out: &mut String) {
    let chosen = if depth > MAX_DEPTH || out.len() > MAX_LENGTH { "1" } else { template(bytes.next()) };
    let mut parts = chosen.split('#');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        generate(bytes, depth + 1, out);
        out.push_str(part);
    }
}

fn generated(data: &[u8]) -> String {
    let mut out = String::new();
    generate(&mut Bytes(data), 0, &mut out);
    out
}

/// Two answers. An even first byte: one after the other. An odd one: the second is the first with one
/// template exchanged, which is nearly always comparable.
pub fn pair(data: &[u8]) -> Option<(String, String)> {
    let (&mode, rest) = data.split_first()?;
    if mode % 2 == 0 {
        let mut bytes = Bytes(rest);
        let (mut a, mut b) = (String::new(), String::new());
        generate(&mut bytes, 0, &mut a);
        generate(&mut bytes, 0, &mut b);
        return Some((a, b));
    }
    let (&[at, new], tree) = rest.split_first_chunk::<2>()?;
    let mut changed = tree.to_vec();
    let index = usize::from(at) % changed.len().max(1);
    *changed.get_mut(index)? = new;
    Some((generated(tree), generated(&changed)))
}

/// A long answer: one piece nested in itself, or repeated, up to 64 KB; and something to compare it with.
pub fn hostile(data: &[u8]) -> Option<(String, String)> {
    const FULL: usize = 63 << 10;
    const BETWEEN: &[&str] =
        &["", "+", "-", ",", " ", "\\cdot ", "/", "^", "=", "<", "\\cup ", "\\\\", "&", "!"];
    let (&[mode, outer, high, low], rest) = data.split_first_chunk::<4>()?;
    let count = usize::from(u16::from_be_bytes([high, low]));
    let mut bytes = Bytes(rest);
    let mut piece = String::new();
    generate(&mut bytes, 0, &mut piece);
    let mut text = String::new();
    if mode % 2 == 0 {
        let mut parts = template(Some(outer)).split('#');
        let before = parts.next()?;
        let after = parts.collect::<Vec<_>>().join("2");
        let times = count.min(FULL / (before.len() + after.len()).max(1));
        let _ = write!(text, "{}{piece}{}", before.repeat(times), after.repeat(times));
    } else {
        let between = BETWEEN[usize::from(outer) % BETWEEN.len()];
        // Pieces that differ, if there is a place for a number.
        let times = count.min(FULL / (piece.len() + between.len() + 5));
        for index in 0..times {
            let _ = match mode / 2 % 3 {
                0 => write!(text, "{piece}{between}"),
                1 => write!(text, "{piece}{index}{between}"),
                _ => write!(text, "{index}{piece}{between}"),
            };
        }
        text.push_str(&piece);
    }
    let other = match mode / 6 % 4 {
        0 => format!("{text}+1"),
        1 => text.replacen('1', "2", 1),
        2 => text.chars().map(|c| if c == 'x' { 'y' } else { c }).collect(),
        _ => generated(rest),
    };
    Some((text, other))
}
