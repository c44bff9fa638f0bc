use std::process::Command;

#[test]
fn check_accepts_the_example_config() {
    let out = Command::new(env!("CARGO_BIN_EXE_sensorbridge"))
        .args(["--config", "../../bridge.example.toml", "check"])
        .output()
        .unwrap();
    assert!(out.status.success());
    assert_eq!(String::from_utf8_lossy(&out.stdout), "config ok\n");
}
