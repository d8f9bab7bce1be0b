//! The command line of a server.

use crate::plan::Server;

/// The arguments of `vllm` for a server on this address.
pub fn arguments(server: &Server, host: &str) -> Vec<String> {
    let model = &server.model;
    let mut arguments: Vec<String> = ["serve", &model.hub, "--host", host].map(str::to_owned).into();
    let mut add = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
    add("--port", server.port.to_string());
    add("--gpu-memory-utilization", format!("{:.3}", f64::from(server.share) / 1000.0));
    add("--max-model-len", model.length.to_string());
    add("--max-num-seqs", model.max_num_seqs.max(1).to_string());
    if server.tensor_parallel > 1 {
        add("--tensor-parallel-size", server.tensor_parallel.to_string());
    }
    if model.is_quantised_on_load() {
        add("--quantization", "fp8".to_owned());
    }
    arguments.extend(model.known_flags().iter().map(|flag| (*flag).to_owned()));
    arguments.extend(model.flags.iter().cloned());
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::model;
    use crate::{Model, Plan, Quantisation, SearchBudget};

    fn served(model: Model, gpus: &str) -> String {
        let plan =
            Plan::new(&[model], &[], gpus.parse().unwrap(), &[], 8001, SearchBudget::default()).unwrap();
        arguments(&plan.servers[0], "127.0.0.1").join(" ")
    }

    #[test]
    fn a_plain_model() {
        let bytes = model("m", "Qwen/Qwen3-8B", 8.0).memory().unwrap().per_gpu(1) as f64;
        assert_eq!(
            served(model("m", "Qwen/Qwen3-8B", 8.0), "1x141"),
            format!(
                "serve Qwen/Qwen3-8B --host 127.0.0.1 --port 8001 --gpu-memory-utilization {:.3} --max-model-len 8192 \
                 --max-num-seqs 64",
                (bytes / 141e6).ceil() / 1000.0
            )
        );
    }

    #[test]
    fn flags_of_the_model_and_of_the_user() {
        let mistral = model("m", "mistralai/Ministral-3-8B-Instruct-2512", 8.0);
        let flags = vec!["--enforce-eager".to_owned()];
        let given = served(Model { quantisation: Some(Quantisation::Fp8), flags, ..mistral }, "1x141");
        assert!(given.contains(" --config_format mistral "), "{given}");
        assert!(!given.contains("--quantization") && given.ends_with(" --enforce-eager"), "{given}");
        let large = Model { quantisation: Some(Quantisation::Fp8), ..model("m", "some/large", 140.0) };
        let given = served(large, "2x141");
        assert!(given.ends_with("--tensor-parallel-size 2 --quantization fp8"), "{given}");
    }
}
