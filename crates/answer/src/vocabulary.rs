//! English words that have a role in an answer, in one place. Used by the reader, by units and by text comparison.
//!
//! All words are in lower case; folded phrases are without spaces.

use std::collections::HashSet;
use std::sync::LazyLock;

/// A set of words, written as one text.
macro_rules! word_set {
    ($(#[$doc:meta])* $name:ident = $text:literal) => {
        $(#[$doc])*
        static $name: LazyLock<HashSet<&'static str>> = LazyLock::new(|| $text.split_whitespace().collect());
    };
}

word_set! {
    /// Short words that are not products of variables.
    SHORT =
    "no yes on off odd even is it if the of to at by all any not one two six ten red blue day am pm dne sum set bob ann \
     tom joe amy sam max mon tue wed thu fri sat sun man men for are was as in an so we he up us true none nil zero four \
     five nine half or and out vs mpg gpm"
}

word_set! {
    /// Nouns that name a quantity, with the words between them.
    QUANTITIES =
    "the a an of its answer final area volume perimeter length width height depth radius diameter circumference \
     distance speed velocity acceleration time cost price profit total sum product value probability number ways ratio \
     slope mean median mode average variance maximum minimum max min remainder quotient age mass weight surface angle \
     triangle circle rectangle side base rate amount count result solution energy force work power pressure \
     temperature range domain center centre vertex focus amplitude period intercept gcd lcm det expected shaded region people students days hours minutes years minimal \
     maximal"
}

word_set! {
    /// Words of a sentence that name nothing in particular: `so the only possible values are`.
    PLAIN =
    "the a an only possible value values solution solutions answer answers final such function result unique all are is of \
     for roots we get have has so thus therefore hence then that correct required desired given equation line curve graph \
     points numbers two three option choice coordinates integers it there both this these which in to from equal set \
     with and 答案 答案是"
}

word_set! {
    /// Words before an answer, or a part of one, that do not change it, folded.
    HEDGES =
    "about approximately approx roughly around exactly theansweris answer is either"
}

word_set! {
    /// Words that introduce a whole answer, folded.
    LEAD_INS =
    "finalanswer ans result itis thereare thereis thus therefore hence so only uniquesolution both ifandonlyif iff \
     atotalof thereareatotalof maximum minimum maximumvalue minimumvalue thepoint theinterval thefunction thecircle \
     theline center vertex 答案"
}

word_set! {
    /// Words that may follow an answer without changing it, alone or in brackets, folded.
    TRAILERS =
    "exactly only approx approximately rounded intotal total inall real istheanswer istheonlysolution altogether ans"
}

word_set! {
    /// Words at the front of a text that only introduce the rest.
    INTRODUCTIONS = "a an the it is will be on series sequence statement answer to curve graph conic shape figure"
}

word_set! {
    /// Nouns that the question names, and an answer may leave out: `isosceles triangle`.
    NOUNS =
    "triangle triangles function functions series number numbers curve lines matrix angle ball solution solutions \
     graph wins"
}

word_set! {
    /// Words in the name of a set of numbers: `positive real numbers`.
    KINDS =
    "positive negative nonnegative nonzero odd even real rational natural integer integers number numbers reals \
     values"
}

word_set! {
    /// Words that negate or change what stands beside them: `not 5`, `5 times more`, `half of 5`, `5 is wrong`.
    MODIFIERS =
    "not never no nor neither none non isnt cannot cant except excluding exclude excluded without unless but other \
     anything everything less more fewer than over under above below beneath exceeds exceed exceeding beyond onwards \
     upwards off out short away times plus minus divided multiplied squared cubed cubes factorial factorials choose \
     root modulo mod base remainder rem double twice thrice triple half halves quarters point negative wrong incorrect \
     false rejected reject extraneous invalid fails fail almost nearly up multiple multiples divisible divides \
     pair pairs couple couples triples doubles score scores gross grosses mio mrd wan lakh lakhs crore crores googols \
     myriads hundred hundreds thousand thousands million millions billion billions trillion trillions dozen dozens tens \
     ones twos thirds percents powers inverses negatives others versus neq ne neg lnot setminus cancel sout nmid nleq \
     ngeq ngtr nless gg ll prec succ propto perp parallel gtrsim lesssim gtrapprox lessapprox subset supset overset \
     underset stackrel footnote if permutations permutation whether unclear unlikely unknown suppose assume assuming"
}

word_set! {
    /// Other words that do not name what was counted: grammar, hedges and words that only look like plurals.
    GRAMMAR =
    "is was has does this thus its his hers yes always perhaps besides towards afterwards minutes seconds plus-minus \
     radians equals mods roots squares remains ours yours theirs as us across previous various obvious serious and for \
     the are were will right correct true most least then only about with from into onto off-by-one percent rounded \
     approx approximately exactly maybe when where while because since until positive or xor which that who would \
     should could can may might must"
}

word_set! {
    /// Ways to say that there is no solution, folded.
    NO_SOLUTION =
    "nosolution nosolutions nosolutionexists nosolutionsexist therearenosolutions thereisnosolution norealsolution \
     norealsolutions therearenorealsolutions thereisnorealsolution nointegersolutions nosuchnumber nosuchx \
     norealnumber norealroots noroots none nil n/a doesnotexist doesn'texist dne thelimitdoesnotexist \
     undefined notdefined impossible notpossible empty theemptyset emptyset \\emptyset \\varnothing \
     ∅ \\{\\} {} nosuchvalue nosuchvalues novalue novalues"
}

word_set! {
    /// Names of the set of real numbers, folded.
    ALL_REALS =
    "allrealnumbers allreals allrealx anyrealnumber everyrealnumber realnumbers therealnumbers allrealvalues"
}

/// Whether a word is a short English word.
pub(crate) fn is_short(word: &str) -> bool {
    SHORT.contains(word)
}

/// Whether a word names a quantity, or stands in such a name.
pub(crate) fn is_quantity(word: &str) -> bool {
    QUANTITIES.contains(word)
}

/// Whether a word of a sentence names nothing in particular.
pub(crate) fn is_plain(word: &str) -> bool {
    PLAIN.contains(word)
}

/// Whether a folded phrase before an answer, or a part of one, does not change it.
pub(crate) fn is_hedge(folded: &str) -> bool {
    HEDGES.contains(folded)
}

/// Whether a folded phrase introduces a whole answer.
pub(crate) fn is_lead_in(folded: &str) -> bool {
    LEAD_INS.contains(folded)
}

/// Whether a folded phrase behind an answer does not change it.
pub(crate) fn is_trailer(folded: &str) -> bool {
    TRAILERS.contains(folded)
}

/// Whether a word at the front of a text only introduces the rest.
pub(crate) fn is_introduction(word: &str) -> bool {
    INTRODUCTIONS.contains(word)
}

/// Whether an answer may leave a noun out, because the question names it.
pub(crate) fn is_generic_noun(word: &str) -> bool {
    NOUNS.contains(word)
}

/// Whether a word stands in the name of a set of numbers.
pub(crate) fn is_kind_of_number(word: &str) -> bool {
    KINDS.contains(word)
}

/// Whether a word negates or changes the number or statement beside it.
pub(crate) fn is_modifier(word: &str) -> bool {
    // `twelfths`, `quadrillions`, `upwards`, `threefold`, `isn't`.
    const ENDINGS: [&str; 6] = ["ths", "illions", "illion", "wards", "fold", "n't"];
    MODIFIERS.contains(word) || ENDINGS.iter().any(|end| word.ends_with(end))
}

/// Whether a word is neither a unit nor what was counted.
pub(crate) fn is_function_word(word: &str) -> bool {
    is_modifier(word) || GRAMMAR.contains(word)
}

/// Words of which one says the opposite of the other.
const OPPOSITES: &[(&[&str], &[&str])] = &[
    (&["maximum", "maximal", "max", "maxima"], &["minimum", "minimal", "min", "minima"]),
    (&["greatest", "largest", "highest"], &["least", "smallest", "lowest"]),
    (&["increasing"], &["decreasing"]),
    (&["clockwise"], &["counterclockwise", "anticlockwise"]),
];

/// Whether one text has a word and the other only its opposite: `maximum at 3`, `minimum at 3`.
pub(crate) fn are_opposed(a: &str, b: &str) -> bool {
    let (a, b) = (plain_words(a), plain_words(b));
    let has = |words: &[String], group: &[&str]| words.iter().any(|word| group.contains(&word.as_str()));
    OPPOSITES.iter().any(|(one, other)| {
        let only = |words: &[String], one: &[&str], other: &[&str]| has(words, one) && !has(words, other);
        only(&a, one, other) && only(&b, other, one) || only(&a, other, one) && only(&b, one, other)
    })
}

/// The words of a text in lower case, without commands and names of functions (`\\max`, `max(1, 2)`).
fn plain_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphabetic) {
        let length = rest[start..].find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len() - start);
        let (before, word, after) = (&rest[..start], &rest[start..start + length], &rest[start + length..]);
        if !before.ends_with('\\') && !after.trim_start().starts_with(['(', '{', '_', '}', '[']) {
            words.push(word.to_lowercase());
        }
        rest = after;
    }
    words
}

/// Whether a folded text says that there is no solution.
pub(crate) fn is_no_solution(folded: &str) -> bool {
    NO_SOLUTION.contains(folded.trim_end_matches(['.', '!']))
}

/// Whether a folded text names all real numbers.
pub(crate) fn is_all_reals(folded: &str) -> bool {
    ALL_REALS.contains(folded)
}
