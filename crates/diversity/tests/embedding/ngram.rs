//! Runs of characters: the same vectors as another program's, and what is near what.

use crate::common::cosine;
use aske_diversity::Embedder;
use aske_nano::{Family, NumberSet, Question, QuestionSampler};
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    texts: Vec<String>,
    /// The first 32 numbers of each vector, by `make.py` with Python's xxhash.
    first: Vec<Vec<f32>>,
}

#[test]
fn the_vectors_are_those_of_the_description() {
    let expected: Expected = serde_json::from_str(include_str!("ngram.json")).unwrap();
    let texts: Vec<&str> = expected.texts.iter().map(String::as_str).collect();
    let embedder = Embedder::find("ngram").unwrap();
    assert_eq!(embedder.fingerprint(), "ngram-3-5-512-v1");
    let found = embedder.embed(&texts).unwrap();
    for ((found, wanted), text) in found.iter().zip(&expected.first).zip(texts) {
        assert_eq!(found.len(), embedder.dimensions());
        assert!((cosine(found, found) - 1.0).abs() < 1e-6, "{text}");
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6), "{text}: {:?}", &found[..32]);
    }
    assert!(expected.first.iter().flatten().filter(|number| **number != 0.0).count() > 50);
}

#[test]
fn case_and_white_space_do_not_matter() {
    let vectors = Embedder::ngram().embed(&["What is  2?\n", " what IS\t2? "]).unwrap();
    assert_eq!(vectors[0], vectors[1]);
}

/// The question with every number left out.
fn frame(question: &str) -> String {
    question.split(|one: char| one.is_ascii_digit()).filter(|part| !part.is_empty()).collect()
}

#[test]
fn other_numbers_are_nearer_than_another_kind_and_not_the_same() {
    let mut draw = QuestionSampler::new(5, NumberSet::Any);
    let mut questions: Vec<(Family, Question)> = Vec::new();
    for family in Family::ALL.iter().copied() {
        questions.extend((0..20).filter_map(|_| Some((family, draw.question(family, 3)?))));
    }
    let texts: Vec<&str> = questions.iter().map(|(_, question)| question.text()).collect();
    let vectors = Embedder::ngram().embed(&texts).unwrap();
    let (mut numbers, mut kinds) = (Vec::new(), Vec::new());
    for (at, (family, _)) in questions.iter().enumerate() {
        for other in at + 1..questions.len() {
            let cosine = cosine(&vectors[at], &vectors[other]);
            if *family != questions[other].0 {
                kinds.push(cosine);
            } else if texts[at] != texts[other] && frame(texts[at]) == frame(texts[other]) {
                assert!(cosine < 0.9999, "{} {}", texts[at], texts[other]);
                numbers.push(cosine);
            }
        }
    }
    assert!(numbers.len() > 100 && kinds.len() > 1000);
    let mean = |cosines: &[f64]| cosines.iter().sum::<f64>() / cosines.len() as f64;
    println!("other numbers {:.3}, another kind {:.3}", mean(&numbers), mean(&kinds));
    assert!(mean(&numbers) > mean(&kinds) + 0.5);
    kinds.sort_by(f64::total_cmp);
    let near = kinds[kinds.len() * 95 / 100];
    let nearer = numbers.iter().filter(|cosine| **cosine > near).count();
    assert!(nearer * 100 > numbers.len() * 99, "{nearer} of {} above {near}", numbers.len());
}

#[cfg(not(feature = "bert"))]
#[test]
fn without_encoders_only_ngram_is_found() {
    let message = crate::common::with_hint(&Embedder::find("BAAI/bge-small-en-v1.5").unwrap_err());
    assert!(
        message.contains("does not support BERT encoders") && message.contains("hint: use `ngram`"),
        "{message}"
    );
}
