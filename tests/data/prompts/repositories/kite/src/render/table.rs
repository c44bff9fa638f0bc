pub fn row(file: &str) -> String {
    format!("{file:<40}")
}
