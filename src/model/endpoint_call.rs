//! A model that is an endpoint.

use std::env;
use std::time::{Duration, Instant};

use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderValue, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioExecutor;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::runtime::Builder;

use super::model_settings::{EndpointForm, EndpointSettings, ModelKey};
use super::{MAX_ANSWER, ModelError, ModelOutput, answer_text, command_call, without};

/// The longest answer that a model is asked for, in tokens.
const MAX_TOKENS: u32 = 4096;
/// The time limit for the command that prints a key.
const KEY_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of times that a request is sent again.
const MAX_RETRIES: u32 = 2;

/// Posts the prompt and waits for the answer. A redirect is not followed, since the key would go along.
pub(super) fn call(endpoint: &EndpointSettings, prompt: &str, patience: Duration) -> Result<ModelOutput, ModelError> {
    let until = Instant::now() + patience;
    let key = key(&endpoint.key, patience)?;
    let secrets: Vec<String> = key.iter().cloned().collect();
    let request = PreparedRequest::new(endpoint, prompt, key)?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| unreachable(&error))?;
    let left = until.saturating_duration_since(Instant::now());
    let answer = runtime.block_on(async { tokio::time::timeout(left, send(&request, until)).await });
    let (status, pause, body) = answer.map_err(|_| ModelError::TooSlow(patience.as_secs()))??;
    // Some endpoints repeat the key.
    let body = without(&String::from_utf8_lossy(&body), &secrets).into_bytes();
    refused(status, pause, &body)?;
    let body: Value = serde_json::from_slice(&body)
        .map_err(|error| ModelError::Answer(format!("the answer is not whole JSON: {error}: {}", beginning(&body))))?;
    Ok(match endpoint.form {
        EndpointForm::Openai => answer_text::of_openai(&body),
        EndpointForm::Anthropic => answer_text::of_anthropic(&body),
    })
}

/// Returns the key; `None` if the endpoint needs none.
fn key(source: &ModelKey, patience: Duration) -> Result<Option<String>, ModelError> {
    let found = match source {
        ModelKey::None => return Ok(None),
        ModelKey::Variable(name) => env::var(name).map_err(|_| format!("{name} is not set; it must hold the key")),
        ModelKey::Command(line) => command_call::printed(line, KEY_TIMEOUT.min(patience)),
    };
    let key = found.map_err(ModelError::Key)?.trim().to_owned();
    if key.is_empty() { Err(ModelError::Key("the key is empty".to_owned())) } else { Ok(Some(key)) }
}

/// A request that can be sent again.
struct PreparedRequest {
    uri: Uri,
    headers: Vec<(http::HeaderName, HeaderValue)>,
    body: String,
}

impl PreparedRequest {
    fn new(endpoint: &EndpointSettings, prompt: &str, key: Option<String>) -> Result<Self, ModelError> {
        let uri = endpoint.url.parse().map_err(|error| ModelError::Endpoint(format!("{}: {error}", endpoint.url)))?;
        let messages = json!([{"role": "user", "content": prompt}]);
        let body = match endpoint.form {
            EndpointForm::Openai => json!({"model": endpoint.model, "messages": messages, "stream": false}),
            EndpointForm::Anthropic => {
                json!({"model": endpoint.model, "messages": messages, "max_tokens": MAX_TOKENS})
            }
        };
        let agent = HeaderValue::from_static(concat!("gate/", env!("CARGO_PKG_VERSION")));
        let mut headers = vec![(CONTENT_TYPE, HeaderValue::from_static("application/json")), (USER_AGENT, agent)];
        if endpoint.form == EndpointForm::Anthropic {
            let version = http::HeaderName::from_static("anthropic-version");
            headers.push((version, HeaderValue::from_static("2023-06-01")));
        }
        if let Some(key) = key {
            let (name, value) = match endpoint.form {
                EndpointForm::Openai => (AUTHORIZATION, format!("Bearer {key}")),
                EndpointForm::Anthropic => (http::HeaderName::from_static("x-api-key"), key),
            };
            let value = HeaderValue::from_str(&value);
            let mut value =
                value.map_err(|_| ModelError::Key("the key has characters that no header can hold".to_owned()))?;
            value.set_sensitive(true);
            headers.push((name, value));
        }
        Ok(Self { uri, headers, body: body.to_string() })
    }

    fn build(&self) -> Result<Request<String>, ModelError> {
        let mut request = Request::post(self.uri.clone());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request.body(self.body.clone()).map_err(|error| unreachable(&error))
    }
}

/// Sends the request: directly on this machine, else over TLS and through the proxy of the environment.
async fn send(request: &PreparedRequest, until: Instant) -> Result<Sent, ModelError> {
    let mut connector = HttpConnector::new();
    if request.uri.scheme_str() == Some("http") {
        return sent(&Client::builder(TokioExecutor::new()).build(connector), request, until).await;
    }
    connector.enforce_http(false);
    let none = ["NO_PROXY", "no_proxy"].iter().any(|name| env::var(name).is_ok_and(|hosts| hosts.trim() == "*"));
    let proxy = if none { None } else { Matcher::from_env().intercept(&request.uri) };
    let https = hyper_rustls::HttpsConnectorBuilder::new()
        .with_native_roots()
        .map_err(|error| unreachable(&error))?
        .https_only()
        .enable_http1();
    let Some(proxy) = proxy else {
        return sent(&Client::builder(TokioExecutor::new()).build(https.wrap_connector(connector)), request, until)
            .await;
    };
    let mut tunnel = Tunnel::new(proxy.uri().clone(), connector);
    if let Some(auth) = proxy.basic_auth() {
        tunnel = tunnel.with_auth(auth.clone());
    }
    sent(&Client::builder(TokioExecutor::new()).build(https.wrap_connector(tunnel)), request, until).await
}

/// The status of an answer, the pause that the endpoint asks for, and the body.
type Sent = (StatusCode, Option<Duration>, Vec<u8>);

/// Sends the request with a client, again where the endpoint says when to come back.
async fn sent<C>(client: &Client<C, String>, request: &PreparedRequest, until: Instant) -> Result<Sent, ModelError>
where
    C: Connect + Clone + Send + Sync + 'static,
{
    let mut retries = 0;
    loop {
        let answer = client.request(request.build()?).await.map_err(|error| unreachable(&error))?;
        let (parts, body) = answer.into_parts();
        let pause = parts.headers.get(RETRY_AFTER).and_then(|value| pause(value.to_str().ok()?, Timestamp::now()));
        let limit = usize::try_from(MAX_ANSWER).unwrap_or(usize::MAX);
        let body =
            Limited::new(body, limit).collect().await.map_err(|error| match error.downcast::<LengthLimitError>() {
                Ok(_) => ModelError::TooMuch,
                Err(error) => ModelError::Answer(format!("the answer broke off: {error}")),
            })?;
        let body = body.to_bytes().to_vec();
        let is_busy = matches!(parts.status.as_u16(), 429 | 503 | 529);
        let back = pause.filter(|_| is_busy && retries < MAX_RETRIES);
        match back.filter(|pause| Instant::now().checked_add(*pause).is_some_and(|at| at < until)) {
            Some(pause) => {
                retries += 1;
                tokio::time::sleep(pause).await;
            }
            None => return Ok((parts.status, pause, body)),
        }
    }
}

/// Returns the pause that `retry-after` asks for: seconds, or a date.
fn pause(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    let until_date = || {
        let date = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
        Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
    };
    value.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).or_else(until_date)
}

/// Returns an error if the endpoint refused.
fn refused(status: StatusCode, pause: Option<Duration>, body: &[u8]) -> Result<(), ModelError> {
    match status {
        StatusCode::OK => Ok(()),
        StatusCode::TOO_MANY_REQUESTS => {
            let after = pause.map(|pause| format!(": it asks to wait {} s", pause.as_secs())).unwrap_or_default();
            Err(ModelError::Limited(after))
        }
        status => Err(ModelError::Endpoint(format!("the endpoint answers {status}: {}", said(body)))),
    }
}

fn unreachable(error: &(impl std::error::Error + ?Sized)) -> ModelError {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let more = next.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = next.source();
    }
    ModelError::Endpoint(format!("no connection: {}", answer_text::cut(&text)))
}

/// Returns the message in the body of a refusal, or its beginning.
fn said(body: &[u8]) -> String {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    value["error"]["message"].as_str().map_or_else(|| beginning(body), answer_text::cut)
}

fn beginning(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    if text.trim().is_empty() { "the answer is empty".to_owned() } else { answer_text::cut(&text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_a_number_or_a_date() {
        let now: Timestamp = "2026-11-26T01:30:00Z".parse().unwrap();
        for (value, seconds) in [
            ("3", Some(3.0)),
            (" 0.5 ", Some(0.5)),
            ("Thu, 26 Nov 2026 01:30:02 GMT", Some(2.0)),
            ("Thu, 26 Nov 2026 01:29:00 GMT", Some(0.0)),
            ("9000000000", Some(9_000_000_000.0)),
            ("18446744073709551615", None),
            ("99999999999999999999999", None),
            ("-1", None),
            ("NaN", None),
            ("soon", None),
        ] {
            assert_eq!(pause(value, now).map(|pause| pause.as_secs_f64()), seconds, "{value}");
        }
    }
}
