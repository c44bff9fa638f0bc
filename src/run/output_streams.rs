//! The target of the child's output: a pseudo-terminal if gate's own is a terminal, a pipe otherwise.

use std::fs::File;
use std::io;

#[cfg(unix)]
use std::os::fd::{AsFd, OwnedFd as Owned};
#[cfg(windows)]
use std::os::windows::io::{AsHandle, OwnedHandle as Owned};

/// A stream that the child writes, and its target.
#[derive(Debug)]
pub(super) struct Channel {
    /// Our end of the child's stream.
    pub(super) source: File,
    /// Our own standard output or standard error.
    pub(super) sink: File,
}

/// The streams for one child.
#[derive(Debug)]
pub(super) struct Streams {
    /// The child's standard output.
    pub(super) out: File,
    /// The child's standard error.
    pub(super) err: File,
    /// The streams to pass on: one channel if both go to the same place, so that their order is kept.
    pub(super) channels: Vec<Channel>,
    /// The pseudo-terminals whose size follows a real one.
    #[cfg(unix)]
    pub(super) mirrors: Vec<super::pty::Mirror>,
}

/// Opens the streams for a child whose output belongs to our own standard output and standard error.
pub(super) fn open() -> io::Result<Streams> {
    let (own_out, own_err) = own()?;
    let together = same(&own_out, &own_err);
    let out = Stream::to(own_out)?;
    if together {
        return Ok(Streams {
            err: out.child.try_clone()?,
            out: out.child,
            channels: vec![out.channel],
            #[cfg(unix)]
            mirrors: out.mirror.into_iter().collect(),
        });
    }
    let err = Stream::to(own_err)?;
    Ok(Streams {
        out: out.child,
        err: err.child,
        channels: vec![out.channel, err.channel],
        #[cfg(unix)]
        mirrors: out.mirror.into_iter().chain(err.mirror).collect(),
    })
}

struct Stream {
    child: File,
    channel: Channel,
    #[cfg(unix)]
    mirror: Option<super::pty::Mirror>,
}

impl Stream {
    fn to(sink: File) -> io::Result<Self> {
        // Where no pseudo-terminal can be had (a container without /dev/pts), a pipe: colours are lost, nothing else.
        #[cfg(unix)]
        if let Ok(pty) = super::pty::open_like(&sink) {
            let channel = Channel { source: pty.ours, sink };
            return Ok(Self { child: pty.childs, channel, mirror: Some(pty.mirror) });
        }
        let (reader, writer) = io::pipe()?;
        Ok(Self {
            child: File::from(Owned::from(writer)),
            channel: Channel { source: File::from(Owned::from(reader)), sink },
            #[cfg(unix)]
            mirror: None,
        })
    }
}

/// Returns this program's own standard output and standard error, unbuffered.
#[cfg(unix)]
fn own() -> io::Result<(File, File)> {
    Ok((io::stdout().as_fd().try_clone_to_owned()?.into(), io::stderr().as_fd().try_clone_to_owned()?.into()))
}

#[cfg(windows)]
fn own() -> io::Result<(File, File)> {
    Ok((io::stdout().as_handle().try_clone_to_owned()?.into(), io::stderr().as_handle().try_clone_to_owned()?.into()))
}

/// Returns `true` if both lead to the same terminal, pipe, socket or file, as after `2>&1`.
#[cfg(unix)]
fn same(one: &File, other: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

#[cfg(windows)]
fn same(_: &File, _: &File) -> bool {
    false
}
