//! Settings that make no sense.

use crate::common::World;
use crate::tiny;

/// Every numeric setting of a training, and values that it must not take.
const NONSENSE: [(&str, &[&str]); 32] = [
    ("steps", &["0"]),
    ("groups", &["0", "9223372036854775807"]),
    ("group_size", &["0", "1", "4294967295"]),
    ("clip_ratio_low", &["nan", "inf", "-0.1", "1.1"]),
    ("clip_ratio_high", &["nan", "inf", "-0.1"]),
    ("learning_rate", &["nan", "inf", "-inf", "0", "-0.0", "-1e-4", "1.5", "1e39"]),
    ("warmup_steps", &["9223372036854775807"]),
    ("adam_betas", &["[nan, 0.9]", "[0.9, 1.0]", "[-0.1, 0.9]", "[0.9, inf]"]),
    ("adam_eps", &["nan", "inf", "0", "0.0", "-1e-8", "1e-50", "2"]),
    ("weight_decay", &["nan", "inf", "-0.1", "1e9"]),
    ("max_grad_norm", &["nan", "inf", "-1"]),
    ("stop_grad_norm", &["nan", "0", "-1"]),
    ("lora_rank", &["9223372036854775807"]),
    ("lora_alpha", &["nan", "inf", "0", "-1"]),
    ("diversity_coef", &["nan", "inf", "-1"]),
    ("num_neighbors", &["0"]),
    ("buffer_size", &["0", "9223372036854775807"]),
    ("max_train_tokens", &["0"]),
    ("max_sample_tokens", &["0"]),
    ("micro_batch_tokens", &["9223372036854775807"]),
    ("checkpoint_every", &["0"]),
    ("keep_checkpoints", &["0"]),
    ("threads", &["0", "9223372036854775807"]),
    ("tracker_timeout_s", &["nan", "inf", "0", "-1", "1e300"]),
    ("vllm.startup_timeout_s", &["nan", "0", "1e300"]),
    ("watch.max_questions", &["0"]),
    ("watch.min_distinct", &["nan", "inf", "-0.1"]),
    ("watch.min_valid", &["nan", "-0.1"]),
    ("watch.min_agreement", &["nan", "-0.1"]),
    ("watch.min_entropy", &["nan", "-0.1"]),
    ("measure.samples", &["0"]),
    ("measure.exam_samples", &["0"]),
];

#[test]
fn a_setting_that_makes_no_sense_is_refused_by_its_key_value_and_range() {
    let world = World::new();
    let mut wrong = Vec::new();
    for (key, values) in NONSENSE {
        for value in values {
            let given = format!("train.{key}={value}");
            let ran = world.run(&tiny(&["--run", "x", "-o", &given]));
            // A list is named by the number that is wrong.
            let named = ran.stderr.contains(&format!("train.{key}")) && ran.stderr.contains("must be ");
            let shown = ran.stderr.contains(" is ") && ran.stderr.contains("hint: ");
            if ran.code != Some(2) || !named || !shown || world.path("x").exists() {
                let said = ran.stderr.lines().last().unwrap_or_default();
                wrong.push(format!("{given}: status {:?}, {said}", ran.code));
                drop(std::fs::remove_dir_all(world.path("x")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sampling_that_makes_no_sense_is_refused() {
    let world = World::new();
    for given in [
        "asker.sampling.temperature=nan",
        "asker.sampling.temperature=-1",
        "check.sampling.temperature=inf",
        "boundary.sampling.top_p=1.5",
        "boundary.sampling.min_p=nan",
        "asker.sampling.repetition_penalty=0",
        "models.nano-15k.sampling.presence_penalty=nan",
    ] {
        let ran = world.expect(2, &tiny(&["--steps", "1", "--run", "x", "-o", given]));
        let (key, _) = given.split_once('=').unwrap();
        let last = key.rsplit('.').next().unwrap();
        assert!(ran.stderr.contains(last) && ran.stderr.contains("must be "), "{given}: {ran}");
        assert!(!world.path("x").exists(), "{given}");
    }
}

#[test]
fn the_least_and_greatest_settings_train_or_end_with_a_clear_error() {
    let world = World::new();
    let cases: [&[&str]; 8] = [
        &["-o", "train.learning_rate=1"],
        &["-o", "train.learning_rate=1e-30"],
        &["-o", "train.adam_eps=1e-20", "-o", "train.adam_betas=[0.0, 0.0]"],
        &["-o", "train.adam_betas=[0.999999, 0.999999]", "-o", "train.adam_eps=1"],
        &["-o", "train.max_grad_norm=0", "-o", "train.stop_grad_norm=inf"],
        &["-o", "train.clip_ratio_low=0", "-o", "train.clip_ratio_high=0"],
        &["-o", "train.diversity_coef=1e30"],
        &["-o", "train.weight_decay=3000"],
    ];
    for (at, flags) in cases.into_iter().enumerate() {
        let run = format!("x{at}");
        let ran = world.run(&tiny(&[&["--steps", "2", "--run", &run], flags].concat()));
        let trained = world.path(&format!("{run}/seed-0/trained/model.safetensors"));
        match ran.code {
            Some(0) => assert!(finite(&std::fs::read(&trained).unwrap()), "{flags:?}: {ran}"),
            Some(1) => assert!(ran.stderr.contains("hint: ") && !trained.exists(), "{flags:?}: {ran}"),
            _ => panic!("{flags:?}: {ran}"),
        }
    }
}

/// All numbers of a file of single-precision tensors are finite.
fn finite(file: &[u8]) -> bool {
    let (length, rest) = file.split_at(8);
    let header = usize::try_from(u64::from_le_bytes(length.try_into().unwrap())).unwrap();
    let numbers = &rest[header..];
    assert!(!numbers.is_empty() && numbers.len().is_multiple_of(4));
    numbers.as_chunks::<4>().0.iter().all(|bytes| f32::from_le_bytes(*bytes).is_finite())
}
