use crate::settings::Settings;
use sensor_core::decode;
use std::path::Path;

pub async fn replay(_settings: &Settings, file: &Path) -> anyhow::Result<()> {
    let bytes = std::fs::read(file)?;
    for frame in bytes.chunks(4) {
        match decode("replay", frame) {
            Ok(r) => println!("{:?} {:.1}", r.kind, r.value),
            Err(e) => eprintln!("skip: {e}"),
        }
    }
    Ok(())
}
