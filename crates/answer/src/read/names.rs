//! LaTeX commands and plain words by their meaning.

/// What a command of LaTeX is to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It stands for this operator character.
    Op(char),
    /// It stands for this letter.
    Letter(char),
    /// It is known by this name.
    Name(&'static str),
    /// It only spaces or sizes.
    Space,
    /// It only sizes, and takes no space (`\left`).
    Nothing,
    /// Its argument is set as text.
    Text,
    /// Its argument is set in another style, and may be a name.
    Style,
    /// Its argument is shown as it is.
    Show,
    /// It and its argument are not shown.
    Hide,
    /// Not known.
    Other,
}

/// The meaning of `\name`.
pub(crate) fn command(name: &str) -> Meaning {
    use Meaning::{Hide, Letter, Name, Nothing, Op, Show, Space, Style, Text};
    match name {
        "cdot" | "ast" | "cdotp" | "bullet" => Op('*'),
        "times" => Name("times"),
        "div" => Op('/'),
        "colon" => Op(':'),
        "mid" => Name("mid"),
        "lvert" | "rvert" | "vert" | "lVert" | "rVert" | "Vert" => Op('|'),
        "lbrack" => Op('['),
        "rbrack" => Op(']'),
        "lparen" | "lgroup" => Op('('),
        "rparen" | "rgroup" => Op(')'),
        "lt" => Op('<'),
        "gt" => Op('>'),
        "dfrac" | "tfrac" | "cfrac" | "frac" | "nicefrac" | "sfrac" => Name("frac"),
        "dbinom" | "tbinom" | "binom" => Name("binom"),
        "le" | "leq" | "leqslant" | "leqq" => Name("le"),
        "ge" | "geq" | "geqslant" | "geqq" => Name("ge"),
        "ne" | "neq" => Name("ne"),
        "approx" | "simeq" | "thickapprox" | "approxeq" => Name("approx"),
        "to" | "rightarrow" | "longrightarrow" => Name("to"),
        "mapsto" | "longmapsto" => Name("mapsto"),
        "implies" | "Rightarrow" | "Longrightarrow" | "therefore" => Name("implies"),
        "iff" | "Leftrightarrow" | "Longleftrightarrow" => Name("iff"),
        "cup" | "bigcup" | "union" => Name("cup"),
        "cap" | "bigcap" => Name("cap"),
        "setminus" | "backslash" | "smallsetminus" => Name("setminus"),
        "in" | "isin" => Name("in"),
        "emptyset" | "varnothing" | "O" => Name("emptyset"),
        "lnot" => Name("neg"),
        "land" | "wedge" => Name("land"),
        "lor" | "vee" => Name("lor"),
        "langle" | "lang" => Name("langle"),
        "rangle" | "rang" => Name("rangle"),
        "ldots" | "dots" | "cdots" | "dotsc" | "dotsb" | "vdots" => Name("dots"),
        "circ" | "degree" | "textdegree" => Name("circ"),
        "overline" | "bar" | "dot" => Name("overline"),
        "top" | "intercal" => Letter('T'),
        "complement" => Letter('c'),
        "Pr" => Letter('P'),
        "prime" => Op('\''),
        "R" | "Reals" | "reals" => Name("reals"),
        "N" => Name("naturals"),
        "Z" => Name("integers"),
        "Q" => Name("rationals"),
        "C" | "Complex" => Name("complexes"),
        "arcsin" | "asin" => Name("arcsin"),
        "arccos" | "acos" => Name("arccos"),
        "arctan" | "atan" | "arctg" => Name("arctan"),
        "arccot" | "acot" => Name("arccot"),
        "arcsec" | "asec" => Name("arcsec"),
        "arccsc" | "acsc" => Name("arccsc"),
        "tan" | "tg" => Name("tan"),
        "cot" | "ctg" | "cotg" => Name("cot"),
        "csc" | "cosec" => Name("csc"),
        "sinh" | "sh" => Name("sinh"),
        "cosh" | "ch" => Name("cosh"),
        "tanh" | "th" => Name("tanh"),
        "arsinh" | "arcsinh" | "asinh" => Name("arsinh"),
        "arcosh" | "arccosh" | "acosh" => Name("arcosh"),
        "artanh" | "arctanh" | "atanh" => Name("artanh"),
        "bmod" | "mod" => Name("mod"),
        "varphi" => Name("phi"),
        "varepsilon" => Name("epsilon"),
        "vartheta" => Name("theta"),
        "imath" => Name("imath"),
        "jmath" => Name("jmath"),
        "euro" | "texteuro" => Name("euro"),
        "pounds" | "textsterling" => Name("pound"),
        "quad" | "qquad" | "enspace" | "thinspace" | "space" | "enskip" | "medspace" | "thickspace"
        | "hfill" => Space,
        "left" | "right" | "mleft" | "mright" | "big" | "Big" | "bigg" | "Bigg" | "bigl" | "bigr"
        | "Bigl" | "Bigr" | "biggl" | "biggr" | "Biggl" | "Biggr" | "middle" | "displaystyle"
        | "textstyle" | "scriptstyle" | "limits" | "nolimits" | "rm" | "bf" | "it" | "mathstrut"
        | "strut" | "nonumber" | "notag" | "negthinspace" | "null" | "ensuremath" | "centering" | "tiny"
        | "small" | "normalsize" | "large" | "Large" | "LARGE" | "huge" | "Huge" => Nothing,
        "text" | "textbf" | "textit" | "textrm" | "textnormal" | "textsf" | "texttt" | "textsc" | "mbox"
        | "hbox" | "emph" | "textup" => Text,
        "mathrm" | "mathbf" | "mathit" | "mathsf" | "mathtt" | "boldsymbol" | "bm" | "operatorname"
        | "mathbb" | "mathcal" | "mathfrak" | "mathscr" | "hat" | "vec" | "widehat" | "overrightarrow"
        | "bold" => Style,
        "boxed" | "set" | "fbox" | "framebox" | "underline" | "mathop" | "mathord" | "mathbin"
        | "mathrel" | "textcolor" | "colorbox" | "smash" => Show,
        "phantom" | "hphantom" | "vphantom" | "hspace" | "vspace" | "color" | "label" | "tag" | "mspace"
        | "kern" => Hide,
        _ => Meaning::Other,
    }
}

/// The Greek letters that are variables.
pub(crate) const GREEK: &[&str] = &[
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu",
    "nu", "xi", "omicron", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta",
    "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega", "ell", "hbar", "varrho",
    "varsigma", "varpi",
];

/// A plain word that is a function, a constant or a connective, by its name here.
pub(crate) fn plain_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "sin" | "Sin" => "sin",
        "cos" | "Cos" => "cos",
        "tan" | "Tan" => "tan",
        "cot" => "cot",
        "sec" => "sec",
        "csc" => "csc",
        "arcsin" | "asin" => "arcsin",
        "arccos" | "acos" => "arccos",
        "arctan" | "atan" => "arctan",
        "sinh" => "sinh",
        "cosh" => "cosh",
        "tanh" => "tanh",
        "ln" => "ln",
        "log" => "log",
        "lg" => "lg",
        "exp" => "exp",
        "sqrt" => "sqrt",
        "cbrt" => "cbrt",
        "pi" | "Pi" => "pi",
        "infinity" | "Infinity" | "inf" | "oo" => "infty",
        "gcd" | "GCD" => "gcd",
        "lcm" | "LCM" => "lcm",
        "max" => "max",
        "min" => "min",
        "abs" => "abs",
        "floor" => "floor",
        "ceil" => "ceil",
        "mod" => "mod",
        "and" | "AND" => "and",
        "or" | "OR" => "or",
        "union" => "cup",
        "alpha" => "alpha",
        "beta" => "beta",
        "theta" => "theta",
        "lambda" => "lambda",
        "Re" => "Re",
        "Im" => "Im",
        "arg" => "arg",
        "det" => "det",
        "cis" => "cis",
        "choose" => "choose",
        _ => return None,
    })
}
