pub fn walk(root: &str) -> Vec<String> {
    let mut found = Vec::new();
    visit(root, &mut found);
    found
}

fn visit(folder: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("cannot read folder") {
        found.push(entry.expect("entry").path().display().to_string());
    }
}
