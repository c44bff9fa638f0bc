//! A file system without room: a real one, of memory and small, where the namespace of `tests/components/run` lets
//! it be mounted.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::Project;

/// A small file system over a folder, with what was in it; gone with the namespace, or earlier.
struct Small(PathBuf);

impl Small {
    fn over(folder: &Path) -> Self {
        let aside = folder.with_extension("aside");
        run(Command::new("cp").arg("-a").arg(folder).arg(&aside));
        run(Command::new("mount").args(["-t", "tmpfs", "-o", "size=512k,mode=700", "tmpfs"]).arg(folder));
        run(Command::new("cp").arg("-a").arg(aside.join(".")).arg(folder));
        Self(folder.to_owned())
    }

    /// Takes all the room there is.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = File::create(&path).unwrap();
        let error = (0..1 << 16).find_map(|_| file.write_all(&[b'x'; 512]).err()).expect("it is small");
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
        path
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}\ntests/components/run makes a namespace in which this may be done",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_disk_without_room_takes_the_record_and_not_the_status() {
    let project = Project::new().edited("broken");
    project.check().exits(10);
    let small = Small::over(&project.repo.path(".git/gate"));
    let filler = small.fill();
    let lost = "this run is not recorded and proves nothing";
    // What is left of the journal's last page takes some.
    let full = (0..64).map(|_| project.gate(["run", "test"]).exits(101)).find(|said| said.text().contains(lost));
    full.expect("a disk without room").says("no room to write");
    let before = project.journal();
    project.gate(["run", "--", "sh", "-c", "exit 7"]).exits(7).says(lost);
    project.check().exits(10).says("could not be written");
    project.push("git push origin feature").exits(1);
    fs::remove_file(filler).unwrap();
    // Every line is whole; a short one may still have found room.
    let after = project.journal();
    assert!(after.starts_with(&before), "nothing that was there is lost");
    project.gate(["run", "test"]).exits(101).never_says(lost);
    assert!(project.journal().len() > after.len());
    assert_eq!(crate::project::reasons(&project.verdict(), "tests"), ["failed"]);
}
