//! The real `gh`, which asks the small GitHub.
//!
//! It speaks TLS to every host but its own test hosts, unless its requests go to a socket of the machine.

use std::net::{Shutdown, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Output};
use std::{io, thread};

use serde_json::Value;

use crate::clone::Clone;
use crate::{graphql, installed};

/// What `gh` calls the forge.
const HOST: &str = "github.example";

pub struct Gh<'a> {
    clone: &'a Clone,
}

impl<'a> Gh<'a> {
    /// `gh` with a configuration of its own, as somebody who works in `clone`.
    pub fn beside(clone: &'a Clone) -> Self {
        clone.server.state().graphql = Some(graphql::answer);
        let socket = clone.repo.outside().join("gh.sock");
        let address = clone.server.url().strip_prefix("http://").unwrap().to_owned();
        let listener = UnixListener::bind(&socket).unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let address = address.clone();
                thread::spawn(move || passed_on(stream, &address));
            }
        });
        let gh = Self { clone };
        let set = gh.command(&["config", "set", "http_unix_socket", socket.to_str().unwrap()]).output().unwrap();
        assert!(set.status.success(), "{set:?}");
        gh
    }

    fn command(&self, args: &[&str]) -> Command {
        let repo = &self.clone.repo;
        let mut command = repo.command_in(installed::program("gh"), repo.root());
        command
            .args(args)
            .env("GH_HOST", HOST)
            .env("GH_ENTERPRISE_TOKEN", "enterprise-token")
            .env("GH_NO_UPDATE_NOTIFIER", "1")
            .env("GH_TELEMETRY", "false")
            .env("GH_PROMPT_DISABLED", "1");
        command
    }

    fn about(&self, args: &[&str]) -> Output {
        let repository = format!("{HOST}/o/r");
        self.command(&[args, &["-R", &repository]].concat()).output().unwrap()
    }

    /// `gh pr checks`, as its documented exit codes say it.
    pub fn checks(&self, number: u64, options: &[&str]) -> &'static str {
        let number = number.to_string();
        let output = self.about(&[&["pr", "checks", &number], options].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => "green",
            Some(8) => "pending",
            Some(1) if said.contains("checks reported on the") => "nothing",
            Some(1) if said.is_empty() => "not green",
            _ => panic!("{output:?}"),
        }
    }

    /// `gh pr view` of a branch; `None`: it has no pull request.
    pub fn view(&self, branch: &str) -> Option<Value> {
        let output = self.about(&["pr", "view", branch, "--json", "number,state,isDraft,headRefName,headRefOid"]);
        if output.status.success() {
            return Some(serde_json::from_slice(&output.stdout).unwrap());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("no pull requests found"), "{output:?}");
        None
    }
}

/// Both directions, until either end has gone.
fn passed_on(near: UnixStream, address: &str) {
    let far = TcpStream::connect(address).unwrap();
    let (mut there, mut back) = (near.try_clone().unwrap(), far.try_clone().unwrap());
    let mut forward = far;
    thread::spawn(move || {
        let _ = io::copy(&mut there, &mut forward);
    });
    let mut near = near;
    let _ = io::copy(&mut back, &mut near);
    let _ = near.shutdown(Shutdown::Both);
}
