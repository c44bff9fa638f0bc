//! One connection: time limits, bounded retries, pages, proxies, and errors as trouble of a known kind.

use std::env;
use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderMap, Uri};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioExecutor;
use octocrab::service::middleware::auth_header::AuthHeaderLayer;
use octocrab::service::middleware::base_uri::BaseUriLayer;
use octocrab::service::middleware::extra_headers::ExtraHeadersLayer;
use octocrab::{AuthState, Octocrab, OctocrabBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::{Builder, Runtime};
use tower_http::follow_redirect::FollowRedirect;

use super::super::Patience;
use super::super::token::Token;
use crate::event::hosting::{Trouble, TroubleKind};

/// The most that GitHub lists at once.
const PAGE: usize = 100;
/// The largest number of pages that are read. The result of a longer list is unknown.
const MAX_PAGES: usize = 20;

/// A connection to one API, with the runtime it needs.
pub(super) struct ApiConnection {
    runtime: Runtime,
    crab: Octocrab,
    patience: Patience,
    /// The source of the token, if there is one.
    token: Option<&'static str>,
}

/// A list that comes with its length.
pub(super) trait Counted: DeserializeOwned {
    /// The type of its items.
    type Item;
    /// Returns the number of all items, and the items of this page.
    fn parts(self) -> (usize, Vec<Self::Item>);
}

impl ApiConnection {
    /// Prepares a connection; nothing is sent.
    pub(super) fn new(api: &str, token: Option<&Token>, patience: Patience) -> Result<Self, Trouble> {
        let unusable = |error: &dyn std::fmt::Display| trouble(TroubleKind::Offline, format!("no connection: {error}"));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| unusable(&error))?;
        let base: Uri = api.parse().map_err(|error: http::uri::InvalidUri| unusable(&error))?;
        // `*` is every host; the matcher takes it for every name, and not for addresses.
        let none = ["NO_PROXY", "no_proxy"].iter().any(|name| env::var(name).is_ok_and(|hosts| hosts.trim() == "*"));
        let proxy = if none { None } else { Matcher::from_env().intercept(&base) };
        // Its buffer wants a runtime to be there.
        let crab = runtime.block_on(async {
            match proxy {
                None => direct(base, token, patience),
                Some(proxy) => through(&proxy, base, token, patience),
            }
        });
        Ok(Self {
            crab: crab.map_err(|what| trouble(TroubleKind::Offline, what))?,
            runtime,
            patience,
            token: token.map(|token| token.from),
        })
    }

    /// Waits for the result of asynchronous code.
    pub(super) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Requests one answer. `what` describes the request, for people.
    pub(super) async fn get<T: DeserializeOwned>(&self, route: &str, what: &str) -> Result<T, Trouble> {
        let mut asked = 0;
        loop {
            let answer = self.within(self.crab.get::<T, _, _>(route, None::<&()>)).await;
            let failed = match answer {
                Ok(value) => return Ok(value),
                Err(failed) => failed,
            };
            asked += 1;
            let pause = match failed.trouble.kind {
                _ if asked > self.patience.again => None,
                TroubleKind::RateLimited => failed.pause.filter(|pause| *pause <= self.patience.pause),
                TroubleKind::Server | TroubleKind::Offline => Some(Duration::from_millis(200 << asked.min(4))),
                _ => None,
            };
            let Some(pause) = pause else { return Err(failed.about(what)) };
            tokio::time::sleep(pause.min(self.patience.pause)).await;
        }
    }

    /// Requests a whole list, page by page.
    pub(super) async fn pages<T: DeserializeOwned>(&self, route: &str, what: &str) -> Result<Vec<T>, Trouble> {
        let mut all = Vec::new();
        for page in 1..=MAX_PAGES {
            let mut list: Vec<T> = self.get(&paged(route, page), what).await?;
            let ends = list.len() < PAGE;
            all.append(&mut list);
            if ends {
                return Ok(all);
            }
        }
        Err(too_long(what))
    }

    /// Requests a whole list with a given length. A shorter one is not whole.
    pub(super) async fn counted<T: Counted>(&self, route: &str, what: &str) -> Result<Vec<T::Item>, Trouble> {
        let mut all = Vec::new();
        for page in 1..=MAX_PAGES {
            let (total, mut list) = self.get::<T>(&paged(route, page), what).await?.parts();
            let empty = list.is_empty();
            all.append(&mut list);
            if all.len() >= total {
                return Ok(all);
            }
            if empty {
                let what = format!("{what}: {} were listed of {total}", all.len());
                return Err(trouble(TroubleKind::Malformed, what));
            }
        }
        Err(too_long(what))
    }

    /// Changes something. It sends the request once: if the answer gets lost, the request may have succeeded.
    pub(super) async fn patch<B: Serialize + ?Sized>(&self, route: &str, body: &B, what: &str) -> Result<(), Trouble> {
        let answer = self.within(self.crab.patch::<serde_json::Value, _, _>(route, Some(body))).await;
        answer.map(drop).map_err(|failed| failed.about(what))
    }

    /// Adds something. Asked once.
    pub(super) async fn post<B: Serialize + ?Sized, T: DeserializeOwned>(
        &self,
        route: &str,
        body: &B,
        what: &str,
    ) -> Result<T, Trouble> {
        let answer = self.within(self.crab.post::<B, T>(route, Some(body))).await;
        answer.map_err(|failed| failed.about(what))
    }

    async fn within<T>(&self, call: impl Future<Output = Result<T, octocrab::Error>>) -> Result<T, FailedRequest> {
        match tokio::time::timeout(self.patience.answer, call).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(FailedRequest::of(&error, self.token)),
            Err(_) => {
                let what = format!("no answer within {} s", self.patience.answer.as_secs());
                Err(FailedRequest { trouble: trouble(TroubleKind::Timeout, what), pause: None })
            }
        }
    }
}

fn direct(base: Uri, token: Option<&Token>, patience: Patience) -> Result<Octocrab, String> {
    let mut builder = Octocrab::builder()
        .base_uri(base)
        .map_err(|error| chain(&error))?
        .set_connect_timeout(Some(patience.connect))
        .set_read_timeout(Some(patience.answer));
    if let Some(token) = token {
        builder = builder.personal_token(token.secret().to_owned());
    }
    builder.build().map_err(|error| chain(&error))
}

/// Connects through a proxy of the environment: octocrab's own client supports none.
fn through(
    proxy: &hyper_util::client::proxy::matcher::Intercept,
    base: Uri,
    token: Option<&Token>,
    patience: Patience,
) -> Result<Octocrab, String> {
    if !matches!(proxy.uri().scheme_str(), Some("http" | "https")) {
        return Err(format!(
            "proxies of the kind `{}` are not supported",
            proxy.uri().scheme_str().unwrap_or_default()
        ));
    }
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(patience.connect));
    let mut tunnel = Tunnel::new(proxy.uri().clone(), connector);
    if let Some(auth) = proxy.basic_auth() {
        tunnel = tunnel.with_auth(auth.clone());
    }
    let https = hyper_rustls::HttpsConnectorBuilder::new()
        .with_native_roots()
        .map_err(|error| error.to_string())?
        .https_or_http()
        .enable_http1()
        .wrap_connector(tunnel);
    let client = hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build(https);
    let agent = (http::header::USER_AGENT, http::HeaderValue::from_static("octocrab"));
    let authorization = match token {
        Some(token) => {
            let value = http::HeaderValue::from_str(&format!("Bearer {}", token.secret()));
            let mut value = value.map_err(|_| "the token has characters that no header can hold".to_owned())?;
            value.set_sensitive(true);
            Some(value)
        }
        None => None,
    };
    OctocrabBuilder::new_empty()
        // A repository that was renamed is answered for by its new name. What goes to another host takes no token along.
        .with_service(FollowRedirect::new(client))
        .with_layer(&ExtraHeadersLayer::new(std::sync::Arc::new(vec![agent])))
        .with_layer(&BaseUriLayer::new(base.clone()))
        .with_layer(&AuthHeaderLayer::new(authorization, base.clone(), base))
        .with_auth(AuthState::None)
        .build()
        .map_err(|never| match never {})
}

fn paged(route: &str, page: usize) -> String {
    let mark = if route.contains('?') { '&' } else { '?' };
    format!("{route}{mark}per_page={PAGE}&page={page}")
}

fn too_long(what: &str) -> Trouble {
    trouble(TroubleKind::Malformed, format!("{what}: more than {} are listed", PAGE * MAX_PAGES))
}

pub(super) fn trouble(kind: TroubleKind, what: impl Into<String>) -> Trouble {
    Trouble { kind, what: what.into(), needs: None }
}

/// Encodes a text as a part of a path or of a query.
pub(super) fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A request without an answer, and the time to wait before the next attempt.
struct FailedRequest {
    trouble: Trouble,
    pause: Option<Duration>,
}

impl FailedRequest {
    fn of(error: &octocrab::Error, token: Option<&str>) -> Self {
        let octocrab::Error::GitHub { source, .. } = error else {
            let what = chain(error);
            let late = ["timed out", "deadline has elapsed"].iter().any(|words| what.contains(words));
            let kind = match error {
                octocrab::Error::Service { .. } | octocrab::Error::Hyper { .. } if late => TroubleKind::Timeout,
                octocrab::Error::Service { .. } | octocrab::Error::Hyper { .. } => TroubleKind::Offline,
                _ => TroubleKind::Malformed,
            };
            return Self { trouble: trouble(kind, what), pause: None };
        };
        let none = HeaderMap::new();
        let headers = source.headers.as_ref().unwrap_or(&none);
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let status = source.status_code.as_u16();
        let pause = pause(headers);
        let limited = pause.is_some() || source.message.to_ascii_lowercase().contains("rate limit");
        let kind = match status {
            401 => TroubleKind::Unauthorized,
            403 | 429 if limited => TroubleKind::RateLimited,
            429 => TroubleKind::RateLimited,
            403 => TroubleKind::Forbidden,
            404 | 410 | 422 => TroubleKind::NotFound,
            500.. => TroubleKind::Server,
            _ => TroubleKind::Malformed,
        };
        let mut what = format!("{status} {}", source.message.lines().next().unwrap_or_default().trim());
        if let Some(url) = header("x-github-sso").and_then(|value| value.split_once("url=")).map(|(_, url)| url) {
            what = format!("{what}; authorise the token for single sign-on: {url}");
        } else if let Some(from) = token.filter(|_| kind == TroubleKind::Unauthorized) {
            what = format!("{what}; asked with the token of {from}");
        } else if token.is_none()
            && matches!(kind, TroubleKind::NotFound | TroubleKind::RateLimited | TroubleKind::Unauthorized)
        {
            what.push_str("; no token was found to ask with");
        }
        let needs =
            header("x-accepted-github-permissions").filter(|_| kind == TroubleKind::Forbidden).map(str::to_owned);
        Self { trouble: Trouble { kind, what, needs }, pause }
    }

    fn about(mut self, what: &str) -> Trouble {
        self.trouble.what = format!("{what}: {}", self.trouble.what);
        self.trouble
    }
}

/// Returns the pause that a limit requires:
/// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>.
fn pause(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<u64>().ok();
    if let Some(seconds) = number("retry-after") {
        return Some(Duration::from_secs(seconds));
    }
    if number("x-ratelimit-remaining") != Some(0) {
        return None;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Some(Duration::from_secs(number("x-ratelimit-reset")?.saturating_sub(now)))
}

/// Returns an error with its causes, in one line.
fn chain(error: &octocrab::Error) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut next: Option<&dyn std::error::Error> = Some(error);
    // The first says only which kind it is.
    if let octocrab::Error::Service { source, .. } = error {
        next = Some(source.as_ref());
    } else if let octocrab::Error::Hyper { source, .. } = error {
        next = Some(source);
    }
    while let Some(error) = next {
        let text = error.to_string();
        let text = text.lines().next().unwrap_or_default().trim().to_owned();
        if !text.is_empty() && !words.iter().any(|known| known.contains(&text)) {
            words.push(text);
        }
        next = error.source();
    }
    words.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_changes_the_route() {
        for (text, written) in [
            ("feature/a", "feature%2Fa"),
            ("a?state=all&x#y", "a%3Fstate%3Dall%26x%23y"),
            ("../../x", "..%2F..%2Fx"),
            ("ä b", "%C3%A4%20b"),
            ("a-b_c.d~e", "a-b_c.d~e"),
        ] {
            assert_eq!(encoded(text), written);
        }
    }

    #[test]
    fn a_limit_says_how_long_it_lasts() {
        let headers = |list: &[(&'static str, String)]| {
            list.iter().map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap())).collect()
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        assert_eq!(pause(&headers(&[])), None);
        assert_eq!(pause(&headers(&[("retry-after", "7".to_owned())])), Some(Duration::from_secs(7)));
        let reset = (now + 3000).to_string();
        assert_eq!(pause(&headers(&[("x-ratelimit-reset", reset.clone())])), None);
        let spent = pause(&headers(&[("x-ratelimit-remaining", "0".to_owned()), ("x-ratelimit-reset", reset)]));
        assert!(spent.unwrap() > Duration::from_secs(2900));
        let long_ago = [("x-ratelimit-remaining", "0".to_owned()), ("x-ratelimit-reset", "1".to_owned())];
        assert_eq!(pause(&headers(&long_ago)), Some(Duration::ZERO));
    }
}
