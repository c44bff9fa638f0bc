//! Proxies that the environment names: obeyed, and told nothing they need not know.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::{Clone, Verdict};

/// A proxy that opens tunnels.
struct Proxy {
    address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// One tunnel.
#[derive(std::clone::Clone, Debug)]
struct Seen {
    /// The first line.
    request: String,
    /// Everything else that was said before the tunnel was open.
    headers: String,
    /// The first byte that went into the tunnel.
    first: Option<u8>,
}

impl Proxy {
    fn start(refuses: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let log = Arc::clone(&log);
                thread::spawn(move || tunnel(stream, refuses, &log));
            }
        });
        Self { address, seen }
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().drain(..).collect()
    }
}

fn tunnel(mut near: TcpStream, refuses: bool, log: &Mutex<Vec<Seen>>) {
    let mut reader = BufReader::new(near.try_clone().unwrap());
    let (mut request, mut headers) = (String::new(), String::new());
    reader.read_line(&mut request).unwrap();
    while reader.read_line(&mut headers).is_ok_and(|read| read > 2) {}
    let seen = |first| Seen { request: request.trim().to_owned(), headers: headers.clone(), first };
    let to = request.split(' ').nth(1).unwrap_or_default();
    let far = if refuses || !request.starts_with("CONNECT ") { None } else { TcpStream::connect(to).ok() };
    let Some(mut far) = far else {
        log.lock().unwrap().push(seen(None));
        let _ = near.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
        return;
    };
    near.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
    let mut first = [0];
    if reader.read_exact(&mut first).is_err() {
        return;
    }
    log.lock().unwrap().push(seen(Some(first[0])));
    far.write_all(&first).unwrap();
    let mut back = far.try_clone().unwrap();
    thread::spawn(move || {
        let _ = io::copy(&mut back, &mut near);
        let _ = near.shutdown(Shutdown::Both);
    });
    let _ = io::copy(&mut reader, &mut far);
}

fn check(clone: &Clone, variables: &[(&str, &str)]) -> Verdict {
    let mut command = clone.gate(&["check", "--json"]);
    command.envs(variables.iter().copied());
    Verdict::of(&command.output().unwrap())
}

#[test]
fn questions_go_through_the_proxy_unless_their_host_is_left_out() {
    let clone = Clone::strict().green();
    let proxy = Proxy::start(false);
    let server = clone.server.url().strip_prefix("http://").unwrap().to_owned();
    let with_login = format!("http://ada:s%20t@{}", proxy.address);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        let verdict = check(&clone, &[(name, &with_login)]);
        assert_eq!(verdict.summary(), ("open", "green", 0), "{name}");
        let seen = proxy.seen();
        assert!(!seen.is_empty(), "{name}");
        for one in seen {
            assert_eq!(one.request, format!("CONNECT {server} HTTP/1.1"), "{name}");
            assert!(one.headers.to_ascii_lowercase().contains("proxy-authorization: basic "), "{}", one.headers);
            // `ada:s t`
            assert!(one.headers.contains("YWRhOnMgdA=="), "{}", one.headers);
            assert!(!one.headers.contains("enterprise-token"), "{}", one.headers);
        }
        for none in ["127.0.0.1", "example.com, 127.0.0.0/8", "*"] {
            let verdict = check(&clone, &[(name, &with_login), ("NO_PROXY", none)]);
            assert_eq!(verdict.summary(), ("open", "green", 0), "{name} {none}");
            assert!(proxy.seen().is_empty(), "{name} {none}");
        }
    }
}

#[test]
fn behind_a_proxy_redirects_are_obeyed_as_without_one() {
    let proxy = Proxy::start(false);
    let through = format!("http://{}", proxy.address);
    super::asking::follows(|clone| check(clone, &[("HTTP_PROXY", &through)]));
    assert!(!proxy.seen().is_empty());
}

#[test]
fn what_is_encrypted_stays_so() {
    let clone = Clone::strict().green();
    let url = clone.server.url().replace("http:", "https:");
    clone.repo.git(["remote", "set-url", "origin", &format!("{url}/o/r.git")]);
    let proxy = Proxy::start(false);
    let (api, through) = (format!("{url}/api/v3"), format!("http://{}", proxy.address));
    let forge = [("GITHUB_SERVER_URL", url.as_str()), ("GITHUB_API_URL", &api)];
    let with = |more: &[(&'static str, &str)]| {
        let all: Vec<(&str, &str)> = forge.iter().copied().chain(more.iter().copied()).collect();
        // The small GitHub speaks no TLS: nothing can be read.
        assert_eq!(check(&clone, &all).summary(), ("unreadable", "unreadable", 12), "{more:?}");
        proxy.seen()
    };
    let seen = with(&[("HTTPS_PROXY", &through)]);
    assert!(!seen.is_empty());
    for one in seen {
        assert!(one.request.starts_with("CONNECT 127.0.0.1:"), "{one:?}");
        // The first byte of a handshake.
        assert_eq!(one.first, Some(0x16), "{one:?}");
        assert!(!one.headers.contains("token"), "{one:?}");
    }
    assert!(with(&[("HTTPS_PROXY", &through), ("NO_PROXY", "127.0.0.1")]).is_empty());
    assert!(with(&[("HTTP_PROXY", &through)]).is_empty(), "that one is for what is not encrypted");
    assert!(clone.server.state().log.is_empty());
}

#[test]
fn a_proxy_that_refuses_is_an_outage_and_not_gone_around() {
    let clone = Clone::strict().green();
    let proxy = Proxy::start(true);
    let verdict = check(&clone, &[("HTTP_PROXY", &format!("http://{}", proxy.address))]);
    assert_eq!(verdict.summary(), ("unreadable", "unreadable", 12));
    assert!(!proxy.seen().is_empty());
    let verdict = check(&clone, &[("ALL_PROXY", "socks5://127.0.0.1:1")]);
    assert_eq!(verdict.summary(), ("unreadable", "unreadable", 12));
    assert!(verdict.message("ci-green").contains("not supported"), "{}", verdict.message("ci-green"));
    assert!(clone.server.state().log.is_empty());
}
