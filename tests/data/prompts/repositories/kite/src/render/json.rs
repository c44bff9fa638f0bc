pub fn row(file: &str) -> String {
    format!("{{\"path\":\"{file}\"}}")
}
