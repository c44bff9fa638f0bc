//! Takes the reply to a packet.

use std::fs;
use std::path::PathBuf;

use minijinja::context;

use super::{folder, internal};
use crate::engine::Workplace;
use crate::escalation::handoff::reply::{self, Refusal, Reply};
use crate::event::{EventKind, GivenUp, Origin, Replied, Rescue};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::journal::NewEvent;
use crate::redact::redact;
use crate::templates::{self, sentences::say};
use crate::verdict::verdict_files::write_bytes;

/// A packet that waits for its reply.
#[derive(Clone, Debug)]
pub struct WaitingPacket {
    /// Its name.
    pub id: String,
    /// The session it is about.
    pub session: String,
}

/// A reply that was accepted.
#[derive(Clone, Debug)]
pub struct Accepted {
    pub reply: Reply,
    /// The text for the agent that failed and its file, if the reply goes back to it.
    pub packet: Option<(String, PathBuf)>,
    /// The error in the user's template, if the default one was used instead.
    pub wrong: Option<String>,
}

/// Returns the packet called `id`, else the last one, if it is not answered.
pub fn waiting(place: &Workplace, id: Option<&str>) -> Result<WaitingPacket, Failure> {
    let state = place.state()?;
    let found = state.waiting(id).map(|(session, id)| WaitingPacket { id: id.to_owned(), session: session.to_owned() });
    found.ok_or_else(|| {
        let what = match id {
            Some(id) => say("handoff", "unknown", &context! { id }),
            None => say("handoff", "none_waits", &context! {}),
        };
        Failure::new(Exit::Usage, what).remedy(say("handoff", "none_waits_remedy", &context! {}))
    })
}

/// Judges a reply to a packet and records it if it is accepted. Returns `Err(refusals)` if it is not; the packet still
/// waits then.
pub fn receive(
    place: &Workplace,
    waiting: &WaitingPacket,
    text: &str,
) -> Result<Result<Accepted, Vec<Refusal>>, Failure> {
    let (judged, recorded) = place.journal.append_with(|state| {
        let rescue = &state.judged(&waiting.session).rescue;
        if rescue.open.as_deref() != Some(&waiting.id) {
            return (Vec::new(), None);
        }
        let judged = reply::accept(text, rescue.attempts, &rescue.hypotheses);
        let step = judged.as_ref().ok().map(|reply| step(waiting, reply, rescue.attempts));
        let events = step.map(|step| NewEvent {
            session: Some(waiting.session.clone()),
            origin: Origin::observed(),
            kind: EventKind::Rescue(step),
        });
        (events.into_iter().collect(), Some(judged))
    });
    recorded.map_err(internal)?;
    let Some(judged) = judged else {
        return Err(Failure::new(Exit::Usage, say("handoff", "answered", &context! { id => &waiting.id })));
    };
    let reply = match judged {
        Ok(reply) => reply,
        Err(refusals) => return Ok(Err(refusals)),
    };
    let mut wrong = None;
    let packet = match &reply {
        Reply::Output(output) => {
            #[derive(serde::Serialize)]
            struct ReplyContext<'a> {
                handoff: &'a str,
                output: &'a reply::ReplyOutput,
            }
            let told = templates::told("reply.md", &ReplyContext { handoff: &waiting.id, output }).map_err(internal)?;
            wrong = told.wrong.map(|error| say("handoff", "template", &context! { error => error.to_string() }));
            let text = templates::whole(redact(&told.text).into_owned());
            let path = folder(place).join(format!("{}.reply.md", waiting.id));
            fs::create_dir_all(folder(place)).and_then(|()| write_bytes(&path, text.as_bytes())).map_err(internal)?;
            Some((text, path))
        }
        Reply::NeedContext(_) | Reply::Terminal(_) => None,
    };
    Ok(Ok(Accepted { reply, packet, wrong }))
}

fn step(waiting: &WaitingPacket, reply: &Reply, attempt: u32) -> Rescue {
    let replied = |hypothesis: String, not_to_retry: Vec<String>| {
        Rescue::Replied(Replied {
            handoff: waiting.id.clone(),
            output: reply.name().to_owned(),
            hypothesis: redact(&hypothesis).into_owned(),
            not_to_retry: not_to_retry.iter().map(|item| redact(item).into_owned()).collect(),
        })
    };
    match reply {
        Reply::Output(output) => replied(output.hypothesis(), output.field("what_not_to_retry").to_vec()),
        Reply::NeedContext(_) => replied(String::new(), Vec::new()),
        Reply::Terminal(_) => Rescue::GivenUp(GivenUp { attempt }),
    }
}
