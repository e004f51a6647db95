//! The contract of `Executor`, as tests that run against every implementation:
//! `executor_contract!(harness)` makes one test of each.

mod endings;
mod hostile;
mod output;
mod python;
pub mod run;
mod session;
mod values;

use std::sync::Arc;

use async_trait::async_trait;
use mcc_catalog::seam::Executor;

pub use endings::*;
pub use hostile::*;
pub use output::*;
pub use python::*;
pub use session::*;
pub use values::*;

/// An executor under test and the place where its tools run.
#[async_trait]
pub trait Harness: Send + Sync {
    /// The executor.
    fn executor(&self) -> Arc<dyn Executor>;

    /// Waits until no process whose command line contains `word` is left where the tools run; panics if one stays.
    async fn expect_gone(&self, word: &str);

    /// Waits until such a process is there.
    async fn expect_running(&self, word: &str);

    /// Panics if a call left anything behind. Called at the end of each test.
    async fn expect_clean(&self);
}

/// Makes a test of every case of the contract. `$harness` is an expression that makes a [`Harness`].
#[macro_export]
macro_rules! executor_contract {
    ($harness:expr) => {
        $crate::executor_contract! { $harness =>
            exit_codes, signals, not_found, syntax_error, exec_replaces_the_shell, kills_itself, kills_its_parent,
            time_out_kills_grandchildren, time_out_keeps_partial_output, cancel_ends_soon, cancel_before_the_start,
            dropping_the_future_kills, cpu_limit, file_limit, memory_limit, open_files_limit, progress_is_told,
            streams_apart, no_newline_at_the_end, bytes_as_they_are, fifty_megabytes, head_and_tail,
            silent_tool, tool_closes_its_streams, background_child_keeps_stdout, many_at_once,
            marker_is_out_of_reach, imitated_markers, escaped_processes, ignores_signals, stops_itself,
            environment_precedence, variables_from_secrets, missing_secret_is_refused, all_bytes_arrive,
            large_values, too_large_values_are_refused, stdin_is_read, stdin_is_not_read, no_stdin,
            session_lines, session_only_on_success, session_that_cannot_be_read,
            python_result, python_prints_stay_apart, python_async, python_by_import, python_context,
            python_context_only_as_parameter, python_tracebacks, python_bad_results, python_exits,
            python_signals, python_time_out, python_grandchild_holds_everything, python_large_data,
            python_environment, python_limits, python_threads_and_exit_handlers, python_hides_its_marker,
            container_command
        }
    };
    ($harness:expr => $($case:ident),+ $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let harness = $harness;
                $crate::exec::contract::$case(&harness).await;
                $crate::exec::contract::Harness::expect_clean(&harness).await;
            }
        )+
    };
}
