//! The server: its tools run commands of gate, and its resources are the verdict and the policy.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::child::{self, GateCall, ToolOutput};
use super::questions;
use super::tool_table::{ToolEntry, ToolTable};
use crate::config;

const VERDICT: &str = "gate://verdict";
const POLICY: &str = "gate://policy";
/// Commands answer with these codes when they could do their work.
const ANSWERS: [i32; 4] = [0, 10, 11, 12];

/// The server of one client.
pub(super) struct GateServer {
    table: Arc<ToolTable>,
}

impl GateServer {
    /// Creates the server.
    pub(super) fn new() -> anyhow::Result<Self> {
        Ok(Self { table: Arc::new(ToolTable::read()?) })
    }

    fn tool(&self, name: &str) -> Result<&ToolEntry, ErrorData> {
        let unknown = || {
            let names: Vec<&str> = self.table.tools.iter().map(|tool| tool.name.as_str()).collect();
            ErrorData::invalid_params(format!("there is no tool `{name}`; the tools are: {}", names.join(", ")), None)
        };
        self.table.find(name).ok_or_else(unknown)
    }
}

impl ServerHandler for GateServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("gate", env!("CARGO_PKG_VERSION")))
            .with_instructions(
                "Before you begin a task, call reflexivo.evaluate with the person's request. Before you say that work is \
                 done, call check.",
            )
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let client = context.client_info().map(|client| client.name).unwrap_or_default();
        let has_dots = !self.table.rejects_dots(&client);
        Ok(ListToolsResult::with_all_items(self.table.tools.iter().map(|tool| tool.described(has_dots)).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.tool(&request.name)?;
        let given = request.arguments.unwrap_or_default();
        let call = match GateCall::of(tool, &given) {
            Ok(call) => call,
            // The model can correct what it gave.
            Err(reason) => return Ok(CallToolResult::error(vec![ContentBlock::text(reason)]).into()),
        };
        let answer = answer(call, tool.progress, &context).await?;
        let mut structured: Option<Map<String, Value>> = serde_json::from_str(&answer.out).ok();
        if let Some(evaluation) = structured.as_mut().filter(|_| tool.asks) {
            let answers = questions::ask(&context.peer, &Value::Object(evaluation.clone())).await;
            evaluation.extend(answers.map(|answers| ("answers".to_owned(), answers)));
        }
        Ok(result(tool, &answer, structured).into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![
            Resource::new(VERDICT, "verdict")
                .with_description("The verdict on the work here, as gate check --json prints it."),
            Resource::new(POLICY, "policy").with_description("The policy of this repository, gate.toml."),
        ]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let text = match request.uri.as_str() {
            VERDICT => {
                let call = GateCall::of(self.tool("check")?, &Map::new());
                let call = call.map_err(|reason| ErrorData::internal_error(reason, None))?;
                let answer = answer(call, false, &context).await?;
                if answer.out.is_empty() {
                    return Err(ErrorData::internal_error(answer.err, None));
                }
                answer.out
            }
            POLICY => policy().map_err(|reason| ErrorData::resource_not_found(reason, None))?,
            other => {
                let known = format!("there is no resource `{other}`; there are {VERDICT} and {POLICY}");
                return Err(ErrorData::resource_not_found(known, None));
            }
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }
}

fn policy() -> Result<String, String> {
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let repository = crate::git::Repo::discover(&here).map_err(|error| error.to_string())?;
    let root = repository.work_tree().map_err(|error| error.to_string())?;
    std::fs::read_to_string(root.join(config::FILE)).map_err(|error| format!("{}: {error}", config::FILE))
}

/// Runs a command and, if the client asked for it, passes on what it prints as progress. When the client cancels, the command is ended.
async fn answer(
    call: GateCall,
    has_progress: bool,
    context: &RequestContext<RoleServer>,
) -> Result<ToolOutput, ErrorData> {
    let (lines, mut printed) = mpsc::unbounded_channel();
    let process = Arc::new(AtomicU32::new(0));
    let (token, to_end) = (context.ct.clone(), Arc::clone(&process));
    let watch = tokio::spawn(async move {
        token.cancelled().await;
        end(to_end.load(Ordering::SeqCst));
    });
    let running = tokio::task::spawn_blocking(move || child::run(call, &lines, &process));
    let token = context.meta.get_progress_token().filter(|_| has_progress);
    let mut count = 0.0;
    while let Some(line) = printed.recv().await {
        count += 1.0;
        if let Some(token) = token.clone() {
            let step = ProgressNotificationParam::new(token, count).with_message(line);
            // A client that is gone hears nothing.
            drop(context.peer.notify_progress(step).await);
        }
    }
    let ended = running.await;
    watch.abort();
    let ended = ended.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    ended.map_err(|error| ErrorData::internal_error(format!("gate could not be started: {error}"), None))
}

#[cfg(unix)]
fn end(id: u32) {
    use rustix::process::{Pid, Signal, kill_process};
    // 0: it did not begin, or it ended.
    if let Some(process) = i32::try_from(id).ok().filter(|id| *id != 0).and_then(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process(process, Signal::TERM);
    }
}

#[cfg(not(unix))]
fn end(_id: u32) {}

fn result(tool: &ToolEntry, answer: &ToolOutput, structured: Option<Map<String, Value>>) -> CallToolResult {
    let could_not = !ANSWERS.contains(&answer.code) || answer.out.is_empty() && answer.code != 0;
    let is_error = could_not || !tool.reads_only && answer.code != 0;
    let text = match &structured {
        Some(object) => serde_json::to_string_pretty(object).unwrap_or_default(),
        None => format!("{}{}", answer.out, answer.err),
    };
    let content = vec![ContentBlock::text(text)];
    let mut result = if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = structured.map(Value::Object);
    result
}
