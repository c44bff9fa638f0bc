fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("dist") => println!("target/dist"),
        Some("man") => println!("target/man"),
        _ => {
            eprintln!("usage: cargo xtask <dist|man>");
            std::process::exit(2);
        }
    }
}
