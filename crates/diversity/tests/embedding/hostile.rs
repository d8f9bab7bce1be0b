//! Whatever a model may write has a vector, and costs no more than the longest question that is read.

use crate::common::cosine;
#[cfg(feature = "bert")]
use crate::folders::{read, tiny};
use aske_diversity::Embedder;
use proptest::prelude::*;

fn embedders() -> Vec<Embedder> {
    vec![
        Embedder::ngram(),
        #[cfg(feature = "bert")]
        read(tiny().path()),
    ]
}

#[test]
fn huge_and_odd_texts_have_vectors() {
    let large = 1 << 20;
    let texts = [
        String::new(),
        "\u{0}\u{1}\u{7f}\u{80}\u{200b}\u{202e}\u{feff}".to_owned(),
        "👩‍👩‍👧‍👦🏳️‍🌈".repeat(50),
        "e\u{301}\u{301}\u{301}".repeat(large / 8),
        " ".repeat(large),
        "a".repeat(large),
        "1 ".repeat(large / 2),
        "中".repeat(large / 3),
        "İ".repeat(large / 2),
        "[CLS][SEP][PAD][MASK]".repeat(large / 21),
    ];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for embedder in embedders() {
        let vectors = embedder.embed(&texts).unwrap();
        for vector in vectors {
            assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn what_is_read_of_a_text_is_bounded() {
    // 16,384 characters of runs; 32 for each of the network's 24 tokens.
    for (embedder, most) in embedders().iter().zip([16_384, 24 * 32]) {
        let with = |spaces: usize| format!("{}what is 7?", " ".repeat(spaces));
        let (within, partly, beyond) = (with(most - 10), with(most - 4), with(most));
        let vectors = embedder.embed(&["", "what is 7?", "what", &within, &partly, &beyond]).unwrap();
        let near = |one: usize, other: usize| cosine(&vectors[one], &vectors[other]) > 0.999_999;
        assert!(near(3, 1) && near(4, 2) && near(5, 0), "{embedder:?}");
        assert!(!near(0, 1) && !near(0, 2) && !near(1, 2), "{embedder:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_texts_have_vectors_of_length_one(texts in prop::collection::vec("\\PC{0,60}|(?s).{0,60}", 0..6)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for embedder in embedders() {
            let vectors = embedder.embed(&texts).unwrap();
            prop_assert_eq!(vectors.len(), texts.len());
            for vector in vectors {
                prop_assert_eq!(vector.len(), embedder.dimensions());
                prop_assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-6);
            }
        }
    }
}
