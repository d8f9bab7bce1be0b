//! Logs as vLLM 0.26 and 0.32 write them; frames of tracebacks are left out.

use super::*;

/// A start that goes well; it mentions memory in passing.
const START: &str = "\
(APIServer pid=11) INFO 07-01 09:30:00 [utils.py:233] non-default args: {'model_tag': 'some/model'}
(EngineCore pid=12) INFO 07-01 09:30:20 [gpu_model_runner.py:5345] Model loading took 2.9 GiB memory and 1.8 seconds
(EngineCore pid=12) INFO 07-01 09:30:40 [gpu_worker.py:561] Available KV cache memory: 12.31 GiB
(EngineCore pid=12) INFO 07-01 09:30:40 [kv_cache_utils.py:1437] GPU KV cache size: 100,848 tokens
";

/// The traceback of the process that only notices that the engine has failed, and what Python says when it exits.
const AFTERMATH: &str = "\
(APIServer pid=11) Traceback (most recent call last):
(APIServer pid=11)   File \"vllm/v1/engine/utils.py\", line 1272, in wait_for_engine_startup
(APIServer pid=11)     raise RuntimeError(
(APIServer pid=11) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore': 1}
[rank0]:[W701 09:31:00 ProcessGroupNCCL.cpp:1524] Warning: WARNING: destroy_process_group() was not called
/usr/lib/python3.12/multiprocessing/resource_tracker.py:279: UserWarning: resource_tracker: There appear to be 1 leaked shared_memory objects to clean up at shutdown
  warnings.warn('resource_tracker: There appear to be %d '
";

/// An exception of the engine as vLLM logs it, and then as Python prints it.
fn engine(exception: &str) -> String {
    let record = "(EngineCore pid=12) ERROR 07-01 09:30:41 [core.py:1330] ";
    let prefixed = |prefix: &str, lines: Vec<&str>, end: &str| -> String {
        lines.into_iter().flat_map(|line| [prefix, line, end].map(str::to_owned)).collect()
    };
    let traceback =
        "EngineCore failed to start.\nTraceback (most recent call last):\n  File \"vllm/v1/engine/core.py\"";
    let logged = prefixed(record, traceback.lines().chain(exception.lines()).collect(), "\r\n");
    let printed = prefixed("(EngineCore pid=12) ", exception.lines().collect(), "\n");
    format!(
        "{START}{logged}(EngineCore pid=12) Process EngineCore:\n(EngineCore pid=12) Traceback (most recent call \
         last):\n(EngineCore pid=12)   File \"vllm/v1/engine/core.py\"\n{printed}{AFTERMATH}"
    )
}

/// An exception of the server process before the engine starts.
fn server(exception: &str) -> String {
    format!(
        "(APIServer pid=11) INFO 07-01 09:30:00 [utils.py:233] non-default args: {{}}\nTraceback (most recent call last):\n  File \"vllm/engine/arg_utils.py\", line 1955, in create_model_config\n    return ModelConfig(\n           ^^^^^^^^^^^^\n{exception}\n"
    )
}

fn cause(log: &str) -> Diagnosis {
    diagnose(log, "exit status: 1".to_owned(), false)
}

fn exited() -> ServerError {
    ServerError::Exited("exit status: 1".to_owned())
}

#[test]
fn too_little_memory_is_known_by_its_exceptions() {
    for message in [
        // PyTorch, while loading or in a CUDA graph.
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 139.81 GiB",
        "torch.AcceleratorError: CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported",
        // v1/worker/utils.py
        "ValueError: Free memory on device cuda:0 (59.32/79.15 GiB) on startup is less than desired GPU memory \
         utilization (0.9, 71.24 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
        // v1/core/kv_cache_utils.py
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing \
         the engine.",
        "ValueError: To serve at least one request with the model's max seq len (40960), (5.63 GiB KV cache is needed, \
         which is larger than the available KV cache memory (1.12 GiB). Based on the available memory, the estimated \
         maximum model length is 8144.",
        // v1/worker/gpu_model_runner.py
        "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests. Please try lowering \
         `max_num_seqs` or `gpu_memory_utilization` when initializing the engine.",
    ] {
        let found = cause(&engine(message));
        assert_eq!(found.error, ServerError::OutOfMemory, "{message}");
        assert!(found.lines.starts_with(&message[..40]), "{}", found.lines);
        // Also after it was ready.
        assert_eq!(diagnose(&engine(message), String::new(), true).error, ServerError::OutOfMemory);
    }
}

#[test]
fn a_start_that_mentions_memory_is_not_out_of_it() {
    // `kill -9`: the log ends after a normal start.
    let found = cause(START);
    assert_eq!(found.error, exited());
    assert!(found.lines.ends_with("GPU KV cache size: 100,848 tokens"), "{}", found.lines);
    let found = cause(&engine("RuntimeError: CUDA error: an illegal memory access was encountered"));
    assert_eq!(found.error, exited());
    assert_eq!(found.lines, "RuntimeError: CUDA error: an illegal memory access was encountered");
}

#[test]
fn what_a_restart_would_repeat_is_known_by_its_exceptions() {
    let validation = |text: &str| {
        format!(
            "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n  Value error, {text} \
             [type=value_error, input_value=ArgsKwargs((), {{'model': …}}), input_type=ArgsKwargs]\n    For further \
             information visit https://errors.pydantic.dev/2.12/v/value_error"
        )
    };
    let context = validation(
        "User-specified max_model_len (100000) is greater than the derived max_model_len (max_position_embeddings=1536.0 \
         or model_max_length=None in model's config.json). To allow overriding this maximum, set the env var \
         VLLM_ALLOW_LONG_MAX_MODEL_LEN=1.",
    );
    let repository = validation(
        "Invalid repository ID or local directory specified: 'bad/noconfig'.\nPlease verify the following requirements:\n\
         1. Provide a valid Hugging Face repository ID.",
    );
    let architecture = validation(
        "Model architectures ['FooForCausalLM'] are not supported for now. Supported architectures: dict_keys([…])",
    );
    for (exception, expected) in [
        (context.as_str(), ServerError::ContextTooLong),
        (repository.as_str(), ServerError::ModelNotFound),
        (
            "OSError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/no/model'. Use `repo_type` \
             argument if needed.",
            ServerError::ModelNotFound,
        ),
        (
            "OSError: some/nothing is not a local folder and is not a valid model identifier listed on \
             'https://huggingface.co/models'\nIf this is a private repository, make sure to pass a token having \
             permission to this repo",
            ServerError::ModelNotFound,
        ),
        (
            "OSError: You are trying to access a gated repo.\nMake sure to have access to it at \
             https://huggingface.co/meta-llama/Llama-3.2-3B-Instruct.\n401 Client Error. (Request ID: Root=1-2)",
            ServerError::AccessDenied,
        ),
        (architecture.as_str(), ServerError::UnsupportedModel),
        (
            "pydantic_core._pydantic_core.ValidationError: 1 validation error for CacheConfig\ngpu_memory_utilization\n  \
             Input should be less than or equal to 1 [type=less_than_equal, input_value=1.7, input_type=float]",
            ServerError::InvalidArguments,
        ),
    ] {
        let found = cause(&server(exception));
        assert_eq!(found.error, expected, "{exception}");
        assert!(found.lines.starts_with(exception.lines().next().unwrap()), "{}", found.lines);
        assert!(found.error.is_permanent());
        // A server that was ready has shown that its model and arguments work.
        assert_eq!(
            diagnose(&server(exception), String::new(), true).error,
            ServerError::Exited(String::new())
        );
    }
    let weights = engine("RuntimeError: Cannot find any model weights with `bad/noweights`");
    assert_eq!(cause(&weights).error, ServerError::ModelNotFound);
    let usage = "usage: vllm [-h] [-v]\n            {chat,complete,serve}\n            ...\nvllm: error: unrecognized \
                 arguments: --nonsense\n";
    let found = cause(usage);
    assert_eq!(
        (found.error, found.lines.as_str()),
        (ServerError::InvalidArguments, "vllm: error: unrecognized arguments: --nonsense")
    );
    let usage = "usage: vllm serve [model_tag] [options]\nvllm serve: error: argument --max-num-seqs: invalid int value: 'x'\n";
    assert_eq!(cause(usage).error, ServerError::InvalidArguments);
}

#[test]
fn a_hub_that_cannot_be_reached_is_tried_again() {
    let offline = "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='huggingface.co', port=443): Max retries \
                   exceeded\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most \
                   recent call last):\n  File \"vllm/transformers_utils/config.py\"\nValueError: Invalid repository ID or \
                   local directory specified: 'Qwen/Qwen3-8B'.";
    let found = cause(&server(offline));
    assert_eq!(found.error, exited());
    assert!(
        found.lines.contains("ConnectionError") && found.lines.contains("Invalid repository ID"),
        "{}",
        found.lines
    );
}

#[test]
fn the_last_error_counts_and_not_an_earlier_one() {
    // A request that was refused hours before, and then a crash.
    let earlier = "(APIServer pid=11) ERROR 07-01 10:00:00 [serving.py:300] Error in preprocessing prompt inputs\n\
                   (APIServer pid=11) ERROR 07-01 10:00:00 [serving.py:300] Traceback (most recent call last):\n\
                   (APIServer pid=11) ERROR 07-01 10:00:00 [serving.py:300] torch.OutOfMemoryError: CUDA out of memory.\n\
                   (APIServer pid=11) INFO 07-01 10:00:01 [loggers.py:271] Engine 000: Running: 1 reqs\n";
    let crash = engine("RuntimeError: CUDA error: device-side assert triggered");
    assert_eq!(cause(&format!("{earlier}{crash}")).error, exited());
}

#[test]
fn lines_of_several_processes_are_told_apart() {
    // Two workers print at the same time, and a destructor fails at exit.
    let log = "(Worker_TP0 pid=21) Traceback (most recent call last):\n\
               (Worker_TP1 pid=22) Traceback (most recent call last):\n\
               (Worker_TP0 pid=21)   File \"vllm/v1/worker/gpu_worker.py\"\n\
               (Worker_TP1 pid=22)   File \"vllm/v1/worker/gpu_worker.py\"\n\
               (Worker_TP0 pid=21) INFO 07-01 09:30:41 [parallel_state.py:1] rank 0 in world size 2\n\
               (Worker_TP0 pid=21) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.\n\
               (Worker_TP1 pid=22) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.\n\
               (EngineCore pid=12) Traceback (most recent call last):\n\
               (EngineCore pid=12) Exception: WorkerProc initialization failed due to an exception in a background \
               process. See stack trace for root cause.\n\
               Exception ignored in: <function Pool.__del__>\nTraceback (most recent call last):\n  File \"x\"\n\
               AttributeError: 'NoneType' object has no attribute 'dumps'\n";
    let found = cause(log);
    assert_eq!(found.error, ServerError::OutOfMemory);
    assert_eq!(found.lines, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB.");
}

#[test]
fn a_consequence_is_quoted_where_there_is_nothing_else() {
    let found = cause(AFTERMATH);
    assert_eq!(found.error, exited());
    assert!(found.lines.starts_with("RuntimeError: Engine core initialization failed."), "{}", found.lines);
}

#[test]
fn long_lines_and_messages_are_shortened() {
    let exception = format!("ValueError: {}\n{}", "é".repeat(5000), "more\n".repeat(100));
    let lines = cause(&server(&exception)).lines;
    assert!(lines.chars().count() < 800 && lines.lines().count() == MAX_MESSAGE_LINES, "{lines}");
}
