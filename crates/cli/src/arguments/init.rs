//! Arguments of `aske init`.

use crate::completion;
use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "On a terminal it asks for what is not given. The model is called once. Keys are read from the environment and
never written.

Examples:
  aske init
  aske init --provider ollama --model qwen3:0.6b
  aske init --url http://localhost:8000/v1
  aske init --provider openai --model gpt-5-mini --solvers gpt-4.1-nano,gpt-4.1"
)]
pub(crate) struct Init {
    /// The provider of the models; `aske models providers` lists them
    #[arg(long, value_name = "NAME", conflicts_with = "url", add = completion::providers())]
    pub(crate) provider: Option<String>,
    /// The address of an OpenAI-compatible server, such as http://localhost:8000/v1
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The model that asks, by its name on the server
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Boundary solvers, by their names on the server, separated by commas [default: the built-in nano models]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) solvers: Vec<String>,
    /// Replace an existing aske.toml
    #[arg(long)]
    pub(crate) force: bool,
    /// Run the smoke test of five sessions without asking
    #[arg(long)]
    pub(crate) smoke_test: bool,
}
