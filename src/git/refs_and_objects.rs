//! Small reads: `HEAD`, references, objects and how commits relate.
//!
//! git2 answers in process. If it cannot, the command line answers.

use std::ffi::OsStr;

use super::{GitError, Repo};
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::SnapshotEntry;

/// The state of `HEAD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The commit; `None` on an unborn branch.
    pub commit: Option<Oid>,
    /// The full name of the branch; `None` when detached.
    pub branch: Option<String>,
}

/// The type of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A commit.
    Commit,
    /// An annotated tag.
    Tag,
    /// A tree.
    Tree,
    /// A file's content.
    Blob,
}

/// Turns "not found" into `None`: it is an answer and not a failure.
fn found<T>(result: Result<T, git2::Error>) -> Result<Option<T>, git2::Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the next answer of `cat-file --batch`: a header and a content, or a line that gives the reason for a missing
/// one.
pub(super) fn next_blob(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let end = memchr::memchr(b'\n', rest)?;
    let header = String::from_utf8_lossy(&rest[..end]).into_owned();
    *rest = &rest[end + 1..];
    let size = header.rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
    let size = size.filter(|size| !header.ends_with(" missing") && *size < rest.len())?;
    let content = rest[..size].to_vec();
    *rest = &rest[size + 1..];
    header.contains(" blob ").then_some(content)
}

fn library_oid(oid: &Oid) -> Result<git2::Oid, git2::Error> {
    git2::Oid::from_str(oid.as_str())
}

pub(super) fn own_oid(oid: git2::Oid) -> Result<Oid, git2::Error> {
    oid.to_string().parse().map_err(|_| git2::Error::from_str("an object id of another form"))
}

/// The number of symbolic references that git follows in a row.
const MAX_SYMBOLIC_DEPTH: usize = 5;

/// A file whose content is wanted.
#[derive(Clone, Debug)]
pub enum WantedFile {
    /// The one with this content.
    Is(Oid),
    /// That at a path of a commit or tree.
    At(Oid, RepoPath),
    /// None.
    Nowhere,
}

/// What a tree has where a file is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeFile {
    /// Nothing.
    Nothing,
    /// A regular file with this content.
    Regular(Vec<u8>),
    /// A link, a folder, or a commit of another repository.
    Other,
}

impl WantedFile {
    /// Returns the content of an entry of a tree.
    pub fn of(entry: Option<&SnapshotEntry>) -> Self {
        entry.filter(|entry| !entry.is_commit()).map_or(Self::Nowhere, |entry| Self::Is(entry.oid.clone()))
    }
}

/// Returns an object id that git printed, alone or at the start of a line.
pub(super) fn parse_oid(bytes: &[u8], command: &str) -> Result<Oid, GitError> {
    let text = String::from_utf8_lossy(bytes);
    let word = text.split_whitespace().next().unwrap_or_default();
    word.parse()
        .map_err(|_| GitError::Malformed { command: command.to_owned(), what: text.chars().take(120).collect() })
}

/// The number of commits that [`linear_base`] reads on either side. git2 takes some ten times as long as git to read a
/// commit, so that starting git is cheaper for longer distances.
const STEPS: usize = 64;

/// Returns the common ancestor of two commits if neither side has a merge before it and both are near: then it is the
/// only one. `None`: the commits are not so related, or it is unknown.
fn linear_base(library: &git2::Repository, a: git2::Oid, b: git2::Oid) -> Result<Option<git2::Oid>, git2::Error> {
    let mut sides = [(Some(a), Vec::new()), (Some(b), Vec::new())];
    for step in 0..2 * STEPS {
        let (this, other) = (step % 2, 1 - step % 2);
        let Some(at) = sides[this].0 else { continue };
        let commit = library.find_commit(at)?;
        if sides[other].1.contains(&at) {
            return Ok(Some(at));
        }
        sides[this].0 = if commit.parent_count() == 1 { Some(commit.parent_id(0)?) } else { None };
        sides[this].1.push(at);
    }
    Ok(None)
}

fn line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\n').to_owned()
}

impl Repo {
    /// Reads `HEAD`.
    pub fn head(&self) -> Result<Head, GitError> {
        let read = self.library(|library| {
            let head = library.find_reference("HEAD")?;
            match head.symbolic_target_bytes() {
                Some(name) => {
                    let branch = String::from_utf8_lossy(name).into_owned();
                    let commit = found(library.refname_to_id(&branch))?.map(own_oid).transpose()?;
                    Ok(Head { commit, branch: Some(branch) })
                }
                None => Ok(Head { commit: head.target().map(own_oid).transpose()?, branch: None }),
            }
        });
        match read {
            Some(head) => Ok(head),
            None => Ok(Head { commit: self.commit("HEAD")?, branch: self.symbolic_ref("HEAD")? }),
        }
    }

    /// Returns the commit that `rev` names, with tags peeled; `None` if there is no such commit.
    pub fn commit(&self, rev: &str) -> Result<Option<Oid>, GitError> {
        let exact = rev.parse::<Oid>().is_ok();
        let read = self.library(|library| {
            let object = if exact {
                let Some(object) = found(library.find_object(git2::Oid::from_str(rev)?, None))? else {
                    return Ok(None);
                };
                object
            } else {
                // A revision git2 does not know may still be one to git: that is an error here, and asked there.
                library.revparse_single(rev)?
            };
            own_oid(object.peel_to_commit()?.id()).map(Some)
        });
        if let Some(commit) = read {
            return Ok(commit);
        }
        let wanted = format!("{rev}^{{commit}}");
        let printed = self.git_unless(&[1, 128], ["rev-parse", "--quiet", "--verify", "--end-of-options", &wanted])?;
        printed.map(|bytes| parse_oid(&bytes, "rev-parse")).transpose()
    }

    /// Returns the tree of a commit (or of a tag of one); a tree is its own.
    pub fn tree_of(&self, commit: &Oid) -> Result<Oid, GitError> {
        let read = self.library(|library| {
            let object = library.find_object(library_oid(commit)?, None)?;
            own_oid(object.peel_to_tree()?.id())
        });
        if let Some(tree) = read {
            return Ok(tree);
        }
        let wanted = format!("{commit}^{{tree}}");
        match self.git_unless(&[1, 128], ["rev-parse", "--quiet", "--verify", &wanted])? {
            Some(bytes) => parse_oid(&bytes, "rev-parse"),
            None => Err(GitError::Missing(format!("tree for {commit}"))),
        }
    }

    /// Returns the type of `oid`; `None` if there is no such object.
    pub fn object_kind(&self, oid: &Oid) -> Result<Option<ObjectKind>, GitError> {
        let read = self.library(|library| {
            let header = found(library.odb()?.read_header(library_oid(oid)?))?;
            Ok(header.map(|(_, kind)| kind))
        });
        let kind = match read {
            Some(None) => return Ok(None),
            Some(Some(kind)) => kind.str().to_owned(),
            None => match self.git_unless(&[1, 128], ["cat-file", "-t", oid.as_str()])? {
                Some(bytes) => line(&bytes),
                None => return Ok(None),
            },
        };
        match kind.as_str() {
            "commit" => Ok(Some(ObjectKind::Commit)),
            "tag" => Ok(Some(ObjectKind::Tag)),
            "tree" => Ok(Some(ObjectKind::Tree)),
            "blob" => Ok(Some(ObjectKind::Blob)),
            _ => Err(GitError::Malformed { command: "cat-file -t".to_owned(), what: kind }),
        }
    }

    /// Returns the content of the file at `path`; `None` if there is no such file. The content of a symbolic link is
    /// its target.
    pub fn blob_at(&self, commit_or_tree: &Oid, path: &RepoPath) -> Result<Option<Vec<u8>>, GitError> {
        let read = self.library(|library| {
            let tree = library.find_object(library_oid(commit_or_tree)?, None)?.peel_to_tree()?;
            let Some(entry) = found(tree.get_path(&path.to_os()))? else { return Ok(None) };
            if entry.kind() != Some(git2::ObjectType::Blob) {
                return Ok(None);
            }
            Ok(Some(library.find_blob(entry.id())?.content().to_vec()))
        });
        if let Some(content) = read {
            return Ok(content);
        }
        match self.entry_at(commit_or_tree, path)? {
            Some(SnapshotEntry { mode: 0o160_000, .. }) | None => Ok(None),
            Some(entry) => self.git(["cat-file", "blob", entry.oid.as_str()]).map(Some),
        }
    }

    /// What a commit or tree has at a path, as far as it is a regular file.
    pub fn regular_file_at(&self, commit_or_tree: &Oid, path: &RepoPath) -> Result<TreeFile, GitError> {
        match self.entry_at(commit_or_tree, path)? {
            Some(SnapshotEntry { mode: 0o100_644 | 0o100_755 | 0o100_664, .. }) => {
                Ok(self.blob_at(commit_or_tree, path)?.map_or(TreeFile::Nothing, TreeFile::Regular))
            }
            Some(_) => Ok(TreeFile::Other),
            None if self.has_folder(commit_or_tree, path)? => Ok(TreeFile::Other),
            None => Ok(TreeFile::Nothing),
        }
    }

    /// Returns the paths of the entries of a folder, those of its folders included.
    pub fn paths_in_folder(&self, commit_or_tree: &Oid, folder: &RepoPath) -> Result<Vec<RepoPath>, GitError> {
        let inside = |name: &[u8]| RepoPath::new([folder.as_bytes(), b"/", name].concat());
        let read = self.library(|library| {
            let tree = library.find_object(library_oid(commit_or_tree)?, None)?.peel_to_tree()?;
            let Some(entry) = found(tree.get_path(&folder.to_os()))? else { return Ok(Vec::new()) };
            if entry.kind() != Some(git2::ObjectType::Tree) {
                return Ok(Vec::new());
            }
            let folder = library.find_tree(entry.id())?;
            Ok(folder.iter().map(|entry| inside(entry.name_bytes())).collect())
        });
        if let Some(paths) = read {
            return Ok(paths);
        }
        let mut command = self.command();
        command.args(["ls-tree", "-z", "--name-only", "--full-tree", commit_or_tree.as_str(), "--"]);
        let printed = super::command::run(command.arg(inside(b"").to_os()), None)?;
        Ok(printed.split(|&byte| byte == 0).filter(|path| !path.is_empty()).map(RepoPath::new).collect())
    }

    /// Returns the contents of many files, in the order of `wanted`, with at most one call of git. The content is
    /// `None` for anything but a file, and for a path with a line break if git itself reads it.
    pub fn blobs(&self, wanted: &[WantedFile]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let read = self.library(|library| {
            let content = |id| Ok(Some(library.find_blob(id)?.content().to_vec()));
            let one = |file: &WantedFile| match file {
                WantedFile::Nowhere => Ok(None),
                WantedFile::Is(blob) => content(library_oid(blob)?),
                WantedFile::At(tree, path) => {
                    let tree = library.find_object(library_oid(tree)?, None)?.peel_to_tree()?;
                    let entry = found(tree.get_path(&path.to_os()))?;
                    let blob = entry.filter(|entry| entry.kind() == Some(git2::ObjectType::Blob));
                    blob.map_or(Ok(None), |blob| content(blob.id()))
                }
            };
            wanted.iter().map(one).collect()
        });
        if let Some(contents) = read {
            return Ok(contents);
        }
        let asked = |file: &WantedFile| match file {
            WantedFile::Nowhere => None,
            WantedFile::Is(blob) => Some([blob.as_str().as_bytes(), b"\n"].concat()),
            WantedFile::At(_, path) if path.as_bytes().contains(&b'\n') => None,
            WantedFile::At(tree, path) => Some([tree.as_str().as_bytes(), b":", path.as_bytes(), b"\n"].concat()),
        };
        let input: Vec<u8> = wanted.iter().filter_map(asked).flatten().collect();
        let mut command = self.command();
        command.args(["cat-file", "--batch"]);
        let printed = super::command::run(&mut command, Some(&input))?;
        let mut rest = printed.as_slice();
        Ok(wanted.iter().map(|file| asked(file).and_then(|_| next_blob(&mut rest))).collect())
    }

    /// Returns the entry of `path` in a tree or commit; `path` is not a directory.
    pub(super) fn entry_at(&self, commit_or_tree: &Oid, path: &RepoPath) -> Result<Option<SnapshotEntry>, GitError> {
        let os = path.to_os();
        let read = self.library(|library| {
            let tree = library.find_object(library_oid(commit_or_tree)?, None)?.peel_to_tree()?;
            let Some(entry) = found(tree.get_path(&os))? else { return Ok(None) };
            if entry.kind() == Some(git2::ObjectType::Tree) {
                return Ok(None);
            }
            let mode = u32::try_from(entry.filemode()).unwrap_or_default();
            Ok(Some(SnapshotEntry { mode, oid: own_oid(entry.id())? }))
        });
        if let Some(entry) = read {
            return Ok(entry);
        }
        let mut command = self.command();
        command.args(["ls-tree", "-z", "--full-tree", commit_or_tree.as_str(), "--"]).arg(&os);
        let printed = super::command::run(&mut command, None)?;
        for record in printed.split(|&byte| byte == 0) {
            let Some(tab) = record.iter().position(|&byte| byte == b'\t') else { continue };
            let mut words = record[..tab].split(|&byte| byte == b' ');
            let (Some(mode), Some(kind), Some(oid)) = (words.next(), words.next(), words.next()) else { continue };
            if &record[tab + 1..] == path.as_bytes() && kind != b"tree" {
                return Ok(Some(SnapshotEntry { mode: octal(mode), oid: parse_oid(oid, "ls-tree")? }));
            }
        }
        Ok(None)
    }

    /// Returns the name that the symbolic reference `name` points to; `None` if it is not symbolic.
    pub fn symbolic_ref(&self, name: &str) -> Result<Option<String>, GitError> {
        // A remote may be a URL, and what is below it no name of a reference.
        if !git2::Reference::is_valid_name(name) {
            return Ok(None);
        }
        let read = self.library(|library| {
            let reference = found(library.find_reference(name))?;
            let target = reference.as_ref().and_then(git2::Reference::symbolic_target_bytes);
            Ok(target.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
        });
        match read {
            Some(target) => Ok(target),
            // 128: what is not a valid name, such as the URL of a remote that has no name, names no reference.
            None => Ok(self.git_unless(&[1, 128], ["symbolic-ref", "--quiet", name])?.map(|bytes| line(&bytes))),
        }
    }

    /// Returns the reference that a push to `name` moves in this repository: symbolic references are followed.
    pub fn pushed_ref(&self, name: &str) -> Result<String, GitError> {
        let mut name = name.to_owned();
        for _ in 0..MAX_SYMBOLIC_DEPTH {
            match self.symbolic_ref(&name)? {
                Some(target) => name = target,
                None => break,
            }
        }
        Ok(name)
    }

    /// Returns the object that the reference with the full name `name` points to, symbolic references followed.
    pub fn reference(&self, name: &str) -> Result<Option<Oid>, GitError> {
        let read = self.library(|library| found(library.refname_to_id(name))?.map(own_oid).transpose());
        if let Some(target) = read {
            return Ok(target);
        }
        let printed = self.git_unless(&[1, 128], ["show-ref", "--verify", "--quiet", "--hash", name])?;
        if printed.is_none() {
            return Ok(None);
        }
        self.git_unless(&[1, 128], ["rev-parse", "--quiet", "--verify", "--end-of-options", name])?
            .map(|bytes| parse_oid(&bytes, "rev-parse"))
            .transpose()
    }

    /// Returns a best common ancestor of two commits; `None` if they have none, or one of them is not here.
    pub fn merge_base(&self, a: &Oid, b: &Oid) -> Result<Option<Oid>, GitError> {
        let near =
            self.library(|library| linear_base(library, library_oid(a)?, library_oid(b)?)?.map(own_oid).transpose());
        if let Some(Some(base)) = near {
            return Ok(Some(base));
        }
        let printed = self.git_unless(&[1, 128], ["merge-base", a.as_str(), b.as_str()])?;
        printed.map(|bytes| parse_oid(&bytes, "merge-base")).transpose()
    }

    /// Returns `true` if a tree holds a folder of this path.
    pub fn has_folder(&self, tree: &Oid, path: &RepoPath) -> Result<bool, GitError> {
        let os = path.to_os();
        let read = self.library(|library| {
            let tree = library.find_object(library_oid(tree)?, None)?.peel_to_tree()?;
            Ok(found(tree.get_path(&os))?.is_some_and(|entry| entry.kind() == Some(git2::ObjectType::Tree)))
        });
        match read {
            Some(answer) => Ok(answer),
            None => {
                let name = [format!("{tree}:").into_bytes(), path.as_bytes().to_vec()].concat();
                let name = RepoPath::new(name).to_os().into_os_string();
                let kind = self.git_unless(&[1, 128], [OsStr::new("cat-file"), OsStr::new("-t"), name.as_os_str()])?;
                Ok(kind.is_some_and(|kind| kind.starts_with(b"tree")))
            }
        }
    }

    /// Returns `true` if `ancestor` is `descendant` or one of its ancestors, and `false` if one of them is not here.
    pub fn is_ancestor(&self, ancestor: &Oid, descendant: &Oid) -> Result<bool, GitError> {
        let read = self.library(|library| {
            let (above, below) = (library_oid(ancestor)?, library_oid(descendant)?);
            Ok((above == below && library.find_commit(above).is_ok()) || library.graph_descendant_of(below, above)?)
        });
        match read {
            Some(answer) => Ok(answer),
            None => Ok(self
                .git_unless(&[1, 128], ["merge-base", "--is-ancestor", ancestor.as_str(), descendant.as_str()])?
                .is_some()),
        }
    }
}

/// Parses a number in octal digits; 0 for anything else.
pub(super) fn octal(digits: &[u8]) -> u32 {
    std::str::from_utf8(digits).ok().and_then(|text| u32::from_str_radix(text, 8).ok()).unwrap_or(0)
}
