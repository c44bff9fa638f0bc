//! Agents that work in other working trees than the one in which their session began.

use serde_json::json;

use crate::client_session::Session;
use crate::project::Project;

#[test]
fn another_working_tree_is_proven_and_judged_where_it_is() {
    let project = Project::new();
    let session = Session::claude(&project);
    let other = project.repo.outside().join("other");
    project.repo.git(["worktree", "add", "-q", other.to_str().unwrap(), "-b", "other"]);
    let at = other.display();
    session.prompt("change the library in the other working tree");
    // What nobody changed there is nobody's work to prove.
    assert_eq!(session.run(&format!("cd {at} && sh test.sh")), 0);
    session.stop("All done, all tests pass!").quiet();

    assert_eq!(session.run(&format!("cd {at} && echo broken > src/lib.sh")), 0);
    let told = session.stop("All done, all tests pass!").pushes("(attempt 1)");
    assert!(told.contains(&format!("the working tree {}", other.canonicalize().unwrap().display())), "{told}");
    assert_eq!(session.run(&format!("cd {at}; sh test.sh")), 101);
    session.stop("All done, all tests pass!").pushes("`sh test.sh` failed on this content");
    assert_eq!(session.run(&format!("cd {at} && echo mended > src/lib.sh && git commit -qam mended")), 0);
    // Elsewhere it proves nothing there, and one there nothing here.
    assert_eq!(session.run("sh test.sh"), 0);
    session.stop("All done, all tests pass!").pushes("tests:");
    project.repo.append("src/lib.sh", "broken\n");
    assert_eq!(session.run(&format!("cd {at}/src/.. && sh test.sh")), 0);
    project.check_in(&other).exits(0);
    project.check().exits(10);
    project.repo.git(["checkout", "-q", "--", "."]);
    session.stop("All done, all tests pass!").quiet();
    project.push_in(&other, "git push origin other").exits(0);

    // A tool of the client goes there by its path, a line by a relative one.
    let file = other.join("src/lib.sh");
    let call = json!({"tool_name": "Write", "tool_input": {"file_path": file, "content": "more"}, "tool_use_id": "w"});
    session.hook("PreToolUse", call.clone()).quiet();
    std::fs::write(&file, "more").unwrap();
    let mut after = call;
    after["tool_response"] = json!({});
    session.hook("PostToolUse", after).quiet();
    session.stop("All done.").pushes("(attempt 1)");
    assert_eq!(session.run(&format!("cd {at} && sh test.sh")), 0);
    session.stop("All done.").quiet();
    // What an agent leaves as it is in the next task needs no word.
    std::fs::write(&file, "and more").unwrap();
    session.prompt("what does it print?");
    session.stop("It prints more.").quiet();
}

#[test]
fn another_working_tree_is_judged_where_a_line_names_it_by_a_path() {
    for line in [
        "sed -i 's/.*/broken/' ../other/src/lib.sh",
        "git -C ../other apply ../repo.diff",
        "cp broken ../other/src/lib.sh",
        "tee ../other/src/lib.sh < broken",
        "python3 -c \"open('../other/src/lib.sh', 'w').write('broken')\"",
        "patch -s -d ../other -p1 < ../repo.diff",
        "cd src && sed -i 's/.*/broken/' ../../other/src/lib.sh",
    ] {
        let project = Project::new();
        let session = Session::claude(&project);
        project.repo.git(["worktree", "add", "-q", "../other", "-b", "other"]);
        project.sh("echo broken > src/lib.sh; git diff > ../repo.diff; git checkout -q src/lib.sh").exits(0);
        project.sh("echo broken > broken; echo broken >> .git/info/exclude").exits(0);
        session.prompt("change the library");
        // What is only read there is nobody's work.
        assert_eq!(session.run("cp ../other/src/lib.sh broken.old; git -C ../other status; rm broken.old"), 0);
        session.stop("All done, all tests pass!").quiet();
        assert_eq!(session.run(line), 0, "{line}");
        let told = session.stop("All done, all tests pass!").pushes("tests:");
        assert!(told.contains("the working tree "), "{line}: {told}");
    }
}

#[test]
fn a_runner_that_is_sent_to_another_working_tree_proves_what_is_there() {
    let project = Project::with("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"make test\"\n");
    project.repo.write("Makefile", "test:\n\tsh test.sh\n").commit_all("chore: makefile");
    project.repo.git(["push", "-q", "--no-verify", "origin", "HEAD:main"]);
    let session = Session::claude(&project);
    let other = project.repo.outside().join("other");
    project.repo.git(["worktree", "add", "-q", other.to_str().unwrap(), "-b", "other"]);
    let at = other.display();
    for line in [format!("make -C {at} test"), "make test -C ../other".to_owned(), format!("cd src; make -C{at} test")]
    {
        std::fs::write(other.join("src/lib.sh"), format!("# {line}\n")).unwrap();
        session.prompt("change the library");
        project.repo.append("src/lib.sh", "more\n");
        assert_eq!(session.run(&line), 0, "{line}");
        project.check_in(&other).exits(0);
        session.stop("All done, all tests pass!").pushes("tests:");
    }
    assert_eq!(session.run("make -C src/.. test"), 0);
    project.check().exits(0);
}

#[test]
fn what_a_sub_agent_leaves_elsewhere_is_judged_where_it_is_taken_over() {
    let project = Project::new();
    let session = Session::claude(&project);
    let other = project.repo.outside().join("other");
    project.repo.git(["worktree", "add", "-q", other.to_str().unwrap(), "-b", "other"]);
    session.prompt("let somebody change the library in a working tree of its own");
    let file = other.join("src/lib.sh");
    let call = json!({
        "tool_name": "Write", "tool_input": {"file_path": file, "content": "broken"}, "tool_use_id": "w",
        "agent_id": "a1", "agent_type": "general",
    });
    session.hook("PreToolUse", call.clone()).quiet();
    std::fs::write(&file, "broken").unwrap();
    let mut after = call;
    after["tool_response"] = json!({});
    session.hook("PostToolUse", after).quiet();
    session.stop("All done.").quiet();
    project.sh_in(&other, "git commit -qam 'feat: broken'").exits(0);
    assert_eq!(session.run("git merge -q other"), 0);
    session.stop("All done.").pushes("(attempt 1)");
    project.push_in(&other, "git push origin other").exits(1);
}

#[test]
fn an_environment_that_holds_the_project_of_another_working_tree_proves_nothing() {
    const POLICY: &str = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"pytest\"\n";
    for (installed, exit) in [("repo", 10), ("elsewhere", 0)] {
        let project = Project::with(POLICY);
        let other = project.repo.outside().join("other");
        project.repo.git(["worktree", "add", "-q", other.to_str().unwrap(), "-b", "other"]);
        let environment = project.repo.outside().join("environment");
        let record = environment.join("lib/python3.12/site-packages/calc-1.0.dist-info");
        std::fs::create_dir_all(&record).unwrap();
        std::fs::create_dir_all(environment.join("bin")).unwrap();
        std::fs::write(environment.join("pyvenv.cfg"), "").unwrap();
        let home = project.repo.root().canonicalize().unwrap();
        let home = if installed == "repo" { home } else { project.repo.outside().join(installed) };
        let url = json!({"url": format!("file://{}", home.display()), "dir_info": {"editable": true}});
        std::fs::write(record.join("direct_url.json"), url.to_string()).unwrap();
        let pytest = environment.join("bin/pytest");
        std::fs::write(&pytest, "#!/bin/sh\necho '4 passed in 0.02s'\n").unwrap();
        project.sh(&format!("chmod +x {}", pytest.display())).exits(0);
        let session = Session::claude(&project).prompted("change the library in the other working tree");
        let at = other.display();
        assert_eq!(session.run(&format!("cd {at} && echo more >> src/lib.sh && git commit -qam 'feat: more'")), 0);
        assert_eq!(session.run(&format!("cd {at} && {} -q", pytest.display())), 0);
        let said = project.check_in(&other).exits(exit);
        assert_eq!(said.text().contains("loads the code of"), exit == 10, "{said:?}");
    }
}
