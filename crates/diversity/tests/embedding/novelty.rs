//! The buffer against the formula, written out.

use crate::common::cosine;
use aske_diversity::{Embedder, NoveltyBuffer};
use fastrand::Rng;

/// Random directions around a few centres, so that cosines are far apart.
fn directions(count: usize, seed: u64) -> Vec<Vec<f32>> {
    let mut random = Rng::with_seed(seed);
    let wide = Embedder::ngram().dimensions();
    let mut one = || {
        let mut centre = Rng::with_seed(random.u64(0..7));
        let raw: Vec<f32> = (0..wide).map(|_| centre.f32() - 0.5 + random.f32() - 0.5).collect();
        let length = cosine(&raw, &raw).sqrt();
        raw.iter().map(|number| narrow(f64::from(*number) / length)).collect()
    };
    (0..count).map(|_| one()).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "vectors are single precision")]
fn narrow(number: f64) -> f32 {
    number as f32
}

/// The definition: all cosines to all others, sorted, the mean of the largest.
fn by_formula(old: &[Vec<f32>], step: &[Vec<f32>], nearest: usize) -> Vec<f64> {
    let novelty = |at: usize| {
        let others = step.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, vector)| vector);
        let mut cosines: Vec<f64> = old.iter().chain(others).map(|other| cosine(&step[at], other)).collect();
        cosines.sort_by(|a, b| b.total_cmp(a));
        cosines.truncate(nearest);
        if cosines.is_empty() { 1.0 } else { 1.0 - cosines.iter().sum::<f64>() / cosines.len() as f64 }
    };
    (0..step.len()).map(novelty).collect()
}

fn near(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {wanted:?}");
}

fn buffer(capacity: usize, nearest: usize) -> NoveltyBuffer {
    NoveltyBuffer::new(capacity, nearest, &Embedder::ngram())
}

#[test]
fn novelty_is_the_formula_over_the_latest_questions_and_the_step() {
    for nearest in [0, 1, 5, 100] {
        let all = directions(60, 1);
        let mut novelty = buffer(20, nearest);
        for (at, step) in all.chunks(9).enumerate() {
            let old = &all[..at * 9];
            let old = &old[old.len().saturating_sub(20)..];
            assert_eq!(novelty.len(), old.len());
            near(&novelty.novelties(step).unwrap(), &by_formula(old, step, nearest));
            novelty.extend(step).unwrap();
        }
    }
}

#[test]
fn small_cases_by_hand() {
    let axis = |at: usize, sign: f32| {
        let mut vector = vec![0.0; 512];
        vector[at] = sign;
        vector
    };
    let mut novelty = buffer(5, 2);
    assert!(novelty.is_empty());
    near(&novelty.novelties(&[axis(0, 1.0)]).unwrap(), &[1.0]);
    near(&novelty.novelties(&[axis(0, 1.0), axis(0, 1.0)]).unwrap(), &[0.0, 0.0]);
    near(&novelty.novelties(&[axis(0, 1.0), axis(0, -1.0)]).unwrap(), &[2.0, 2.0]);
    novelty.extend(&[axis(0, 1.0)]).unwrap();
    // The nearest of the first are itself in the buffer and the second, at a right angle.
    near(&novelty.novelties(&[axis(0, 1.0), axis(1, 1.0)]).unwrap(), &[0.5, 1.0]);
    assert!(novelty.novelties(&[]).unwrap().is_empty());
}

#[test]
fn a_question_asked_before_is_not_new() {
    let embedder = Embedder::ngram();
    let mut novelty = NoveltyBuffer::new(5000, 5, &embedder);
    let asked = embedder.embed(&["What is 17 times 23?"; 5]).unwrap();
    novelty.extend(&asked).unwrap();
    near(&novelty.novelties(&asked[..1]).unwrap(), &[0.0]);
    let other = embedder.embed(&["Name the capital of Peru."]).unwrap();
    assert!(novelty.novelties(&other).unwrap()[0] > 0.5);
}

#[test]
fn the_order_within_a_step_does_not_matter() {
    let mut novelty = buffer(30, 5);
    novelty.extend(&directions(30, 2)).unwrap();
    let mut order: Vec<usize> = (0..40).collect();
    Rng::with_seed(3).shuffle(&mut order);
    let step = directions(40, 4);
    let shuffled: Vec<Vec<f32>> = order.iter().map(|at| step[*at].clone()).collect();
    let (plain, moved) = (novelty.novelties(&step).unwrap(), novelty.novelties(&shuffled).unwrap());
    for (place, at) in order.iter().enumerate() {
        assert_eq!(plain[*at].to_bits(), moved[place].to_bits());
    }
}

#[test]
fn a_saved_buffer_goes_on_as_if_it_had_never_stopped() {
    let embedder = Embedder::ngram();
    for count in [0, 3, 8, 13, 40] {
        let mut novelty = buffer(8, 5);
        novelty.extend(&directions(count, 5)).unwrap();
        let bytes = novelty.to_bytes().unwrap();
        let mut again = NoveltyBuffer::from_bytes(&bytes, &embedder).unwrap();
        assert_eq!(again.len(), count.min(8));
        assert_eq!(again.to_bytes().unwrap(), bytes);
        let step = directions(5, 6);
        assert_eq!(novelty.novelties(&step).unwrap(), again.novelties(&step).unwrap());
        for novelty in [&mut novelty, &mut again] {
            novelty.extend(&step).unwrap();
        }
        assert_eq!(novelty.to_bytes().unwrap(), again.to_bytes().unwrap());
    }
}

#[test]
fn what_is_saved_is_the_vectors_oldest_first() {
    let all = directions(13, 7);
    let mut novelty = buffer(8, 5);
    novelty.extend(&all).unwrap();
    let bytes = novelty.to_bytes().unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let view = file.tensor("vectors").unwrap();
    assert_eq!(view.shape(), [8, 512]);
    let wanted: Vec<u8> = all[5..].iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(view.data(), wanted);
}

#[test]
fn a_damaged_file_or_vector_is_refused() {
    let ngram = Embedder::ngram();
    let mut novelty = buffer(8, 5);
    novelty.extend(&directions(3, 8)).unwrap();
    let bytes = novelty.to_bytes().unwrap();
    for cut in 0..bytes.len().min(400) {
        assert!(NoveltyBuffer::from_bytes(&bytes[..cut], &ngram).is_err());
    }
    assert!(NoveltyBuffer::from_bytes(&bytes[..bytes.len() - 1], &ngram).is_err());
    let mut changed = bytes.clone();
    let last = changed.len() - 1;
    changed[last] = 0x7f;
    let message = NoveltyBuffer::from_bytes(&changed, &ngram).unwrap_err().to_string();
    assert!(message.contains("vector 2 is not a unit vector"), "{message}");
    let more = String::from_utf8_lossy(&bytes).replace(r#"capacity\":8"#, r#"capacity\":2"#).into_bytes();
    assert!(NoveltyBuffer::from_bytes(&more, &ngram).is_err());
    // A vector of another length, and one that is no direction.
    let message = novelty.extend(&[vec![0.0; 32]]).unwrap_err().to_string();
    assert!(message.contains("vector 0 has 32 numbers") && message.contains("512"), "{message}");
    assert!(novelty.novelties(&[vec![f32::NAN; 512]]).is_err());
    assert!(novelty.novelties(&[vec![1.0; 512]]).is_err());
    assert_eq!(novelty.to_bytes().unwrap(), bytes, "nothing was taken");
}
