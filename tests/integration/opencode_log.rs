//! OpenCode's database, and what it tells.

use std::fs;
use std::path::Path;

use gate::source::sessions::{self, Client, Cursors, SessionLog};
use rusqlite::Connection;

use crate::session_logs::{ROOT, assert_told, newer, roots};
use crate::support::TestFolder;

/// A database as OpenCode keeps it, which its writer has open.
pub fn opencode(path: &Path, dir: &str) -> Connection {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let db = Connection::open(path).unwrap();
    db.execute_batch(
        "pragma journal_mode = wal; pragma wal_autocheckpoint = 0;
         create table session (id text primary key, project_id text not null, parent_id text, directory text not null,
            title text not null, version text not null, time_created integer not null, time_updated integer not null);
         create table message (id text primary key, session_id text not null, time_created integer not null,
            time_updated integer not null, data text not null);
         create table part (id text primary key, message_id text not null, session_id text not null,
            time_created integer not null, time_updated integer not null, data text not null);
         create index message_session_idx on message (session_id);
         create index part_message_idx on part (message_id);",
    )
    .unwrap();
    for (id, parent, created) in [
        ("ses_1", None, 1_772_000_000_000_i64),
        ("ses_2", Some("ses_1"), 1_772_000_005_000),
        ("ses_3", None, 1_772_000_900_000),
    ] {
        db.execute("insert into session values (?1, 'p', ?2, ?3, 't', '1', ?4, ?4)", (id, parent, dir, created))
            .unwrap();
    }
    db
}

fn message(db: &Connection, session: &str, id: &str, data: &str) {
    let sql = "insert or replace into message values (?1, ?2, 0, 0, ?3)";
    db.execute(sql, (id, session, data)).unwrap();
}

fn part(db: &Connection, message: &str, id: &str, data: &str) {
    db.execute("insert or replace into part values (?1, ?2, '', 0, 0, ?3)", (id, message, data)).unwrap();
}

const USER: &str = r#"{"role":"user","time":{"created":1772000001000}}"#;
const RUNNING: &str =
    r#"{"role":"assistant","time":{"created":1772000002000},"path":{"cwd":"/w/shop/web","root":"/w/shop"}}"#;
const CALLED: &str = r#"{"role":"assistant","time":{"created":1772000002000,"completed":1772000003000},
    "path":{"cwd":"/w/shop/web","root":"/w/shop"},"finish":"tool-calls"}"#;
const STOPPED: &str =
    r#"{"role":"assistant","time":{"created":1772000004000,"completed":1772000004500},"finish":"stop"}"#;
const ABORTED: &str = r#"{"role":"assistant","time":{"created":1772000008000},"error":{"name":"MessageAbortedError"}}"#;

/// The parts of the first session's turn.
pub fn fill(db: &Connection) {
    message(db, "ses_1", "msg_1", USER);
    part(db, "msg_1", "prt_1", r#"{"type":"text","text":"Make the total right"}"#);
    part(db, "msg_1", "prt_1s", r#"{"type":"text","text":"Called the Read tool","synthetic":true}"#);
    message(db, "ses_1", "msg_2", CALLED);
    part(db, "msg_2", "prt_2", r#"{"type":"text","text":"I run the tests.","time":{"start":1,"end":1772000002100}}"#);
    part(
        db,
        "msg_2",
        "prt_3",
        r#"{"type":"tool","tool":"bash","callID":"o1","state":{"status":"completed","input":{"command":"make test"},
            "output":"1 failed\n","metadata":{"output":"1 failed\n","exit":2},"time":{"start":1,"end":1772000002200}}}"#,
    );
    part(
        db,
        "msg_2",
        "prt_4",
        r#"{"type":"tool","tool":"edit","callID":"o2","state":{"status":"completed","input":{"filePath":"/w/shop/src/total.py",
            "oldString":"return 0","newString":"return 1"},"output":"ok","metadata":{"diff":"--- a\n+++ b\n@@ -1 +1 @@\n-return 0\n+return 1\n"},
            "time":{"start":1,"end":1772000002300}}}"#,
    );
    part(
        db,
        "msg_2",
        "prt_5",
        r#"{"type":"tool","tool":"bash","callID":"o3","state":{"status":"error","input":{"command":"git push"},
            "error":"not this way","time":{"start":1,"end":1772000002400}}}"#,
    );
    part(
        db,
        "msg_2",
        "prt_6",
        r#"{"type":"tool","tool":"bash","callID":"o4","state":{"status":"completed","input":{"command":"sleep 9","workdir":"/w/shop"},
            "output":"before","metadata":{"output":"before","exit":null},"time":{"start":1,"end":1772000002500}}}"#,
    );
    part(
        db,
        "msg_2",
        "prt_7",
        r#"{"type":"tool","tool":"task","callID":"o5","state":{"status":"completed","input":{"prompt":"look"},
            "metadata":{"sessionId":"ses_2"},"time":{"start":1,"end":1772000002600}}}"#,
    );
    message(db, "ses_1", "msg_3", STOPPED);
    part(db, "msg_3", "prt_8", r#"{"type":"text","text":"All done.","time":{"start":1,"end":1772000004100}}"#);
    part(db, "msg_3", "prt_9", "{\"type\":\"text\",\"te");
    message(db, "ses_1", "msg_4", USER);
    part(db, "msg_4", "prt_a", r#"{"type":"text","text":"not proven yet","metadata":{"gate":true}}"#);
    message(db, "ses_1", "msg_5", ABORTED);
    message(db, "ses_2", "msg_6", r#"{"role":"user","time":{"created":1772000005100}}"#);
    part(db, "msg_6", "prt_b", r#"{"type":"text","text":"look"}"#);
    message(db, "ses_3", "msg_7", USER);
    part(db, "msg_7", "prt_c", r#"{"type":"text","text":"Make the total right"}"#);
    message(db, "ses_3", "msg_8", r#"{"role":"user","time":{"created":1772000901000}}"#);
    part(db, "msg_8", "prt_d", r#"{"type":"compaction","auto":false}"#);
    part(db, "msg_8", "prt_e", r#"{"type":"text","text":"Another way"}"#);
}

const OPENCODE: &[&str] = &[
    "Started",
    "Person: Make the total right",
    "Client: Called the Read tool",
    "said I run the tests.",
    "[o1] $ make test in Some(web): 2 | 1 failed",
    "[o2] edited src/total.py Written -return 0 +return 1",
    "[o3] denied bash git push: not this way",
    "[o4] $ sleep 9 in Some(): None | before",
    "[o5] sub-agent ses_2 ended",
    "said All done.",
    "stopped Completed All done. 0",
    "Hook: not proven yet",
    "stopped Aborted  0",
];

#[test]
fn opencode_while_it_is_written() {
    let dir = TestFolder::new();
    let path = dir.path().join("opencode.db");
    let db = opencode(&path, ROOT);
    fill(&db);
    assert!(fs::metadata(dir.path().join("opencode.db-wal")).unwrap().len() > 0, "all of it is in the log of writes");
    let session =
        |id: &str| SessionLog { session: Some(id.to_owned()), ..SessionLog::new(Client::Opencode, path.clone()) };
    let log = sessions::read(&session("ses_1"), &roots()).unwrap();
    assert_told(&log, OPENCODE);
    assert_eq!(log.summary.counts.broken, 1);
    let subagent = sessions::read(&session("ses_2"), &roots()).unwrap();
    assert_eq!(subagent.summary.session.as_deref(), Some("ses_1"));
    assert_told(&subagent, &["sub-agent ses_2 started", "ses_2> Agent: look"]);
    // A fork: its first message is older than itself.
    let fork = sessions::read(&session("ses_3"), &roots()).unwrap();
    assert_told(&fork, &["Started", "Compacted", "Person: Another way"]);
    drop(db);
    fs::remove_file(dir.path().join("opencode.db-wal")).ok();
    assert!(sessions::read(&session("ses_1"), &roots()).is_ok());
    fs::write(&path, "no database").unwrap();
    assert!(sessions::read(&session("ses_1"), &roots()).is_err());
}

#[test]
fn a_second_look_at_a_database_tells_what_is_new() {
    let dir = TestFolder::new();
    let path = dir.path().join("opencode.db");
    let db = opencode(&path, ROOT);
    let source = SessionLog { session: Some("ses_1".to_owned()), ..SessionLog::new(Client::Opencode, path) };
    let cursors = Cursors::of(dir.path());
    let look = || newer(&cursors, &source);
    message(&db, "ses_1", "msg_1", USER);
    part(&db, "msg_1", "prt_1", r#"{"type":"text","text":"Make the total right"}"#);
    message(&db, "ses_1", "msg_2", RUNNING);
    let bash = |state: &str| format!(r#"{{"type":"tool","tool":"bash","callID":"o1","state":{state}}}"#);
    let running = r#"{"status":"running","input":{"command":"make test"},"time":{"start":1}}"#;
    part(&db, "msg_2", "prt_3", &bash(running));
    assert_eq!(look(), ["Started", "Person: Make the total right"]);
    let done = r#"{"status":"completed","input":{"command":"make test"},"metadata":{"output":"x","exit":0},"time":{"end":1772000002200}}"#;
    part(&db, "msg_2", "prt_3", &bash(done));
    assert_eq!(look(), ["[o1] $ make test in Some(web): 0 | x"]);
    assert!(look().is_empty());
    message(&db, "ses_1", "msg_2", CALLED);
    message(&db, "ses_1", "msg_3", STOPPED);
    part(&db, "msg_3", "prt_8", r#"{"type":"text","text":"All done.","time":{"start":1,"end":1772000004100}}"#);
    assert_eq!(look(), ["said All done.", "stopped Completed All done. 0"]);
    assert!(look().is_empty());
}
